import type { Button, ModalView } from '@slack/types';
import type { OriginErrorCounts } from '../../api/origin-errors/counts.ts';
import { dayMs, hourMs, minuteMs } from '../../lib/time.ts';
import { renderAnswer } from '../blocks/answer.ts';
import { actions, context, type Message, type MessageBlock, say, section } from '../blocks/blocks.ts';
import { commandButton, selectOf } from '../blocks/buttons.ts';
import { chooseBucketSize, renderChart, sumBuckets } from '../blocks/chart.ts';
import type { Failure } from '../blocks/failure.ts';
import {
  agree,
  countOf,
  formatCount,
  formatDuration,
  formatInteger,
  formatMoment,
  formatPeriod,
  formatShortDay,
  pluralize,
} from '../blocks/format.ts';
import { modal } from '../blocks/inputs.ts';
import { type Clock, createClock, describePeriod, writePeriod } from '../blocks/period.ts';
import { type Cell, renderTable } from '../blocks/table.ts';
import {
  capitalize,
  escapeMrkdwn,
  formatCode,
  join,
  type Maybe,
  plainText,
  truncateLines,
} from '../blocks/text.ts';
import { type SharedFile, shareFileButton } from '../share.ts';
import { showButton } from '../zones/rows.ts';
import {
  chooseParts,
  describeFilters,
  fileButton,
  isFiltered,
  listPeriods,
  questionButton,
  refreshButton,
  writeQuestion,
  type ZoneQuestion,
} from './question.ts';

export interface Report extends ZoneQuestion {
  readonly takenAt: Date;
  readonly counts: OriginErrorCounts;
  readonly all: number;
  readonly recent: number | undefined;
  readonly skipped: number;
  readonly incomplete: readonly string[];
  readonly unread: readonly { readonly day: string; readonly why: Failure }[];
  /** Entries without a readable time, which may be of that time or not. */
  readonly undated: number;
  /** An equal time before, for comparison; undefined where the period is too long for one. */
  readonly before:
    | {
        readonly name: string;
        readonly total?: number;
        /** `''` stands for entries without a code. */
        readonly codes?: ReadonlySet<string>;
        readonly incomplete?: boolean;
      }
    | undefined;
  readonly origin: string | undefined;
  /** A setting that changed shortly before the first error of the most frequent kind, as plain text. */
  readonly change: { readonly at: number; readonly text: string } | undefined;
}

export function describeReference(why: Failure | undefined): string {
  return why?.reference ? ` Reference ${escapeMrkdwn(why.reference, 20)}` : '';
}

export function warnOfMore(parts: string): string {
  return `:warning: *More entries exist* than the CDN returned for ${parts}. The rest cannot be fetched.`;
}

/** The end of what was counted: times on its day stand without the day. */
function findLastDay({ period, takenAt }: Pick<Report, 'period' | 'takenAt'>): Date {
  return new Date(Math.min(takenAt.getTime(), period.to - 1));
}

/** When the most frequent kind began: other kinds come now and then in most zones. */
export function findStart({ kinds: [main], first }: OriginErrorCounts): number | undefined {
  return main?.first ?? first;
}

export interface ReportView {
  readonly today: string;
  readonly picture: Picture;
  readonly timeZone: string | undefined;
  readonly isOfChannel?: boolean;
}

export function renderOriginErrors(report: Report, view: ReportView): Message {
  const { counts, zone, period, filters, recent, takenAt, undated } = report;
  const clock = createClock(view.timeZone);
  // Above a chart two lines of a phone are left.
  const longest = view.picture === 'hours' ? 20 : 80;
  const name = escapeMrkdwn(zone.name, longest) || `zone ${escapeMrkdwn(zone.id, 20)}`;
  const when = describePeriod(period, view.today, clock);
  const least = report.incomplete.length > 0 || report.unread.length > 0 ? 'at least ' : '';
  // Without a time, or unread, they may be of that time: never "none".
  const isUnknown = counts.total === 0 && undated > 0;
  const number = isUnknown ? pluralize(undated, 'origin error') : pluralize(counts.total, 'origin error');
  const headline =
    counts.total + undated === 0 && (least !== '' || report.skipped > 0)
      ? `Unknown whether ${name} had origin errors ${when}`
      : capitalize(`${least}${number} ${isUnknown ? 'at an unknown time' : when} in ${name}`);
  const lastHour = describeLastHour(counts.total, recent);
  const behind = describeFilters(filters, report.all) + (view.picture === 'hours' ? '' : lastHour);
  const cause = describeCause(report, clock);
  const worst = capitalize(describeWorstHour(report, clock));
  const facts = capitalize(join([worst, describeTimeBefore(report)], ' · '));
  const picture = renderers[view.picture](report, clock, (worst || 'Errors') + lastHour);
  const hasPaths = view.picture === 'addresses' || view.picture === 'samples';
  // Other pictures have the screen to themselves.
  const isFirst = view.picture === 'kinds';
  const show = `show:${view.picture}`;
  const wider = isFiltered(filters)
    ? questionButton('Without filters', { ...report, filters: {} }, show)
    : questionButton('All zones', { ...report, zone: undefined });
  return renderAnswer({
    text: join([headline + behind, cause, facts], '. '),
    lines: [
      `*${headline}*${behind}`,
      isFirst && cause,
      isFirst && describeChange(report, clock),
      isFirst && facts,
    ],
    warnings: [...(isFirst ? describeNew(report) : []), ...renderDoubts(report)],
    picture,
    actions: [
      selectOf(counts.total > 0 ? 'View or period…' : 'Period…', [
        counts.total > 0 && {
          label: 'View',
          buttons: [
            ...pictureNames.map((each) => questionButton(pictures[each], report, `show:${each}`)),
            wider,
          ],
        },
        listPeriods(report, view, takenAt, show),
      ]),
      counts.total === 0 && wider,
    ],
    share: writeQuestion(report, { more: show }),
    more: renderMore(report, view),
    notes: [
      view.isOfChannel && `${name} is the zone of this channel`,
      `Times are ${clock.zone}`,
      hasPaths && 'query values are left out',
      `as of ${clock.time(takenAt.getTime())}`,
    ],
  });
}

function describeLastHour(total: number, recent: number | undefined): string {
  if (recent === undefined || total === 0) return '';
  return recent === 0 ? ', none in the last hour' : `, ${formatInteger(recent)} in the last hour`;
}

/** What the codes of the CDN mean; another code is shown by its message. */
const causes: Readonly<Record<string, string>> = {
  dns_lookup: 'The CDN cannot resolve',
  http_timeout: 'No answer in time from',
  network_socket_exception: 'The CDN cannot connect to',
};

/** ``The CDN cannot resolve `origin-shop.example.com` (`dns_lookup` 502): 129 of 240 errors, since 01:12`` */
function describeCause(report: Report, clock: Clock): string {
  const { counts, origin } = report;
  const {
    total,
    kinds: [main],
  } = counts;
  if (!main || (main.count === 1 && total > 1)) return '';
  const { errorCode = '', statusCode = 'no status', count, first } = main;
  const sample = counts.samples.find((one) => (one.errorCode ?? '') === errorCode);
  const known = Object.hasOwn(causes, errorCode) ? causes[errorCode] : undefined;
  const message = escapeMrkdwn(sample?.message ?? '', 120).replace(/[.:]$/u, '');
  const words = known ? `${known} ${origin ? formatCode(origin, 80) : 'the origin'}` : message;
  const code = errorCode === '' ? formatKind(main) : `${formatCode(errorCode, 60)} ${statusCode}`;
  const what = words === '' ? code : `${words} (${code})`;
  const share =
    count === total ? (total === 1 ? '' : `all ${formatInteger(total)}`) : countOf(count, total, 'error');
  const since =
    first === undefined
      ? ''
      : `${agree(total, 'at', 'since')} ${clock.moment(first, findLastDay(report))}${isOlder(report) ? ' or earlier' : ''}`;
  return join([what, join([share, since], ', ')], ': ');
}

function describeChange(report: Report, clock: Clock): string {
  const { change, counts } = report;
  const start = findStart(counts);
  if (!change || start === undefined) return '';
  const ms = start - change.at;
  const ago = ms < minuteMs ? 'just' : formatDuration(Math.round(ms / minuteMs) * minuteMs);
  return `:wrench: ${escapeMrkdwn(change.text, 200)}, found ${ago} before the first error${isOlder(report) ? ' shown' : ''} (${clock.moment(change.at, findLastDay(report))})`;
}

/** Whether an error, the most frequent one, was there before the period: its first one here is then not its beginning. */
function isOlder({ before, counts, period }: Report, kind = counts.kinds[0]): boolean {
  const { errorCode = '', first } = kind ?? {};
  if (counts.total === 1 || first === undefined || !before?.codes?.has(errorCode)) return false;
  return first < period.from + chooseParts(period).length;
}

/** `worst hour 13–14: 61`, `worst 5 minutes 10:05–10:10: 12` */
function describeWorstHour(report: Report, clock: Clock): string {
  const { hours, total } = report.counts;
  const highest = Math.max(0, ...hours);
  if (highest === 0 || total === 1) return '';
  const { start, length } = chooseParts(report.period);
  const at = start + hours.indexOf(highest) * length;
  const minutes = length / minuteMs;
  const format = minutes < 60 ? clock.time : clock.hour;
  const part = join(
    [
      clock.day(at) !== clock.day(findLastDay(report).getTime()) && clock.day(at),
      `${format(at)}–${format(at + length)}`,
    ],
    ' ',
  );
  return `worst ${formatPeriod(minutes)} ${part}: ${formatInteger(highest)}`;
}

function describeTimeBefore({ before, undated }: Report): string {
  if (before?.total === undefined || undated > 0 || (before.total === 0 && before.incomplete)) return '';
  const number = before.total > 0 ? formatInteger(before.total) : 'none';
  return `${before.name}: ${before.incomplete ? 'at least ' : ''}${number}`;
}

function renderDoubts({ counts, incomplete, unread, skipped, undated }: Report): Maybe<string>[] {
  return [
    undated > 0 &&
      `:warning: ${pluralize(undated, 'error has', 'errors have')} no readable time and may be from another period.`,
    incomplete.length > 0 && warnOfMore(incomplete.join(', ')),
    ...unread.map(
      ({ day, why }) =>
        `:warning: ${day} could not be read and is left out: ${why.message}${describeReference(why)}`,
    ),
    skipped > 0 && `:information_source: ${pluralize(skipped, 'entry', 'entries')} could not be read.`,
    counts.total > 0 && counts.hours.every((hour) => hour === 0) && 'No entry has a readable time.',
  ];
}

/** Codes that the time before did not have. Where there was nothing before, everything is new. */
function describeNew({ counts, before }: Report): string[] {
  if (before && before.total === undefined && counts.total > 0)
    return [`:grey_question: The ${before.name} could not be read, so new errors are not marked.`];
  if (!before?.codes || !before.total) return [];
  const fresh = [...counts.codes]
    .filter(([code]) => before.codes?.has(code) === false)
    .map(([code, times]) => `${code === '' ? 'no code' : formatCode(code, 60)} (${formatInteger(times)})`);
  if (fresh.length === 0) return [];
  const part = before.incomplete ? ' (only part of it could be read)' : '';
  return [`:new: *Not in the ${before.name}*: ${truncateLines(fresh, 1000, ', ')}${part}`];
}

function renderMore(report: Report, { picture }: ReportView): Maybe<Button>[] {
  const hasErrors = report.counts.total > 0;
  const more = `show:${picture}`;
  return [
    refreshButton(report, more),
    hasErrors && fileButton('All as CSV', 'csv', report),
    hasErrors && fileButton('All as NDJSON', 'ndjson', report),
    hasErrors && shareFileButton(writeQuestion(report, { more }), 'csv'),
    showButton(report.zone.id, 'The zone'),
  ];
}

export const pictures = {
  kinds: 'What fails',
  hours: 'Hour by hour',
  addresses: 'Paths',
  samples: 'Samples',
} as const;
export type Picture = keyof typeof pictures;
export const pictureNames = Object.keys(pictures) as [Picture, ...Picture[]];

const renderers = {
  kinds: renderKinds,
  hours: renderHours,
  addresses: renderAddresses,
  samples: renderSamples,
};

const mostLines = 6;

/** `*dns_lookup 502* · 129 · DE 65, NY 31, +3 · since 01:12` */
function renderKinds(report: Report, clock: Clock): MessageBlock[] {
  const { kinds } = report.counts;
  const lastDay = findLastDay(report);
  const lines = kinds.slice(0, mostLines).map((kind) => {
    const since =
      kind.first !== undefined &&
      (isOlder(report, kind) ? 'earlier too' : `since ${clock.moment(kind.first, lastDay)}`);
    const name = `*${escapeMrkdwn(formatKind(kind), 60)}*`;
    return join([name, formatInteger(kind.count), escapeMrkdwn(listPlaces(kind.places)), since], ' · ');
  });
  const others = kinds.slice(mostLines).reduce((sum, { count }) => sum + count, 0);
  const rest = others > 0 && `other errors · ${formatInteger(others)}`;
  return lines.length > 0 ? [section([...lines, rest])] : [];
}

/** `DE 65, NY 31, +3` */
function listPlaces(places: readonly (readonly [name: string, count: number])[]): string {
  const [only] = places;
  if (places.length === 1 && only) return only[0];
  const shown = places.slice(0, 2).map(([name, count]) => `${name} ${formatInteger(count)}`);
  return join([...shown, places.length > 2 && `+${places.length - 2}`], ', ');
}

function renderAddresses({ counts: { prefixes, prefixCount } }: Report) {
  return renderTable({
    caption: 'Paths with most errors',
    columns: ['Path', 'Count'],
    rows: prefixes.map(([prefix, count]) => [prefix, { number: count, text: formatInteger(count) }]),
    total: prefixCount,
  });
}

function renderSamples(report: Report, clock: Clock): MessageBlock[] {
  const lastDay = findLastDay(report);
  const lines = report.counts.samples.slice(0, mostLines).map((entry) => {
    const at = entry.at === undefined ? 'at an unknown time' : clock.moment(entry.at, lastDay);
    const what = join([join([formatKind(entry), entry.serverZone], ', '), entry.message], ': ');
    return `• ${at} ${formatCode(entry.requestUrl ?? 'address not readable', 60)} ${escapeMrkdwn(what, 70)}`;
  });
  return lines.length > 0 ? [section(['*Newest of each error*', ...lines])] : [];
}

export function renderTime(at: number | undefined, clock: Clock, asOf: Date): Cell {
  return at === undefined
    ? { number: -1, text: 'not reported' }
    : { number: at, text: clock.moment(at, asOf) };
}

export function formatKind({
  errorCode = '',
  statusCode,
}: {
  readonly errorCode?: string | undefined;
  readonly statusCode?: number | undefined;
}): string {
  return `${errorCode.trim() || 'no code'} ${statusCode ?? 'no status'}`;
}

const bucketSizes = { hours: [1, 2, 3, 4, 6, 12, 24], fives: [1, 2, 3] };

/** Errors by hour or less up to now, in equal buckets from the start on. What is to come is left out. */
function renderHours({ counts: { hours }, period, takenAt }: Report, clock: Clock, title: string) {
  if (hours.every((hour) => hour === 0)) return [];
  const { start, length } = chooseParts(period);
  const now = takenAt.getTime();
  const begun = hours.slice(0, Math.max(1, Math.ceil((now - start) / length)));
  const size = chooseBucketSize(begun.length, bucketSizes[length < hourMs ? 'fives' : 'hours']);
  const sums = sumBuckets(begun, size);
  const withDays = period.isWholeDays
    ? period.to - period.from > dayMs
    : clock.day(period.from) !== clock.day(period.to - 1);
  const labels = sums.map((_, nth) => {
    const from = start + nth * size * length;
    const end = from + size * length;
    const day = size === 24 ? formatShortDay(new Date(from).toISOString().slice(0, 10)) : clock.day(from);
    const hour = length < hourMs ? clock.time(from) : clock.hour(from);
    const label = join([withDays && day, size < 24 && hour], ' ');
    if (end > now) return `${label}–now`;
    return size > 1 && length === hourMs && !withDays ? `${label}–${clock.hour(end)}` : label;
  });
  const unit = `Errors per ${size === 24 ? 'day' : formatPeriod((size * length) / minuteMs)}`;
  const series = [{ name: 'Errors', values: sums }];
  return renderChart({ kind: 'bar', title, unit, labels, series });
}

export function renderFile(shown: {
  readonly question: ZoneQuestion;
  readonly today: string;
  readonly as: SharedFile;
  readonly path: string;
  readonly entries: number;
  readonly skipped: number;
  readonly incomplete: readonly string[];
  readonly asOf: Date;
}): Message {
  const { question, today, entries, skipped, incomplete, as, path, asOf } = shown;
  const { zone, period } = question;
  const format = as === 'csv' ? 'CSV' : 'NDJSON';
  const text = `${capitalize(pluralize(entries, 'origin error'))} ${describeQuestion(question, today)}, as ${format}.`;
  const notes = [
    incomplete.length > 0 && `:warning: The CDN holds more than it returned for ${incomplete.join(', ')}.`,
    skipped > 0 &&
      `${pluralize(skipped, 'entry', 'entries')} could not be read and ${agree(skipped, 'is', 'are')} left out.`,
    `As of ${formatMoment(asOf)}, in the CDN’s order. Times are UTC; query values are left out.`,
  ];
  const zoneName = plainText(zone.name, 60).replaceAll(/[^\w.-]+/gu, '_');
  const name = join(
    [
      'origin-errors',
      zoneName,
      writePeriod(period).replaceAll(':', ''),
      isFiltered(question.filters) && 'filtered',
    ],
    '-',
  );
  const file = {
    name: `${name}.${as}`,
    title: text.replaceAll('`', ''),
    mimetype: as === 'csv' ? 'text/csv' : 'application/x-ndjson',
    content: { path },
  };
  return { ...say(text, context(join(notes, ' '))), files: [file] };
}

export function renderNoFile(question: ZoneQuestion, today: string): Message {
  return say(`No origin errors ${describeQuestion(question, today)}, so there is no file.`);
}

/** `today in shop with status:5xx`; hours are UTC, as in files. */
function describeQuestion({ zone, period, filters }: ZoneQuestion, today: string): string {
  const where = escapeMrkdwn(zone.name, 80) || zone.id;
  const utc = period.isWholeDays || period.last !== undefined ? '' : ' UTC';
  return `${describePeriod(period, today, createClock())}${utc} in ${where}${describeFilters(filters)}`;
}

const title = 'Origin errors';

export function renderLinkLoading(host: string): ModalView {
  return modal({ title }, [section(`Reading the origin errors of ${formatCode(host, 100)}…`)]);
}

export function renderLinkChoice(hosts: readonly string[]): ModalView {
  return modal({ title }, [
    section(`This message links to ${formatCount(hosts.length, 'host')}. Which one do you mean?`),
    actions(...hosts.map((host, index) => commandButton(plainText(host, 75), `errors ${host}`, index))),
  ]);
}

export function renderNoLink(): ModalView {
  return modal({ title }, [
    section('*This message has no link or hostname.* Type `/cdn errors` and a zone or hostname instead.'),
  ]);
}
