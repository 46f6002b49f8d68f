import { minuteMs, toUtcDay } from '../../lib/time.ts';
import type { MessageBlock } from '../blocks/blocks.ts';
import { renderChart } from '../blocks/chart.ts';
import { formatDuration, formatInteger, formatShortMoments, pluralize } from '../blocks/format.ts';
import { formatCode, truncateLines } from '../blocks/text.ts';
import { describeRequest, type ExportSummary } from './exports.ts';

/** The events of an export, for its message. */
export interface EventSummary extends EventBars {
  readonly actions: readonly Count[];
  readonly countries: readonly Count[];
}

export interface EventBars {
  /** Events in equal buckets, without gaps, the first from this moment on (epoch ms); absent if no time can be read. */
  readonly bars?:
    | { readonly from: number; readonly minutes: number; readonly counts: readonly number[] }
    | undefined;
  /** The hour (UTC) with most events, if there are several. */
  readonly worstHour?: { readonly from: number; readonly count: number } | undefined;
}

type Count = readonly [value: string, count: number];

/** Why a file has no summary: it is too large for one, its columns are not known, or it is no CSV. */
export type UnreadReason = 'large' | 'no-header' | 'not-csv';

/** The counts of a whole file. */
export interface EventFigures extends EventBars {
  /** Rows with another number of cells than the header. */
  readonly broken: number;
  /** Rows without a readable time; 0 if there is no column for it. */
  readonly untimed: number;
  /** The most frequent values of each known column; empty cells are not counted. */
  readonly top: { readonly [subject in Subject]?: TopValues | undefined };
}

type Subject = 'action' | 'country' | 'rule' | 'ip' | 'url';

interface TopValues {
  readonly words: readonly Count[];
  /** 0: the counts are exact. */
  readonly missed: number;
}

// Slack documents no limit for this comment; messages are cut at 4,000 characters in places.
const longestComment = 3_500;
// The comment fits a phone's screen.
const mostValues = 3;

/** The comment above the files, in mrkdwn. `sha256`: of the first file. */
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
      'IP addresses are pseudonyms, the same one for the same address in this export only. The raw file is not sent.',
    spreadsheetSafe
      ? 'The file ending in `-spreadsheet.csv` is safe to open in a spreadsheet; the other one is unchanged.'
      : 'Cells hold visitor input: to open the file in a spreadsheet, export with “Add a spreadsheet-safe copy”.',
  ];
  // The hash is never truncated: without it the file cannot be verified.
  const hash = `SHA-256 of ${pseudonyms ? 'the file' : 'the bytes the CDN sent'}: ${formatCode(sha256, 64)}`;
  return `${truncateLines(lines, longestComment - hash.length - 1)}\n${hash}`;
}

function describeFigures({ broken, untimed, top }: EventFigures, rows: number): (string | false)[] {
  return [
    untimed > 0 &&
      untimed < rows &&
      `${pluralize(untimed, 'event')} ${untimed === 1 ? 'has' : 'have'} no readable time and ${untimed === 1 ? 'is' : 'are'} not in the chart.`,
    broken > 0 &&
      `:warning: ${pluralize(broken, 'row')} ${broken === 1 ? 'does' : 'do'} not have as many cells as the header.`,
    ...Object.entries(subjectWords).flatMap(([subject, word]) =>
      describeTop(subject as Subject, word, top[subject as Subject]),
    ),
  ];
}

const subjectWords: Readonly<Record<Subject, string>> = {
  action: 'Actions',
  country: 'Countries',
  rule: 'Rules',
  ip: 'IPs',
  url: 'URLs without queries',
};

function describeTop(subject: Subject, word: string, top: TopValues | undefined): string[] {
  if (!top || top.words.length === 0) return [];
  const about = top.missed > 0 ? 'about ' : '';
  const counts = top.words
    .slice(0, mostValues)
    .map(([value, count]) => `${formatCode(value, 60)} ${about}${formatInteger(count)}`);
  // On a phone a URL fills the line.
  return subject === 'url'
    ? [`*${word}*`, ...counts.map((line) => `• ${line}`)]
    : [`*${word}*: ${counts.join(' · ')}`];
}

/** Events in equal buckets; nothing if no time can be read. Hours are UTC, as in the log. */
export function renderEventChart({ bars, worstHour }: EventBars, rows: number): MessageBlock[] {
  if (!bars) return [];
  const starts = bars.counts.map((_, nth) => bars.from + nth * bars.minutes * minuteMs);
  const labels = formatShortMoments(starts);
  const isOneDay = new Set(starts.map((at) => toUtcDay(new Date(at)))).size === 1;
  // The second moment decides the form of the first: one that is not midnight adds the time, one in 1970 the day too.
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
  return minutes === 60 ? 'hour' : formatDuration(minutes * minuteMs);
}
