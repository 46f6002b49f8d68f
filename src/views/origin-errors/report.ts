import type { OriginErrorCounts } from '../../api/origin-errors/counts.ts';
import { type DayRange, shiftDay } from '../../lib/time.ts';
import { context, type Message, say } from '../blocks/blocks.ts';
import type { Failure } from '../blocks/failure.ts';
import { formatMoment, pluralize } from '../blocks/format.ts';
import { capitalize, escapeMrkdwn, join, plainText } from '../blocks/text.ts';

/** The origin errors of one zone on some days, counted. */
export interface Report {
  readonly zone: ZoneName;
  readonly days: DayRange;
  readonly takenAt: Date;
  readonly counts: OriginErrorCounts;
  /** Entries of the last hour, also of the day before; undefined if it is not in these days, or not read. */
  readonly recent: number | undefined;
  /** Repeated entries, which are counted once. */
  readonly repeated: number;
  readonly skipped: number;
  /** Days of which the CDN has more entries than it sent. */
  readonly incomplete: readonly string[];
  readonly unread: readonly { readonly day: string; readonly why: Failure }[];
  /** The day before the first, for comparison; undefined if it could not be read. */
  readonly before: DayBefore | undefined;
}

export type ZoneName = { readonly id: string; readonly name: string };

export interface DayBefore {
  readonly day: string;
  readonly total: number;
  /** `''` stands for entries without a code. */
  readonly codes: ReadonlySet<string>;
  readonly incomplete: boolean;
}

/** Formats of the file with every entry. */
export const fileKinds = ['csv', 'ndjson'] as const;
export type FileKind = (typeof fileKinds)[number];

export function renderFile(shown: {
  readonly zone: ZoneName;
  readonly days: DayRange;
  readonly today: string;
  readonly as: FileKind;
  readonly path: string;
  readonly entries: number;
  readonly skipped: number;
  readonly incomplete: readonly string[];
  /** Days with too many entries to sort. */
  readonly unsorted: readonly string[];
  readonly asOf: Date;
}): Message {
  const { zone, days, today, entries, skipped, incomplete, unsorted, as, path, asOf } = shown;
  const format = as === 'csv' ? 'CSV' : 'NDJSON';
  const where = escapeMrkdwn(zone.name, 80) || zone.id;
  const text = `${capitalize(pluralize(entries, 'origin error'))} ${describeDays(days, today)} in ${where}, as ${format}.`;
  const notes = [
    incomplete.length > 0 && `:warning: The CDN holds more than it gave for ${incomplete.join(', ')}.`,
    skipped > 0 &&
      `${pluralize(skipped, 'entry', 'entries')} could not be read and ${skipped === 1 ? 'is' : 'are'} left out.`,
    `As of ${formatMoment(asOf)}, ${describeOrder(unsorted, days)}. Times are UTC; query values are left out.`,
  ];
  const zoneName = plainText(zone.name, 60).replaceAll(/[^\w.-]+/gu, '_');
  const name = join(['origin-errors', zoneName, days.first, days.count > 1 && `${days.count}-days`], '-');
  const mimetype = as === 'csv' ? 'text/csv' : 'application/x-ndjson';
  const file = { name: `${name}.${as}`, title: text, mimetype, content: { path } };
  return { ...say(text, context(join(notes, ' '))), files: [file] };
}

/** A day with too many entries is not sorted; a spreadsheet can do it by the first column. */
function describeOrder(unsorted: readonly string[], days: DayRange): string {
  if (unsorted.length === 0) return 'sorted by time';
  if (unsorted.length < days.count)
    return `sorted by time, but for ${unsorted.join(', ')}: too many, so in the order the CDN gave them`;
  return `too many to sort by time, so in the order the CDN gave them${days.count > 1 ? ' each day' : ''}`;
}

export function renderNoFile(zone: ZoneName, days: DayRange, today: string): Message {
  const where = escapeMrkdwn(zone.name, 80) || zone.id;
  return say(`No origin errors ${describeDays(days, today)} in ${where}, so there is no file.`);
}

/** `today`, `yesterday`, `on 2026-11-12`, `in the last 3 days`, `from 2026-11-10 to 2026-11-12`. */
export function describeDays({ first, count }: DayRange, today: string): string {
  const last = shiftDay(first, count - 1);
  if (count > 1) return last === today ? `in the last ${count} days` : `from ${first} to ${last}`;
  if (first === today) return 'today';
  return first === shiftDay(today, -1) ? 'yesterday' : `on ${first}`;
}
