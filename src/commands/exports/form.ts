import { z } from 'zod';
import { checkEventLogWindow, findEarliestStart } from '../../api/event-logs.ts';
import { UserError } from '../../errors.ts';
import type { ExportRequest } from '../../exports/model.ts';
import * as forms from '../../views/exports/form.ts';
import type { Fields, OpenModal } from '../context.ts';
import type { Action, ReadResult, SubmitInfo } from '../define.ts';
import {
  addRow,
  needsRedraw,
  readRows,
  readTypedRows,
  removeRow,
  toFilterRows,
  withDefaultOps,
} from './filter-rows.ts';
import { clampWindow, correctWindow, defaultWindow, readWindow } from './window.ts';

/** The submitted form. */
export interface AskedExport {
  readonly request: ExportRequest;
  /** undefined = only the person. */
  readonly channel: string | undefined;
  /** About unknown names in filters, for people. */
  readonly warnings: readonly string[];
  /** Shown again if the export cannot start. */
  readonly form: forms.ExportForm;
}

export function createBlankForm(about: {
  shieldZoneId: string;
  timeZone: string | undefined;
  now: Date;
}): forms.ExportForm {
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

/** Reads an open form, to render it again with a change. */
function createFormFor(modal: OpenModal | undefined): forms.ExportForm {
  return typedForm(unnumbered(modal?.fields ?? {}).fields, modal?.metadata);
}

/** Reads the submitted form. Each problem goes to its field. */
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
  const { filters, problems, missing, warnings } = readRows(form.filters, fields);
  for (const problem of problems) wrong(...problem);
  if (Object.keys(errors).length > 0 || !form.from || !form.to) return { errors };
  if (missing.length > 0) {
    const problem = `In the filters, ${missing.slice(0, 5).join('; ')}. Type it below, then press Export.`;
    return { again: forms.renderExportForm({ ...form, problem }) };
  }
  const { from, to, channel, shieldZoneId, query, pseudonyms, spreadsheetSafe, split } = form;
  const request = {
    shieldZoneId,
    from,
    // A window that ends now may be ahead of the bot's clock.
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
    const press = `press “${forms.correctWindowButton.label}” above`;
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

function typedForm(fields: Fields, note: string | undefined): forms.ExportForm {
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

/** Date-time pickers return seconds. */
function momentOf(text: string): Date | undefined {
  if (/^\d{9,11}$/u.test(text)) return new Date(Number(text) * 1000);
  return /^\d{12,14}$/u.test(text) ? new Date(Number(text)) : undefined;
}

/** Maps `from:2` (`from`, rendered again) to `from`; `blocks` maps back, for errors. */
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

/** Sets one of the usual windows. */
const chooseWindow: Action = {
  id: 'event-logs:window',
  needs: 'export',
  async redraw(value, context) {
    const form = createFormFor(context.modal);
    const drawn = form.drawn + 1;
    if (value === forms.correctWindowButton.value)
      return forms.renderExportForm({ ...form, ...correctWindow(form.from, form.to, context.now()), drawn });
    const label = Object.hasOwn(forms.windowChoices, value) ? value : '24h';
    const window = readWindow(`last ${label}`, context.now(), 'UTC');
    return forms.renderExportForm({ ...form, ...(clampWindow(window, context.now()) ?? window), drawn });
  },
};

const addFilter: Action = {
  id: 'event-logs:filter',
  needs: 'export',
  async redraw(_, context) {
    const form = createFormFor(context.modal);
    return forms.renderExportForm({ ...form, ...addRow(form) });
  },
};

const removeFilter: Action = {
  id: 'event-logs:filter-remove',
  needs: 'export',
  async redraw(value, context) {
    const form = createFormFor(context.modal);
    return forms.renderExportForm({ ...form, ...removeRow(form, Number(value)) });
  },
};

const chooseField: Action = {
  id: 'event-logs:filter-field',
  needs: 'export',
  async redraw(_, context) {
    const form = createFormFor(context.modal);
    return needsRedraw(form.filters, context.modal?.fields ?? {})
      ? forms.renderExportForm({ ...form, ...withDefaultOps(form) })
      : undefined;
  },
};

const chooseOp: Action = {
  id: 'event-logs:filter-op',
  needs: 'export',
  redraw: async (_, context) => forms.renderExportForm(createFormFor(context.modal)),
};

/** Buttons and menus that change the open form. */
export const formActions: readonly Action[] = [chooseWindow, addFilter, removeFilter, chooseField, chooseOp];
