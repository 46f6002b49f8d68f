import { el, freshId } from './dom.js';
import { textNode } from './text.js';

let closeOpen = () => {};

/**
 * Opens a menu at `anchor`. `load(typed)` gives groups of options; with `remote` it is asked again for each typed text
 * of at least `minimum` characters, without it the options are filtered here. `pick` gets the chosen option; a `multi`
 * menu stays open.
 */
export function openPicker({
  anchor,
  label,
  load,
  remote,
  minimum = 0,
  search = true,
  multi,
  isChosen,
  pick,
}) {
  const again = anchor.getAttribute('aria-expanded') === 'true';
  closeOpen();
  if (again) return;
  const list = el('div', { class: 'options', role: 'listbox', id: freshId('options'), 'aria-label': label });
  if (multi) list.setAttribute('aria-multiselectable', 'true');
  const field = el('input', {
    type: 'text',
    class: search ? 'field' : 'field unseen',
    placeholder: 'Search',
    role: 'combobox',
    'aria-label': search ? `Search ${label}` : label,
    'aria-expanded': 'true',
    'aria-controls': list.id,
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    readonly: !search,
  });
  const box = el('div', { class: `picker${search ? '' : ' menu'}` }, field, list);
  let options = [];
  let active = -1;
  let asked = 0;
  let timer;

  const say = (words) => list.replaceChildren(el('div', { class: 'note', role: 'presentation' }, words));

  const mark = (index) => {
    active = index;
    options.forEach(({ node }, at) => node.classList.toggle('active', at === index));
    const node = options[index]?.node;
    if (node) field.setAttribute('aria-activedescendant', node.id);
    else field.removeAttribute('aria-activedescendant');
    node?.scrollIntoView({ block: 'nearest' });
  };

  const draw = (groups) => {
    options = [];
    list.replaceChildren();
    for (const group of groups) {
      if (!group.options.length) continue;
      const title = group.label && el('div', { class: 'group-label', id: freshId('group') }, group.label);
      const holder = title ? el('div', { role: 'group', 'aria-labelledby': title.id }, title) : list;
      for (const option of group.options) holder.append(optionNode(option));
      if (title) list.append(holder);
    }
    if (!options.length) say('No results');
    mark(
      options.length
        ? Math.max(
            0,
            options.findIndex(({ option }) => isChosen(option)),
          )
        : -1,
    );
    place(box, anchor);
  };

  const optionNode = (option) => {
    const at = options.length;
    const node = el(
      'div',
      {
        class: 'option',
        role: 'option',
        id: freshId('option'),
        'aria-selected': String(isChosen(option)),
        data: { value: option.value },
        on: { click: () => choose(at), pointermove: () => active !== at && mark(at) },
      },
      el('span', { class: 'tick', 'aria-hidden': 'true' }, isChosen(option) ? '✓' : ''),
      el(
        'span',
        { class: 'option-words' },
        textNode(option.words ?? option.text, 'span'),
        option.description && el('span', { class: 'description' }, option.description),
      ),
    );
    options.push({ option, node });
    return node;
  };

  const choose = async (index) => {
    const chosen = options[index]?.option;
    if (!chosen) return;
    if (!multi) close();
    await pick(chosen);
    if (!multi) return;
    for (const { option, node } of options) {
      node.setAttribute('aria-selected', String(isChosen(option)));
      node.firstElementChild.textContent = isChosen(option) ? '✓' : '';
    }
    if (anchor.isConnected) place(box, anchor);
  };

  const fill = async () => {
    const typed = field.value.trim();
    asked += 1;
    const turn = asked;
    if (remote && typed.length < minimum)
      return say(`Type at least ${minimum} character${minimum === 1 ? '' : 's'}`);
    if (remote) say('Searching…');
    const groups = await load(typed);
    if (turn === asked) draw(remote ? groups : matching(groups, typed));
  };

  const keys = {
    ArrowDown: () => mark(Math.min(active + 1, options.length - 1)),
    ArrowUp: () => mark(Math.max(active - 1, 0)),
    Home: () => mark(0),
    End: () => mark(options.length - 1),
    Enter: () => choose(active),
    Escape: () => close(),
    Tab: () => close(),
  };
  box.addEventListener('keydown', (event) => {
    const act = keys[event.key] ?? (event.key === ' ' && !search ? keys.Enter : undefined);
    if (!act || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  // A click on an option leaves the focus, and with it the keys, in the field.
  box.addEventListener('mousedown', (event) => event.target !== field && event.preventDefault());
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(fill, remote ? 200 : 0);
  });

  const outside = (event) => {
    if (!box.contains(event.target) && !anchor.contains(event.target)) close(false);
  };
  const close = (refocus = true) => {
    clearTimeout(timer);
    asked += 1;
    closeOpen = () => {};
    document.removeEventListener('pointerdown', outside, true);
    box.remove();
    anchor.setAttribute('aria-expanded', 'false');
    // A redraw may have put another button in the anchor's place.
    const name = anchor.dataset.focus;
    const back = anchor.isConnected
      ? anchor
      : name && document.querySelector(`[data-focus="${CSS.escape(name)}"]`);
    if (refocus) back?.focus();
  };

  closeOpen = () => close(false);
  document.addEventListener('pointerdown', outside, true);
  document.querySelector('#layers').append(box);
  anchor.setAttribute('aria-expanded', 'true');
  place(box, anchor);
  field.focus();
  void fill();
}

function matching(groups, typed) {
  const words = typed.toLowerCase();
  const fits = (option) => `${option.text} ${option.description ?? ''}`.toLowerCase().includes(words);
  return groups.map((group) => ({ ...group, options: group.options.filter(fits) }));
}

/** Puts `box` under `anchor`, or above it where there is more room, inside the frame. */
export function place(box, anchor) {
  if (!anchor.isConnected) return;
  const frame = document.querySelector('#frame').getBoundingClientRect();
  const at = anchor.getBoundingClientRect();
  const gap = 4;
  const edge = 8;
  const width = Math.min(Math.max(at.width, 260), frame.width - 2 * edge);
  const below = frame.bottom - at.bottom - gap - edge;
  const above = at.top - frame.top - gap - edge;
  const up = below < 240 && above > below;
  box.style.width = `${width}px`;
  box.style.maxHeight = `${Math.min(360, Math.max(up ? above : below, 120))}px`;
  box.style.left = `${Math.min(Math.max(at.left - frame.left, edge), frame.width - width - edge)}px`;
  box.style.top = up ? '' : `${at.bottom - frame.top + gap}px`;
  box.style.bottom = up ? `${frame.bottom - at.top + gap}px` : '';
}
