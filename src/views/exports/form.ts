import type { InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import { actions, button, context, plain, section } from '../blocks/blocks.ts';
import { sanitizeMrkdwn } from '../blocks/text.ts';
import { type FilterRow, filterRows } from './filter-rows.ts';

/** Values of the form. */
export interface ExportForm {
  readonly shieldZoneId: string;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly query: string;
  readonly filters: readonly FilterRow[];
  /** Id of the next row; ids are not reused. */
  readonly nextRow: number;
  readonly channel: string | undefined;
  readonly spreadsheetSafe: boolean;
  readonly pseudonyms: boolean;
  readonly split: boolean;
  /** The person's IANA time zone, if Slack tells. */
  readonly timeZone: string | undefined;
  /** How often the window was rendered with other times than the chosen ones. */
  readonly drawn: number;
  /** Shown on top, in mrkdwn. */
  readonly problem?: string | undefined;
}

const title = plain('Export events');

/** Opens at once; the form follows with the person's time zone. */
export function exportSkeleton(): ModalView {
  return waiting('Opening the form…', 'event-logs:opening');
}

export function exportBusy(): ModalView {
  return waiting('Starting the export…', 'event-logs:busy');
}

function waiting(text: string, id: string): ModalView {
  return {
    type: 'modal',
    callback_id: id,
    title,
    close: plain('Close'),
    blocks: [section(`:hourglass_flowing_sand: ${text}`)],
  };
}

/** Buttons of usual windows: labels by the words of the command. */
export const windowChoices = { '1h': 'Last hour', '6h': '6 hours', '24h': '24 hours', '72h': 'All 72 hours' };

/** The button that corrects an invalid window. */
export const correctWindowButton = { value: 'correct', label: 'Correct the window' };

/** The form's state in its private metadata. Typed values are not in it. */
export interface FormNote {
  readonly zone?: string | undefined;
  readonly drawn: number;
  readonly rows: readonly (readonly [id: number, drawn: number])[];
  readonly next: number;
}

/** Renders the form. An input that gets another value gets a new block id: Slack keeps the value of a known block. */
export function renderExportForm(form: ExportForm): ModalView {
  const note: FormNote = {
    zone: form.timeZone,
    drawn: form.drawn,
    rows: form.filters.map(({ id, drawn }) => [id, drawn]),
    next: form.nextRow,
  };
  const banner: KnownBlock[] = form.problem ? [section(`:warning: ${sanitizeMrkdwn(form.problem)}`)] : [];
  const id = (name: string): string => (form.drawn === 0 ? name : `${name}:${form.drawn}`);
  return {
    type: 'modal',
    callback_id: 'event-logs:submit',
    private_metadata: JSON.stringify(note),
    title,
    submit: plain('Export'),
    close: plain('Cancel'),
    blocks: [
      ...banner,
      {
        type: 'input',
        block_id: 'shieldZoneId',
        label: plain('Shield zone id'),
        hint: plain('A whole number, such as 501. It is not the pull zone’s id.'),
        element: {
          type: 'plain_text_input',
          action_id: 'shieldZoneId',
          max_length: 20,
          ...(form.shieldZoneId === '' ? {} : { initial_value: form.shieldZoneId.slice(0, 20) }),
        },
      },
      actions(
        ...Object.entries(windowChoices).map(([value, label]) =>
          button(label, `event-logs:window:${value}`, value),
        ),
        button(
          correctWindowButton.label,
          `event-logs:window:${correctWindowButton.value}`,
          correctWindowButton.value,
        ),
      ),
      moment(id('from'), 'from', 'From', form.from, 'The CDN keeps events for 72 hours.'),
      moment(id('to'), 'to', 'To', form.to, zoneHint(form.timeZone)),
      search(form.query),
      ...filterRows(form.filters),
      {
        type: 'input',
        block_id: 'channel',
        optional: true,
        label: plain('Channel'),
        hint: plain('Everybody in it can open the file. Empty = only me, as a direct message.'),
        element: {
          type: 'conversations_select',
          action_id: 'channel',
          placeholder: plain('Only me'),
          filter: {
            include: ['public', 'private'],
            exclude_bot_users: true,
            // Members of other organisations read there.
            exclude_external_shared_channels: true,
          },
          ...(form.channel === undefined ? {} : { initial_conversation: form.channel }),
        },
      },
      choice('pseudonyms', 'Personal data', form.pseudonyms, {
        label: 'Replace IP addresses by pseudonyms',
        description: 'The same address gets the same one. The raw file is not sent.',
      }),
      choice('spreadsheetSafe', 'Spreadsheets', form.spreadsheetSafe, {
        label: 'Add a spreadsheet-safe copy',
        description: 'Attackers write these cells: in the copy none runs as a formula.',
      }),
      choice('split', 'Large exports', form.split, {
        label: 'Split into several files',
        description: 'Slack takes files up to 1 GB. Without this a larger export stops.',
      }),
      context('Events hold IP addresses, URLs and User-Agents of visitors: personal data.'),
    ],
  };
}

function zoneHint(zone: string | undefined): string {
  return zone === undefined
    ? 'Slack shows these times in your time zone. Words you typed were read as UTC.'
    : `Times are in your time zone, ${zone.slice(0, 60)}.`;
}

function moment(block: string, name: string, label: string, at: Date | undefined, hint: string): InputBlock {
  return {
    type: 'input',
    block_id: block,
    label: plain(label),
    hint: plain(hint),
    element: {
      type: 'datetimepicker',
      action_id: name,
      ...(at ? { initial_date_time: Math.floor(at.getTime() / 1000) } : {}),
    },
  };
}

function search(value: string): InputBlock {
  return {
    type: 'input',
    block_id: 'query',
    optional: true,
    label: plain('Search'),
    hint: plain('In IP, rule id, rule name, URL and User-Agent. Empty = everything.'),
    element: {
      type: 'plain_text_input',
      action_id: 'query',
      max_length: 3000,
      ...(value === '' ? {} : { initial_value: value.slice(0, 3000) }),
    },
  };
}

function choice(
  name: string,
  label: string,
  isOn: boolean,
  words: { label: string; description: string },
): InputBlock {
  const option: PlainTextOption = {
    text: plain(words.label),
    description: plain(words.description),
    value: 'yes',
  };
  return {
    type: 'input',
    block_id: name,
    optional: true,
    label: plain(label),
    element: {
      type: 'checkboxes',
      action_id: name,
      options: [option],
      ...(isOn ? { initial_options: [option] } : {}),
    },
  };
}
