import type { KnownBlock } from '@slack/types';
import type { Totals } from '../../api/zones/summary.ts';
import { actions, button, commandButton, context, message, section } from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import type { Failure } from '../blocks/failure.ts';
import type { Message } from '../blocks/message.ts';
import {
  formatBytes,
  formatCode,
  formatInteger,
  formatMoney,
  formatPercent,
  plainText,
  pluralize,
} from '../blocks/text.ts';
import { quoteWord, renderRow, type ZoneRow } from './rows.ts';

/** What a list of zones shows. Buttons carry it as a query string. */
export interface ZoneQuery {
  readonly search: string;
  readonly sort: 'name' | 'bandwidth' | 'charges';
  readonly only: 'attention' | 'disabled' | 'suspended' | undefined;
  /** From 1. */
  readonly page: number;
}

/** One page of the list. `value` encodes a query for a button. */
export interface ZonePage {
  readonly rows: readonly ZoneRow[];
  readonly query: ZoneQuery;
  readonly pages: number;
  /** Number of zones on all pages. */
  readonly found: number;
  /** Of all zones of the query. */
  readonly totals: Totals;
  /** Number of zones in the account, and of those that need attention. */
  readonly account: { readonly zones: number; readonly attention: number };
  readonly skipped: number;
  readonly takenAt: Date;
  readonly value: (query: ZoneQuery) => string;
  readonly offer?: FilterOffer | undefined;
}

/** The filter that a search may have meant, with its button's value. */
export interface FilterOffer {
  readonly label: string;
  readonly value: string;
}

/** The list, the totals first. */
export function renderZonePage(page: ZonePage): Message {
  const { query, totals } = page;
  const { limited } = totals;
  const count = pluralize(totals.zones, 'zone');
  const filter = describeFilter(query, page.account.zones);
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
    section(`${headline.filter(Boolean).join(' · ')}\n${limits}`),
    ...page.rows.map(renderRow),
    ...renderNavigation(page),
    context(notes.filter(Boolean).join(' · ')),
  ]);
}

export interface FirstZones {
  readonly rows: readonly ZoneRow[];
  /** Number of all zones, if the CDN says so. */
  readonly total: number | undefined;
  readonly search: string;
}

/** The first rows, while the rest is being read. */
export function renderFirstZones(first: FirstZones): Message {
  const { headline, text } = formatFirstHeadline(first, 'counting…');
  return message(text, [section(headline), ...first.rows.map(renderRow)]);
}

/** The first rows, after reading the rest failed, with a button to try again. */
export function renderFirstZonesOnly(first: FirstZones, why: Failure, again: string): Message {
  const { headline } = formatFirstHeadline(first, 'the rest could not be read');
  return message(`Only the first zones could be read. ${why.message}`, [
    section(headline),
    ...first.rows.map(renderRow),
    section(
      [`:warning: ${why.message}`, why.hint].filter(Boolean).join('\n'),
      button('Try again', 'zones:page:again', again),
    ),
    ...(why.reference ? [context(`Reference ${why.reference}`)] : []),
  ]);
}

/** Shown before any row is known in the requested order. */
export function renderLoadingZones(total: number | undefined): Message {
  const text = `Reading ${total === undefined ? 'the zones' : pluralize(total, 'zone')}…`;
  return message(text, [section(text)]);
}

/** No zone matches. `near` are names that may have been meant. */
export function renderNoZones(
  query: ZoneQuery,
  account: { readonly zones: number },
  near: readonly string[],
  all: string,
  offer?: FilterOffer,
): Message {
  if (account.zones === 0) {
    const text = 'Your key sees no zones. Make one in the CDN control panel, or connect another key.';
    return message(text, [
      section(text),
      actions(button('Look again', 'zones:page:refresh', `${all}&fresh=1`)),
    ]);
  }
  const what = [
    query.search && `matches ${formatCode(query.search)}`,
    query.only && (query.only === 'attention' ? 'needs attention' : `is ${query.only}`),
  ].filter(Boolean);
  const text = `None of your ${pluralize(account.zones, 'zone')} ${what.join(' and ')}.`;
  return message(text, [
    section(near.length > 0 || offer ? `${text} Did you mean one of these?` : text),
    actions(
      ...(offer ? [button(offer.label, 'zones:page:only', offer.value)] : []),
      ...near.map((name, index) => commandButton(plainText(name, 60), `zones ${quoteWord(name)}`, index)),
      button('All zones', 'zones:page:all', all),
    ),
  ]);
}

function renderNavigation({ query, value, pages, totals, found, offer }: ZonePage): KnownBlock[] {
  const at = (change: Partial<ZoneQuery>) => value({ ...query, page: 1, ...change });
  const order = ({ name: 'bandwidth', bandwidth: 'charges', charges: 'name' } as const)[query.sort];
  const pager = [
    query.page > 1 && button('‹ Previous', 'zones:page:previous', at({ page: query.page - 1 })),
    query.page < pages && button('Next ›', 'zones:page', at({ page: query.page + 1 })),
  ].filter((shown) => shown !== false);
  const view = [
    offer && button(offer.label, 'zones:page:only', offer.value),
    (query.only !== undefined || query.search !== '') &&
      button('All zones', 'zones:page:all', at({ only: undefined, search: '' })),
    query.only !== 'attention' &&
      totals.attention > 0 &&
      button(
        `Needs attention (${formatInteger(totals.attention)})`,
        'zones:page:attention',
        at({ only: 'attention' }),
      ),
    found > 1 && button(`Sort by ${order}`, 'zones:page:sort', at({ sort: order })),
    button('Refresh', 'zones:page:refresh', `${at({ page: query.page })}&fresh=1`),
  ].filter((shown) => typeof shown === 'object');
  return [...(pager.length > 0 ? [actions(...pager)] : []), actions(...view)];
}

function describeFilter(query: ZoneQuery, of: number): string {
  const how = [
    query.search && `matching ${formatCode(query.search, 60)}`,
    query.only === 'attention' ? 'needing attention' : query.only,
  ].filter(Boolean);
  return how.length > 0 ? ` ${how.join(' and ')} (of ${formatInteger(of)})` : '';
}

function describeAttentionCount(zones: number): string {
  if (zones === 0) return 'none needs attention';
  return `${formatInteger(zones)} ${zones === 1 ? 'needs' : 'need'} attention`;
}

function formatFirstHeadline(first: FirstZones, then: string): { headline: string; text: string } {
  const of = first.total === undefined ? '' : ` of ${formatInteger(first.total)}`;
  const what = first.search ? `zones matching ${formatCode(first.search, 60)}` : 'zones';
  const start = `First ${formatInteger(first.rows.length)}${of} ${what}`;
  return { headline: `*${start}* · ${then}`, text: `${start}, ${then}` };
}
