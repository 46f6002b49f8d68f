import { type EventSubject, eventSubjects } from '../../commands/exports/csv/columns.ts';
import type { ExportRequest, ExportSummary } from '../../commands/exports/model.ts';
import type { TopValues } from '../../commands/exports/stats/counts.ts';
import type { EventStats } from '../../commands/exports/stats/event-stats.ts';
import type { EventSummary } from '../../commands/exports/stats/summary.ts';
import type { GatheredFile, GatheredLog } from '../../commands/exports/worker/gather.ts';
import { minuteMs, toUtcDay } from '../../lib/time.ts';
import type { Attachment, MessageBlock, Spooled } from '../blocks/blocks.ts';
import { renderChart } from '../blocks/chart.ts';
import { formatBytes, formatInteger, formatShortMoments, pluralize } from '../blocks/format.ts';
import { formatCode, join, truncateLines } from '../blocks/text.ts';
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
  const { rows, untimed } = figures;
  const lines = [
    describeWindow(one),
    untimed > 0 &&
      untimed < rows &&
      `${pluralize(untimed, 'event')} ${untimed === 1 ? 'has' : 'have'} no time that can be read: not in the chart.`,
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

/** Events in up to thirteen equal buckets; nothing if no time can be read. Hours are UTC, as in the log. */
export function renderEventChart({ bars, worstHour }: EventSummary, rows: number): MessageBlock[] {
  if (!bars) return [];
  const starts = bars.counts.map((_, nth) => bars.from + nth * bars.minutes * minuteMs);
  const labels = formatShortMoments(starts);
  const isOneDay = new Set(starts.map((at) => toUtcDay(new Date(at)))).size === 1;
  // The second moment decides how the first is told: not midnight, so by its time; in 1970, so by its day too.
  const worst = worstHour?.from ?? 0;
  const [from] = formatShortMoments([worst, isOneDay ? worst + minuteMs : minuteMs]);
  const title = worstHour
    ? `${formatInteger(worstHour.count)} in the worst hour, from ${from} UTC`
    : pluralize(rows, 'event');
  const series = [{ name: 'events', values: bars.counts }];
  return renderChart({
    kind: 'bar',
    title,
    unit: `Events each ${nameBucket(bars.minutes)}, UTC`,
    labels,
    series,
  });
}

function nameBucket(minutes: number): string {
  if (minutes < 60) return minutes === 30 ? 'half hour' : `${minutes} minutes`;
  return minutes === 60
    ? 'hour'
    : minutes % 1440 === 0
      ? pluralize(minutes / 1440, 'day')
      : `${minutes / 60} hours`;
}
