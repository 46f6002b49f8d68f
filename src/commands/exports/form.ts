import { z } from 'zod';
import { endsTooEarly, findOldestEnd } from '../../api/event-logs.ts';
import { hourMs, minuteMs } from '../../lib/time.ts';
import { capitalize } from '../../views/blocks/text.ts';
import type { ExportRequest } from '../../views/exports/exports.ts';
import * as forms from '../../views/exports/form.ts';
import type { Action, Context, Fields, ReadResult, SubmitInfo } from '../define.ts';
import { readPeriod } from '../periods.ts';
import { addRow, chooseFields, readRows, readTypedRows } from './filters.ts';

export type Window = { readonly from: Date; readonly to: Date };

export interface AskedExport {
  readonly request: ExportRequest;
  /** undefined = only the person. */
  readonly channel: string | undefined;
  /** About unknown names in filters, for people. */
  readonly warnings: readonly string[];
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
    wrong('shieldZoneId', 'A shield zone id is a whole number, such as 501.');
  if (!form.from) wrong('from', 'Choose when the window begins.');
  if (!form.to) wrong('to', 'Choose when the window ends.');
  if (form.from && form.to)
    for (const problem of findWindowProblem(form.from, form.to, now)) wrong('to', problem);
  if (form.channel !== undefined && !/^[CG][A-Z0-9]+$/u.test(form.channel))
    wrong('channel', 'Choose a channel, or leave it empty to get the file yourself.');
  const { filters, problems, missing, warnings } = readRows(form.filters, fields);
  for (const problem of problems) wrong(...problem);
  if (Object.keys(errors).length > 0 || !form.from || !form.to) return { errors };
  if (missing.length > 0) {
    const problem = `In the filters, ${missing.slice(0, 5).join('; ')}. Type it below, then press Export.`;
    return { again: forms.renderExportForm({ ...form, problem }) };
  }
  const { from, to, channel, query, pseudonyms, spreadsheetSafe } = form;
  // A window that ends now may be ahead of the bot's clock.
  const window = { from, to: to > now ? now : to };
  const request = { shieldZoneId, ...window, query, filters, pseudonyms, spreadsheetSafe };
  return { values: { request, channel, warnings, form } satisfies AskedExport };
}

function findWindowProblem(from: Date, to: Date, now: Date): string[] {
  const press = `press “${forms.correctWindowButton.label}” above`;
  if (to <= from)
    return [`The end has to lie after the start: ${press} to swap them, or choose another end.`];
  if (to.getTime() > now.getTime() + minuteMs)
    return [`The window ends in the future: ${press}, or end it earlier.`];
  // Between this margin and the one of the button a person has five minutes.
  if (to >= findOldestEnd(now, 5 * minuteMs)) return [];
  return [`${endsTooEarly} ${capitalize(press)}, or choose another end.`];
}

function readForm(fields: Fields, metadata: string | undefined): forms.ExportForm {
  const { zone, drawn, rows, next } = note.parse(JSON.parse(metadata ?? '{}'));
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value.trim() : '';
  };
  const isOn = (name: string): boolean => {
    const value = fields[name];
    return value !== undefined && value.length > 0;
  };
  return {
    shieldZoneId: text('shieldZoneId').replace(/^#/u, ''),
    from: momentOf(text('from')),
    to: momentOf(text('to')),
    query: text('query'),
    filters: readTypedRows(fields, rows),
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
  redraw('filter-field', (form, _, { modal }) => chooseFields(form, modal?.fields ?? {})),
  redraw('filter-op', (form) => form),
];

function chooseWindow(value: string, now: Date): Window {
  const typed = `last ${Object.hasOwn(forms.windowChoices, value) ? value : '24h'}`;
  const { from, to } = readPeriod(typed, { now, timeZone: 'UTC' });
  return correctWindow(new Date(from), new Date(to), now);
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
