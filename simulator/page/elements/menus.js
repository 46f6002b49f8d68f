import { askFirst } from '../dialog.js';
import { el } from '../dom.js';
import { openPicker } from '../picker.js';
import { withEmoji } from '../text.js';
import { focusName, valueOf } from '../values.js';
import { channel, channels, dmOf, me, people, person } from '../world.js';
import { commit, labels } from './commit.js';

/** A menu with one choice, of any source. */
export function select(element, cx) {
  const words = el('span', { class: 'select-words' });
  const show = () => {
    const value = valueOf(cx.surface, cx.block, element);
    words.textContent = value ? withEmoji(nameOf(value)) : (element.placeholder?.text ?? 'Choose…');
    words.classList.toggle('empty', !value);
  };
  const node = el(
    'button',
    {
      type: 'button',
      class: 'select',
      role: 'combobox',
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      ...labels(element, cx),
      data: { focus: focusName(cx.surface, cx.block, element) },
      on: {
        click: () =>
          openPicker({
            anchor: node,
            label: element.placeholder?.text ?? 'Choices',
            ...source(element, cx),
            isChosen: (option) => valueOf(cx.surface, cx.block, element)?.value === option.value,
            pick: async ({ value, text }) => {
              await commit(element, cx, { value, text });
              show();
            },
          }),
        keydown: (event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          node.click();
        },
      },
    },
    words,
    el('span', { class: 'caret', 'aria-hidden': 'true' }, '▾'),
  );
  show();
  return node;
}

/** A menu with several choices, each a chip that can be taken away again. */
export function multiSelect(element, cx) {
  const chosen = () => (valueOf(cx.surface, cx.block, element) ?? []).filter(Boolean);
  const name = focusName(cx.surface, cx.block, element);
  const chips = el('span', { class: 'chips' });

  const change = async (values) => {
    await commit(element, cx, values);
    show();
  };
  const show = () => {
    chips.replaceChildren(
      ...chosen().map((one) =>
        el(
          'button',
          {
            type: 'button',
            class: 'chip',
            'aria-label': `Remove ${nameOf(one)}`,
            on: {
              click: async () => {
                await change(chosen().filter((other) => other.value !== one.value));
                add.focus();
              },
            },
          },
          withEmoji(nameOf(one)),
          el('span', { 'aria-hidden': 'true' }, ' ×'),
        ),
      ),
    );
    words.textContent = chosen().length ? 'Add…' : (element.placeholder?.text ?? 'Choose…');
  };

  const words = el('span', { class: 'select-words empty' });
  const add = el(
    'button',
    {
      type: 'button',
      class: 'select',
      role: 'combobox',
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      ...labels(element, cx),
      data: { focus: name },
      on: {
        click: () =>
          openPicker({
            anchor: add,
            label: element.placeholder?.text ?? 'Choices',
            multi: true,
            ...source(element, cx),
            isChosen: (option) => chosen().some((one) => one.value === option.value),
            pick: async ({ value, text }) => {
              const without = chosen().filter((one) => one.value !== value);
              const full = element.max_selected_items && without.length >= element.max_selected_items;
              if (without.length === chosen().length && full) return;
              await change(without.length < chosen().length ? without : [...without, { value, text }]);
            },
          }),
      },
    },
    words,
    el('span', { class: 'caret', 'aria-hidden': 'true' }, '▾'),
  );
  show();
  return el('span', { class: 'multi' }, chips, add);
}

/** The ⋯ menu: choosing acts at once and nothing stays chosen. */
export function overflow(element, cx) {
  const node = el(
    'button',
    {
      type: 'button',
      class: 'button overflow',
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      'aria-label': 'More actions',
      data: { focus: focusName(cx.surface, cx.block, element) },
      on: {
        click: () =>
          openPicker({
            anchor: node,
            label: 'More actions',
            search: false,
            ...source(element, cx),
            isChosen: () => false,
            pick: async (option) => {
              if (element.confirm && !(await askFirst(element.confirm))) return;
              const { url } = element.options.find((one) => one.value === option.value) ?? {};
              if (/^https?:/i.test(url ?? '')) window.open(url, '_blank', 'noopener,noreferrer');
              await cx.surface.choose(cx.block, element, option.value);
            },
          }),
      },
    },
    '⋯',
  );
  return node;
}

const option = (one) => ({
  value: one.value,
  text: one.text?.text ?? one.value,
  words: one.text,
  description: one.description?.text,
});

/** Groups of options: `{label?, options}`. */
const grouped = (from) =>
  from.option_groups?.length
    ? from.option_groups.map((group) => ({ label: group.label?.text, options: group.options.map(option) }))
    : [{ options: (from.options ?? []).map(option) }];

const ofPeople = () => [
  { options: people().map((one) => ({ value: one.id, text: one.name, description: one.role })) },
];

function ofConversations(element) {
  const include = element.filter?.include ?? ['im', 'mpim', 'private', 'public'];
  const isOffered = (one) => !one.shared || !element.filter?.exclude_external_shared_channels;
  const groups = [{ label: 'Channels', options: channels().filter(isOffered).map(channelOption) }];
  const dm = { value: dmOf(me().id), text: 'CDN (direct message)' };
  if (include.includes('im') && !element.filter?.exclude_bot_users)
    groups.push({ label: 'Direct messages', options: [dm] });
  return include.includes('public') ? groups : groups.slice(1);
}

const channelOption = (one) => ({ value: one.id, text: `#${one.name}` });
const ofChannels = () => [{ options: channels().map(channelOption) }];

/** `{load(typed), remote, minimum, search}` for the picker: what to offer for what was typed so far. */
export function source(element, cx) {
  if (element.type.includes('external')) {
    return {
      remote: true,
      minimum: element.min_query_length ?? 3,
      load: async (typed) => grouped(await cx.surface.suggest(cx.block, element, typed)),
    };
  }
  if (element.type.includes('users')) return { load: ofPeople };
  if (element.type.includes('conversations')) return { load: () => ofConversations(element) };
  if (element.type.includes('channels')) return { load: ofChannels };
  return { load: () => grouped(element) };
}

/** The label of a chosen value. */
export function nameOf({ value, text }) {
  if (text) return text;
  const place = channel(value);
  if (value === dmOf(me()?.id)) return 'CDN (direct message)';
  return person(value)?.name ?? (place ? `#${place.name}` : value);
}
