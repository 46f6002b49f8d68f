import type { Button } from '@slack/types';
import type { EventLogFilter } from '../../api/event-logs.ts';
import { type ExportState, type ExportSummary, isUnderWay } from '../../commands/exports/model.ts';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatBytes, formatInteger, formatMoment, formatSpan, pluralize } from '../blocks/format.ts';
import { renderTable } from '../blocks/table.ts';
import { escapeMrkdwn, formatCode, join, truncateLines } from '../blocks/text.ts';

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
  reading: 'Reading from the CDN',
  sending: 'Sending to Slack',
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
    context(describeWindow(one)),
    canCancel && actions(cancelButton(one.id)),
  ]);
}

function cancelButton(id: string, nth = 0, label = 'Cancel'): Button {
  return button(label, `event-logs:cancel:${nth}`, id, { style: 'danger' });
}

/** `18 Nov 10:00 to 18 Nov 12:00` in the reader's time zone, with search and filters. */
export function describeWindow({ request }: Pick<ExportSummary, 'request'>): string {
  return `${formatMoment(request.from)} to ${formatMoment(request.to)} · ${describeFilters(request.query, request.filters)}`;
}

export function describeFilters(query: string, filters: readonly EventLogFilter[]): string {
  const parts = filters.map(filterInWords);
  if (query !== '') parts.unshift(`“${escapeMrkdwn(query, 100)}”`);
  return parts.length === 0 ? 'everything' : truncateLines(parts, 500, ' and ');
}

const opInWords: Readonly<Record<string, string>> = {
  eq: 'is',
  in: 'is',
  contains: 'contains',
  cidr: 'in',
  wildcard: 'like',
};

function filterInWords({ field, op, value }: EventLogFilter): string {
  const says = Object.hasOwn(opInWords, op) ? opInWords[op] : escapeMrkdwn(op, 30);
  const values = value.map((one) => formatCode(one, 60));
  return `${escapeMrkdwn(field, 30)} ${says} ${truncateLines(values, 300, ' or ')}`;
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
    return say('You have no exports of the last days.', offer);
  }
  const running = exports.filter(({ state }) => isUnderWay(state));
  const text = `${pluralize(exports.length, 'export')}, ${running.length === 0 ? 'none' : formatInteger(running.length)} under way`;
  return message(text, [
    section(`*${text}*`),
    ...renderTable({
      caption: 'Your exports, newest first',
      columns: ['Shield zone', 'State', 'Events', 'Window', 'Where', 'Asked'],
      rows: exports.map((one) => [
        one.request.shieldZoneId,
        `${stateWords[one.state]}${one.filesDeletedAt ? ', files deleted' : ''}`,
        { number: one.rows, text: formatInteger(one.rows) },
        formatSpan(one.request.from, one.request.to),
        { parts: [one.channel === undefined ? 'you' : { channel: one.channel }] },
        { at: one.askedAt },
      ]),
    }),
    actions(
      commandButton('Export events', 'export', 0, { style: 'primary' }),
      ...running
        .slice(0, mostCancels)
        .map(({ id, request }, nth) => cancelButton(id, nth, `Cancel ${request.shieldZoneId}`)),
    ),
    context(`as of ${formatMoment(now)}`),
  ]);
}

/** The answer to the submitted form. */
export function renderStarted(channel: string | undefined, warnings: readonly string[]): Message {
  const where =
    channel === undefined
      ? 'The progress and the file come to you as a direct message from this app.'
      : `The progress and the file come into <#${channel}>.`;
  const unusual = warnings.map((warning) => `:warning: In the filters, ${escapeMrkdwn(warning, 200)}.`);
  const text = `The export has started. ${where}`;
  return message(text, [
    section(`:white_check_mark: ${text}`),
    unusual.length > 0 &&
      section([truncateLines(unusual, 2000), 'It is sent as you typed it; the CDN may refuse it.']),
    actions(commandButton('My exports', 'export list')),
  ]);
}

/** `12 s`, `3 min 5 s`. */
function formatElapsed(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
