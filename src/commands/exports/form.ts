import { z } from 'zod';
import { checkEventLogWindow, findEarliestStart } from '../../api/event-logs.ts';
import { UserError } from '../../errors.ts';
import type { ExportRequest } from '../../exports/model.ts';
import { correctWindow, type ExportForm, renderExportForm } from '../../views/exports/form.ts';
import type { Fields, OpenModal } from '../context.ts';
import type { ReadResult, SubmitInfo } from '../define.ts';
import { expandRows, readRows, readTypedRows, toFilterRows } from './filter-rows.ts';
import { defaultWindow } from './window.ts';

/** The form as it was sent, read. */
export interface AskedExport {
  readonly request: ExportRequest;
  /** undefined = only the person. */
  readonly channel: string | undefined;
  /** About unusual filters, for people. */
  readonly warnings: readonly string[];
  /** To be shown again where it cannot start. */
  readonly form: ExportForm;
}

export function createBlankForm(about: {
  shieldZoneId: string;
  timeZone: string | undefined;
  now: Date;
}): ExportForm {
  return {
    shieldZoneId: about.shieldZoneId,
    ...defaultWindow(about.now),
    query: '',
    ...toFilterRows([]),
    channel: undefined,
    spreadsheetSafe: false,
    pseudonyms: false,
    split: false,
    timeZone: about.timeZone,
    drawn: 0,
  };
}

/** What was typed in an open form so far, to draw it again with something else in it. */
export function createFormFor(modal: OpenModal | undefined): ExportForm {
  return typedForm(unnumbered(modal?.fields ?? {}).fields, modal?.metadata);
}

/** Reads the form; what is wrong goes to the field it is in. */
export function readExport(typed: Fields, { now, metadata: note }: SubmitInfo): ReadResult {
  const { fields, blocks } = unnumbered(typed);
  const errors: Record<string, string> = {};
  const wrong = (field: string, message: string): void => {
    errors[blocks[field] ?? field] ??= message;
  };
  const form = typedForm(fields, note);
  if (
    !/^\d{1,10}$/u.test(form.shieldZoneId) ||
    Number(form.shieldZoneId) > 2_147_483_647 ||
    Number(form.shieldZoneId) < 1
  ) {
    wrong('shieldZoneId', 'A shield zone id is a whole number, such as 501.');
  }
  if (!form.from) wrong('from', 'Choose when the window begins.');
  if (!form.to) wrong('to', 'Choose when the window ends.');
  if (form.from && form.to) {
    const { from, to } = form;
    const problem = problemOf({ from, to }, now, form.timeZone);
    if (problem) wrong(...problem);
  }
  if (form.channel !== undefined && !/^[CG][A-Z0-9]+$/u.test(form.channel)) {
    wrong('channel', 'Choose a channel, or leave it empty to get the file yourself.');
  }
  const { filters, problems, unsaid, warnings } = readRows(form.filters, fields);
  for (const problem of problems) wrong(...problem);
  if (Object.keys(errors).length > 0 || !form.from || !form.to) return { errors };
  if (unsaid.length > 0) {
    const problem = `In the filters, ${unsaid.slice(0, 5).join('; ')}. Look below, then press Export to send it so.`;
    return { again: renderExportForm({ ...form, ...expandRows(form), problem }) };
  }
  const { from, to, channel, shieldZoneId, query, pseudonyms, spreadsheetSafe, split } = form;
  const request = {
    shieldZoneId,
    from,
    // A window that was filled in as ending now may be a minute ahead of the bot's clock.
    to: to > now ? now : to,
    query,
    filters,
    pseudonyms,
    spreadsheetSafe,
    split,
  };
  return { values: { request, channel, warnings, form } satisfies AskedExport };
}

function problemOf(
  window: { readonly from: Date; readonly to: Date },
  now: Date,
  timeZone: string | undefined,
): [field: string, message: string] | undefined {
  try {
    checkEventLogWindow(window, now.getTime());
    return undefined;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const press = `press “${correctWindow.label}” above`;
    if (window.to <= window.from)
      return ['to', `The end has to lie after the start: ${press} to swap them, or choose another end.`];
    if (window.to > now) return ['to', `The window ends in the future: ${press}, or end it earlier.`];
    const earliest = findEarliestStart(now);
    return [
      'from',
      `The CDN keeps events for 72 hours. The earliest start now is ${inWords(earliest, timeZone)}: ${press}, or begin later.`,
    ];
  }
}

function inWords(at: Date, timeZone = 'UTC'): string {
  const words = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at);
  return timeZone === 'UTC' ? `${words} UTC` : words;
}

function typedForm(fields: Fields, note: string | undefined): ExportForm {
  const { zone, drawn, rows, next } = noteOf(note);
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
    split: isOn('split'),
    timeZone: zone,
    drawn,
  };
}

/** Menus of moments give seconds. */
function momentOf(text: string): Date | undefined {
  if (/^\d{9,11}$/u.test(text)) return new Date(Number(text) * 1000);
  return /^\d{12,14}$/u.test(text) ? new Date(Number(text)) : undefined;
}

/** `from:2` is `from`, drawn for the second time; errors go to the block as it is called now. Others keep their names. */
function unnumbered(typed: Fields): { readonly fields: Fields; readonly blocks: Record<string, string> } {
  const fields: Record<string, Fields[string]> = {};
  const blocks: Record<string, string> = {};
  for (const [block, value] of Object.entries(typed)) {
    const name = /^(?:from|to):\d+$/u.test(block) ? block.replace(/:.*/u, '') : block;
    fields[name] = value;
    blocks[name] = block;
  }
  return { fields, blocks };
}

const whole = z.number().int().nonnegative();
const note = z.object({
  zone: z.string().optional(),
  drawn: whole,
  rows: z.array(z.tuple([whole, whole])),
  next: whole,
});

function noteOf(text: string | undefined): z.output<typeof note> {
  try {
    return note.parse(JSON.parse(text ?? ''));
  } catch {
    return { drawn: 0, rows: [[1, 0]], next: 2 };
  }
}
