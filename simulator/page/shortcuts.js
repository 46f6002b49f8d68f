// Slack's own menus with what the app adds to them: ⚡ beside the composer, with a workflow of each step; ⋯ beside every
// message of a channel.

import { act } from './api.js';
import { el } from './dom.js';
import { openPicker } from './picker.js';
import { openStep } from './step-form.js';
import { fail } from './toast.js';
import { shortcuts, steps } from './world.js';

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
  const workflows = kind === 'global' ? steps() : [];
  const toOption = ({ callbackId, name, description }) => ({ value: callbackId, text: name, description });
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
              { options: offered.map(toOption) },
              { label: 'Workflows', options: workflows.map(toOption) },
            ],
            isChosen: () => false,
            pick({ value }) {
              const step = workflows.find(({ callbackId }) => callbackId === value);
              if (step) return openStep(step, where());
              return act('shortcut', { ...where(), callbackId: value }).catch(fail);
            },
          }),
      },
    },
    look.sign,
  );
  return node;
}
