import type { KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import { actions, commandButton, plain, section } from '../blocks/blocks.ts';
import { formatCode, plainText, pluralize } from '../blocks/text.ts';
import { renderZoneInput } from '../zones/rows.ts';
import { dayChoices } from './origin-errors.ts';

/** The form that asks for a zone and days. `chosen` are the typed days. */
export function renderOriginErrorForm(chosen: (typeof dayChoices)[number]): ModalView {
  return {
    type: 'modal',
    callback_id: 'origin-errors:submit',
    title: plain('Origin errors'),
    submit: plain('Show'),
    close: plain('Cancel'),
    blocks: [
      renderZoneInput(),
      {
        type: 'input',
        block_id: 'days',
        label: plain('Days'),
        hint: plain('Days are UTC. Any other day: /cdn errors shop 2026-11-20'),
        element: {
          type: 'static_select',
          action_id: 'days',
          options: dayChoices.map(renderDayOption),
          initial_option: renderDayOption(chosen),
        },
      },
    ],
  };
}

function renderDayOption(choice: string): PlainTextOption {
  return { text: plain(choice.charAt(0).toUpperCase() + choice.slice(1)), value: choice };
}

const title = plain('Origin errors');
const close = plain('Close');

/** Shown while the origin errors of a link are counted. */
export function renderLinkLoading(host?: string): ModalView {
  const where = host === undefined ? '' : ` of ${formatCode(host, 100)}`;
  return { type: 'modal', title, close, blocks: [section(`Reading today’s origin errors${where}…`)] };
}

/** The message has several links. */
export function renderLinkChoice(hosts: readonly string[]): ModalView {
  const blocks: KnownBlock[] = [
    section(`This message links to ${pluralize(hosts.length, 'host')}. Which one’s origin errors?`),
    actions(...hosts.map((host, index) => commandButton(plainText(host, 75), `errors ${host}`, index))),
  ];
  return { type: 'modal', title, close, blocks };
}

/** The message has no link. */
export function renderLinkForm(): ModalView {
  return {
    type: 'modal',
    callback_id: 'origin-errors:link',
    title,
    submit: plain('Look up'),
    close: plain('Cancel'),
    blocks: [
      section('*There is no link in this message.* Paste one, or type a zone.'),
      {
        type: 'input',
        block_id: 'link',
        label: plain('Link, hostname or zone'),
        element: {
          type: 'plain_text_input',
          action_id: 'link',
          placeholder: plain('https://cdn.example.com/images/a.jpg'),
          max_length: 2000,
          focus_on_load: true,
        },
      },
    ],
  };
}
