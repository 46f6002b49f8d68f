import { type EventSubject, eventSubjects } from '../../exports/csv/columns.ts';
import type { ExportSummary } from '../../exports/model.ts';
import type { EventStats, TopValues } from '../../exports/stats/event-stats.ts';
import { formatMoment, formatShortMoments } from '../blocks/dates.ts';
import type { Attachment } from '../blocks/message.ts';
import {
  escapeMrkdwn,
  formatBytes,
  formatCode,
  formatInteger,
  pluralize,
  truncate,
  truncateLines,
} from '../blocks/text.ts';
import { describeWindow } from './exports.ts';

/** A file in the comment. */
export interface ReportedFile {
  readonly name: string;
  readonly kind: 'raw' | 'safe';
  readonly bytes: number;
  readonly sha256: string;
}

// Slack documents no limit for this comment; messages are cut at 4,000 characters in places.
const longestComment = 3_500;

/** The comment above the files, in mrkdwn. `sha256`: of the whole log. */
export function renderFileComment(
  one: ExportSummary,
  figures: EventStats,
  { files, sha256 }: { readonly files: readonly ReportedFile[]; readonly sha256: string },
): string {
  const { request } = one;
  const size = files.filter(({ kind }) => kind === 'raw').reduce((sum, file) => sum + file.bytes, 0);
  const lines = [
    `*${pluralize(figures.rows, 'event')}* of shield zone ${escapeMrkdwn(request.shieldZoneId, 20)}, ${formatBytes(size)}, for <@${one.userId}>`,
    describeWindow(one),
    ...peakLine(figures),
    ...(figures.broken > 0
      ? [
          `:warning: ${pluralize(figures.broken, 'row')} not as CSV should be: ${figures.broken === 1 ? 'it is' : 'they are'} in the file as sent.`,
        ]
      : []),
    ...eventSubjects.flatMap((subject) => topLine(subject, figures.top[subject])),
    ...(request.pseudonyms
      ? [
          'IP addresses are pseudonyms, the same one for the same address in this export only; the raw file is not sent.',
        ]
      : []),
    ...(request.spreadsheetSafe
      ? [
          'The file ending in `-spreadsheet.csv` is safe to open in a spreadsheet; the other one is not changed.',
        ]
      : [
          'Attackers write these cells, and a spreadsheet may run them: export with “Add a spreadsheet-safe copy” to open it in one.',
        ]),
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
      ({ name, sha256, bytes: size }) =>
        `${formatCode(name, 80)} ${formatBytes(size)}, SHA-256 ${formatCode(sha256, 64)}`,
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
function peakLine({ hours, rows, untimed }: EventStats): string[] {
  if (hours.length === 0) return [];
  const [start, most] = peakOf(hours);
  return [
    ...(hours.length > 1
      ? [`*${formatInteger(most)}* in the worst hour, from ${formatMoment(new Date(start))}`]
      : []),
    ...(untimed > 0 && untimed < rows
      ? [
          `${pluralize(untimed, 'event')} ${untimed === 1 ? 'has' : 'have'} no time that can be read: not in the chart.`,
        ]
      : []),
  ];
}

function peakOf(hours: EventStats['hours']): readonly [start: number, count: number] {
  return hours.reduce((most, hour) => (hour[1] > most[1] ? hour : most));
}

/** Events per hour; undefined if no time can be read. */
export function exportChart(one: ExportSummary, figures: EventStats): Attachment | undefined {
  const { hours } = figures;
  if (hours.length === 0) return undefined;
  const title = pluralize(figures.rows, 'event');
  const [peakAt, peak] = peakOf(hours);
  const labels = formatShortMoments(hours.map(([start]) => start));
  const zone = truncate(one.request.shieldZoneId, 20);
  const between = `${labels.at(0)} to ${labels.at(-1)} UTC`;
  return {
    name: `events-${zone}-by-hour.png`,
    title: `Events by hour, shield zone ${zone}`,
    altText: `Bar chart of ${title} of shield zone ${zone} by hour, ${between}: most at ${formatShortMoments([peakAt])[0]} UTC (${formatInteger(peak)}).`,
    mimetype: 'image/png',
    content: {
      chart: {
        title,
        subtitle: `Shield zone ${zone}, by hour (UTC)`,
        labels,
        panels: [
          {
            kind: 'bars',
            name: 'Events in each hour',
            series: [{ name: 'events', values: hours.map(([, number]) => number) }],
          },
        ],
      },
    },
  };
}
