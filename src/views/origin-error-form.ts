import type { ModalView, PlainTextOption } from '@slack/types';
import { plain } from './blocks.ts';
import { choices } from './origin-errors.ts';

/** Which zone, and which days? `chosen` is what was typed of it. */
export function originErrorForm(chosen: (typeof choices)[number]): ModalView {
  return {
    type: 'modal',
    callback_id: 'origin-errors:submit',
    title: plain('Origin errors'),
    submit: plain('Show'),
    close: plain('Cancel'),
    blocks: [
      {
        type: 'input',
        block_id: 'zone',
        label: plain('Zone'),
        element: {
          type: 'external_select',
          action_id: 'zones:pick',
          placeholder: plain('Type a part of its name or hostname'),
          min_query_length: 0,
          focus_on_load: true,
        },
      },
      {
        type: 'input',
        block_id: 'days',
        label: plain('Days'),
        hint: plain('Days are UTC. Any other day: /cdn errors shop 2026-11-20'),
        element: {
          type: 'static_select',
          action_id: 'days',
          options: choices.map(option),
          initial_option: option(chosen),
        },
      },
    ],
  };
}

function option(choice: string): PlainTextOption {
  return { text: plain(choice.charAt(0).toUpperCase() + choice.slice(1)), value: choice };
}
