import type { Button } from '@slack/types';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatBytes, formatInteger, formatSpan, formatUtc, pluralize } from '../blocks/format.ts';
import { escapeMrkdwn, formatCode, join, truncateLines } from '../blocks/text.ts';

/** The requested part of a shield zone's event log, and the form of its files. */
export interface ExportRequest {
  readonly shieldZoneId: string;
  readonly from: Date;
  readonly to: Date;
  readonly query: string;
  readonly filters: readonly EventFilter[];
  /** Adds a copy in which no cell runs as a formula. */
  readonly spreadsheetSafe: boolean;
  /** Replaces IP addresses; the raw file is not sent. */
  readonly pseudonyms: boolean;
}

export interface EventFilter {
  readonly field: string;
  readonly op: string;
  readonly value: readonly string[];
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

/** An export as lists and messages show it. */
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
  readonly endedAt: Date | undefined;
  readonly filesDeletedAt: Date | undefined;
}

export type Phase = 'starting' | 'reading' | 'sending' | 'sharing';

interface Progress {
  readonly phase: Phase;
  readonly rows: number;
  readonly bytes: number;
  /** Bytes of the whole step, if known. */
  readonly of?: number | undefined;
  readonly elapsedMs: number;
  /** From 1 on. */
  readonly attempt: number;
}

const phases: Readonly<Record<Phase, string>> = {
  starting: 'Asking the CDN',
  reading: 'Downloading from the CDN',
  sending: 'Uploading to Slack',
  sharing: 'Posting',
};

/** The export's message while it is under way. */
export function renderProgress(one: ExportSummary, progress: Progress): Message {
  const { phase, rows, of, elapsedMs, attempt } = progress;
  const much =
    of === undefined ? formatBytes(progress.bytes) : `${formatBytes(progress.bytes)} of ${formatBytes(of)}`;
  const parts = [
    phases[phase],
    progress.bytes > 0 && much,
    rows > 0 && pluralize(rows, 'event'),
    formatElapsed(elapsedMs),
    attempt > 1 && `attempt ${attempt}`,
  ];
  return renderUnderWay(one, join(parts, ' · '), phase !== 'sharing');
}

/** The export waits for a restart, or for a pause to end. */
export function renderWaiting(one: ExportSummary, why: string): Message {
  return renderUnderWay(one, why, true);
}

function renderUnderWay(one: ExportSummary, text: string, canCancel: boolean): Message {
  const zone = one.request.shieldZoneId;
  return message(`Exporting events of shield zone ${zone}`, [
    section([
      `*Export of shield zone ${escapeMrkdwn(zone, 20)}* by <@${one.userId}>`,
      `:hourglass_flowing_sand: ${text}`,
    ]),
    context(describeRequest(one)),
    canCancel && actions(cancelButton(one.id)),
  ]);
}

function cancelButton(id: string, nth = 0, label = 'Cancel'): Button {
  return button(label, `event-logs:cancel:${nth}`, id, { style: 'danger' });
}

/** `18 Nov 10:00 to 12:00 UTC` with search and filters. UTC is the clock of the file, and the same for every reader. */
export function describeRequest({ request }: Pick<ExportSummary, 'request'>): string {
  return `${formatSpan(request.from, request.to)} · ${describeFilters(request.query, request.filters)}`;
}

export function describeFilters(query: string, filters: readonly EventFilter[]): string {
  const parts = filters.map(describeFilter);
  if (query !== '') parts.unshift(`“${escapeMrkdwn(query, 100)}”`);
  return parts.length === 0 ? 'everything' : truncateLines(parts, 500, ' and ');
}

const opWords: Readonly<Record<string, string>> = {
  eq: 'is',
  in: 'is',
  contains: 'contains',
  cidr: 'in',
  wildcard: 'like',
};

function describeFilter({ field, op, value }: EventFilter): string {
  const relation = Object.hasOwn(opWords, op) ? opWords[op] : escapeMrkdwn(op, 30);
  const values = value.map((one) => formatCode(one, 60));
  return `${escapeMrkdwn(field, 30)} ${relation} ${truncateLines(values, 300, ' or ')}`;
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

// Slack's desktop client shows five elements a row; each export has *Cancel* in its own message too.
const mostCancels = 4;

/** A person's exports, newest first. */
export function renderExportList(exports: readonly ExportSummary[], now: Date): Message {
  if (exports.length === 0) {
    const offer = actions(commandButton('Export events', 'export'));
    return say('You have no exports in the last 7 days.', offer);
  }
  const running = exports.filter(({ canCancel }) => canCancel);
  const text = `${pluralize(exports.length, 'export')}, ${running.length === 0 ? 'none' : formatInteger(running.length)} under way`;
  return message(text, [
    section(`*${text}*`),
    section(exports.map(describeListed)),
    actions(
      commandButton('Export events', 'export', 0, { style: 'primary' }),
      ...running
        .slice(0, mostCancels)
        .map(({ id, request }, nth) => cancelButton(id, nth, `Cancel ${request.shieldZoneId}`)),
    ),
    context(`as of ${formatUtc(now)}`),
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

/** The answer to the submitted form. */
export function renderStarted(channel: string | undefined, warnings: readonly string[]): Message {
  const where =
    channel === undefined
      ? 'You get the progress and the file as a direct message from this app.'
      : `Progress and file are posted in <#${channel}>.`;
  const unusual = warnings.map((warning) => `:warning: In the filters, ${escapeMrkdwn(warning, 200)}.`);
  const text = `Export started. ${where}`;
  return message(text, [
    section(`:white_check_mark: ${text}`),
    unusual.length > 0 &&
      section([truncateLines(unusual, 2000), 'It was sent as you typed it; the CDN may reject it.']),
    actions(commandButton('My exports', 'export list')),
  ]);
}

/** `12 s`, `3 min 5 s`. */
function formatElapsed(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
