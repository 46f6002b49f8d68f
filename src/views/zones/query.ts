import { formatInteger } from '../blocks/format.ts';
import { escapeMrkdwn, formatCode, join } from '../blocks/text.ts';
import { quoteWord } from './rows.ts';

export const zoneSorts = ['attention', 'bandwidth', 'charges', 'name'] as const;
export const zoneFilters = [
  'attention',
  'suspended',
  'disabled',
  'off',
  'above-80',
  'no-certificate',
  'old-tls',
  'no-logging',
] as const;
/** What zones carry, and can be found by: the whole id, or a part of an origin or hostname. */
export const carriedKinds = ['origin', 'script', 'app', 'storage', 'host'] as const;

export type ZoneFilter = (typeof zoneFilters)[number];
export type Carried = (typeof carriedKinds)[number];

/** Filter and order of a list of zones. Buttons carry it as a query string. */
export interface ZoneQuery {
  readonly search: string;
  /** What needs attention comes first, then the bandwidth; or by one number or the name. */
  readonly sort: (typeof zoneSorts)[number];
  readonly only: ZoneFilter | undefined;
  readonly carried: Readonly<Partial<Record<Carried, string>>>;
}

export const everyZone: ZoneQuery = { search: '', sort: 'attention', only: undefined, carried: {} };

export function isFiltered({ search, only, carried }: ZoneQuery): boolean {
  return search !== '' || only !== undefined || Object.keys(carried).length > 0;
}

/** Never empty: Slack refuses a button without a value. */
export function encodeZoneQuery({ search, sort, only, carried }: ZoneQuery): string {
  const pairs = { sort, search, only: only ?? '', ...carried };
  return new URLSearchParams(Object.entries(pairs).filter(([, value]) => value !== '')).toString();
}

/** The typed words that show the same list. */
export function writeZoneQuery({ search, sort, only, carried }: ZoneQuery): string {
  return join(
    [
      'zones',
      search && quoteWord(search),
      only && `only:${only}`,
      ...Object.entries(carried).map(([kind, value]) => `${kind}:${quoteWord(value)}`),
      sort !== everyZone.sort && `sort:${sort}`,
    ],
    ' ',
  );
}

const filterWords: Record<ZoneFilter, { readonly many: string; readonly one: string }> = {
  attention: { many: 'needing attention', one: 'needs attention' },
  suspended: { many: 'suspended', one: 'is suspended' },
  disabled: { many: 'disabled', one: 'is disabled' },
  off: { many: 'disabled or suspended', one: 'is disabled or suspended' },
  'above-80': { many: 'above 80 % of a limit', one: 'is above 80 % of a limit' },
  'no-certificate': { many: 'without a certificate', one: 'lacks a certificate' },
  'old-tls': { many: 'with TLS 1.0 or 1.1', one: 'has TLS 1.0 or 1.1' },
  'no-logging': { many: 'without logging', one: 'is without logging' },
};

const carriedWords: Record<Carried, (value: string) => string> = {
  origin: (part) => `with the origin ${formatCode(part, 60)}`,
  script: (id) => `with the script ${escapeMrkdwn(id, 40)}`,
  app: (id) => `of the app ${escapeMrkdwn(id, 60)}`,
  storage: (id) => `of the storage zone ${escapeMrkdwn(id, 40)}`,
  host: (part) => `with the hostname ${formatCode(part, 60)}`,
};

function describeCarried({ carried }: ZoneQuery): string[] {
  return Object.entries(carried).map(([kind, value]) => carriedWords[kind as Carried](value));
}

/** ` matching shop and disabled (of 240)`; '' for every zone. */
export function describeFilter(query: ZoneQuery, of: number): string {
  const how = [
    query.search && `matching ${formatCode(query.search, 60)}`,
    query.only && filterWords[query.only].many,
    ...describeCarried(query),
  ];
  return how.some(Boolean) ? ` ${join(how, ' and ')} (of ${formatInteger(of)})` : '';
}

const carriedVerbs: Record<Carried, string> = {
  origin: 'has the origin',
  script: 'runs the script',
  app: 'leads to the app',
  storage: 'uses the storage zone',
  host: 'has the hostname',
};

/** `None of your 240 zones` is followed by this. */
export function describeNone({ search, only, carried }: ZoneQuery): string {
  return join(
    [
      search && `matches ${formatCode(search)}`,
      only && filterWords[only].one,
      ...Object.entries(carried).map(
        ([kind, value]) => `${carriedVerbs[kind as Carried]} ${formatCode(value, 60)}`,
      ),
    ],
    ' and ',
  );
}

/** The label of a filter in a menu of a form. */
export function describeFilterShortly(filter: ZoneFilter): string {
  return filterWords[filter].many;
}
