import type { ModalView, PlainTextOption } from '@slack/types';
import { plain } from '../blocks/blocks.ts';
import { zoneInput } from '../zones/choice.ts';
import { choices } from './origin-errors.ts';

/** Which zone, and which days? `chosen` is what was typed of it. */
export function renderOriginErrorForm(chosen: (typeof choices)[number]): ModalView {
  return {
    type: 'modal',
    callback_id: 'origin-errors:submit',
    title: plain('Origin errors'),
    submit: plain('Show'),
    close: plain('Cancel'),
    blocks: [
      zoneInput(),
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
