import type { Button, KnownBlock } from '@slack/types';
import type { EventLogFilter } from '../../api/event-logs.ts';
import { minuteMs } from '../../lib/time.ts';
import {
  actions,
  context,
  type Message,
  type MessageBlock,
  message,
  say,
  section,
} from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { renderChart } from '../blocks/chart.ts';
import { type Failure, renderFailure } from '../blocks/failure.ts';
import {
  agree,
  formatBytes,
  formatCount,
  formatDuration,
  formatInteger,
  formatPeriod,
  formatShortMoments,
  formatSpan,
  formatUtc,
  pluralize,
} from '../blocks/format.ts';
import { renderPage } from '../blocks/table.ts';
import { escapeMrkdwn, formatCode, join, truncateLines, unbold } from '../blocks/text.ts';

export interface ExportRequest {
  readonly shieldZoneId: string;
  readonly from: Date;
  readonly to: Date;
  readonly query: string;
  readonly filters: readonly EventLogFilter[];
  readonly spreadsheetSafe: boolean;
  /** The raw file is not sent. */
  readonly pseudonyms: boolean;
}

export type ExportState =
  | 'asked'
  | 'waiting'
  | 'running'
  | 'sharing'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'unknown';

export interface ExportSummary {
  readonly id: string;
  readonly userId: string;
  /** undefined = the person's direct messages. */
  readonly channel: string | undefined;
  readonly request: ExportRequest;
  readonly state: ExportState;
  readonly canCancel: boolean;
  readonly rows: number;
  readonly bytes: number;
  readonly askedAt: Date;
  readonly filesDeletedAt: Date | undefined;
}

type Phase = 'starting' | 'reading' | 'sending';

interface Progress {
  readonly phase: Phase;
  readonly rows: number;
  readonly bytes: number;
  /** Of the whole step, if known. */
  readonly of?: number | undefined;
  readonly elapsedMs: number;
  readonly attempt: number;
}

const phases: Readonly<Record<Phase, string>> = {
  starting: 'Asking the CDN',
  reading: 'Downloading from the CDN',
  sending: 'Uploading to Slack',
};

export function renderProgress(one: ExportSummary, progress: Progress): Message {
  const { phase, rows, of, elapsedMs, attempt } = progress;
  const much =
    of === undefined ? formatBytes(progress.bytes) : `${formatBytes(progress.bytes)} of ${formatBytes(of)}`;
  const parts = [
    phases[phase],
    progress.bytes > 0 && much,
    rows > 0 && pluralize(rows, 'event'),
    formatDuration(elapsedMs),
    attempt > 1 && `attempt ${attempt}`,
  ];
  return renderUnderWay(one, join(parts, ' · '));
}

/** `text`: what it does or waits for. */
export function renderUnderWay(one: ExportSummary, text = phases.starting): Message {
  const zone = one.request.shieldZoneId;
  return message(`Exporting events of shield zone ${zone}`, [
    section([
      `*Export of shield zone ${escapeMrkdwn(zone, 20)}* by <@${one.userId}>`,
      `:hourglass_flowing_sand: ${text}`,
    ]),
    context(describeRequest(one)),
    actions(cancelButton(one.id)),
  ]);
}

function cancelButton(id: string, nth = 0, label = 'Cancel'): Button {
  return button(label, `event-logs:cancel:${nth}`, id, { style: 'danger' });
}

/** `18 Nov 10:00 to 12:00 UTC`: the clock of the file, and the same for every reader. */
function describeRequest({ request }: Pick<ExportSummary, 'request'>): string {
  return `${formatSpan(request.from, request.to)} · ${describeFilters(request.query, request.filters)}`;
}

function describeFilters(query: string, filters: readonly EventLogFilter[]): string {
  const parts = filters.map(describeFilter);
  if (query !== '') parts.unshift(`“${escapeMrkdwn(query, 100)}”`);
  return parts.length === 0 ? 'everything' : truncateLines(parts, 500, ' and ');
}

function describeFilter({ field, op, value }: EventLogFilter): string {
  const values = truncateLines(
    value.map((one) => formatCode(one, 60)),
    300,
    ', ',
  );
  return `${escapeMrkdwn(field, 30)} ${escapeMrkdwn(op, 30)} ${values}`;
}

const stateWords: Readonly<Record<ExportState, string>> = {
  asked: 'starting',
  waiting: 'waiting',
  running: 'running',
  sharing: 'being posted',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
  unknown: 'may have been posted',
};

// Slack's desktop client shows five elements in a row.
const mostCancels = 4;

export function renderExportList(exports: readonly ExportSummary[], now: Date): Message {
  if (exports.length === 0) {
    const offer = actions(commandButton('Export events', 'export'));
    return say('You have no exports in the last 7 days.', offer);
  }
  const running = exports.filter(({ canCancel }) => canCancel);
  const text = `${pluralize(exports.length, 'export')}, ${running.length === 0 ? 'none' : formatInteger(running.length)} under way`;
  return message(text, [
    section(`*${text}*`),
    ...renderPage(exports.map(describeListed)).picture,
    actions(
      commandButton('Export events', 'export', 0, { style: 'primary' }),
      ...running
        .slice(0, mostCancels)
        .map(({ id, request }, nth) => cancelButton(id, nth, `Cancel ${request.shieldZoneId}`)),
    ),
    context(`as of ${formatUtc(now).slice(11)}`),
  ]);
}

/** `• *501* 20 Nov 10:00 to 12:00 UTC: done, 1,234 events, in #ops` */
function describeListed({ request, state, rows, channel, filesDeletedAt }: ExportSummary): string {
  const facts = [
    stateWords[state],
    rows > 0 && pluralize(rows, 'event'),
    channel === undefined ? 'to you' : `in <#${channel}>`,
    filesDeletedAt && 'files deleted',
  ];
  const zone = escapeMrkdwn(request.shieldZoneId, 20);
  return `• *${zone}* ${formatSpan(request.from, request.to)}: ${join(facts, ', ')}`;
}

export function renderStarted(channel: string | undefined): Message {
  const where =
    channel === undefined
      ? 'You get the progress and the file as a direct message from this app.'
      : `Progress and file are posted in <#${channel}>.`;
  const text = `Export started. ${where}`;
  return message(text, [
    section(`:white_check_mark: ${text}`),
    actions(commandButton('My exports', 'export list')),
  ]);
}

interface Done {
  readonly kind: 'done';
  readonly files: number;
  readonly summary?: EventSummary | undefined;
  readonly unread?: UnreadReason | undefined;
}

/** As stored, for the message of the export. */
export type ExportOutcome =
  | Done
  | { readonly kind: 'unknown' }
  | { readonly kind: 'cancelled'; readonly by: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

export function renderOutcome(one: ExportSummary, outcome: ExportOutcome): Message {
  switch (outcome.kind) {
    case 'done':
      return renderDone(one, outcome);
    case 'unknown':
      return renderUnknown(one);
    case 'cancelled':
      return renderCancelled(one, outcome.by);
    case 'failed':
      return renderFailed(one, outcome.failure);
  }
}

function renderDone(one: ExportSummary, { files, summary, unread }: Done): Message {
  if (files === 0) {
    const text = `No events of ${zoneOf(one)} match, so there is no file.`;
    return message(text, [
      section(`:white_check_mark: ${text}`),
      renderAskedBy(one),
      actions(changeButton(one)),
    ]);
  }
  const { query, filters, from, to } = one.request;
  const conditions = filters.length + (query === '' ? 0 : 1);
  const shown = describeFilters(query, filters);
  // Without a known header the first row may be an event.
  const counted = pluralize(one.rows, unread === undefined || unread === 'large' ? 'event' : 'row');
  const text = `*${counted}* of ${zoneOf(one)}, ${formatSpan(from, to)}`;
  return message(unbold(text), [
    section([
      `:white_check_mark: ${text}`,
      summary && describeEvents(summary),
      unread && unreadWords[unread],
    ]),
    ...(summary ? renderEventChart(summary) : []),
    context([
      `For <@${one.userId}>`,
      // The second message has long ones.
      conditions > 0 && (shown.length <= 60 ? shown : formatCount(conditions, 'filter')),
      files === 1 ? 'the file is below' : `the ${formatCount(files, 'file')} are below`,
    ]),
  ]);
}

const unreadWords: Readonly<Record<UnreadReason, string>> = {
  large: 'No summary: the file is larger than 32 MB.',
  'no-header': 'No summary: the first row is not a header I recognize. It is counted as a row.',
  'not-csv': 'No summary: the file cannot be read as CSV.',
  json: 'No summary: the CDN sent JSON instead of CSV. Each line is counted as a row.',
};

/** `70 blocked, 61 challenged · mostly BR, CN, FR` */
function describeEvents({ top: { action = [], country = [] } = {} }: EventSummary): string {
  const done = action
    .slice(0, mostValues)
    .map(([word, count]) => `${formatInteger(count)} ${escapeMrkdwn(word, 30)}`);
  const from = country.slice(0, mostValues).map(([word]) => escapeMrkdwn(word, 30));
  return join([done.join(', '), from.length > 0 && `mostly ${from.join(', ')}`], ' · ');
}

function zoneOf({ request }: ExportSummary): string {
  return `shield zone ${escapeMrkdwn(request.shieldZoneId, 20)}`;
}

function renderAskedBy(one: ExportSummary): KnownBlock {
  return context(`Requested by <@${one.userId}>. ${describeRequest(one)}`);
}

function renderCancelled(one: ExportSummary, by: string): Message {
  const who = by === 'system' ? 'Its owner left or disconnected their key.' : `Cancelled by <@${by}>.`;
  const text = `The export of ${zoneOf(one)} was stopped; nothing was posted.`;
  return message(text, [section(`:no_entry_sign: ${text}`), context(`${who} ${describeRequest(one)}`)]);
}

function renderUnknown(one: ExportSummary): Message {
  const place = one.channel === undefined ? 'your direct messages with this app' : `<#${one.channel}>`;
  const text = `The files of this export *may have been posted*: the connection to Slack broke while they were being posted.`;
  return message(`The export of shield zone ${one.request.shieldZoneId} may have been posted`, [
    section(
      `:grey_question: ${text}\nCheck ${place} for files of ${zoneOf(one)}. The bot does not retry, so nothing is posted twice.`,
    ),
    renderAskedBy(one),
    actions(changeButton(one, 'Not there: export again')),
  ]);
}

function renderFailed(one: ExportSummary, failed: Failure): Message {
  const failure = renderFailure(failed);
  return message(failure.text, [
    section(`*The export of ${zoneOf(one)} failed; nothing was posted.*`),
    ...(failure.blocks ?? []),
    renderAskedBy(one),
    actions(changeButton(one)),
  ]);
}

function changeButton({ id }: ExportSummary, label = 'Edit and export again'): Button {
  return button(label, 'event-logs:change:0', id);
}

/** Without the request, which holds a live secret. */
export function renderBlocked({ userId, state }: ExportSummary, reference?: string): Message {
  const held = renderFailure({
    message: `An export by <@${userId}> ended: ${stateWords[state]}. The rest of this message was held back: it would have shown a secret.`,
    hint: 'Send the reference below to the team that runs this bot.',
    reference,
  });
  return message(held.text, held.blocks ?? []);
}

export interface EventSummary {
  /** Equal buckets from `from` (epoch ms); absent if no time can be read. */
  readonly bars?:
    | { readonly from: number; readonly minutes: number; readonly counts: readonly number[] }
    | undefined;
  /** By column. Missing in rows of earlier versions. */
  readonly top?: { readonly [subject in EventSubject]?: readonly Count[] | undefined };
}

type Count = readonly [value: string, count: number];

export type UnreadReason = 'json' | 'large' | 'no-header' | 'not-csv';

export interface EventFigures extends Required<EventSummary> {
  /** Rows without a readable time in the window. */
  readonly untimed: number;
}

export type EventSubject = 'action' | 'country' | 'rule' | 'ip' | 'url';

// Messages are cut at 4,000 characters in places.
const longestComment = 3_500;
// Fits the screen of a phone.
const mostValues = 3;

/** `sha256`: of the first file. */
export function renderFileComment(
  one: ExportSummary,
  figures: EventFigures | undefined,
  sha256: string,
): string {
  const { pseudonyms, spreadsheetSafe } = one.request;
  const lines = [
    describeRequest(one),
    ...(figures ? describeFigures(figures, one.rows) : []),
    pseudonyms &&
      'IP addresses are replaced with pseudonyms, consistent within this export only. The raw file is not sent.',
    spreadsheetSafe
      ? 'The file ending in `-spreadsheet.csv` is safe to open in a spreadsheet; the other one is unchanged.'
      : 'Cells hold visitor input: to open the file in a spreadsheet, export with “Add a spreadsheet-safe copy”.',
  ];
  // Without the whole hash the file cannot be verified.
  const hash = `SHA-256 of ${pseudonyms ? 'the file' : 'the bytes the CDN sent'}: ${formatCode(sha256, 64)}`;
  return `${truncateLines(lines, longestComment - hash.length - 1)}\n${hash}`;
}

function describeFigures({ untimed, top }: EventFigures, rows: number): (string | false)[] {
  return [
    untimed > 0 &&
      untimed < rows &&
      `${pluralize(untimed, 'event has', 'events have')} no readable time and ${agree(untimed, 'is', 'are')} not in the chart.`,
    ...Object.entries(subjectWords).flatMap(([subject, word]) =>
      describeTop(subject as EventSubject, word, top[subject as EventSubject]),
    ),
  ];
}

const subjectWords: Readonly<Record<EventSubject, string>> = {
  action: 'Actions',
  country: 'Countries',
  rule: 'Rules',
  ip: 'IPs',
  url: 'URLs without queries',
};

function describeTop(subject: EventSubject, word: string, top: readonly Count[] = []): string[] {
  if (top.length === 0) return [];
  const counts = top
    .slice(0, mostValues)
    .map(([value, count]) => `${formatCode(value, 60)} ${formatInteger(count)}`);
  // A URL fills the line of a phone.
  return subject === 'url'
    ? [`*${word}*`, ...counts.map((line) => `• ${line}`)]
    : [`*${word}*: ${counts.join(' · ')}`];
}

/** Hours are UTC, as in the log. */
export function renderEventChart({ bars }: Pick<EventSummary, 'bars'>): MessageBlock[] {
  if (!bars) return [];
  const starts = bars.counts.map((_, nth) => bars.from + nth * bars.minutes * minuteMs);
  const labels = formatShortMoments(starts);
  const most = Math.max(...bars.counts);
  const peak = `${labels[bars.counts.indexOf(most)]}: ${formatCount(most, 'event')}`;
  const series = [{ name: 'events', values: bars.counts }];
  return renderChart({
    kind: 'bar',
    title: `Most at ${peak}`,
    unit: `Events per ${formatPeriod(bars.minutes)}, UTC`,
    labels,
    series,
  });
}
