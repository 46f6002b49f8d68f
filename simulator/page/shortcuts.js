// Slack's own menus with what the app adds to them: ⚡ beside the composer, ⋯ beside every message of a channel.

import { act } from './api.js';
import { el } from './dom.js';
import { openPicker } from './picker.js';
import { fail } from './toast.js';
import { shortcuts } from './world.js';

/** `where()` is {user, channel} when something is chosen. Nothing where the app has no such shortcut. */
export function globalMenu(where) {
  return menu(
    'global',
    { label: 'Shortcuts', sign: '⚡', class: 'button quiet shortcuts', focus: 'shortcuts' },
    where,
  );
}

export function messageMenu(where) {
  const focus = `menu ${where.channel} ${where.ts}`;
  return menu(
    'message',
    { label: 'Message shortcuts', sign: '⋯', class: 'button quiet', focus },
    () => where,
  );
}

function menu(kind, look, where) {
  const offered = shortcuts().filter((one) => one.kind === kind);
  if (!offered.length) return undefined;
  const node = el(
    'button',
    {
      type: 'button',
      class: look.class,
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      'aria-label': look.label,
      data: { focus: look.focus },
      on: {
        click: () =>
          openPicker({
            anchor: node,
            label: look.label,
            search: false,
            load: () => [
              {
                options: offered.map(({ callbackId, name, description }) => ({
                  value: callbackId,
                  text: name,
                  description,
                })),
              },
            ],
            isChosen: () => false,
            pick: ({ value }) => act('shortcut', { ...where(), callbackId: value }).catch(fail),
          }),
      },
    },
    look.sign,
  );
  return node;
}
