import { rankAttention, type Totals, type Weakness, type ZoneSummary } from '../../api/zones/summary.ts';
import { renderAnswer } from '../blocks/answer.ts';
import { actions, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton, type PanelPages, panelButton, replacingButton } from '../blocks/buttons.ts';
import {
  agree,
  formatBytes,
  formatCount,
  formatInteger,
  formatMoment,
  formatMoney,
  formatPercent,
  formatRoundMoney,
  pluralize,
} from '../blocks/format.ts';
import { type Cell, formatCell, renderTable } from '../blocks/table.ts';
import { capitalize, formatCode, join, plainText } from '../blocks/text.ts';
import { describeStatus, pickZone, quoteWord } from './rows.ts';

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

function isFiltered({ search, only, carried }: ZoneQuery): boolean {
  return search !== '' || only !== undefined || Object.keys(carried).length > 0;
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

const filterWords: Record<ZoneFilter, string> = {
  attention: 'needing attention',
  suspended: 'suspended',
  disabled: 'disabled',
  off: 'disabled or suspended',
  'above-80': 'above 80% of a limit',
  'no-certificate': 'without a certificate',
  'old-tls': 'with TLS 1.0 or 1.1',
  'no-logging': 'without logging',
};

const carriedWords: Record<Carried, string> = {
  origin: 'with the origin',
  script: 'with the script',
  app: 'of the app',
  storage: 'of the storage zone',
  host: 'with the hostname',
};

/** ` matching shop and without a certificate`; empty for every zone. */
function describeFilter({ search, only, carried }: ZoneQuery): string {
  const how = [
    search && `matching ${formatCode(search, 60)}`,
    only && filterWords[only],
    ...Object.entries(carried).map(
      ([kind, value]) => `${carriedWords[kind as Carried]} ${formatCode(value, 60)}`,
    ),
  ];
  const words = join(how, ' and ');
  return words && ` ${words}`;
}

function describeFiltered(query: ZoneQuery, of: number): string {
  const words = describeFilter(query);
  return words && `${words} (of ${formatInteger(of)})`;
}

export interface ZoneList {
  readonly zones: readonly ZoneSummary[];
  readonly query: ZoneQuery;
  readonly totals: Totals;
  readonly account: number;
  readonly skipped: number;
  /** Zones that do not report what `only:` asks for. */
  readonly unknown: number;
  readonly takenAt: Date;
  readonly panel: PanelPages;
}

export function renderZoneList(list: ZoneList): Message {
  const { zones, query, totals, account, skipped, unknown, takenAt, panel } = list;
  const count = pluralize(totals.zones, 'zone');
  const filter = describeFiltered(query, account);
  const { used: bytes, usedUnreported, charges: money, chargesUnreported } = totals;
  const used = usedUnreported < totals.zones ? `${formatBytes(bytes)} this month` : 'bandwidth not reported';
  const charges =
    chargesUnreported < totals.zones ? `${formatRoundMoney(money)} so far` : 'charges not reported';
  const unreported = describeUnreported(totals);
  const attention =
    totals.attention === 0
      ? `none needs attention${unreported && ', as far as reported'}`
      : formatCount(totals.attention, 'needs attention', 'need attention');
  const words = writeZoneQuery(query);
  return renderAnswer({
    text: `${count}${filter}: ${attention}, ${used}, ${charges}.`,
    lines: [
      // With this filter the number of zones says it.
      join(
        [
          `*${count}*${filter}`,
          query.only !== 'attention' && (totals.attention > 0 ? `:warning: *${attention}*` : attention),
        ],
        ' · ',
      ),
      `${used} · ${charges}`,
    ],
    picture: renderZoneTable(zones, query),
    actions: [pickZone()],
    share: words,
    more: [
      replacingButton('Refresh', words),
      button(`All ${formatInteger(totals.zones)} as CSV`, 'zones:csv', words),
      isFiltered(query)
        ? button('All zones', 'zones:page:all', writeZoneQuery(everyZone))
        : button('Disabled and suspended', 'zones:page:off', writeZoneQuery({ ...query, only: 'off' })),
      ...linkedKinds.map((kind) => {
        const id = query.carried[kind];
        return id && panelButton(panel, kind, id, `Open this ${kind} in the panel`);
      }),
    ],
    notes: [
      `as of ${formatMoment(takenAt)}`,
      unreported,
      unknown > 0 && describeUnknown(unknown),
      skipped > 0 && `:warning: ${describeSkipped(skipped)}`,
    ],
  });
}

export function describeUnknown(zones: number): string {
  return `${formatCount(zones, 'zone does', 'zones do')} not report it`;
}

export function describeSkipped(zones: number): string {
  return `${pluralize(zones, 'zone')} could not be read and ${agree(zones, 'is', 'are')} left out`;
}

export function describeUnreported(missing: Totals): string {
  const parts = [
    ['bandwidth', missing.usedUnreported],
    ['charges', missing.chargesUnreported],
    ['limit', missing.limitUnreported],
    ['certificates', missing.certificateUnreported],
    ['state', missing.stateUnreported],
  ] as const;
  const words = parts.flatMap(([what, count]) =>
    count > 0 ? [`${what} of ${formatCount(count, 'zone')}`] : [],
  );
  return words.length === 0 ? '' : `not reported: ${words.join(', ')}`;
}

const linkedKinds = ['script', 'app', 'storage'] as const;

/** What needs attention and why first; a number that is not reported sorts below zero. */
function renderZoneTable(zones: readonly ZoneSummary[], query: ZoneQuery) {
  const isAttentionFirst = query.sort === 'attention' && zones.some((zone) => rankAttention(zone) > 0);
  return renderTable({
    caption: isAttentionFirst
      ? 'needs attention first'
      : `by ${query.sort === 'attention' ? 'bandwidth' : query.sort}`,
    columns: ['Zone', 'Status', 'Weak settings', 'Month', 'Of limit', 'Charges'],
    rows: zones
      .slice(0, 100)
      .map((zone): Cell[] => [
        zone.name || 'unnamed',
        describeStatus(zone),
        zone.weaknesses?.map((weakness) => weaknessWords[weakness]).join(', ') ?? '',
        formatCell(zone.bandwidthUsed, formatBytes),
        toShareCell(zone),
        formatCell(zone.charges, formatMoney),
      ]),
    total: zones.length,
  });
}

const weaknessWords: Record<Weakness, string> = { 'old-tls': 'old TLS', 'no-logging': 'no logging' };

function toShareCell({ bandwidthUsed: used, bandwidthLimit: limit, isUnlimited }: ZoneSummary): Cell {
  if (isUnlimited) return { number: 0, text: 'no limit' };
  if (used === undefined || limit === undefined) return { number: -1, text: 'not reported' };
  const share = Math.round((used / limit) * 1000) / 10;
  return { number: Number.isFinite(share) ? share : 0, text: formatPercent(used, limit) };
}

export function renderLoadingZones(total: number | undefined): Message {
  return say(`Reading ${total === undefined ? 'the zones' : pluralize(total, 'zone')}…`);
}

export function renderNoZones(
  query: ZoneQuery,
  { account, skipped, unknown }: Pick<ZoneList, 'account' | 'skipped' | 'unknown'>,
  near: readonly string[] = [],
): Message {
  const all = writeZoneQuery({ ...everyZone, sort: query.sort });
  if (account + skipped === 0) {
    const text = 'Your key sees no zones. Create one in the CDN’s control panel, or connect another key.';
    return say(text, actions(replacingButton('Check again', all)));
  }
  const text = `${join(
    [
      `No zone${describeFilter(query)}: your key sees ${formatCount(account, 'zone')}`,
      unknown > 0 && describeUnknown(unknown),
      skipped > 0 && describeSkipped(skipped),
    ],
    ', ',
  )}.`;
  return message(text, [
    section(near.length > 0 ? `${text} Did you mean one of these?` : text),
    actions(
      ...near
        .slice(0, 2)
        .map((name, index) => commandButton(plainText(name, 60), `zones ${quoteWord(name)}`, index)),
      button('All zones', 'zones:page:all', all),
    ),
  ]);
}

export function renderZonesFile(
  csv: string,
  zones: number,
  { query, takenAt, account, skipped }: Pick<ZoneList, 'query' | 'takenAt' | 'account' | 'skipped'>,
): Message {
  const left = skipped > 0 && capitalize(`${describeSkipped(skipped)}.`);
  const made = `${pluralize(zones, 'zone')}${describeFiltered(query, account)} as CSV, as of ${formatMoment(takenAt)}.`;
  const text = join([made, left], ' ');
  const day = takenAt.toISOString().slice(0, 10);
  const content = new TextEncoder().encode(csv);
  const file = { name: `zones-${day}.csv`, title: `Zones, ${day}`, mimetype: 'text/csv', content };
  return { ...say(text), files: [file] };
}
