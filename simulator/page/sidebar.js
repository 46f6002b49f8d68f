// The sidebar: conversations, the acting person, the page's appearance.

import { el } from './dom.js';
import { avatar } from './messages.js';
import { openPicker } from './picker.js';
import { isUnread } from './unread.js';
import { at, channels, dmOf, me, people, transport } from './world.js';

/**
 * Draws the sidebar; `go(user, channel)` looks elsewhere, `look` holds the switches of the page itself, `words` that of
 * a Slack without charts and tables.
 */
export function drawSidebar(sidebar, { go, look, words }) {
  const { user, channel } = at();
  const entry = (id, sign, words) =>
    el(
      'button',
      {
        type: 'button',
        class: `entry${isUnread(id) ? ' unread' : ''}`,
        'aria-current': id === channel ? 'page' : undefined,
        data: { focus: `entry:${id}`, channel: id },
        on: { click: () => go(user, id) },
      },
      el('span', { class: 'entry-sign', 'aria-hidden': 'true' }, sign),
      words,
      isUnread(id) && el('span', { class: 'dot', role: 'img', 'aria-label': 'new messages' }),
    );
  const group = (title, ...entries) => el('div', { class: 'group' }, el('h2', {}, title), ...entries);
  const who = me();
  const switcher = el(
    'button',
    {
      type: 'button',
      class: 'person',
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      'aria-label': `You are ${who?.name}, ${who?.role}. Change person`,
      data: { focus: 'person' },
      on: {
        click: () =>
          openPicker({
            anchor: switcher,
            label: 'Look through the eyes of',
            search: false,
            load: () => [
              { options: people().map((one) => ({ value: one.id, text: one.name, description: one.role })) },
            ],
            isChosen: (option) => option.value === user,
            pick: ({ value }) => go(value, channel),
          }),
      },
    },
    avatar(who?.name ?? '?'),
    el(
      'span',
      { class: 'person-words' },
      el('strong', {}, who?.name),
      el('span', { class: 'role' }, who?.role),
    ),
    el('span', { 'aria-hidden': 'true' }, '▾'),
  );
  const toggle = (words, on, flip, name) =>
    el(
      'button',
      {
        type: 'button',
        class: 'switch',
        'aria-pressed': String(on),
        data: { focus: `switch:${name}` },
        on: { click: flip },
      },
      words,
    );
  sidebar.replaceChildren(
    el(
      'div',
      { class: 'brand' },
      el('strong', {}, who?.team ?? 'Playground'),
      el('span', {}, transport() === 'http' ? 'signed HTTP' : 'Socket Mode'),
    ),
    switcher,
    group('Channels', ...channels().map((one) => entry(one.id, '#', one.name))),
    group('CDN app', entry('home', '⌂', 'Home'), entry(dmOf(user), '✉', 'Messages')),
    el('div', { class: 'spacer' }),
    el(
      'div',
      { class: 'switches' },
      toggle('Dark', look.dark(), look.flipDark, 'dark'),
      toggle('Phone width', look.phone(), look.flipPhone, 'phone'),
      toggle('Words only', words.on, words.flip, 'words'),
    ),
  );
}
