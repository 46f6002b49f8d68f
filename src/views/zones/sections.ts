import type { Hostname } from '../../api/zones/fields.ts';
import type { Zone } from '../../api/zones/zone.ts';
import {
  describeEnum,
  formatOnOff,
  formatOrUnlimited,
  formatSeconds,
  formatWhole,
  humanize,
  joinFields,
  joinList,
  renderFields,
  renderSwitches,
} from '../blocks/fields.ts';
import { escapeMrkdwn, formatCode, formatMoney } from '../blocks/text.ts';

export function renderHostnames(zone: Zone): string[] {
  return zone.hostnames.map(renderHostname);
}

export function renderCaching(zone: Zone): string[] {
  return [
    ...renderFields([
      // Both override `max-age` of Cache-Control, which counts seconds (RFC 9111, 5.2.2.1).
      ['CDN cache time', formatSeconds(zone.cacheControlMaxAgeOverride)],
      ['Browser cache time', formatSeconds(zone.cacheControlPublicMaxAgeOverride)],
      ['Varies by query parameters', joinNonEmpty(zone.queryStringVaryParameters)],
      ['Varies by cookies', zone.enableCookieVary ? joinNonEmpty(zone.cookieVaryParameters) : undefined],
      ['Varies by headers', humanize(zone.cacheKeyHeaders)],
      ['Perma-Cache storage zone', formatPositiveId(zone.permaCacheStorageZoneId)],
      ['Perma-Cache', describeEnum('PermaCacheType', zone.permaCacheType)],
      ['Origin shield', describeShield(zone)],
      ['Its queue', describeShieldQueue(zone)],
      ['Coalesced requests wait', formatWhole(zone.requestCoalescingTimeout)],
    ]),
    ...renderSwitches([
      ['smart cache', zone.enableSmartCache],
      ['query strings ignored', zone.ignoreQueryStrings],
      ['query strings sorted', zone.enableQueryStringOrdering],
      ['cache slice for video', zone.enableCacheSlice],
      ['errors cached', zone.cacheErrorResponses],
      ['shield concurrency limited', zone.originShieldEnableConcurrencyLimit],
      ['stale while updating', zone.useStaleWhileUpdating],
      ['stale while offline', zone.useStaleWhileOffline],
      ['update in the background', zone.useBackgroundUpdate],
      ['requests coalesced', zone.enableRequestCoalescing],
      ['cookies removed', zone.disableCookies],
      ['vary by WebP', zone.enableWebPVary],
      ['vary by AVIF', zone.enableAvifVary],
      ['vary by country', zone.enableCountryCodeVary],
      ['vary by state', zone.enableCountryStateCodeVary],
      ['vary by mobile', zone.enableMobileVary],
      ['vary by hostname', zone.enableHostnameVary],
    ]),
  ];
}

export function renderSecurity(zone: Zone): string[] {
  return [
    ...renderFields([
      ['DDoS protection', describeProtection(zone)],
      ['Blocked IPs', joinNonEmpty(zone.blockedIps)],
      ['Blocked countries', joinNonEmpty(zone.blockedCountries)],
      ['Redirected countries', joinNonEmpty(zone.budgetRedirectedCountries)],
      ['Allowed referrers', joinNonEmpty(zone.allowedReferrers)],
      ['Blocked referrers', joinNonEmpty(zone.blockedReferrers)],
      ['Requests per IP and second', formatOrUnlimited(zone.requestLimit)],
      ['Burst', describeBurst(zone)],
      ['Connections per IP', formatOrUnlimited(zone.connectionLimitPerIPCount)],
      ['Transfer rate', formatOrUnlimited(zone.limitRatePerSecond, ' kb/s')],
      ['Limited after', isOn(zone.limitRatePerSecond) ? formatPositive(zone.limitRateAfter) : undefined],
      ['AWS signing region', humanize(zone.awsSigningRegionName)],
      [
        'CORS for',
        zone.enableAccessControlOriginHeader
          ? joinNonEmpty(zone.accessControlOriginHeaderExtensions)
          : undefined,
      ],
    ]),
    ...renderSwitches([
      ['token authentication', zone.zoneSecurityEnabled],
      ['token holds the IP', zone.zoneSecurityIncludeHashRemoteIP],
      ['origin certificate checked', zone.verifyOriginSSL],
      ['automatic certificates', zone.enableAutoSSL],
      ['Let’s Encrypt disabled', zone.disableLetsEncrypt],
      ['TLS 1.0', zone.enableTLS1],
      ['TLS 1.1', zone.enableTLS1_1],
      ['root path blocked', zone.blockRootPathAccess],
      ['POST blocked', zone.blockPostRequests],
      ['direct access blocked', zone.blockNoneReferrer],
      ['CORS headers', zone.enableAccessControlOriginHeader],
      ['AWS signing', zone.awsSigningEnabled],
    ]),
  ];
}

export function renderOptimizer(zone: Zone): string[] {
  if (zone.optimizerEnabled === false) return ['Off'];
  return [
    ...renderFields([
      ['Optimizer', formatOnOff(zone.optimizerEnabled)],
      ['Widest on desktop', formatWhole(zone.optimizerDesktopMaxWidth)],
      ['Widest on mobile', formatWhole(zone.optimizerMobileMaxWidth)],
      ['Image quality', describeQualities(zone)],
      ['Watermark', describeWatermark(zone)],
      ['Costs a month', zone.optimizerPricing === undefined ? undefined : formatMoney(zone.optimizerPricing)],
      ['WordPress path', humanize(zone.optimizerStaticHtmlWordPressPath)],
      ['WordPress bypass cookie', humanize(zone.optimizerStaticHtmlWordPressBypassCookie)],
      ['AI images', describeBlueprints(zone)],
      ['Image classes', joinList(zone.optimizerClasses?.map(({ name }) => name ?? '(unnamed)'))],
    ]),
    ...renderSwitches([
      ['WebP', zone.optimizerEnableWebP],
      ['automatic', zone.optimizerAutomaticOptimizationEnabled],
      ['CSS minified', zone.optimizerMinifyCSS],
      ['JavaScript minified', zone.optimizerMinifyJavaScript],
      ['manipulation by URL', zone.optimizerEnableManipulationEngine],
      ['upscaling', zone.optimizerEnableUpscaling],
      ['HTML prerendered', zone.optimizerPrerenderHtml],
      ['static HTML', zone.optimizerStaticHtmlEnabled],
      ['classes enforced', zone.optimizerForceClasses],
      ['tunnel', zone.optimizerTunnelEnabled],
    ]),
  ];
}

export function renderLogging(zone: Zone): string[] {
  return renderFields([
    ['Logging', formatOnOff(zone.enableLogging)],
    ['Extended', formatOnOff(zone.enableExtendedLogging)],
    ['Format', describeEnum('PullZoneLogFormat', zone.logFormat)],
    ['IP addresses', describeAnonymization(zone)],
    [
      'Kept in the storage zone',
      zone.loggingSaveToStorage ? formatPositiveId(zone.loggingStorageZoneId) : undefined,
    ],
    ['Forwarded', describeForwarding(zone)],
  ]);
}

function renderHostname(host: Hostname): string {
  const certificate =
    host.hasCertificate === undefined ? '' : host.hasCertificate ? 'certificate' : ':warning: no certificate';
  const facts = [
    host.isSystemHostname || host.isManagedHostname ? 'of the platform' : certificate,
    host.certificateProvisionType === undefined || host.hasCertificate !== true
      ? ''
      : describeEnum('CertificateProvisionType', host.certificateProvisionType),
    host.forceSSL ? 'HTTPS forced' : '',
  ];
  return [formatCode(host.value ?? 'not reported', 120), ...facts].filter(Boolean).join(' · ');
}

function describeShield(zone: Zone): string | undefined {
  const state = formatOnOff(zone.enableOriginShield);
  return zone.enableOriginShield && zone.originShieldZoneCode
    ? `${state}, in ${escapeMrkdwn(zone.originShieldZoneCode, 20)}`
    : state;
}

/** Its limits hold only where the shield limits concurrency. */
function describeShieldQueue(zone: Zone): string | undefined {
  if (zone.originShieldEnableConcurrencyLimit !== true) return undefined;
  return joinFields([
    ['at once', formatWhole(zone.originShieldMaxConcurrentRequests)],
    ['waiting', formatWhole(zone.originShieldMaxQueuedRequests)],
    ['longest wait', formatWhole(zone.originShieldQueueMaxWaitTime)],
  ]);
}

function describeBlueprints(zone: Zone): string | undefined {
  const names = zone.vendorAiImageBlueprints?.map(({ name }) => name ?? '(unnamed)') ?? [];
  const state = formatOnOff(zone.enableVendorImageAi);
  return [state, names.length > 0 ? joinList(names) : ''].filter(Boolean).join(', ') || undefined;
}

/** How many requests above the limit are delayed instead of refused: only where requests are limited. */
function describeBurst(zone: Zone): string | undefined {
  if (!isOn(zone.requestLimit)) return undefined;
  return zone.burstSize === 0 ? 'none' : formatWhole(zone.burstSize);
}

/** A limit of 0 is off. */
function isOn(limit: number | undefined): boolean {
  return limit !== undefined && limit > 0;
}

/** The specification gives no unit. */
function formatPositive(value: number | undefined): string | undefined {
  return value === undefined || value <= 0 ? undefined : formatWhole(value);
}

function describeProtection(zone: Zone): string | undefined {
  const kind = describeEnum('ShieldDDosProtectionType', zone.shieldDDosProtectionType);
  return [formatOnOff(zone.shieldDDosProtectionEnabled), kind].filter(Boolean).join(', ') || undefined;
}

function describeQualities(zone: Zone): string | undefined {
  return joinFields([
    ['desktop', formatWhole(zone.optimizerImageQuality)],
    ['mobile', formatWhole(zone.optimizerMobileImageQuality)],
  ]);
}

function describeWatermark(zone: Zone): string | undefined {
  if (!zone.optimizerWatermarkEnabled) return formatOnOff(zone.optimizerWatermarkEnabled);
  return [
    describeEnum('OptimizerWatermarkPosition', zone.optimizerWatermarkPosition) ?? 'on',
    zone.optimizerWatermarkUrl ? formatCode(zone.optimizerWatermarkUrl, 100) : '',
    ...renderFields([
      ['offset', formatWhole(zone.optimizerWatermarkOffset)],
      ['on images from', formatWhole(zone.optimizerWatermarkMinImageSize)],
    ]),
  ]
    .filter(Boolean)
    .join(', ');
}

function describeAnonymization(zone: Zone): string | undefined {
  if (zone.loggingIPAnonymizationEnabled !== true)
    return zone.loggingIPAnonymizationEnabled === false ? 'whole' : undefined;
  return `anonymized (${describeEnum('LogAnonymizationType', zone.logAnonymizationType) ?? 'how is not reported'})`;
}

function describeForwarding(zone: Zone): string | undefined {
  if (!zone.logForwardingEnabled) return formatOnOff(zone.logForwardingEnabled);
  const to = zone.logForwardingHostname
    ? formatCode(
        zone.logForwardingHostname.replace(/^.*@/u, '') +
          (zone.logForwardingPort ? `:${zone.logForwardingPort}` : ''),
      )
    : 'an address that is not reported';
  const how = [
    describeEnum('PullZoneLogForwarderProtocolType', zone.logForwardingProtocol),
    describeEnum('PullZoneLogFormat', zone.logForwardingFormat),
  ].filter(Boolean);
  return how.length > 0 ? `to ${to} (${how.join(', ')})` : `to ${to}`;
}

function formatPositiveId(id: number | string | undefined): string | undefined {
  return id === undefined || Number(id) <= 0 ? undefined : escapeMrkdwn(String(id), 40);
}

/** A list, or undefined if it has no entries. */
function joinNonEmpty(values: readonly string[] | undefined): string | undefined {
  return values === undefined || values.length === 0 ? undefined : joinList(values);
}
