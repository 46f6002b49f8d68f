import { type EventSubject, eventSubjects } from '../../exports/csv/columns.ts';
import type { ExportRequest, ExportSummary } from '../../exports/model.ts';
import type { TopValues } from '../../exports/stats/counts.ts';
import type { EventStats } from '../../exports/stats/event-stats.ts';
import type { GatheredFile, GatheredLog } from '../../exports/worker/gather.ts';
import type { Attachment, MessageBlock, Spooled } from '../blocks/blocks.ts';
import { renderChart, sumBuckets } from '../blocks/chart.ts';
import { formatBytes, formatInteger, formatMoment, formatShortMoments, pluralize } from '../blocks/format.ts';
import { escapeMrkdwn, formatCode, join, type Maybe, truncateLines } from '../blocks/text.ts';
import { describeWindow } from './exports.ts';

/** The files of one message, and the comment above them. */
export function createAttachments(
  one: ExportSummary,
  { files, parts, stats, sha256 }: GatheredLog<GatheredFile & { readonly spooled: Spooled }>,
): { readonly files: readonly Attachment[]; readonly comment: string; readonly bytes: number } {
  const named = files.map((file) => ({ ...file, name: fileName(one.request, file, parts) }));
  return {
    files: named.map(({ name, spooled }) => {
      return { name, title: name, mimetype: 'text/csv', content: { spooled } };
    }),
    comment: renderFileComment(one, stats, { files: named, sha256 }),
    bytes: files.reduce((sum, { length }) => sum + length, 0),
  };
}

/** `events-501-20261118T1000Z-20261118T1200Z-part1of3-spreadsheet.csv` */
function fileName({ shieldZoneId, from, to }: ExportRequest, { kind, part }: GatheredFile, parts: number) {
  const window = `events-${shieldZoneId}-${compact(from)}-${compact(to)}`;
  return `${join([window, parts > 1 && `part${part}of${parts}`, kind === 'safe' && 'spreadsheet'], '-')}.csv`;
}

function compact(at: Date): string {
  return `${at.toISOString().slice(0, 16).replaceAll(/[-:]/gu, '')}Z`;
}

type ReportedFile = Pick<GatheredFile, 'kind' | 'length' | 'sha256'> & { readonly name: string };

// Slack documents no limit for this comment; messages are cut at 4,000 characters in places.
const longestComment = 3_500;

/** The comment above the files, in mrkdwn. `sha256`: of the whole log. */
export function renderFileComment(
  one: ExportSummary,
  figures: EventStats,
  { files, sha256 }: { readonly files: readonly ReportedFile[]; readonly sha256: string },
): string {
  const { request } = one;
  const size = files.filter(({ kind }) => kind === 'raw').reduce((sum, { length }) => sum + length, 0);
  const lines = [
    `*${pluralize(figures.rows, 'event')}* of shield zone ${escapeMrkdwn(request.shieldZoneId, 20)}, ${formatBytes(size)}, for <@${one.userId}>`,
    describeWindow(one),
    ...peakLine(figures),
    figures.broken > 0 &&
      `:warning: ${pluralize(figures.broken, 'row')} not as CSV should be: ${figures.broken === 1 ? 'it is' : 'they are'} in the file as sent.`,
    ...eventSubjects.flatMap((subject) => topLine(subject, figures.top[subject])),
    request.pseudonyms &&
      'IP addresses are pseudonyms, the same one for the same address in this export only; the raw file is not sent.',
    request.spreadsheetSafe
      ? 'The file ending in `-spreadsheet.csv` is safe to open in a spreadsheet; the other one is not changed.'
      : 'Attackers write these cells, and a spreadsheet may run them: export with “Add a spreadsheet-safe copy” to open it in one.',
  ];
  // Hashes are never truncated: without them a file cannot be verified.
  const hashes = hashLines(files, sha256, request.pseudonyms).join('\n');
  return `${truncateLines(lines, longestComment - hashes.length - 1)}\n${hashes}`;
}

function hashLines(files: readonly ReportedFile[], whole: string, arePseudonyms: boolean): string[] {
  const raw = files.filter(({ kind }) => kind === 'raw');
  const [only] = raw;
  if (only && raw.length === 1) {
    const of = arePseudonyms ? 'of the file' : 'of the bytes the CDN sent';
    return [`SHA-256 ${of}: ${formatCode(only.sha256, 64)}`];
  }
  const of = arePseudonyms ? 'of the parts joined' : 'of the bytes the CDN sent, which are the parts joined';
  return [
    ...raw.map(
      ({ name, sha256, length }) =>
        `${formatCode(name, 80)} ${formatBytes(length)}, SHA-256 ${formatCode(sha256, 64)}`,
    ),
    `SHA-256 ${of}, with one header row: ${formatCode(whole, 64)}`,
  ];
}

const subjectWords: Readonly<Record<EventSubject, string>> = {
  action: 'Actions',
  country: 'Countries',
  rule: 'Rules',
  ip: 'IPs',
  url: 'URLs without queries',
};

function topLine(subject: EventSubject, top: TopValues | undefined): string[] {
  if (!top || top.words.length === 0) return [];
  const about = top.missed > 0 ? 'about ' : '';
  const words = top.words.map(
    ([word, times]) => `${formatCode(word, subject === 'url' ? 80 : 60)} ${about}${formatInteger(times)}`,
  );
  // On a phone a URL fills the line.
  return subject === 'url'
    ? [`*${subjectWords[subject]}*`, ...words.map((line) => `• ${line}`)]
    : [`*${subjectWords[subject]}*: ${words.join(' · ')}`];
}

/** The worst hour, and the events that the chart leaves out. */
function peakLine({ hours, rows, untimed }: EventStats): Maybe<string>[] {
  if (hours.length === 0) return [];
  const [start, most] = hours.reduce((highest, hour) => (hour[1] > highest[1] ? hour : highest));
  return [
    hours.length > 1 && `*${formatInteger(most)}* in the worst hour, from ${formatMoment(new Date(start))}`,
    untimed > 0 &&
      untimed < rows &&
      `${pluralize(untimed, 'event')} ${untimed === 1 ? 'has' : 'have'} no time that can be read: not in the chart.`,
  ];
}

// A chart holds twenty points.
const mostBars = 20;

/** Events by hour, or by several hours where there are more than twenty. Nothing if no time can be read. */
export function renderEventChart({ hours, rows }: Pick<EventStats, 'hours' | 'rows'>): MessageBlock[] {
  const size = Math.max(1, Math.ceil(hours.length / mostBars));
  const counts = hours.map(([, count]) => count);
  const starts = hours.filter((_, nth) => nth % size === 0).map(([start]) => start);
  return renderChart({
    kind: 'bar',
    title: `${pluralize(rows, 'event')} by hour (UTC)`,
    unit: size === 1 ? 'Events each hour' : `Events each ${size} hours`,
    labels: formatShortMoments(starts),
    series: [{ name: 'events', values: sumBuckets(counts, size) }],
  });
}
