import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { type EventLogFilter, endsTooEarly, findOldestEnd } from '../../api/event-logs.ts';
import { UserError } from '../../errors.ts';
import { toNameKey, trimZeros } from '../../lib/names.ts';
import { hourMs, minuteMs } from '../../lib/time.ts';
import { findSecretKinds } from '../../secrets/scanner.ts';
import { type FormResult, say } from '../../views/blocks/blocks.ts';
import { renderSkeleton } from '../../views/blocks/inputs.ts';
import { formatCode } from '../../views/blocks/text.ts';
import * as views from '../../views/exports/exports.ts';
import * as forms from '../../views/exports/form.ts';
import type { Action, Command, Context, Feature, Fields, Form, ReadResult } from '../define.ts';
import { rememberUse } from '../names.ts';
import { assertAdminFor } from '../operations/propose.ts';
import { createPeriodError, splitPeriod } from '../periods.ts';
import { assertMayPost, findPlace, splitTarget } from '../share.ts';
import { toWords, type Words } from '../words.ts';
import { quoteNames } from '../zones/lookup.ts';

const mostListed = 10;
const opening = renderSkeleton(forms.title, 'Opening the form…');

const exportCommand: Command = {
  name: 'export',
  aliases: ['exports', 'events'],
  usage: 'export [<shieldZoneId>] [last 6h | 2026-11-20 10:00..12:00] [in #channel] | export list',
  summary: 'Events of a shield zone as CSV: into a channel or to yourself; `list` shows yours, to cancel one',
  label: 'Export events',
  examples: ['export 501 last 6h in #ops', 'export 501 2026-11-20 10:00..12:00', 'export list'],
  needs: 'export',
  modal: (words) => (isList(words) ? undefined : opening),
  load: async (words, context) => forms.renderExportForm(await fillForm(words, context)),
  async run(_words, { exports, person, now }) {
    return views.renderExportList(await exports.list(person, mostListed), now());
  },
};

function isList({ list }: Words): boolean {
  return ['list', 'mine', 'running'].includes(list[0]?.toLowerCase() ?? '');
}

/** From typed words: `501 last 6h in #ops`. Unreadable parts keep their default, and the form says why. */
async function fillForm(words: Words, context: Context): Promise<forms.ExportForm> {
  const { words: line, target } = splitTarget(putPlaceLast(words)) ?? { words, target: undefined };
  const known = await context.names.known(context.person, 'shield');
  const called = new Set(known.map(({ name = '' }) => toNameKey(name)));
  const typed = toWords(
    line.raw,
    quoteNames(line.tokens, (text) => called.has(toNameKey(text))),
  );
  const form = await createForm(context, '');
  const clock = { now: context.now(), timeZone: form.timeZone ?? 'UTC' };
  const problems: string[] = [];
  const note = (error: unknown): undefined => {
    if (!(error instanceof UserError)) throw error;
    problems.push(`${error.message} ${error.hint ?? ''}`.trim());
  };
  let read: ReturnType<typeof splitPeriod> | undefined;
  try {
    read = splitPeriod(typed, clock);
  } catch (error) {
    note(error);
  }
  const subject = (read?.subject ?? typed.list).filter(
    (word) => !/^(?:events?|logs?|shield|security|zone|the|of|for|from)$/iu.test(word),
  );
  const zone = await findZone(subject, context);
  const unread = read ? zone.unread.join(' ') : '';
  if (unread !== '' && zone.id !== '') note(createPeriodError(typed.list.slice(1).join(' '), clock));
  else if (unread !== '')
    problems.push(
      `I don’t know a shield zone ${formatCode(unread, 60)}. Type its number, or give it a name first: \`/cdn name shield 501 checkout\`.`,
    );
  let window: Window | undefined;
  if (read?.period && unread === '') {
    const { from, to, isSwapped } = read.period;
    const typedWindow = { from: new Date(from), to: new Date(Math.min(to, toMinute(clock.now))) };
    // Where a typed window begins is the CDN's to refuse.
    if (typedWindow.to <= findOldestEnd(clock.now)) problems.push(lastDayInstead);
    else {
      window = typedWindow;
      if (isSwapped) problems.push('The window you typed ended before it began: start and end were swapped.');
    }
  }
  const place = target && (await findPlace(target.channel, context).catch(note));
  return {
    ...form,
    ...window,
    shieldZoneId: zone.id,
    channel: place?.channel,
    problem: problems.join('\n') || undefined,
  };
}

/** `last hour in #ops 7001` → `last hour 7001 in #ops` */
function putPlaceLast({ raw, tokens }: Words): Words {
  const at = tokens.findIndex(
    ({ typed }, nth) => /^(?:in|to)$/iu.test(typed) && /^<?#/u.test(tokens[nth + 1]?.typed ?? ''),
  );
  const place = at < 0 ? [] : tokens.slice(at, at + 2);
  return toWords(raw, [...tokens.filter((token) => !place.includes(token)), ...place]);
}

/** By id or name; `unread`: the words that are not part of it. */
async function findZone(
  words: readonly string[],
  { names, person }: Context,
): Promise<{ readonly id: string; readonly unread: readonly string[] }> {
  const [first = '', ...unread] = words;
  const id = await names.resolve(person, 'shield', first.replace(/^#(?=\d+$)/u, ''));
  return /^\d+$/u.test(id) ? { id, unread } : { id: '', unread: words };
}

async function createForm({ person, people, now }: Context, shieldZoneId: string): Promise<forms.ExportForm> {
  const profile = await people.profile(person.userId);
  return {
    shieldZoneId,
    ...defaultWindow(now()),
    query: '',
    filters: '',
    channel: undefined,
    spreadsheetSafe: false,
    pseudonyms: false,
    timeZone: profile?.timeZone,
    drawn: 0,
  };
}

const form: Form = {
  id: 'event-logs:submit',
  needs: 'export',
  loadingView: renderSkeleton(forms.title, 'Starting the export…', 'event-logs:busy'),
  again: () => ['help:run', 'export'],
  read: readExport,
  async run(values, context): Promise<FormResult> {
    const { request, channel } = values as AskedExport;
    await start(request, channel, context);
    return forms.exportStarted(views.renderStarted(channel));
  },
};

async function start(
  request: views.ExportRequest,
  channel: AskedExport['channel'],
  context: Context,
): Promise<void> {
  await assertMayPost('export', channel, context);
  if (findSecretKinds(JSON.stringify(request)).length > 0)
    throw new UserError(
      'What you typed contains a key or token that is in use, so nothing was posted. The CDN was not asked.',
      'Fill in the form again without it: `/cdn export`.',
    );
  if (channel !== undefined && !(await context.sharing.hasBot(channel)))
    throw new UserError(
      `The bot is not in <#${channel}>, so it cannot post there. The CDN was not asked.`,
      'Invite it: type `/invite @cdn` in that channel, then send the form again.',
    );
  // Else it would fail a moment later, in the channel.
  await context.cdn();
  await context.exports.ask(context.person, request, channel);
  await rememberUse('shield', request.shieldZoneId, context);
}

async function findPressed(id: string, { exports, person }: Context): Promise<views.ExportSummary> {
  const one = await exports.find(person, id);
  if (one) return one;
  throw new UserError('This export is no longer stored.', 'Fill in the form again.', [
    { label: 'Export events', types: 'export' },
  ]);
}

/** The filled form, with the window as far as the CDN has it. */
const change: Action = {
  id: 'event-logs:change',
  needs: 'export',
  modal: () => opening,
  async load(value, context) {
    const { request, channel } = await findPressed(value, context);
    const form = await createForm(context, request.shieldZoneId);
    return forms.renderExportForm({
      ...form,
      ...request,
      ...correctWindow(request, context.now()),
      filters: writeFilters(request.filters),
      channel,
    });
  },
};

const cancel: Action = {
  id: 'event-logs:cancel',
  needs: 'none',
  newMessage: true,
  async run(id, context) {
    const one = await findPressed(id, context);
    const what = `only <@${one.userId}>, who started this export, and admins can cancel it.`;
    if (one.userId !== context.person.userId) await assertAdminFor(what, '', context);
    switch (await context.exports.cancel(context.person, id)) {
      case 'cancelled':
        return say('The export was cancelled; nothing was posted.');
      case 'late':
        return say('Too late: the file is being posted.');
      case 'over':
        return say('This export has already ended.');
    }
  },
};

type Window = { readonly from: Date; readonly to: Date };

interface AskedExport {
  readonly request: views.ExportRequest;
  /** undefined = only the person. */
  readonly channel: string | undefined;
}

function readExport(fields: Fields, now: Date): ReadResult {
  const errors: Record<string, string> = {};
  const wrong = (field: string, message: string): void => {
    errors[field] ??= message;
  };
  const form = readForm(fields);
  const { shieldZoneId } = form;
  if (!/^\d{1,10}$/u.test(shieldZoneId) || Number(shieldZoneId) > 2_147_483_647 || Number(shieldZoneId) < 1)
    wrong('shieldZoneId', 'A shield zone ID is a whole number, such as 501.');
  if (!form.from) wrong('from', 'Choose when the window begins.');
  if (!form.to) wrong('to', 'Choose when the window ends.');
  if (form.from && form.to)
    for (const problem of findWindowProblem(form.from, form.to, now)) wrong('to', problem);
  if (form.channel !== undefined && !/^[CG][A-Z0-9]+$/u.test(form.channel))
    wrong('channel', 'Choose a channel, or leave it empty to get the file yourself.');
  const filters = normalize(form.filters)
    .split('\n')
    .flatMap((line, nth) => {
      const filter = line.trim() === '' ? [] : readLine(line.trim());
      if (typeof filter === 'string') wrong('filters', `Line ${nth + 1}: ${filter}.`);
      return typeof filter === 'string' ? [] : filter;
    });
  // The form must be able to hold them again.
  if (writeFilters(filters).length > 3000) wrong('filters', 'Too many values for one export.');
  if (Object.keys(errors).length > 0 || !form.from || !form.to) return { errors };
  const { from, to, channel, query, pseudonyms, spreadsheetSafe } = form;
  // A window that ends now may be ahead of the bot's clock.
  const window = { from, to: to > now ? now : to };
  const request = { shieldZoneId, ...window, query, filters, pseudonyms, spreadsheetSafe };
  return { values: { request, channel } satisfies AskedExport };
}

function findWindowProblem(from: Date, to: Date, now: Date): string[] {
  if (to <= from) return ['The end must be after the start.'];
  if (to.getTime() > now.getTime() + minuteMs) return ['The window ends in the future.'];
  // Leaves a person five minutes beyond the margin of the buttons.
  return to >= findOldestEnd(now, 5 * minuteMs) ? [] : [`${endsTooEarly} Choose a later end.`];
}

function readForm(fields: Fields, metadata = '{}'): forms.ExportForm {
  const { zone, drawn } = note.parse(JSON.parse(metadata));
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value.trim() : '';
  };
  const isOn = (name: string): boolean => {
    const value = fields[name];
    return value !== undefined && value.length > 0;
  };
  return {
    shieldZoneId: trimZeros(text('shieldZoneId').replace(/^#/u, '')),
    from: momentOf(text('from')),
    to: momentOf(text('to')),
    query: text('query'),
    filters: text('filters'),
    channel: text('channel') || undefined,
    spreadsheetSafe: isOn('spreadsheetSafe'),
    pseudonyms: isOn('pseudonyms'),
    timeZone: zone,
    drawn,
  };
}

/** Date-time pickers return seconds. */
function momentOf(text: string): Date | undefined {
  return /^\d{9,11}$/u.test(text) ? new Date(Number(text) * 1000) : undefined;
}

const note = z.object({ zone: z.string().optional(), drawn: z.number().int().nonnegative().default(0) });

const windowAction: Action = {
  id: 'event-logs:window',
  needs: 'export',
  async redraw(value, { modal, now }) {
    const form = readForm(modal?.fields ?? {}, modal?.metadata);
    return forms.renderExportForm({ ...form, ...chooseWindow(value, now()), drawn: form.drawn + 1 });
  },
};

/** As far as the CDN has them. Date-time pickers have whole minutes. */
export function chooseWindow(value: string, now: Date): Window {
  const to = new Date(toMinute(now));
  const from = to.getTime() - (Number.parseInt(value, 10) || 24) * hourMs;
  return { from: new Date(Math.max(from, findOldestEnd(now).getTime())), to };
}

const toMinute = (at: Date): number => Math.floor(at.getTime() / minuteMs) * minuteMs;

const defaultWindow = (now: Date): Window => chooseWindow('24h', now);

const lastDayInstead = `${endsTooEarly} The form now has the last 24 hours.`;

/** With a note where the window had to change. */
function correctWindow(window: Window, now: Date): Window & { readonly problem?: string } {
  if (window.to <= findOldestEnd(now)) return { ...defaultWindow(now), problem: lastDayInstead };
  // The CDN's clock may differ.
  const oldest = findOldestEnd(now, hourMs);
  if (window.from >= oldest || window.to <= oldest) return window;
  return { ...window, from: oldest, problem: 'The CDN keeps only 72 hours, so this window begins later.' };
}

function writeFilters(filters: readonly EventLogFilter[]): string {
  return filters.map(({ field, op, value }) => `${field} ${op} ${joinValues(value)}`).join('\n');
}

/** `country in DE, FR`, also `country: DE` or `country is DE`. */
function readLine(line: string): EventLogFilter | string {
  const [, name = '', , rest = ''] = /^([^\s:=]+)(\s+is\b|\s*[:=])?\s*(.*)$/iu.exec(line) ?? [line, line];
  const field = forms.filterFields.find((one) => one.toLowerCase() === name.toLowerCase());
  if (field === undefined) return `“${name.slice(0, 30)}” is not a field`;
  const [word = ''] = rest.split(' ', 1);
  const op = forms.filterOps.find((one) => one === word.toLowerCase());
  const usual = field === 'url' || field === 'ua' ? 'contains' : 'in';
  return readFilter(field, op ?? usual, op ? rest.slice(op.length) : rest);
}

/** What phones and pasting leave in a text. */
function normalize(typed: string): string {
  return typed
    .replaceAll(/[\u200B-\u200F\u2060\uFEFF]/gu, '')
    .replaceAll(/\r\n|[\r\u2028\u2029]/gu, '\n')
    .replaceAll(/[\u00A0\u2000-\u200A\u202F]/gu, ' ');
}

/** Values are separated by commas and may be quoted. Returns a sentence if they cannot be read. */
export function readFilter(field: string, op: string, typed: string): EventLogFilter | string {
  const value = readValues(normalize(typed).trim());
  if (typeof value === 'string') return value;
  const isCountry = field === 'country' && (op === 'eq' || op === 'in');
  return { field, op, value: isCountry ? value.map((one) => one.toUpperCase()) : value };
}

function readValues(text: string): string[] | string {
  const straight = text.replaceAll(/[“”„]/gu, '"');
  try {
    const [values = []] = parse(straight, { trim: true, relax_quotes: true, to: 1 });
    return values.length === 0 || values.includes('')
      ? 'a value is missing, as in country in DE, FR'
      : values;
  } catch {
    return 'a quote is not closed; inside a value, double it: "a ""b"""';
  }
}

/** Text that `readFilter` reads as the same values. */
export function joinValues(values: readonly string[]): string {
  const quoted = values.map((value) =>
    /^\s|[",“”„\n]|\s$/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value,
  );
  return quoted.join(', ');
}

export const exportFeature: Feature = {
  name: 'event-logs',
  commands: [exportCommand],
  actions: [windowAction, change, cancel],
  forms: [form],
};
