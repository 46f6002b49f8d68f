import type { Zone } from '../../api/zones/zone.ts';
import { formatBytes, formatMoney } from '../blocks/format.ts';
import {
  describeEnum,
  formatLinkedId,
  formatOnOff,
  formatWhole,
  joinFields,
  joinList,
  joinParts,
  joinSwitches,
  listFields,
  type Row,
} from './fields.ts';
import { formatSetting, listSettings, nameSetting } from './setting-words.ts';

/** The sources of a zone, requests to them and the handling of their failures. */
export function listOrigin(zone: Zone): Row[] {
  const { summary, originRetries: retries, originRetryDelay: wait, maxWebSocketConnections: sockets } = zone;
  const { edgeScriptId: script } = summary;
  const phase = describeEnum('ExecutionPhase', zone.edgeScriptExecutionPhase);
  const timeouts = joinFields([
    ['connect', formatWhole(zone.originConnectTimeout, ' s')],
    ['response', formatWhole(zone.originResponseTimeout, ' s')],
  ]);
  const stickySessions = joinParts(
    describeEnum('StickySessionType', zone.stickySessionType)?.toLowerCase(),
    joinFields([
      ['cookie', zone.stickySessionCookieName],
      ['headers', zone.stickySessionClientHeaders],
    ]),
  );
  return [
    ...listFields([['Origin', summary.originUrl]]),
    ...listSettings(zone, 'originType', 'storageZoneId'),
    ...listFields([
      ['Edge script', script && phase ? `${script} (${phase})` : script],
      ['Middleware script', summary.middlewareScriptId],
      ['App', summary.appId],
    ]),
    ...listSettings(zone, 'originHostHeader', 'originLinkValue'),
    ...listFields([
      // The specification gives no unit for the wait.
      ['Retries', retries !== undefined && joinParts(`${retries}`, wait && `wait before a retry: ${wait}`)],
      [
        'Retries on',
        joinSwitches([
          ['5xx', zone.originRetry5XXResponses],
          ['no connection', zone.originRetryConnectionTimeout],
          ['a late response', zone.originRetryResponseTimeout],
        ]),
      ],
      ['Timeouts', timeouts],
      ['Sticky sessions', stickySessions],
    ]),
    ...listSettings(zone, 'routingFilters'),
    ...listFields([
      [
        'WebSockets',
        joinParts(
          formatOnOff(zone.enableWebSockets),
          zone.enableWebSockets && sockets && `at most ${formatWhole(sockets)}`,
        ),
      ],
    ]),
    ...listSettings(zone, 'addHostHeader', 'followRedirects', 'addCanonicalHeader', 'enableSafeHop'),
  ];
}

export function listPages(zone: Zone): Row[] {
  const { preloadingScreenDelay: wait } = zone;
  const preloading = joinParts(
    formatOnOff(zone.preloadingScreenEnabled),
    zone.preloadingScreenEnabled &&
      joinParts(
        describeEnum('PreloadingScreenTheme', zone.preloadingScreenTheme)?.toLowerCase(),
        wait !== undefined && `after ${formatWhole(wait, ' ms')}`,
      ),
  );
  return [
    ...listFields([
      [
        'Custom error page',
        joinParts(formatOnOff(zone.errorPageEnableCustomCode), describeLength(zone.errorPageCustomCode)),
      ],
      [
        'Status page widget',
        joinParts(formatOnOff(zone.errorPageEnableStatuspageWidget), zone.errorPageStatuspageCode),
      ],
    ]),
    ...listSettings(zone, 'errorPageWhitelabel'),
    ...listFields([
      ['Preloading screen', preloading],
      [
        'Own preloading code',
        joinParts(formatOnOff(zone.preloadingScreenCodeEnabled), describeLength(zone.preloadingScreenCode)),
      ],
    ]),
    ...listSettings(zone, 'preloadingScreenLogoUrl', 'preloadingScreenShowOnFirstVisit'),
  ];
}

/** Code for web pages is not shown in chat; the file has it. */
function describeLength(code: string | undefined): string | undefined {
  return code && `${formatWhole(code.length)} characters`;
}

export function listLogging(zone: Zone): Row[] {
  const { loggingIPAnonymizationEnabled: isAnonymized } = zone;
  const how = describeEnum('LogAnonymizationType', zone.logAnonymizationType) ?? 'how is not reported';
  return [
    ...listSettings(zone, 'enableLogging', 'enableExtendedLogging', 'logFormat'),
    ...listFields([
      ['IP addresses', isAnonymized ? `anonymized (${how})` : isAnonymized === false && 'whole'],
      ['Kept in the storage zone', zone.loggingSaveToStorage && formatLinkedId(zone.loggingStorageZoneId)],
      ['Forwarded', describeForwarding(zone)],
    ]),
  ];
}

function describeForwarding(zone: Zone): string | undefined {
  if (!zone.logForwardingEnabled) return formatOnOff(zone.logForwardingEnabled);
  const host = zone.logForwardingHostname?.replace(/^.*@/u, '');
  const port = zone.logForwardingPort ? `:${zone.logForwardingPort}` : '';
  const how = joinParts(
    describeEnum('PullZoneLogForwarderProtocolType', zone.logForwardingProtocol),
    describeEnum('PullZoneLogFormat', zone.logForwardingFormat),
  );
  const to = host ? host + port : 'an address that is not reported';
  return how ? `to ${to} (${how})` : `to ${to}`;
}

/** State, use and price, and where the zone delivers from. */
export function listAccount(zone: Zone): Row[] {
  const { enabled, suspended, bandwidthUsed: used, bandwidthLimit: limit, charges } = zone.summary;
  const active = enabled === undefined ? undefined : enabled ? 'active' : 'disabled';
  // The specification gives no unit. A zero is not shown.
  const discounts = joinFields([
    ['EU and US', formatWhole(zone.euusDiscount || undefined)],
    ['South America', formatWhole(zone.southAmericaDiscount || undefined)],
    ['Africa', formatWhole(zone.africaDiscount || undefined)],
    ['Asia and Oceania', formatWhole(zone.asiaOceaniaDiscount || undefined)],
  ]);
  const dns = joinFields([
    ['zone', zone.dnsZoneId],
    ['record', zone.dnsRecordId],
    ['value', zone.dnsRecordValue],
  ]);
  return [
    ...listFields([
      ['Id', zone.id],
      ['State', joinParts(suspended && 'suspended', active)],
      // The specification: enabled "unless resource limits were reached or the owning account ran out of funds".
      ['Disabled because', enabled === false && disabledBecause],
      ['This month', used === undefined ? undefined : formatBytes(used)],
      ['Monthly limit', limit === undefined ? undefined : formatBytes(limit)],
      ['Charges so far', charges === undefined ? undefined : formatMoney(charges)],
    ]),
    ...listSettings(zone, 'type'),
    ...listFields([['Delivers from', listRegions(zone)]]),
    ...listSettings(zone, 'ipFamilyPolicy'),
    ...listFields([
      ['Owner', zone.userId],
      [
        nameSetting('priceOverride'),
        zone.priceOverride && formatSetting('priceOverride', zone.priceOverride),
      ],
      ['Discounts', discounts],
    ]),
    ...listSettings(zone, 'cnameDomain'),
    ...listFields([['DNS', dns]]),
    ...listSettings(zone, 'videoLibraryId', 'magicContainersEndpointId'),
    ...listFields([['Cache version', formatWhole(zone.cacheVersion)]]),
  ];
}

export const disabledBecause = 'resource limits were reached or the owning account ran out of funds';

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
