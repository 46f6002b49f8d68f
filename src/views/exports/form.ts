import type { InputBlock, KnownBlock, ModalView } from '@slack/types';
import { actions, context, type FormResult, type Message, picked, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import {
  actionMenu,
  channelSelect,
  checkbox,
  input,
  modal,
  option,
  searchSelect,
  textInput,
} from '../blocks/inputs.ts';
import { replaceNativeBlocks } from '../blocks/native.ts';
import { sanitizeMrkdwn } from '../blocks/text.ts';

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
  /** The person's IANA time zone, if Slack knows it. */
  readonly timeZone: string | undefined;
  /** How often the window was rendered with other times than the chosen ones. */
  readonly drawn: number;
  /** Shown on top, in mrkdwn. */
  readonly problem?: string | undefined;
}

export interface FilterRow {
  /** Part of its block ids: Slack keeps the value of a block whose id stays. */
  readonly id: number;
  /** How often its menus were rendered with another choice than the person's. */
  readonly drawn: number;
  /** A name of the CDN, or empty. */
  readonly field: string;
  readonly op: string;
  readonly values: string;
}

const title = 'Export events';

/** Opens at once; the form follows with the person's time zone. */
export function exportSkeleton(): ModalView {
  return waiting('Opening the form…', 'event-logs:opening');
}

export function exportBusy(): ModalView {
  return waiting('Starting the export…', 'event-logs:busy');
}

function waiting(text: string, callbackId: string): ModalView {
  return modal({ title, callbackId }, [section(`:hourglass_flowing_sand: ${text}`)]);
}

/** Replaces the submitted form. */
export function exportStarted(message: Message): FormResult {
  const settings = { title, callbackId: 'event-logs:started', close: 'Done' };
  return { modal: modal(settings, replaceNativeBlocks(message.blocks ?? [])), message };
}

/** Buttons of usual windows: labels by the words of the command. */
const windowChoices = { '1h': 'Last hour', '6h': '6 hours', '24h': '24 hours', '72h': '72 hours' };

export const correctWindowButton = { value: 'correct', label: 'Correct the window' };

/** Renders the form. An input that gets another value gets a new block id: Slack keeps the value of a known block. */
export function renderExportForm(form: ExportForm): ModalView {
  // Typed values are not in it.
  const note = {
    zone: form.timeZone,
    drawn: form.drawn,
    rows: form.filters.map(({ id, drawn }) => [id, drawn]),
    next: form.nextRow,
  };
  const { value, label } = correctWindowButton;
  const windows = Object.entries({ ...windowChoices, [value]: label });
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
      hint: 'Looks in IP, rule ID, rule name, URL and User-Agent. Empty = all events.',
      optional: true,
      maxLength: 3000,
      initial: form.query,
    }),
    form.filters.length > 1 && context('*Filters*: every one has to match.'),
    ...form.filters.flatMap((row, nth) => filterRow(row, nth + 1)),
    form.filters.length < mostRows && actions(button('Add a filter', 'event-logs:filter', 'add')),
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
    'Replace IP addresses by pseudonyms',
    'The same address gets the same one. The raw file is not sent.',
  ],
  [
    'spreadsheetSafe',
    'Spreadsheets',
    'Add a spreadsheet-safe copy',
    'Cells hold visitor input; formulas are neutralised in the copy.',
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

/** Slack allows a hundred blocks in a form. */
export const mostRows = 20;

/** Fields and operations of the CDN's filters. */
export const fieldWords: Readonly<Record<string, string>> = {
  action: 'Action',
  country: 'Country',
  ip: 'IP address',
  ruleId: 'Rule ID',
  url: 'URL',
  ua: 'User-Agent',
  asn: 'Network (ASN)',
  feature: 'Feature',
  ja4: 'JA4 fingerprint',
};

export const opWords: Readonly<Record<string, string>> = {
  in: 'is one of',
  eq: 'is',
  contains: 'contains',
  wildcard: 'looks like …*…',
  cidr: 'is in network (IP only)',
};

/** Block ids of a row's inputs, and action ids of its menus; `filters` is the first row's values. */
export function rowIds(id: number) {
  return {
    values: id === 1 ? 'filters' : `filters-${id}`,
    field: `event-logs:filter-field:${id}`,
    op: `event-logs:filter-op:${id}`,
  };
}

function filterRow(row: FilterRow, nth: number): KnownBlock[] {
  const ids = rowIds(row.id);
  return [
    {
      ...actions(
        menu(ids.field, 'Field', row.field, fieldWords),
        menu(ids.op, 'Operation', row.op, opWords),
        button('Remove', `event-logs:filter-remove:${row.id}`, String(row.id)),
      ),
      block_id: `filter-${row.id}-${row.drawn}`,
    },
    textInput(ids.values, `Values of filter ${nth}`, {
      hint: valuesHint(row, nth),
      initial: row.values,
      optional: true,
      multiline: true,
      maxLength: 3000,
    }),
  ];
}

function valuesHint({ field, op }: FilterRow, nth: number): string {
  if (op === 'cidr')
    return field === 'ip' || field === ''
      ? 'Networks: 203.0.113.0/24, 2001:db8::/32'
      : ':warning: Networks work with IP addresses only.';
  return nth === 1 ? 'Separate values by commas or lines: one has to match.' : '';
}

function menu(id: string, placeholder: string, chosen: string, words: Readonly<Record<string, string>>) {
  const options = Object.entries(words).map(([value, label]) => option(label, value));
  return actionMenu(id, placeholder, options, chosen);
}
