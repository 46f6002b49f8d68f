import type { Zone } from '../../api/zones/zone.ts';
import { splitWords } from './edge-rules.ts';
import {
  describeEnum,
  formatLinkedId,
  formatOnOff,
  formatWhole,
  isPositive,
  joinFields,
  joinList,
  joinNonEmpty,
  joinParts,
  joinSwitches,
  listFields,
  type Row,
} from './fields.ts';
import { listSettings, nameSetting } from './setting-words.ts';

export function listCaching(zone: Zone): Row[] {
  const query = joinNonEmpty(zone.queryStringVaryParameters);
  const cookies = joinNonEmpty(zone.cookieVaryParameters);
  const varies = joinSwitches(
    [
      ['WebP', zone.enableWebPVary],
      ['AVIF', zone.enableAvifVary],
      ['country', zone.enableCountryCodeVary],
      ['state', zone.enableCountryStateCodeVary],
      ['mobile', zone.enableMobileVary],
      ['hostname', zone.enableHostnameVary],
      [cookies ? `cookies (${cookies})` : 'cookies', zone.enableCookieVary],
    ],
    query && `query parameters (${query})`,
    zone.cacheKeyHeaders && `headers (${zone.cacheKeyHeaders})`,
  );
  const wait = formatWhole(zone.requestCoalescingTimeout);
  return [
    ...listSettings(zone, 'cacheControlMaxAgeOverride', 'cacheControlPublicMaxAgeOverride'),
    ...listFields([
      ['Cached apart by', varies],
      ['Query strings', describeQueryStrings(zone)],
    ]),
    ...listSettings(zone, 'enableSmartCache', 'disableCookies', 'cacheErrorResponses', 'enableCacheSlice'),
    ...listFields([
      [
        'Stale copies served',
        joinSwitches([
          ['while updating', zone.useStaleWhileUpdating],
          ['while offline', zone.useStaleWhileOffline],
        ]),
      ],
    ]),
    ...listSettings(zone, 'useBackgroundUpdate'),
    ...listFields([
      ['Perma-Cache', describePermaCache(zone)],
      ['Origin shield', describeShield(zone)],
      // Its limits hold only where the shield limits concurrency.
      ['Shield queue', zone.originShieldEnableConcurrencyLimit && (describeShieldQueue(zone) ?? 'on')],
      [
        'Requests coalesced',
        joinParts(
          formatOnOff(zone.enableRequestCoalescing),
          zone.enableRequestCoalescing && wait && `wait at most ${wait}`,
        ),
      ],
    ]),
  ];
}

function describePermaCache(zone: Zone): string | undefined {
  const storage = formatLinkedId(zone.permaCacheStorageZoneId);
  const kind = describeEnum('PermaCacheType', zone.permaCacheType)?.toLowerCase();
  return joinParts(kind, storage && `in storage zone ${storage}`);
}

function describeQueryStrings(zone: Zone): string | undefined {
  const { ignoreQueryStrings: ignored, enableQueryStringOrdering: sorted } = zone;
  if (ignored === undefined && sorted === undefined) return undefined;
  return joinParts(ignored ? 'ignored' : 'kept', sorted && 'sorted');
}

function describeShield({ enableOriginShield, originShieldZoneCode: place }: Zone): string | undefined {
  return joinParts(formatOnOff(enableOriginShield), enableOriginShield && place && `in ${place}`);
}

function describeShieldQueue(zone: Zone): string | undefined {
  const parallel = formatWhole(zone.originShieldMaxConcurrentRequests);
  const waiting = formatWhole(zone.originShieldMaxQueuedRequests);
  const wait = formatWhole(zone.originShieldQueueMaxWaitTime);
  return joinParts(
    parallel && `${parallel} in parallel`,
    waiting && `${waiting} waiting`,
    wait && `longest wait ${wait}`,
  );
}

export function listSecurity(zone: Zone): Row[] {
  const protection = describeEnum('ShieldDDosProtectionType', zone.shieldDDosProtectionType);
  // How many requests above the limit are delayed instead of refused.
  const burst = zone.burstSize === 0 ? 'off' : formatWhole(zone.burstSize);
  const cors = joinNonEmpty(zone.accessControlOriginHeaderExtensions);
  return [
    ...listFields([
      [
        'DDoS protection',
        joinParts(
          formatOnOff(zone.shieldDDosProtectionEnabled),
          protection && splitWords(protection).replace(/^active /u, ''),
        ),
      ],
    ]),
    ...listSettings(
      zone,
      'enableTLS1',
      'enableTLS1_1',
      'verifyOriginSSL',
      'enableAutoSSL',
      'disableLetsEncrypt',
    ),
    ...listFields([
      [
        'Token authentication',
        joinParts(
          formatOnOff(zone.zoneSecurityEnabled),
          zone.zoneSecurityIncludeHashRemoteIP && 'token holds the IP',
        ),
      ],
    ]),
    ...listSettings(
      zone,
      'blockedIps',
      'blockedCountries',
      'budgetRedirectedCountries',
      'allowedReferrers',
      'blockedReferrers',
    ),
    ...listFields([
      [
        'Also blocked',
        joinSwitches([
          ['root path', zone.blockRootPathAccess],
          ['POST', zone.blockPostRequests],
          ['direct access', zone.blockNoneReferrer],
        ]),
      ],
    ]),
    ...listSettings(zone, 'requestLimit'),
    ...listFields([[nameSetting('burstSize'), isPositive(zone.requestLimit) && burst]]),
    ...listSettings(zone, 'connectionLimitPerIPCount', 'limitRatePerSecond'),
    ...listFields([
      [
        nameSetting('limitRateAfter'),
        isPositive(zone.limitRatePerSecond) &&
          isPositive(zone.limitRateAfter) &&
          formatWhole(zone.limitRateAfter),
      ],
      [
        'CORS headers',
        joinParts(
          formatOnOff(zone.enableAccessControlOriginHeader),
          zone.enableAccessControlOriginHeader && cors && `for ${cors}`,
        ),
      ],
      ['AWS signing', joinParts(formatOnOff(zone.awsSigningEnabled), zone.awsSigningRegionName)],
    ]),
  ];
}

export function listOptimizer(zone: Zone): Row[] {
  if (zone.optimizerEnabled === false) return listSettings(zone, 'optimizerEnabled');
  const quality = joinFields([
    ['desktop', formatWhole(zone.optimizerImageQuality)],
    ['mobile', formatWhole(zone.optimizerMobileImageQuality)],
  ]);
  const widest = joinFields([
    ['desktop', formatWhole(zone.optimizerDesktopMaxWidth)],
    ['mobile', formatWhole(zone.optimizerMobileMaxWidth)],
  ]);
  const blueprints = joinNonEmpty(zone.vendorAiImageBlueprints?.map(readName));
  return [
    ...listSettings(
      zone,
      'optimizerEnabled',
      'optimizerPricing',
      'optimizerAutomaticOptimizationEnabled',
      'optimizerEnableWebP',
    ),
    ...listFields([
      ['Image quality', quality],
      ['Widest', widest],
      ['Watermark', describeWatermark(zone)],
      [
        'Minified',
        joinSwitches([
          ['CSS', zone.optimizerMinifyCSS],
          ['JavaScript', zone.optimizerMinifyJavaScript],
        ]),
      ],
      ['Image classes', joinList(zone.optimizerClasses?.map(readName))],
      ['AI images', joinParts(formatOnOff(zone.enableVendorImageAi), blueprints)],
    ]),
    ...listSettings(zone, 'optimizerForceClasses'),
    ...listFields([
      [
        'Also on',
        joinSwitches([
          ['manipulation by URL', zone.optimizerEnableManipulationEngine],
          ['upscaling', zone.optimizerEnableUpscaling],
          ['HTML prerendered', zone.optimizerPrerenderHtml],
          ['static HTML', zone.optimizerStaticHtmlEnabled],
          ['tunnel', zone.optimizerTunnelEnabled],
        ]),
      ],
    ]),
    ...listSettings(zone, 'optimizerStaticHtmlWordPressPath', 'optimizerStaticHtmlWordPressBypassCookie'),
  ];
}

function describeWatermark(zone: Zone): string | undefined {
  if (!zone.optimizerWatermarkEnabled) return formatOnOff(zone.optimizerWatermarkEnabled);
  return joinParts(
    describeEnum('OptimizerWatermarkPosition', zone.optimizerWatermarkPosition) ?? 'on',
    zone.optimizerWatermarkUrl,
    joinFields([
      ['offset', formatWhole(zone.optimizerWatermarkOffset)],
      ['on images from', formatWhole(zone.optimizerWatermarkMinImageSize)],
    ]),
  );
}

function readName({ name }: { readonly name?: string | undefined }): string {
  return name ?? '(unnamed)';
}
