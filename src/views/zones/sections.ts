import type { Hostname } from '../../api/zones/fields.ts';
import type { Zone } from '../../api/zones/zone.ts';
import {
  describeEnum,
  formatOnOff,
  formatOrUnlimited,
  formatOverride,
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
import { escapeMrkdwn, formatCode, join } from '../blocks/text.ts';

export function renderHostname(host: Hostname): string {
  const isPlatforms = host.isSystemHostname || host.isManagedHostname;
  const certificate = host.hasCertificate ? 'certificate' : ':warning: no certificate';
  const facts = [
    formatCode(host.value ?? 'not reported', 120),
    isPlatforms ? 'of the platform' : host.hasCertificate !== undefined && certificate,
    host.hasCertificate && describeEnum('CertificateProvisionType', host.certificateProvisionType),
    host.forceSSL && 'HTTPS forced',
  ];
  return join(facts, ' · ');
}

export function renderCaching(zone: Zone): string[] {
  return [
    ...renderFields([
      ['CDN cache time', formatOverride(zone.cacheControlMaxAgeOverride)],
      ['Browser cache time', formatOverride(zone.cacheControlPublicMaxAgeOverride)],
      ['Varies by query parameters', joinNonEmpty(zone.queryStringVaryParameters)],
      ['Varies by cookies', zone.enableCookieVary && joinNonEmpty(zone.cookieVaryParameters)],
      ['Varies by headers', humanize(zone.cacheKeyHeaders)],
      ['Perma-Cache storage zone', formatLinkedId(zone.permaCacheStorageZoneId)],
      ['Perma-Cache', describeEnum('PermaCacheType', zone.permaCacheType)],
      ['Origin shield', describeShield(zone)],
      // Its limits hold only where the shield limits concurrency.
      ['Its queue', zone.originShieldEnableConcurrencyLimit && describeShieldQueue(zone)],
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

function describeShield({ enableOriginShield, originShieldZoneCode }: Zone): string | undefined {
  const place = enableOriginShield && humanize(originShieldZoneCode, 20);
  return joinParts(formatOnOff(enableOriginShield), place && `in ${place}`);
}

function describeShieldQueue(zone: Zone): string | undefined {
  return joinFields([
    ['at once', formatWhole(zone.originShieldMaxConcurrentRequests)],
    ['waiting', formatWhole(zone.originShieldMaxQueuedRequests)],
    ['longest wait', formatWhole(zone.originShieldQueueMaxWaitTime)],
  ]);
}

export function renderSecurity(zone: Zone): string[] {
  const protection = describeEnum('ShieldDDosProtectionType', zone.shieldDDosProtectionType);
  // How many requests above the limit are delayed instead of refused.
  const burst = zone.burstSize === 0 ? 'none' : formatWhole(zone.burstSize);
  return [
    ...renderFields([
      ['DDoS protection', joinParts(formatOnOff(zone.shieldDDosProtectionEnabled), protection)],
      ['Blocked IPs', joinNonEmpty(zone.blockedIps)],
      ['Blocked countries', joinNonEmpty(zone.blockedCountries)],
      ['Redirected countries', joinNonEmpty(zone.budgetRedirectedCountries)],
      ['Allowed referrers', joinNonEmpty(zone.allowedReferrers)],
      ['Blocked referrers', joinNonEmpty(zone.blockedReferrers)],
      ['Requests per IP and second', formatOrUnlimited(zone.requestLimit)],
      ['Burst', isPositive(zone.requestLimit) && burst],
      ['Connections per IP', formatOrUnlimited(zone.connectionLimitPerIPCount)],
      ['Transfer rate', formatOrUnlimited(zone.limitRatePerSecond, ' kb/s')],
      [
        'Limited after',
        isPositive(zone.limitRatePerSecond) &&
          isPositive(zone.limitRateAfter) &&
          formatWhole(zone.limitRateAfter),
      ],
      ['AWS signing region', humanize(zone.awsSigningRegionName)],
      [
        'CORS for',
        zone.enableAccessControlOriginHeader && joinNonEmpty(zone.accessControlOriginHeaderExtensions),
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
  const quality = joinFields([
    ['desktop', formatWhole(zone.optimizerImageQuality)],
    ['mobile', formatWhole(zone.optimizerMobileImageQuality)],
  ]);
  const blueprints = joinNonEmpty(zone.vendorAiImageBlueprints?.map(readName));
  return [
    ...renderFields([
      ['Optimizer', formatOnOff(zone.optimizerEnabled)],
      ['Widest on desktop', formatWhole(zone.optimizerDesktopMaxWidth)],
      ['Widest on mobile', formatWhole(zone.optimizerMobileMaxWidth)],
      ['Image quality', quality],
      ['Watermark', describeWatermark(zone)],
      ['Costs a month', zone.optimizerPricing === undefined ? undefined : formatMoney(zone.optimizerPricing)],
      ['WordPress path', humanize(zone.optimizerStaticHtmlWordPressPath)],
      ['WordPress bypass cookie', humanize(zone.optimizerStaticHtmlWordPressBypassCookie)],
      ['AI images', joinParts(formatOnOff(zone.enableVendorImageAi), blueprints)],
      ['Image classes', joinList(zone.optimizerClasses?.map(readName))],
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

function describeWatermark(zone: Zone): string | undefined {
  if (!zone.optimizerWatermarkEnabled) return formatOnOff(zone.optimizerWatermarkEnabled);
  return joinParts(
    describeEnum('OptimizerWatermarkPosition', zone.optimizerWatermarkPosition) ?? 'on',
    quote(zone.optimizerWatermarkUrl),
    ...renderFields([
      ['offset', formatWhole(zone.optimizerWatermarkOffset)],
      ['on images from', formatWhole(zone.optimizerWatermarkMinImageSize)],
    ]),
  );
}

export function renderLogging(zone: Zone): string[] {
  const { loggingIPAnonymizationEnabled: isAnonymized } = zone;
  const how = describeEnum('LogAnonymizationType', zone.logAnonymizationType) ?? 'how is not reported';
  return renderFields([
    ['Logging', formatOnOff(zone.enableLogging)],
    ['Extended', formatOnOff(zone.enableExtendedLogging)],
    ['Format', describeEnum('PullZoneLogFormat', zone.logFormat)],
    ['IP addresses', isAnonymized ? `anonymized (${how})` : isAnonymized === false && 'whole'],
    ['Kept in the storage zone', zone.loggingSaveToStorage && formatLinkedId(zone.loggingStorageZoneId)],
    ['Forwarded', describeForwarding(zone)],
  ]);
}

function describeForwarding(zone: Zone): string | undefined {
  if (!zone.logForwardingEnabled) return formatOnOff(zone.logForwardingEnabled);
  const host = zone.logForwardingHostname?.replace(/^.*@/u, '');
  const port = zone.logForwardingPort ? `:${zone.logForwardingPort}` : '';
  const to = host ? formatCode(host + port) : 'an address that is not reported';
  const how = joinParts(
    describeEnum('PullZoneLogForwarderProtocolType', zone.logForwardingProtocol),
    describeEnum('PullZoneLogFormat', zone.logForwardingFormat),
  );
  return how ? `to ${to} (${how})` : `to ${to}`;
}

function isPositive(value: number | undefined): boolean {
  return value !== undefined && value > 0;
}

function formatLinkedId(id: number | string | undefined): string | undefined {
  return id === undefined || Number(id) <= 0 ? undefined : escapeMrkdwn(String(id), 40);
}

function readName({ name }: { readonly name?: string | undefined }): string {
  return name ?? '(unnamed)';
}
