import type { Button, KnownBlock } from '@slack/types';
import type { Totals, ZoneSummary } from '../../api/zones/summary.ts';
import { actions, context, type Message, message, say, section } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import type { Failure } from '../blocks/failure.ts';
import {
  formatBytes,
  formatInteger,
  formatMoment,
  formatMoney,
  formatPercent,
  pluralize,
} from '../blocks/format.ts';
import { formatCode, join, plainText } from '../blocks/text.ts';
import { quoteWord, renderRow } from './rows.ts';

/** Filter, order and page of a list of zones. Buttons carry it as a query string. */
export interface ZoneQuery {
  readonly search: string;
  readonly sort: 'name' | 'bandwidth' | 'charges';
  readonly only: 'attention' | 'disabled' | 'suspended' | undefined;
  /** From 1. */
  readonly page: number;
}

export function encodeZoneQuery(query: ZoneQuery): string {
  const pairs = { search: query.search, sort: query.sort, only: query.only ?? '', page: String(query.page) };
  return new URLSearchParams(Object.entries(pairs).filter(([, value]) => value !== '')).toString();
}

export interface ZonePage {
  readonly zones: readonly ZoneSummary[];
  readonly query: ZoneQuery;
  readonly pages: number;
  readonly totals: Totals;
  /** Number of zones in the account. */
  readonly account: number;
  readonly skipped: number;
  readonly takenAt: Date;
  /** The filter that the search may have meant. */
  readonly offer?: ZoneQuery | undefined;
}

export function renderZonePage(page: ZonePage): Message {
  const { query, totals } = page;
  const { limited } = totals;
  const count = pluralize(totals.zones, 'zone');
  const filter = describeFilter(query, page.account);
  const used = `${formatBytes(totals.used)} this month`;
  const charges = formatMoney(totals.charges);
  const attention = `${totals.attention > 0 ? ':warning: ' : ''}${describeAttentionCount(totals.attention)}`;
  const headline = [
    `*${count}*${filter}`,
    used,
    `${charges} so far`,
    // With this filter the number of zones says it.
    query.only !== 'attention' && attention,
  ];
  const limits =
    limited.zones > 0
      ? `${pluralize(limited.zones, 'zone')} with a limit: ${formatBytes(limited.used)} of ${formatBytes(limited.limit)} (${formatPercent(limited.used, limited.limit)})`
      : 'No bandwidth limits are set.';
  const notes = [
    page.pages > 1 && `Page ${formatInteger(query.page)} of ${formatInteger(page.pages)}`,
    `by ${query.sort}`,
    `as of ${formatMoment(page.takenAt)}`,
    page.skipped > 0 &&
      `:warning: ${pluralize(page.skipped, 'zone')} could not be read and ${page.skipped === 1 ? 'is' : 'are'} left out`,
  ];
  const text = `${count}${filter}: ${used}, ${charges}, ${describeAttentionCount(totals.attention)}.`;
  return message(text, [
    section([join(headline, ' · '), limits]),
    ...page.zones.map(renderRow),
    ...renderNavigation(page),
    context(notes),
  ]);
}

export interface FirstZones {
  readonly zones: readonly ZoneSummary[];
  /** Number of all zones, if the CDN says so. */
  readonly total: number | undefined;
  readonly search: string;
}

/** The first rows, while the rest is being read. */
export function renderFirstZones(first: FirstZones): Message {
  const start = describeFirst(first);
  return message(`${start}, counting…`, [section(`*${start}* · counting…`), ...first.zones.map(renderRow)]);
}

/** The first rows, after reading the rest failed, with a button to try again. */
export function renderFirstZonesOnly(first: FirstZones, why: Failure, query: ZoneQuery): Message {
  return message(`Only the first zones could be read. ${why.message}`, [
    section(`*${describeFirst(first)}* · the rest could not be read`),
    ...first.zones.map(renderRow),
    section(
      [`:warning: ${why.message}`, why.hint],
      button('Try again', 'zones:page:again', encodeZoneQuery(query)),
    ),
    why.reference && context(`Reference ${why.reference}`),
  ]);
}

function describeFirst({ zones, total, search }: FirstZones): string {
  const of = total === undefined ? '' : ` of ${formatInteger(total)}`;
  const what = search ? `zones matching ${formatCode(search, 60)}` : 'zones';
  return `First ${formatInteger(zones.length)}${of} ${what}`;
}

/** Shown before any row is known in the requested order. */
export function renderLoadingZones(total: number | undefined): Message {
  return say(`Reading ${total === undefined ? 'the zones' : pluralize(total, 'zone')}…`);
}

/** No zone matches. `near` are names that may have been meant. */
export function renderNoZones(
  query: ZoneQuery,
  account: number,
  near: readonly string[],
  offer?: ZoneQuery,
): Message {
  const all = encodeZoneQuery({ search: '', sort: query.sort, only: undefined, page: 1 });
  if (account === 0) {
    const text = 'Your key sees no zones. Make one in the CDN control panel, or connect another key.';
    return say(text, actions(button('Look again', 'zones:page:refresh', `${all}&fresh=1`)));
  }
  const what = [
    query.search && `matches ${formatCode(query.search)}`,
    query.only && (query.only === 'attention' ? 'needs attention' : `is ${query.only}`),
  ];
  const text = `None of your ${pluralize(account, 'zone')} ${join(what, ' and ')}.`;
  return message(text, [
    section(near.length > 0 || offer ? `${text} Did you mean one of these?` : text),
    actions(
      offer && offerButton(offer),
      ...near.map((name, index) => commandButton(plainText(name, 60), `zones ${quoteWord(name)}`, index)),
      button('All zones', 'zones:page:all', all),
    ),
  ]);
}

function offerButton(offer: ZoneQuery): Button {
  return button(`only:${offer.only}`, 'zones:page:only', encodeZoneQuery(offer));
}

function renderNavigation({ query, pages, totals, offer }: ZonePage): KnownBlock[] {
  const at = (change: Partial<ZoneQuery>) => encodeZoneQuery({ ...query, page: 1, ...change });
  const order = ({ name: 'bandwidth', bandwidth: 'charges', charges: 'name' } as const)[query.sort];
  const pager = actions(
    query.page > 1 && button('‹ Previous', 'zones:page:previous', at({ page: query.page - 1 })),
    query.page < pages && button('Next ›', 'zones:page', at({ page: query.page + 1 })),
  );
  const view = actions(
    offer && offerButton(offer),
    (query.only !== undefined || query.search !== '') &&
      button('All zones', 'zones:page:all', at({ only: undefined, search: '' })),
    query.only !== 'attention' &&
      totals.attention > 0 &&
      button(
        `Needs attention (${formatInteger(totals.attention)})`,
        'zones:page:attention',
        at({ only: 'attention' }),
      ),
    totals.zones > 1 && button(`Sort by ${order}`, 'zones:page:sort', at({ sort: order })),
    button('Refresh', 'zones:page:refresh', `${at({ page: query.page })}&fresh=1`),
  );
  return [pager, view];
}

function describeFilter(query: ZoneQuery, of: number): string {
  const how = [
    query.search && `matching ${formatCode(query.search, 60)}`,
    query.only === 'attention' ? 'needing attention' : query.only,
  ];
  return how.some(Boolean) ? ` ${join(how, ' and ')} (of ${formatInteger(of)})` : '';
}

function describeAttentionCount(zones: number): string {
  if (zones === 0) return 'none needs attention';
  return `${formatInteger(zones)} ${zones === 1 ? 'needs' : 'need'} attention`;
}
