import { rankAttention, type Totals, type Weakness, type ZoneSummary } from '../../api/zones/summary.ts';
import { renderAnswer } from '../blocks/answer.ts';
import { actions, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton, type PanelPages, panelButton } from '../blocks/buttons.ts';
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
import { type Cell, renderTable } from '../blocks/table.ts';
import { join, plainText } from '../blocks/text.ts';
import {
  describeFilter,
  describeNone,
  encodeZoneQuery,
  everyZone,
  isFiltered,
  writeZoneQuery,
  type ZoneQuery,
} from './query.ts';
import { describeStatus, pickZone, quoteWord } from './rows.ts';

export interface ZoneList {
  readonly zones: readonly ZoneSummary[];
  readonly query: ZoneQuery;
  readonly totals: Totals;
  readonly account: number;
  readonly skipped: number;
  readonly takenAt: Date;
  readonly offer?: ZoneQuery | undefined;
  readonly panel: PanelPages;
}

export function renderZoneList(list: ZoneList): Message {
  const { zones, query, totals, account, skipped, takenAt, offer, panel } = list;
  const count = pluralize(totals.zones, 'zone');
  const filter = describeFilter(query, account);
  const { used: bytes, usedUnreported, charges: money, chargesUnreported } = totals;
  const used = usedUnreported < totals.zones ? `${formatBytes(bytes)} this month` : 'bandwidth not reported';
  const charges =
    chargesUnreported < totals.zones ? `${formatRoundMoney(money)} so far` : 'charges not reported';
  const attention =
    totals.attention === 0
      ? 'none needs attention'
      : formatCount(totals.attention, 'needs attention', 'need attention');
  const value = encodeZoneQuery(query);
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
    actions: [offer && offerButton(offer), pickZone()],
    share: writeZoneQuery(query),
    more: [
      button('Refresh', 'zones:page:refresh', `${value}&fresh=1`),
      button(`All ${formatInteger(totals.zones)} as CSV`, 'zones:csv', value),
      isFiltered(query)
        ? button('All zones', 'zones:page:all', encodeZoneQuery(everyZone))
        : button('Disabled and suspended', 'zones:page:off', encodeZoneQuery({ ...query, only: 'off' })),
      button('Search in a form', 'zones:form', value),
      ...linkedKinds.map((kind) => {
        const id = query.carried[kind];
        return id && panelButton(panel, kind, id, `Open this ${kind} in the panel`);
      }),
    ],
    notes: [
      `as of ${formatMoment(takenAt)}`,
      describeUnreported(totals),
      skipped > 0 &&
        `:warning: ${pluralize(skipped, 'zone')} could not be read and ${agree(skipped, 'is', 'are')} left out`,
    ],
  });
}

function describeUnreported({ zones, ...missing }: Totals): string {
  const parts = [
    ['bandwidth', missing.usedUnreported],
    ['charges', missing.chargesUnreported],
    ['state', missing.stateUnreported],
  ] as const;
  const words = parts.flatMap(([what, count]) =>
    count > 0 && (count < zones || what === 'state') ? [`${what} of ${formatCount(count, 'zone')}`] : [],
  );
  return words.length === 0 ? '' : `not reported: ${words.join(', ')}`;
}

const linkedKinds = ['script', 'app', 'storage'] as const;

/** What needs attention and why first; a number that is not reported sorts below zero. */
function renderZoneTable(zones: readonly ZoneSummary[], query: ZoneQuery) {
  const carried = carriedColumns.filter(({ kind }) => query.carried[kind] !== undefined);
  const isAttentionFirst = query.sort === 'attention' && zones.some((zone) => rankAttention(zone) > 0);
  return renderTable({
    caption: isAttentionFirst
      ? 'needs attention first'
      : `by ${query.sort === 'attention' ? 'bandwidth' : query.sort}`,
    columns: [
      'Zone',
      ...carried.map(({ name }) => name),
      'Status',
      'Month',
      'Of limit',
      'Charges',
      'Weak settings',
    ],
    rows: zones
      .slice(0, 100)
      .map((zone): Cell[] => [
        zone.name || 'unnamed',
        ...carried.map(({ kind, cell }) => cell(zone, query.carried[kind] ?? '')),
        describeStatus(zone),
        toCell(zone.bandwidthUsed, formatBytes),
        toShareCell(zone),
        toCell(zone.charges, formatMoney),
        zone.weaknesses?.map((weakness) => weaknessWords[weakness]).join(', ') ?? '',
      ]),
    total: zones.length,
  });
}

const weaknessWords: Record<Weakness, string> = { 'old-tls': 'old TLS', 'no-logging': 'no logging' };

const carriedColumns: readonly {
  readonly kind: 'origin' | 'script' | 'host';
  readonly name: string;
  readonly cell: (zone: ZoneSummary, wanted: string) => string;
}[] = [
  { kind: 'origin', name: 'Origin', cell: ({ originUrl }) => originUrl ?? '' },
  {
    kind: 'script',
    name: 'Script runs',
    cell: ({ edgeScriptId }, wanted) => (edgeScriptId === wanted ? 'at the edge' : 'as middleware'),
  },
  {
    kind: 'host',
    name: 'Hostname',
    cell: ({ hostnames }, wanted) =>
      hostnames.find((hostname) => hostname.toLowerCase().includes(wanted.toLowerCase())) ?? '',
  },
];

function toCell(value: number | undefined, format: (value: number) => string): Cell {
  return value === undefined ? { number: -1, text: 'not reported' } : { number: value, text: format(value) };
}

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
  account: number,
  near: readonly string[],
  offer?: ZoneQuery,
): Message {
  const all = encodeZoneQuery({ ...everyZone, sort: query.sort });
  if (account === 0) {
    const text = 'Your key sees no zones. Create one in the CDN control panel, or connect another key.';
    return say(text, actions(button('Look again', 'zones:page:refresh', `${all}&fresh=1`)));
  }
  const text = `No zone ${describeNone(query)}: your key sees ${formatCount(account, 'zone')}.`;
  return message(text, [
    section(near.length > 0 || offer ? `${text} Did you mean one of these?` : text),
    actions(
      offer && offerButton(offer),
      ...near.map((name, index) => commandButton(plainText(name, 60), `zones ${quoteWord(name)}`, index)),
      button('All zones', 'zones:page:all', all),
    ),
  ]);
}

function offerButton(offer: ZoneQuery) {
  return button(`only:${offer.only}`, 'zones:page:only', encodeZoneQuery(offer));
}

export function renderZonesFile(
  csv: string,
  zones: number,
  { query, takenAt, account }: Pick<ZoneList, 'query' | 'takenAt' | 'account'>,
): Message {
  const text = `${pluralize(zones, 'zone')}${describeFilter(query, account)} as CSV, as of ${formatMoment(takenAt)}.`;
  const day = takenAt.toISOString().slice(0, 10);
  const content = new TextEncoder().encode(csv);
  const file = { name: `zones-${day}.csv`, title: `Zones, ${day}`, mimetype: 'text/csv', content };
  return { ...say(text), files: [file] };
}
