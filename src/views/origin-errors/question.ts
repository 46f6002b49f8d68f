import { type FilterKind, type Filters, filterKinds } from '../../api/origin-errors/filters.ts';
import { formatInteger } from '../blocks/format.ts';
import { formatCode, join } from '../blocks/text.ts';
import { quoteWord } from '../zones/rows.ts';
import { encodePeriod, type Period, writeMovingPeriod, writePeriod } from './period.ts';

export type ZoneName = { readonly id: string; readonly name: string };

/** Which errors are asked about. */
export interface Question {
  /** Undefined = the busiest zones. */
  readonly zone: ZoneName | undefined;
  readonly period: Period;
  readonly filters: Filters;
}

/** A question about one zone. */
export type ZoneQuestion = Question & { readonly zone: ZoneName };

export function isFiltered(filters: Filters): boolean {
  return Object.keys(filters).length > 0;
}

/** Kind and value of each: `code:http_timeout`, `status:502`. */
function listFilters(filters: Filters): string[] {
  return filterKinds.flatMap((kind: FilterKind) =>
    (filters[kind] ?? []).map((value) => `${kind}:${quoteWord(value)}`),
  );
}

/** ` with code:dns_lookup or code:http_timeout and status:5xx (of 240)`; '' without filters. */
export function describeFilters(filters: Filters, of?: number): string {
  const kinds = filterKinds.flatMap((kind) => {
    const values = filters[kind];
    return values ? [values.map((value) => formatCode(`${kind}:${value}`, 80)).join(' or ')] : [];
  });
  if (kinds.length === 0) return '';
  return ` with ${kinds.join(' and ')}${of === undefined ? '' : ` (of ${formatInteger(of)})`}`;
}

/**
 * The typed words that show the same, without `show:` also those of another way to look at it. A `fixed` period is the same
 * whenever it is read.
 */
export function writeQuestion(
  { zone, period, filters }: Question,
  { show, fixed = true }: { readonly show?: string; readonly fixed?: boolean } = {},
): string {
  return join(
    [
      'errors',
      zone?.id ?? 'all',
      fixed ? writePeriod(period) : writeMovingPeriod(period),
      show && `show:${show}`,
      ...listFilters(filters),
    ],
    ' ',
  );
}

/** Encoded characters of a zone's name in a button. */
const maxName = 45;
/** Of a value in a menu, without the id of the action: Slack takes 150 characters with it. */
const maxValue = 150 - 'origin-errors:day:addresses '.length;

/** The value of a button with this question. The zone's name is cut to what is left of an entry of a menu. */
export function encodeQuestion(
  { zone, period, filters }: Question,
  more: Readonly<Record<string, string>> = {},
): string {
  const pairs = [
    ...Object.entries({ ...encodePeriod(period), ...more }),
    ...filterKinds.flatMap((kind) => (filters[kind] ?? []).map((value): [string, string] => [kind, value])),
  ];
  const rest = encodePairs(pairs);
  if (!zone) return rest;
  const own = encodePairs([['zone', zone.id]]);
  const room = Math.max(0, Math.min(maxName, maxValue - own.length - rest.length - '&name=&'.length));
  let name = zone.name.slice(0, room).toWellFormed();
  while (encodePairs([['', name]]).length > room + 1) name = name.slice(0, -1).toWellFormed();
  return `${own}&${encodePairs([['name', name]])}&${rest}`;
}

/** Characters that a query string may hold as they are take one place instead of three. */
function encodePairs(pairs: [name: string, value: string][]): string {
  return new URLSearchParams(pairs)
    .toString()
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',');
}

/** Filters take so many characters of a button. */
export const maxFilters = 60;

export function countFilters(filters: Filters): number {
  return encodePairs(
    filterKinds.flatMap((kind) => (filters[kind] ?? []).map((value): [string, string] => [kind, value])),
  ).length;
}
