// The message field of a channel or thread, with suggestions while typing.

import { el, freshId } from './dom.js';
import { suggestWords } from './suggestions.js';

const history = [];

/**
 * Builds a composer into `form`; `send(text)` gets what was typed, `menu` stands beside it, `place()` is 'channel', 'thread'
 * or 'conversation'. Returns ways to reach it from elsewhere.
 */
export function createComposer(form, { name, label, send, menu, place }) {
  const list = el('div', {
    class: 'suggestions',
    role: 'listbox',
    id: freshId('suggestions'),
    'aria-label': 'Commands',
    hidden: true,
  });
  const field = el('textarea', {
    class: 'composer-field',
    rows: 1,
    role: 'combobox',
    'aria-label': label,
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': list.id,
    autocomplete: 'off',
    spellcheck: 'false',
    data: { focus: name },
  });
  const button = el('button', { type: 'submit', class: 'button primary send', 'aria-label': 'Send' }, '➤');
  form.replaceChildren(...[list, menu, field, button].filter(Boolean));
  let shown = [];
  let active = -1;
  let back = 0;

  const mark = (index) => {
    active = index;
    [...list.children].forEach((node, at) => {
      node.classList.toggle('active', at === index);
      node.setAttribute('aria-selected', String(at === index));
      if (at === index) node.scrollIntoView({ block: 'nearest' });
    });
    if (list.children[index]) field.setAttribute('aria-activedescendant', list.children[index].id);
    else field.removeAttribute('aria-activedescendant');
  };

  const close = () => {
    shown = [];
    list.hidden = true;
    field.setAttribute('aria-expanded', 'false');
    mark(-1);
  };

  const suggest = () => {
    shown = field.value.includes('\n') ? [] : suggestWords(field.value, place());
    if (!shown.length) return close();
    list.replaceChildren(
      ...shown.map((one) =>
        el(
          'div',
          {
            class: 'option',
            role: 'option',
            id: freshId('suggestion'),
            on: {
              pointerdown: (event) => {
                event.preventDefault();
                complete(one);
              },
            },
          },
          el(
            'span',
            { class: 'option-words' },
            el('code', {}, one.words),
            el('span', { class: 'description' }, one.summary),
          ),
        ),
      ),
    );
    list.hidden = false;
    field.setAttribute('aria-expanded', 'true');
    mark(-1);
  };

  const complete = (one) => {
    put(one.typed);
    close();
  };

  const put = (text) => {
    field.value = text;
    grow();
    field.focus();
  };

  const grow = () => {
    field.style.height = 'auto';
    field.style.height = `${Math.min(field.scrollHeight, 160)}px`;
  };

  const submit = () => {
    const text = field.value.trim();
    if (!text) return;
    history.push(text);
    back = 0;
    put('');
    close();
    send(text);
  };

  const recall = (step) => {
    back = Math.min(Math.max(back + step, 0), history.length);
    put(back ? history.at(-back) : '');
  };

  field.addEventListener('input', () => {
    grow();
    suggest();
  });
  field.addEventListener('blur', close);
  field.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    const open = shown.length > 0;
    const recalling = !field.value || field.value === history.at(-back);
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      if (open && active >= 0) complete(shown[active]);
      else submit();
    } else if (open && event.key === 'ArrowDown') {
      event.preventDefault();
      mark(Math.min(active + 1, shown.length - 1));
    } else if (open && event.key === 'ArrowUp') {
      event.preventDefault();
      mark(Math.max(active - 1, 0));
    } else if (open && event.key === 'Tab' && !event.shiftKey && field.value !== shown[0].typed) {
      event.preventDefault();
      complete(shown[Math.max(active, 0)]);
    } else if (open && event.key === 'Escape') {
      event.preventDefault();
      close();
    } else if (!open && recalling && event.key === 'ArrowUp') {
      event.preventDefault();
      recall(1);
    } else if (!open && back && recalling && event.key === 'ArrowDown') {
      event.preventDefault();
      recall(-1);
    }
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  return {
    focus: () => field.focus(),
    put,
    describe: (words) => field.setAttribute('placeholder', words),
  };
}
