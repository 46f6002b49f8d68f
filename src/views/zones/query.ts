import type { ModalView } from '@slack/types';
import { picked } from '../blocks/blocks.ts';
import { formatInteger } from '../blocks/format.ts';
import { modal, option, searchSelect, select, textInput } from '../blocks/inputs.ts';
import { capitalize, escapeMrkdwn, formatCode, join } from '../blocks/text.ts';
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
export const carriedKinds = ['origin', 'script', 'app', 'storage', 'host'] as const;

export type ZoneFilter = (typeof zoneFilters)[number];
export type Carried = (typeof carriedKinds)[number];

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

/** Of many zones, of one, and how long an id is shown; a part of an address is code. */
const carriedWords: Record<Carried, { readonly many: string; readonly one: string; readonly id?: number }> = {
  origin: { many: 'with the origin', one: 'has the origin' },
  script: { many: 'with the script', one: 'runs the script', id: 40 },
  app: { many: 'of the app', one: 'leads to the app', id: 60 },
  storage: { many: 'of the storage zone', one: 'uses the storage zone', id: 40 },
  host: { many: 'with the hostname', one: 'has the hostname' },
};

function listCarried({ carried }: ZoneQuery) {
  return Object.entries(carried).map(([kind, value]) => ({ value, ...carriedWords[kind as Carried] }));
}

export function describeFilter(query: ZoneQuery, of: number): string {
  const how = [
    query.search && `matching ${formatCode(query.search, 60)}`,
    query.only && filterWords[query.only].many,
    ...listCarried(query).map(
      ({ many, id, value }) => `${many} ${id ? escapeMrkdwn(value, id) : formatCode(value, 60)}`,
    ),
  ];
  return how.some(Boolean) ? ` ${join(how, ' and ')} (of ${formatInteger(of)})` : '';
}

export function describeNone(query: ZoneQuery): string {
  return join(
    [
      query.search && `matches ${formatCode(query.search)}`,
      query.only && filterWords[query.only].one,
      ...listCarried(query).map(({ one, value }) => `${one} ${formatCode(value, 60)}`),
    ],
    ' and ',
  );
}

const sortWords: Record<ZoneQuery['sort'], string> = {
  attention: 'What needs attention first',
  bandwidth: 'Bandwidth',
  charges: 'Charges',
  name: 'Name',
};

export function renderSearchForm({ search, sort, only, carried }: ZoneQuery): ModalView {
  const filters = zoneFilters.map((filter) => option(capitalize(filterWords[filter].many), filter));
  const sorts = zoneSorts.map((each) => option(sortWords[each], each));
  const optional = true;
  const choose = (kind: 'script' | 'app') =>
    searchSelect(kind, capitalize(kind), {
      actionId: `${kind}s:pick`,
      placeholder: 'Type a part of its ID or of its zone',
      chosen: carried[kind] === undefined ? undefined : picked(carried[kind]),
      optional,
    });
  return modal({ callbackId: 'zones:search', title: 'Search zones', submit: 'Search' }, [
    textInput('search', 'Name, hostname or ID', { initial: search, maxLength: 100, optional, focus: true }),
    select('only', 'Only those', filters, { chosen: only, optional, placeholder: 'All' }),
    textInput('origin', 'Part of the origin', { initial: carried.origin, maxLength: 100, optional }),
    textInput('host', 'Part of a hostname', { initial: carried.host, maxLength: 100, optional }),
    choose('script'),
    choose('app'),
    textInput('storage', 'Storage zone', {
      initial: carried.storage,
      placeholder: 'Its ID',
      maxLength: 20,
      optional,
    }),
    select('sort', 'Order', sorts, { chosen: sort }),
  ]);
}
