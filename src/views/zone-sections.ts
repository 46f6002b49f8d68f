import type { Zone } from '../api/zone.ts';
import type { Hostname } from '../api/zone-fields.ts';
import {
  enumeration,
  factLines,
  listed,
  onOff,
  orUnlimited,
  seconds,
  switches,
  whole,
  words,
} from './facts.ts';
import { money } from './numbers.ts';
import { code, foreign } from './text.ts';

export function hostnames(zone: Zone): string[] {
  return zone.hostnames.map(hostname);
}

export function caching(zone: Zone): string[] {
  return [
    ...factLines([
      ['CDN cache time', seconds(zone.cacheControlMaxAgeOverride)],
      ['Browser cache time', seconds(zone.cacheControlPublicMaxAgeOverride)],
      ['Varies by query parameters', some(zone.queryStringVaryParameters)],
      ['Varies by cookies', zone.enableCookieVary ? some(zone.cookieVaryParameters) : undefined],
      ['Varies by headers', words(zone.cacheKeyHeaders)],
      ['Perma-Cache storage zone', positive(zone.permaCacheStorageZoneId)],
      ['Perma-Cache', enumeration('PermaCacheType', zone.permaCacheType)],
      ['Origin shield', shield(zone)],
      ['Its queue', shieldQueue(zone)],
      ['Coalesced requests wait', whole(zone.requestCoalescingTimeout)],
    ]),
    ...switches([
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

export function security(zone: Zone): string[] {
  return [
    ...factLines([
      ['DDoS protection', protection(zone)],
      ['Blocked IPs', some(zone.blockedIps)],
      ['Blocked countries', some(zone.blockedCountries)],
      ['Redirected countries', some(zone.budgetRedirectedCountries)],
      ['Allowed referrers', some(zone.allowedReferrers)],
      ['Blocked referrers', some(zone.blockedReferrers)],
      ['Requests per IP and second', orUnlimited(zone.requestLimit)],
      ['Burst', orUnlimited(zone.burstSize)],
      ['Connections per IP', orUnlimited(zone.connectionLimitPerIPCount)],
      ['Transfer rate', orUnlimited(zone.limitRatePerSecond, ' kb/s')],
      ['Limited after', positiveAmount(zone.limitRateAfter)],
      ['AWS signing region', words(zone.awsSigningRegionName)],
      [
        'CORS for',
        zone.enableAccessControlOriginHeader ? some(zone.accessControlOriginHeaderExtensions) : undefined,
      ],
    ]),
    ...switches([
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

export function optimizer(zone: Zone): string[] {
  if (zone.optimizerEnabled === false) return ['Off'];
  return [
    ...factLines([
      ['Optimizer', onOff(zone.optimizerEnabled)],
      ['Widest on desktop', whole(zone.optimizerDesktopMaxWidth, ' px')],
      ['Widest on mobile', whole(zone.optimizerMobileMaxWidth, ' px')],
      ['Image quality', qualities(zone)],
      ['Watermark', watermark(zone)],
      ['Costs a month', zone.optimizerPricing === undefined ? undefined : money(zone.optimizerPricing)],
      ['WordPress path', words(zone.optimizerStaticHtmlWordPressPath)],
      ['WordPress bypass cookie', words(zone.optimizerStaticHtmlWordPressBypassCookie)],
      ['AI images', blueprints(zone)],
      ['Image classes', listed(zone.optimizerClasses?.map(({ name }) => name ?? '(unnamed)'))],
    ]),
    ...switches([
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

export function logging(zone: Zone): string[] {
  return factLines([
    ['Logging', onOff(zone.enableLogging)],
    ['Extended', onOff(zone.enableExtendedLogging)],
    ['Format', enumeration('PullZoneLogFormat', zone.logFormat)],
    ['IP addresses', anonymized(zone)],
    ['Kept in the storage zone', zone.loggingSaveToStorage ? positive(zone.loggingStorageZoneId) : undefined],
    ['Forwarded', forwarding(zone)],
  ]);
}

function hostname(host: Hostname): string {
  const certificate =
    host.hasCertificate === undefined ? '' : host.hasCertificate ? 'certificate' : ':warning: no certificate';
  const facts = [
    host.isSystemHostname || host.isManagedHostname ? 'of the platform' : certificate,
    host.certificateProvisionType === undefined || host.hasCertificate !== true
      ? ''
      : enumeration('CertificateProvisionType', host.certificateProvisionType),
    host.forceSSL ? 'HTTPS forced' : '',
  ];
  return [code(host.value ?? 'not reported', 120), ...facts].filter(Boolean).join(' · ');
}

function shield(zone: Zone): string | undefined {
  const state = onOff(zone.enableOriginShield);
  return zone.enableOriginShield && zone.originShieldZoneCode
    ? `${state}, in ${foreign(zone.originShieldZoneCode, 20)}`
    : state;
}

function shieldQueue(zone: Zone): string | undefined {
  const all = factLines([
    ['at once', orUnlimited(zone.originShieldMaxConcurrentRequests)],
    ['waiting', orUnlimited(zone.originShieldMaxQueuedRequests)],
    ['longest wait', whole(zone.originShieldQueueMaxWaitTime)],
  ]);
  return all.length > 0 ? all.join(', ') : undefined;
}

function blueprints(zone: Zone): string | undefined {
  const names = zone.vendorAiImageBlueprints?.map(({ name }) => name ?? '(unnamed)') ?? [];
  const state = onOff(zone.enableVendorImageAi);
  return [state, names.length > 0 ? listed(names) : ''].filter(Boolean).join(', ') || undefined;
}

/** Its unit is not specified. */
function positiveAmount(value: number | undefined): string | undefined {
  return value === undefined || value <= 0 ? undefined : whole(value);
}

function protection(zone: Zone): string | undefined {
  const kind = enumeration('ShieldDDosProtectionType', zone.shieldDDosProtectionType);
  return [onOff(zone.shieldDDosProtectionEnabled), kind].filter(Boolean).join(', ') || undefined;
}

function qualities(zone: Zone): string | undefined {
  const both = factLines([
    ['desktop', whole(zone.optimizerImageQuality, ' %')],
    ['mobile', whole(zone.optimizerMobileImageQuality, ' %')],
  ]);
  return both.length > 0 ? both.join(', ') : undefined;
}

function watermark(zone: Zone): string | undefined {
  if (!zone.optimizerWatermarkEnabled) return onOff(zone.optimizerWatermarkEnabled);
  return [
    enumeration('OptimizerWatermarkPosition', zone.optimizerWatermarkPosition) ?? 'on',
    zone.optimizerWatermarkUrl ? code(zone.optimizerWatermarkUrl, 100) : '',
    ...factLines([
      ['offset', whole(zone.optimizerWatermarkOffset)],
      ['on images from', whole(zone.optimizerWatermarkMinImageSize)],
    ]),
  ]
    .filter(Boolean)
    .join(', ');
}

function anonymized(zone: Zone): string | undefined {
  if (zone.loggingIPAnonymizationEnabled !== true)
    return zone.loggingIPAnonymizationEnabled === false ? 'whole' : undefined;
  return `anonymized (${enumeration('LogAnonymizationType', zone.logAnonymizationType) ?? 'how is not reported'})`;
}

function forwarding(zone: Zone): string | undefined {
  if (!zone.logForwardingEnabled) return onOff(zone.logForwardingEnabled);
  const to = zone.logForwardingHostname
    ? code(
        zone.logForwardingHostname.replace(/^.*@/u, '') +
          (zone.logForwardingPort ? `:${zone.logForwardingPort}` : ''),
      )
    : 'an address that is not reported';
  const how = [
    enumeration('PullZoneLogForwarderProtocolType', zone.logForwardingProtocol),
    enumeration('PullZoneLogFormat', zone.logForwardingFormat),
  ].filter(Boolean);
  return how.length > 0 ? `to ${to} (${how.join(', ')})` : `to ${to}`;
}

function positive(id: number | string | undefined): string | undefined {
  return id === undefined || Number(id) <= 0 ? undefined : foreign(String(id), 40);
}

/** A list that says something only when it has entries. */
function some(values: readonly string[] | undefined): string | undefined {
  return values === undefined || values.length === 0 ? undefined : listed(values);
}
