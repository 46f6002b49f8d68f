import type { Zone } from '../../api/zones/zone.ts';
import {
  describeEnum,
  formatOnOff,
  formatWhole,
  humanize,
  joinFields,
  joinList,
  renderFields,
  renderSwitches,
} from '../blocks/fields.ts';
import { escapeMrkdwn, formatCode, formatMoney } from '../blocks/text.ts';
import { describeState, describeUsage } from './row.ts';

/** State, origin, linked resources and cost. */
export function renderOverview(zone: Zone): string[] {
  const { summary } = zone;
  return renderFields([
    ['State', describeState(summary)],
    // The specification: enabled "unless resource limits were reached or the owning account ran out of funds".
    [
      'Disabled because',
      summary.enabled === false
        ? 'resource limits were reached or the owning account ran out of funds'
        : undefined,
    ],
    ['This month', describeUsage(summary)],
    ['Charges so far', summary.charges === undefined ? undefined : formatMoney(summary.charges)],
    ['Tier', describeEnum('PullZoneType', zone.type)],
    ['Origin', describeOrigin(zone)],
    ['Storage zone', humanize(summary.storageZoneId)],
    ['Edge script', describeScript(zone)],
    ['Middleware script', humanize(summary.middlewareScriptId)],
    ['App', humanize(summary.appId)],
    ['Delivers from', listRegions(zone)],
    ['Addresses', describeEnum('IpFamilyPolicy', zone.ipFamilyPolicy)],
  ]);
}

function describeOrigin(zone: Zone): string | undefined {
  const kind = describeEnum('PullZoneOriginType', zone.originType);
  const url = zone.summary.originUrl ? formatCode(zone.summary.originUrl, 150) : undefined;
  return url && kind && kind !== 'OriginUrl' ? `${url} (${kind})` : (url ?? kind);
}

function describeScript(zone: Zone): string | undefined {
  const { edgeScriptId } = zone.summary;
  if (edgeScriptId === undefined) return undefined;
  const phase = describeEnum('ExecutionPhase', zone.edgeScriptExecutionPhase);
  return phase ? `${escapeMrkdwn(edgeScriptId)} (${phase})` : escapeMrkdwn(edgeScriptId);
}

function listRegions(zone: Zone): string | undefined {
  const all = [
    ['North America', zone.enableGeoZoneUS],
    ['Europe', zone.enableGeoZoneEU],
    ['Asia and Oceania', zone.enableGeoZoneASIA],
    ['South America', zone.enableGeoZoneSA],
    ['Africa', zone.enableGeoZoneAF],
  ] as const;
  if (all.every(([, on]) => on === undefined)) return undefined;
  return joinList(all.flatMap(([name, on]) => (on === true ? [name] : [])));
}

/** Requests to the origin and the handling of their failures. */
export function renderOrigin(zone: Zone): string[] {
  return [
    ...renderFields([
      ['Host header', humanize(zone.originHostHeader)],
      ['Connection', zone.originLinkValue ? formatCode(zone.originLinkValue, 100) : undefined],
      ['Retries', describeRetries(zone)],
      ['Timeouts', describeTimeouts(zone)],
      ['Sticky sessions', describeStickySessions(zone)],
      ['Routing filters', zone.routingFilters?.length ? joinList(zone.routingFilters) : undefined],
      ['WebSockets', describeWebSockets(zone)],
    ]),
    ...renderSwitches([
      ['hostname forwarded', zone.addHostHeader],
      ['redirects followed', zone.followRedirects],
      ['canonical header', zone.addCanonicalHeader],
      ['retry on 5xx', zone.originRetry5XXResponses],
      ['retry when connecting fails', zone.originRetryConnectionTimeout],
      ['retry when the response is late', zone.originRetryResponseTimeout],
      ['safe hop', zone.enableSafeHop],
    ]),
  ];
}

/** Error pages and the preloading screen. */
export function renderPages(zone: Zone): string[] {
  return [
    ...renderFields([
      ['Error page code', describeLength(zone.errorPageCustomCode)],
      ['Status page', humanize(zone.errorPageStatuspageCode)],
      ['Preloading screen', describePreloading(zone)],
      ['Its code', describeLength(zone.preloadingScreenCode)],
      ['Its logo', zone.preloadingScreenLogoUrl ? formatCode(zone.preloadingScreenLogoUrl, 100) : undefined],
    ]),
    ...renderSwitches([
      ['custom error page', zone.errorPageEnableCustomCode],
      ['status page widget', zone.errorPageEnableStatuspageWidget],
      ['white label', zone.errorPageWhitelabel],
      ['preloading on the first visit', zone.preloadingScreenShowOnFirstVisit],
      ['own preloading code', zone.preloadingScreenCodeEnabled],
    ]),
  ];
}

/** Owner, prices and other linked resources. */
export function renderAccount(zone: Zone): string[] {
  return renderFields([
    ['Owner', humanize(zone.userId)],
    // $/byte: too small for the format of money.
    ['Own price', zone.priceOverride ? `$${zone.priceOverride} per byte` : undefined],
    ['Discounts', listDiscounts(zone)],
    ['CNAME domain', humanize(zone.cnameDomain)],
    ['DNS', describeDns(zone)],
    ['Video library', humanize(zone.videoLibraryId)],
    ['App endpoint', humanize(zone.magicContainersEndpointId)],
    ['Cache version', formatWhole(zone.cacheVersion)],
  ]);
}

/** The specification gives no unit for the wait. */
function describeRetries(zone: Zone): string | undefined {
  if (zone.originRetries === undefined) return undefined;
  return zone.originRetryDelay
    ? `${zone.originRetries}, wait before a retry: ${zone.originRetryDelay}`
    : `${zone.originRetries}`;
}

function describeTimeouts(zone: Zone): string | undefined {
  return joinFields([
    ['connect', formatWhole(zone.originConnectTimeout, ' s')],
    ['response', formatWhole(zone.originResponseTimeout, ' s')],
  ]);
}

function describeWebSockets(zone: Zone): string | undefined {
  const state = formatOnOff(zone.enableWebSockets);
  return zone.enableWebSockets && zone.maxWebSocketConnections
    ? `${state}, at most ${formatWhole(zone.maxWebSocketConnections)}`
    : state;
}

function describeStickySessions(zone: Zone): string | undefined {
  const how = renderFields([
    ['cookie', humanize(zone.stickySessionCookieName, 60)],
    ['headers', humanize(zone.stickySessionClientHeaders, 100)],
  ]);
  const state = describeEnum('StickySessionType', zone.stickySessionType);
  return [state, ...how].filter(Boolean).join(', ') || undefined;
}

function describePreloading(zone: Zone): string | undefined {
  return (
    [
      formatOnOff(zone.preloadingScreenEnabled),
      describeEnum('PreloadingScreenTheme', zone.preloadingScreenTheme),
      zone.preloadingScreenDelay === undefined
        ? undefined
        : `after ${formatWhole(zone.preloadingScreenDelay, ' ms')}`,
    ]
      .filter(Boolean)
      .join(', ') || undefined
  );
}

function listDiscounts(zone: Zone): string | undefined {
  return joinFields([
    ['EU and US', formatDiscount(zone.euusDiscount)],
    ['South America', formatDiscount(zone.southAmericaDiscount)],
    ['Africa', formatDiscount(zone.africaDiscount)],
    ['Asia and Oceania', formatDiscount(zone.asiaOceaniaDiscount)],
  ]);
}

/** The specification gives no unit. A zero is not shown. */
function formatDiscount(value: number | undefined): string | undefined {
  return value === 0 ? undefined : formatWhole(value);
}

function describeDns(zone: Zone): string | undefined {
  return joinFields([
    ['zone', humanize(zone.dnsZoneId)],
    ['record', humanize(zone.dnsRecordId)],
    ['value', humanize(zone.dnsRecordValue)],
  ]);
}

/** Code for web pages is not shown in chat; the file has it. */
function describeLength(written: string | undefined): string | undefined {
  return written ? escapeMrkdwn(`${formatWhole(written.length)} characters`) : undefined;
}
