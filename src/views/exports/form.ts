import type { InputBlock, ModalView } from '@slack/types';
import { actions, context, type FormResult, type Message, picked, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { channelSelect, checkbox, input, modal, option, searchSelect, textInput } from '../blocks/inputs.ts';
import { replaceNativeBlocks } from '../blocks/native.ts';
import { sanitizeMrkdwn } from '../blocks/text.ts';

export interface ExportForm {
  readonly shieldZoneId: string;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly query: string;
  readonly filters: string;
  readonly channel: string | undefined;
  readonly spreadsheetSafe: boolean;
  readonly pseudonyms: boolean;
  /** IANA, if Slack knows it. */
  readonly timeZone: string | undefined;
  /** How often other times were put into the form. */
  readonly drawn: number;
  /** Mrkdwn above the inputs. */
  readonly problem?: string | undefined;
}

export const filterFields = ['action', 'country', 'ip', 'ruleId', 'url', 'ua', 'asn', 'feature', 'ja4'];
export const filterOps = ['in', 'eq', 'contains', 'wildcard', 'cidr'];

export const title = 'Export events';

export function exportStarted(message: Message): FormResult {
  const settings = { title, callbackId: 'event-logs:started', close: 'Done' };
  return { modal: modal(settings, replaceNativeBlocks(message.blocks ?? [])), message };
}

const windowChoices = { '1h': 'Last hour', '6h': '6 hours', '24h': '24 hours', '72h': '72 hours' };

/** An input with another value gets another block id: Slack keeps the value of a known block. */
export function renderExportForm(form: ExportForm): ModalView {
  // Typed values are not in it.
  const note = { zone: form.timeZone, drawn: form.drawn };
  const windows = Object.entries(windowChoices);
  const settings = {
    title,
    callbackId: 'event-logs:submit',
    submit: 'Export',
    metadata: JSON.stringify(note),
  };
  return modal(settings, [
    form.problem && section(`:warning: ${sanitizeMrkdwn(form.problem)}`),
    searchSelect('shieldZoneId', 'Shield zone', {
      hint: 'A whole number, such as 501, or a name given here. It is not the pull zone’s ID.',
      placeholder: 'Type its number, or a name given here',
      chosen: form.shieldZoneId ? picked(form.shieldZoneId) : undefined,
    }),
    actions(...windows.map(([window, words]) => button(words, `event-logs:window:${window}`, window))),
    moment('from', 'From', form, 'The CDN may refuse a start more than 72 hours ago.'),
    moment('to', 'To', form, zoneHint(form.timeZone)),
    textInput('query', 'Search', {
      hint: 'Searches IP, rule ID, rule name, URL and User-Agent. Empty = all events.',
      optional: true,
      maxLength: 3000,
      initial: form.query,
    }),
    textInput('filters', 'Filters', {
      hint: `One per line; all must match. Fields: ${filterFields.join(', ')}. Operations: ${filterOps.join(', ')}.`,
      placeholder: 'country in DE, FR',
      optional: true,
      multiline: true,
      maxLength: 3000,
      initial: form.filters,
    }),
    channelSelect('channel', 'Channel', {
      chosen: form.channel,
      internal: true,
      hint: 'Everybody in it can open the file. Empty = only you, as a direct message.',
      placeholder: 'Only me',
      optional: true,
    }),
    ...choices.map(([name, words, box, description]) =>
      checkbox(name, words, option(box, 'yes', description), { checked: form[name] }),
    ),
    context('Events hold personal data: IP addresses, URLs and User-Agents of visitors.'),
  ]);
}

const choices = [
  [
    'pseudonyms',
    'Personal data',
    'Replace IP addresses with pseudonyms',
    'Consistent within one export. The raw file is not sent.',
  ],
  [
    'spreadsheetSafe',
    'Spreadsheets',
    'Add a spreadsheet-safe copy',
    'Cells hold visitor input; formulas are neutralized in the copy.',
  ],
] as const;

function zoneHint(zone: string | undefined): string {
  return zone === undefined
    ? 'Slack shows these times in your time zone. What you typed was read as UTC.'
    : `Times are in your time zone, ${zone.slice(0, 60)}.`;
}

function moment(name: 'from' | 'to', label: string, form: ExportForm, hint: string): InputBlock {
  const at = form[name];
  const seconds = at && Math.floor(at.getTime() / 1000);
  const blockId = form.drawn === 0 ? name : `${name}:${form.drawn}`;
  return input(name, label, { type: 'datetimepicker', initial_date_time: seconds }, { hint, blockId });
}
