import { isIP } from 'node:net';
import { z } from 'zod';
import { type EventLogFilter, endsTooEarly, findOldestEnd } from '../../api/event-logs.ts';
import { hourMs, minuteMs } from '../../lib/time.ts';
import { formatCount } from '../../views/blocks/format.ts';
import { capitalize } from '../../views/blocks/text.ts';
import type { ExportRequest } from '../../views/exports/exports.ts';
import * as forms from '../../views/exports/form.ts';
import { type FilterRow, mostRows, rowIds } from '../../views/exports/form.ts';
import type { Action, Context, Fields, ReadResult, SubmitInfo } from '../define.ts';

export type Window = { readonly from: Date; readonly to: Date };

export interface AskedExport {
  readonly request: ExportRequest;
  /** undefined = only the person. */
  readonly channel: string | undefined;
  /** Shown again if the export cannot start. */
  readonly form: forms.ExportForm;
}

/** Reads the submitted form. Each problem goes to its field. */
export function readExport(fields: Fields, { now, metadata: note }: SubmitInfo): ReadResult {
  const errors: Record<string, string> = {};
  const wrong = (field: string, message: string): void => {
    errors[field] ??= message;
  };
  const form = readForm(fields, note);
  const { shieldZoneId } = form;
  if (!/^\d{1,10}$/u.test(shieldZoneId) || Number(shieldZoneId) > 2_147_483_647 || Number(shieldZoneId) < 1)
    wrong('shieldZoneId', 'A shield zone ID is a whole number, such as 501.');
  if (!form.from) wrong('from', 'Choose when the window begins.');
  if (!form.to) wrong('to', 'Choose when the window ends.');
  if (form.from && form.to)
    for (const problem of findWindowProblem(form.from, form.to, now)) wrong('to', problem);
  if (form.channel !== undefined && !/^[CG][A-Z0-9]+$/u.test(form.channel))
    wrong('channel', 'Choose a channel, or leave it empty to get the file yourself.');
  const filters = form.filters.flatMap((row) => {
    const read = readRow(row);
    if (typeof read === 'string') wrong(rowIds(row.id).values, `${capitalize(read)}.`);
    return typeof read === 'object' ? read : [];
  });
  if (Object.keys(errors).length > 0 || !form.from || !form.to) return { errors };
  const { from, to, channel, query, pseudonyms, spreadsheetSafe } = form;
  // A window that ends now may be ahead of the bot's clock.
  const window = { from, to: to > now ? now : to };
  const request = { shieldZoneId, ...window, query, filters, pseudonyms, spreadsheetSafe };
  return { values: { request, channel, form } satisfies AskedExport };
}

function findWindowProblem(from: Date, to: Date, now: Date): string[] {
  const press = `press “${forms.correctWindowButton.label}” above`;
  if (to <= from) return [`The end must be after the start: ${press} to swap them, or choose another end.`];
  if (to.getTime() > now.getTime() + minuteMs)
    return [`The window ends in the future: ${press}, or end it earlier.`];
  // Between this margin and the one of the button a person has five minutes.
  if (to >= findOldestEnd(now, 5 * minuteMs)) return [];
  return [`${endsTooEarly} ${capitalize(press)}, or choose another end.`];
}

function readForm(fields: Fields, metadata: string | undefined): forms.ExportForm {
  const { zone, drawn, rows, next } = note.parse(JSON.parse(metadata ?? '{}'));
  const typed = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  const text = (name: string): string => typed(name).trim();
  const isOn = (name: string): boolean => {
    const value = fields[name];
    return value !== undefined && value.length > 0;
  };
  return {
    shieldZoneId: text('shieldZoneId').replace(/^#/u, ''),
    from: momentOf(text('from')),
    to: momentOf(text('to')),
    query: text('query'),
    filters: rows.map(([id, drawn]) => {
      const { field, op, values } = rowIds(id);
      return { id, drawn, field: typed(field), op: typed(op), values: typed(values) };
    }),
    nextRow: next,
    channel: text('channel') || undefined,
    spreadsheetSafe: isOn('spreadsheetSafe'),
    pseudonyms: isOn('pseudonyms'),
    timeZone: zone,
    drawn,
  };
}

/** Date-time pickers return seconds. */
function momentOf(text: string): Date | undefined {
  if (/^\d{9,11}$/u.test(text)) return new Date(Number(text) * 1000);
  return /^\d{12,14}$/u.test(text) ? new Date(Number(text)) : undefined;
}

const whole = z.number().int().nonnegative();
const note = z.object({
  zone: z.string().optional(),
  drawn: whole.default(0),
  rows: z.array(z.tuple([whole, whole])).default([]),
  next: whole.default(1),
});

/** A button or menu that renders the open form again. */
function redraw(
  verb: string,
  change: (form: forms.ExportForm, value: string, context: Context) => forms.ExportForm | undefined,
): Action {
  return {
    id: `event-logs:${verb}`,
    needs: 'export',
    async redraw(value, context) {
      const { fields = {}, metadata } = context.modal ?? {};
      const form = change(readForm(fields, metadata), value, context);
      return form && forms.renderExportForm(form);
    },
  };
}

/** Buttons and menus that change the open form. */
export const formActions: readonly Action[] = [
  redraw('window', (form, value, { now }) => ({
    ...form,
    ...(value === forms.correctWindowButton.value
      ? correctWindow(form.from, form.to, now())
      : chooseWindow(value, now())),
    drawn: form.drawn + 1,
  })),
  redraw('filter', (form) => ({ ...form, ...addRow(form) })),
  redraw('filter-remove', (form, id) => ({
    ...form,
    filters: form.filters.filter((row) => row.id !== Number(id)),
  })),
  redraw('filter-field', chooseFields),
  redraw('filter-op', (form) => form),
];

function chooseWindow(value: string, now: Date): Window {
  const hours = Number.parseInt(value, 10) || 24;
  return correctWindow(new Date(floor(now).getTime() - hours * hourMs), floor(now), now);
}

export function defaultWindow(now: Date): Window {
  return { from: new Date(floor(now).getTime() - 24 * hourMs), to: floor(now) };
}

/** Whether a window ends within the 72 hours. Where it begins is the CDN's to refuse. */
export function endsInTime({ to }: Window, now: Date): boolean {
  return to > findOldestEnd(now);
}

/** The nearest window that is surely valid: it begins before it ends, ends by now, and lies in the last 72 hours. */
export function correctWindow(from: Date | undefined, to: Date | undefined, now: Date): Window {
  if (!from || !to) return defaultWindow(now);
  const [first, last] = from < to ? [from, to] : [to, from];
  const end = last > now ? floor(now) : last;
  const start = first < end ? first : new Date(end.getTime() - hourMs);
  const earliest = findOldestEnd(now);
  if (end <= earliest) return defaultWindow(now);
  return { from: start < earliest ? earliest : start, to: end };
}

/** Date-time pickers have whole minutes. */
function floor(at: Date): Date {
  return new Date(Math.floor(at.getTime() / minuteMs) * minuteMs);
}

const mostValues = 50;
const longestValue = 500;

/** The rows of a form, and the id of the next one. */
type Rows = { readonly filters: readonly FilterRow[]; readonly nextRow: number };

/** One row per filter. */
export function toFilterRows(filters: readonly EventLogFilter[]): Rows {
  const rows = filters.map(
    ({ field, op, value }, nth): FilterRow => ({
      id: nth + 1,
      drawn: 0,
      field,
      op,
      values: joinValues(value),
    }),
  );
  return { filters: rows, nextRow: rows.length + 1 };
}

function addRow({ filters, nextRow }: Rows): Rows {
  if (filters.length >= mostRows) return { filters, nextRow };
  const row = { id: nextRow, drawn: 0, field: '', op: 'in', values: '' };
  return { filters: [...filters, row], nextRow: nextRow + 1 };
}

/**
 * After the choice of a field. A URL or User-Agent is searched for a part: the default operation becomes `contains`.
 * Undefined where no menu or hint changes: a press at the same time would be lost.
 */
function chooseFields<Form extends Rows>(form: Form): Form | undefined {
  const filters = form.filters.map((row) =>
    ['url', 'ua'].includes(row.field) && row.op === 'in' && row.drawn === 0
      ? { ...row, op: 'contains', drawn: 1 }
      : row,
  );
  const isChanged = filters.some((row, nth) => row !== form.filters[nth] || row.op === 'cidr');
  return isChanged ? { ...form, filters } : undefined;
}

/** The filter of a row; a string that says what is wrong; undefined for an empty row. */
function readRow({ field, op, values }: FilterRow): EventLogFilter | string | undefined {
  const isEmpty = values.trim() === '';
  if (field === '' && isEmpty) return undefined;
  if (field === '') return 'Choose a field above for these values, or remove them';
  if (isEmpty) return 'Type a value, or remove this filter';
  return readFilter(field, op || 'in', values);
}

/** Removes what phones and pasting leave in a text: invisible characters, wide spaces, other line breaks. */
function normalize(typed: string): string {
  return typed
    .replaceAll(/[\u200B-\u200F\u2060\uFEFF]/gu, '')
    .replaceAll(/\r\n|[\r\u2028\u2029]/gu, '\n')
    .replaceAll(/[\u00A0\u2000-\u200A\u202F]/gu, ' ');
}

/**
 * Reads one filter. Values are separated by commas or line breaks; a value with a comma, or with a space at its end, goes
 * in quotes, with quotes in it doubled. Returns a string that says what is wrong if it cannot be read.
 */
export function readFilter(field: string, op: string, typed: string): EventLogFilter | string {
  const value = readValues(
    normalize(typed)
      .trim()
      .replaceAll(/ *,?[ \n]*\n */gu, ', '),
  );
  if (typeof value === 'string') return value;
  if (value.length > mostValues) return `at most ${formatCount(mostValues, 'value')}`;
  if (value.some((one) => one.length > longestValue))
    return `a value has at most ${formatCount(longestValue, 'character')}`;
  if (op === 'cidr') {
    if (field !== 'ip') return `cidr only works with ip, not with ${field}`;
    const wrong = value.find((one) => !isNetwork(one));
    if (wrong !== undefined) return `${wrong.slice(0, 60)} is not a network: 203.0.113.0/24 or 2001:db8::/32`;
  }
  const isCountry = field === 'country' && (op === 'eq' || op === 'in');
  return { field, op, value: isCountry ? value.map((one) => one.toUpperCase()) : value };
}

// A value in quotes, straight or curly, with doubled ones inside; or up to the next comma.
const nextValue = / *(?:["“”„]((?:[^"“”]|["“”]{2})+)["“”] *|([^,]*))(?:,|$)/uy;

function readValues(text: string): string[] | string {
  const values: string[] = [];
  nextValue.lastIndex = 0;
  for (let isLast = false; !isLast; ) {
    const [all = '', quoted, bare = ''] = nextValue.exec(text) ?? [];
    const value = quoted?.replaceAll(/(["“”])["“”]/gu, '$1') ?? bare.trim();
    if (value === '') return 'a value is missing between two commas or at the end';
    if (quoted === undefined && /^["“”„]/u.test(value))
      return 'a quote does not close; a quote inside a value is doubled: "a ""b"""';
    values.push(value);
    isLast = !all.endsWith(',');
  }
  return values;
}

/** Joins values into text that `readFilter` reads as the same values. */
export function joinValues(values: readonly string[]): string {
  const quoted = values.map((value) =>
    /^\s|[",“”„\n]|\s$/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value,
  );
  const text = quoted.join(', ');
  // An input holds 3,000 characters: values that fitted must fit again.
  return text.length > 3000 ? quoted.join(',') : text;
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/u.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
