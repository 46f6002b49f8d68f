// The message field: `/cdn …` goes to the bot as a slash command, with suggestions while typing.

import { el, freshId } from './dom.js';
import { commands } from './world.js';

const history = [];

/**
 * Builds the composer into `form`; `send(text)` gets what was typed, `menu` stands beside it. Returns ways to reach it
 * from elsewhere.
 */
export function createComposer(form, send, menu) {
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
    placeholder: 'Type /cdn help',
    role: 'combobox',
    'aria-label': 'Message or slash command',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': list.id,
    autocomplete: 'off',
    spellcheck: 'false',
    data: { focus: 'composer' },
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
    const typed = field.value;
    shown = typed.startsWith('/') && !typed.includes('\n') ? fitting(typed) : [];
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
            el('code', {}, `/cdn ${one.usage}`),
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
    const words = one.usage.split(' ');
    const plain = words.findIndex((word) => /[<[|·]/.test(word));
    put(`/cdn ${words.slice(0, plain < 0 ? words.length : plain).join(' ')}${plain < 0 ? '' : ' '}`);
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
    } else if (
      open &&
      event.key === 'Tab' &&
      !event.shiftKey &&
      field.value.trim() !== `/cdn ${shown[0].usage}`
    ) {
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
  return { focus: () => field.focus(), put };
}

/** The commands that what was typed may become; none once its word is complete and arguments follow. */
function fitting(typed) {
  const start = '/cdn ';
  if (start.startsWith(typed)) return commands();
  if (!typed.startsWith(start)) return [];
  const words = typed.slice(start.length).toLowerCase();
  return commands().filter(
    (one) => one.usage.toLowerCase().startsWith(words) || words.startsWith(`${one.usage.split(' ')[0]} `),
  );
}
