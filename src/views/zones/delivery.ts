import type { Zone } from '../../api/zones/zone.ts';
import {
  describeEnum,
  formatOnOff,
  formatWhole,
  humanize,
  joinFields,
  joinList,
  joinNonEmpty,
  joinParts,
  quote,
  renderFields,
  renderSwitches,
} from '../blocks/fields.ts';
import { formatMoney } from '../blocks/format.ts';
import { describeState, describeUsage } from './rows.ts';

export function renderOverview(zone: Zone): string[] {
  const { summary } = zone;
  const script = humanize(summary.edgeScriptId);
  const phase = describeEnum('ExecutionPhase', zone.edgeScriptExecutionPhase);
  return renderFields([
    ['State', describeState(summary)],
    // The specification: enabled "unless resource limits were reached or the owning account ran out of funds".
    [
      'Disabled because',
      summary.enabled === false && 'resource limits were reached or the owning account ran out of funds',
    ],
    ['This month', describeUsage(summary)],
    ['Charges so far', summary.charges === undefined ? undefined : formatMoney(summary.charges)],
    ['Tier', describeEnum('PullZoneType', zone.type)],
    ['Origin', describeOrigin(zone)],
    ['Storage zone', humanize(summary.storageZoneId)],
    ['Edge script', script && phase ? `${script} (${phase})` : script],
    ['Middleware script', humanize(summary.middlewareScriptId)],
    ['App', humanize(summary.appId)],
    ['Delivers from', listRegions(zone)],
    ['Addresses', describeEnum('IpFamilyPolicy', zone.ipFamilyPolicy)],
  ]);
}

function describeOrigin(zone: Zone): string | undefined {
  const kind = describeEnum('PullZoneOriginType', zone.originType);
  const url = quote(zone.summary.originUrl, 150);
  return url && kind && kind !== 'OriginUrl' ? `${url} (${kind})` : (url ?? kind);
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
  const { originRetries: retries, originRetryDelay: wait, maxWebSocketConnections: sockets } = zone;
  const timeouts = joinFields([
    ['connect', formatWhole(zone.originConnectTimeout, ' s')],
    ['response', formatWhole(zone.originResponseTimeout, ' s')],
  ]);
  const stickySessions = joinParts(
    describeEnum('StickySessionType', zone.stickySessionType),
    ...renderFields([
      ['cookie', humanize(zone.stickySessionCookieName, 60)],
      ['headers', humanize(zone.stickySessionClientHeaders)],
    ]),
  );
  return [
    ...renderFields([
      ['Host header', humanize(zone.originHostHeader)],
      ['Connection', quote(zone.originLinkValue)],
      // The specification gives no unit for the wait.
      ['Retries', retries !== undefined && joinParts(`${retries}`, wait && `wait before a retry: ${wait}`)],
      ['Timeouts', timeouts],
      ['Sticky sessions', stickySessions],
      ['Routing filters', joinNonEmpty(zone.routingFilters)],
      [
        'WebSockets',
        joinParts(
          formatOnOff(zone.enableWebSockets),
          zone.enableWebSockets && sockets && `at most ${formatWhole(sockets)}`,
        ),
      ],
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

export function renderPages(zone: Zone): string[] {
  const { preloadingScreenDelay: wait } = zone;
  const preloading = joinParts(
    formatOnOff(zone.preloadingScreenEnabled),
    describeEnum('PreloadingScreenTheme', zone.preloadingScreenTheme),
    wait !== undefined && `after ${formatWhole(wait, ' ms')}`,
  );
  return [
    ...renderFields([
      ['Error page code', describeLength(zone.errorPageCustomCode)],
      ['Status page', humanize(zone.errorPageStatuspageCode)],
      ['Preloading screen', preloading],
      ['Its code', describeLength(zone.preloadingScreenCode)],
      ['Its logo', quote(zone.preloadingScreenLogoUrl)],
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

/** Code for web pages is not shown in chat; the file has it. */
function describeLength(code: string | undefined): string | undefined {
  return code && `${formatWhole(code.length)} characters`;
}

export function renderAccount(zone: Zone): string[] {
  // The specification gives no unit. A zero is not shown.
  const discounts = joinFields([
    ['EU and US', formatWhole(zone.euusDiscount || undefined)],
    ['South America', formatWhole(zone.southAmericaDiscount || undefined)],
    ['Africa', formatWhole(zone.africaDiscount || undefined)],
    ['Asia and Oceania', formatWhole(zone.asiaOceaniaDiscount || undefined)],
  ]);
  const dns = joinFields([
    ['zone', humanize(zone.dnsZoneId)],
    ['record', humanize(zone.dnsRecordId)],
    ['value', humanize(zone.dnsRecordValue)],
  ]);
  return renderFields([
    ['Owner', humanize(zone.userId)],
    // $/byte: too small for the format of money.
    ['Own price', zone.priceOverride && `$${zone.priceOverride} per byte`],
    ['Discounts', discounts],
    ['CNAME domain', humanize(zone.cnameDomain)],
    ['DNS', dns],
    ['Video library', humanize(zone.videoLibraryId)],
    ['App endpoint', humanize(zone.magicContainersEndpointId)],
    ['Cache version', formatWhole(zone.cacheVersion)],
  ]);
}
