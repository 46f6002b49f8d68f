import type { Group, OriginErrorCounts } from '../../api/origin-errors/counts.ts';
import type { FilterKind } from '../../api/origin-errors/filters.ts';
import { context, type Message, say } from '../blocks/blocks.ts';
import type { Failure } from '../blocks/failure.ts';
import { agree, formatMoment, pluralize } from '../blocks/format.ts';
import { capitalize, escapeMrkdwn, join, plainText } from '../blocks/text.ts';
import type { SharedFile } from '../share.ts';
import { createClock, daysOf, describePeriod, writeForFile } from './period.ts';
import { describeFilters, isFiltered, type Question, type ZoneQuestion } from './question.ts';

/** The origin errors of one zone in some time, counted. */
export interface Report extends ZoneQuestion {
  readonly takenAt: Date;
  readonly counts: OriginErrorCounts;
  /** Entries of that time, also those that the filters leave out. */
  readonly all: number;
  /** Values there are of the kinds that are filtered by, some of them. */
  readonly values: Readonly<Partial<Record<FilterKind, ReadonlySet<string>>>>;
  /** Entries of the last hour; undefined if it is not a part of that time. */
  readonly recent: number | undefined;
  /** Repeated entries, which are counted once. */
  readonly repeated: number;
  readonly skipped: number;
  /** Days of which the CDN has more entries than it sent. */
  readonly incomplete: readonly string[];
  readonly unread: readonly { readonly day: string; readonly why: Failure }[];
  /** Entries without a readable time, which may be of that time or not. */
  readonly undated: number;
  /** An equal time before, for comparison; undefined where the period is too long for one. */
  readonly before: Before | undefined;
  /** The host that the zone fetches from, where it is known. */
  readonly origin: string | undefined;
  /** A setting that changed shortly before the first error of the most frequent kind, as plain text. */
  readonly change: { readonly at: number; readonly text: string } | undefined;
}

export interface Before {
  /** `hour before` */
  readonly name: string;
  /** Undefined: it could not be read. */
  readonly total?: number;
  /** `''` stands for entries without a code. */
  readonly codes?: ReadonlySet<string>;
  readonly incomplete?: boolean;
}

/** ` Reference 7Gx2` of a failure that is in the log. */
export function describeReference(why: Failure | undefined): string {
  return why?.reference ? ` Reference ${escapeMrkdwn(why.reference, 20)}` : '';
}

export function warnOfMore(parts: string): string {
  return `:warning: *More entries exist* than the CDN gave for ${parts}, and it has no way to ask for the rest.`;
}

/** The end of what was counted: times on its day stand without the day. */
export function findLastDay({ period, takenAt }: Pick<Report, 'period' | 'takenAt'>): Date {
  return new Date(Math.min(takenAt.getTime(), period.to - 1));
}

export interface Kind extends Pick<Group, 'errorCode' | 'statusCode' | 'count' | 'first' | 'last'> {
  /** Server zones, the most frequent first. */
  readonly places: readonly (readonly [name: string, count: number])[];
}

/** Entries by code and status, the most frequent first. */
export function rankKinds(groups: readonly Group[]): Kind[] {
  const kinds = Map.groupBy(groups, ({ errorCode, statusCode }) => `${errorCode} ${statusCode}`);
  return [...kinds.values()]
    .map((of): Kind => {
      const [{ errorCode, statusCode } = {}] = of;
      const times = of.flatMap(({ first, last }) => [first, last]).filter((at) => at !== undefined);
      return {
        errorCode,
        statusCode,
        count: of.reduce((sum, { count }) => sum + count, 0),
        first: times.length > 0 ? Math.min(...times) : undefined,
        last: times.length > 0 ? Math.max(...times) : undefined,
        places: of.map(({ serverZone, count }) => [serverZone ?? 'not reported', count] as const),
      };
    })
    .toSorted((a, b) => b.count - a.count);
}

/** When the most frequent kind began: other kinds come now and then in most zones. */
export function findStart({ groups, first }: OriginErrorCounts): number | undefined {
  return rankKinds(groups)[0]?.first ?? first;
}

export const mimetypes: Readonly<Record<SharedFile, string>> = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
};

export function renderFile(shown: {
  readonly question: ZoneQuestion;
  readonly today: string;
  readonly as: SharedFile;
  readonly path: string;
  readonly entries: number;
  readonly skipped: number;
  readonly incomplete: readonly string[];
  /** Days with too many entries to sort. */
  readonly unsorted: readonly string[];
  readonly asOf: Date;
}): Message {
  const { question, today, entries, skipped, incomplete, unsorted, as, path, asOf } = shown;
  const { zone, period } = question;
  const format = as === 'csv' ? 'CSV' : 'NDJSON';
  const text = `${capitalize(pluralize(entries, 'origin error'))} ${describeQuestion(question, today)}, as ${format}.`;
  const notes = [
    incomplete.length > 0 && `:warning: The CDN holds more than it gave for ${incomplete.join(', ')}.`,
    skipped > 0 &&
      `${pluralize(skipped, 'entry', 'entries')} could not be read and ${agree(skipped, 'is', 'are')} left out.`,
    `As of ${formatMoment(asOf)}, ${describeOrder(unsorted, daysOf(period).count)}. Times are UTC; query values are left out.`,
  ];
  const zoneName = plainText(zone.name, 60).replaceAll(/[^\w.-]+/gu, '_');
  const name = join(
    ['origin-errors', zoneName, writeForFile(period), isFiltered(question.filters) && 'filtered'],
    '-',
  );
  const file = {
    name: `${name}.${as}`,
    title: text.replaceAll('`', ''),
    mimetype: mimetypes[as],
    content: { path },
  };
  return { ...say(text, context(join(notes, ' '))), files: [file] };
}

/** A day with too many entries is not sorted; a spreadsheet can do it by the first column. */
function describeOrder(unsorted: readonly string[], days: number): string {
  if (unsorted.length === 0) return 'sorted by time';
  if (unsorted.length < days)
    return `sorted by time, but for ${unsorted.join(', ')}: too many, so in the order the CDN gave them`;
  return `too many to sort by time, so in the order the CDN gave them${days > 1 ? ' each day' : ''}`;
}

export function renderNoFile(question: Question, today: string): Message {
  return say(`No origin errors ${describeQuestion(question, today)}, so there is no file.`);
}

/** `today in shop with status:5xx`; hours are UTC, as in files. */
export function describeQuestion({ zone, period, filters }: Question, today: string): string {
  const where = zone ? escapeMrkdwn(zone.name, 80) || zone.id : 'the busiest zones';
  const utc = period.isWholeDays || period.last !== undefined ? '' : ' UTC';
  return `${describePeriod(period, today, createClock())}${utc} in ${where}${describeFilters(filters)}`;
}
