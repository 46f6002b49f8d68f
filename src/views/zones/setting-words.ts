import type { Zone } from '../../api/zones/zone.ts';
import { formatBytes, formatInteger, formatMoney } from '../blocks/format.ts';
import { capitalize } from '../blocks/text.ts';
import { splitWords } from './edge-rules.ts';
import {
  describeEnum,
  formatLinkedId,
  formatOnOff,
  formatOrUnlimited,
  formatOverride,
  formatWhole,
  joinList,
  type Row,
} from './fields.ts';

/** A member of a zone that people set. Of secret ones it is told only that they changed. */
type SettingName = Exclude<keyof Zone, 'summary' | 'hostnames' | 'edgeRules'>;

type Format = (value: never) => string | undefined;
type Words = string | readonly [label: string, format: Format];

const whole = (unit: string) => (value: number) => formatWhole(value, unit);
const inEnum = (name: Parameters<typeof describeEnum>[0]) => (value: number) => describeEnum(name, value);
const orUnlimited = (unit?: string) => (value: number) => formatOrUnlimited(value, unit);
const linked = (id: string) => formatLinkedId(id);

/**
 * The names of settings as people read them, and how a value is written where its kind does not say. Members that are not
 * here have the words of the service's own name.
 */
const settingWords: Partial<Record<SettingName, Words>> = {
  originUrl: 'Origin',
  originType: ['Kind of origin', inEnum('PullZoneOriginType')],
  originLinkValue: 'Connection',
  originHostHeader: 'Host header',
  storageZoneId: ['Storage zone', linked],
  edgeScriptId: ['Edge script', linked],
  edgeScriptExecutionPhase: ['Edge script runs in', inEnum('ExecutionPhase')],
  middlewareScriptId: ['Middleware script', linked],
  magicContainersAppId: 'App',
  magicContainersEndpointId: 'App endpoint',
  addHostHeader: 'Hostname forwarded',
  followRedirects: 'Redirects followed',
  addCanonicalHeader: 'Canonical header',
  enableSafeHop: 'Safe hop',
  originRetries: 'Retries',
  originRetryDelay: 'Wait before a retry',
  originRetry5XXResponses: 'Retries on 5xx',
  originRetryConnectionTimeout: 'Retries on no connection',
  originRetryResponseTimeout: 'Retries on a late response',
  originConnectTimeout: ['Connect timeout', whole(' s')],
  originResponseTimeout: ['Response timeout', whole(' s')],
  stickySessionType: [
    'Sticky sessions',
    (value: number) => describeEnum('StickySessionType', value)?.toLowerCase(),
  ],
  enableWebSockets: 'WebSockets',
  maxWebSocketConnections: 'Most WebSockets',

  cacheControlMaxAgeOverride: ['CDN cache time', (value: number) => formatOverride(value)],
  cacheControlPublicMaxAgeOverride: ['Browser cache time', (value: number) => formatOverride(value)],
  ignoreQueryStrings: 'Query strings ignored',
  enableQueryStringOrdering: 'Query strings sorted',
  enableWebPVary: 'Cached apart by WebP',
  enableAvifVary: 'Cached apart by AVIF',
  enableCountryCodeVary: 'Cached apart by country',
  enableCountryStateCodeVary: 'Cached apart by state',
  enableMobileVary: 'Cached apart by mobile',
  enableHostnameVary: 'Cached apart by hostname',
  enableCookieVary: 'Cached apart by cookies',
  cookieVaryParameters: 'Cookies of the cache',
  queryStringVaryParameters: 'Query parameters of the cache',
  cacheKeyHeaders: 'Headers of the cache',
  enableSmartCache: 'Smart cache',
  disableCookies: 'Cookies removed',
  cacheErrorResponses: 'Errors cached',
  enableCacheSlice: 'Cache slice for video',
  useStaleWhileUpdating: 'Stale copies while updating',
  useStaleWhileOffline: 'Stale copies while offline',
  useBackgroundUpdate: 'Update in the background',
  permaCacheType: ['Perma-Cache', (value: number) => describeEnum('PermaCacheType', value)?.toLowerCase()],
  permaCacheStorageZoneId: ['Storage zone of Perma-Cache', linked],
  enableOriginShield: 'Origin shield',
  originShieldZoneCode: 'Place of the origin shield',
  originShieldEnableConcurrencyLimit: 'Shield queue',
  originShieldMaxConcurrentRequests: 'Shield queue, in parallel',
  originShieldMaxQueuedRequests: 'Shield queue, waiting',
  originShieldQueueMaxWaitTime: 'Shield queue, longest wait',
  enableRequestCoalescing: 'Requests coalesced',
  requestCoalescingTimeout: 'Longest wait of coalesced requests',

  shieldDDosProtectionEnabled: 'DDoS protection',
  shieldDDosProtectionType: [
    'Kind of DDoS protection',
    (value: number) => splitWords(describeEnum('ShieldDDosProtectionType', value) ?? ''),
  ],
  enableTLS1: 'TLS 1.0',
  enableTLS1_1: 'TLS 1.1',
  verifyOriginSSL: 'Origin certificate checked',
  enableAutoSSL: 'Automatic certificates',
  disableLetsEncrypt: ['Let’s Encrypt', (isOff: boolean) => formatOnOff(!isOff)],
  zoneSecurityEnabled: 'Token authentication',
  zoneSecurityKey: 'Key of token authentication',
  zoneSecurityIncludeHashRemoteIP: 'Token holds the IP',
  blockedIps: 'Blocked IPs',
  blockedCountries: 'Blocked countries',
  budgetRedirectedCountries: 'Redirected countries',
  allowedReferrers: 'Allowed referrers',
  blockedReferrers: 'Blocked referrers',
  blockRootPathAccess: 'Root path blocked',
  blockPostRequests: 'POST blocked',
  blockNoneReferrer: 'Direct access blocked',
  requestLimit: ['Requests per IP, second', orUnlimited()],
  burstSize: 'Burst',
  connectionLimitPerIPCount: ['Connections per IP', orUnlimited()],
  limitRatePerSecond: ['Transfer rate', orUnlimited(' kb/s')],
  limitRateAfter: 'Limited after',
  enableAccessControlOriginHeader: 'CORS headers',
  accessControlOriginHeaderExtensions: 'CORS headers for',
  awsSigningEnabled: 'AWS signing',
  awsSigningKey: 'AWS key',
  awsSigningSecret: 'AWS secret',
  awsSigningRegionName: 'AWS region',

  optimizerEnabled: 'Optimizer',
  optimizerPricing: ['Optimizer costs a month', (value: number) => formatMoney(value)],
  optimizerAutomaticOptimizationEnabled: 'Automatic optimization',
  optimizerEnableWebP: 'WebP images',
  optimizerImageQuality: 'Image quality, desktop',
  optimizerMobileImageQuality: 'Image quality, mobile',
  optimizerDesktopMaxWidth: 'Widest image, desktop',
  optimizerMobileMaxWidth: 'Widest image, mobile',
  optimizerWatermarkEnabled: 'Watermark',
  optimizerWatermarkUrl: 'Watermark from',
  optimizerWatermarkPosition: ['Watermark stands', inEnum('OptimizerWatermarkPosition')],
  optimizerWatermarkOffset: 'Watermark offset',
  optimizerWatermarkMinImageSize: 'Watermark on images from',
  optimizerMinifyCSS: 'CSS minified',
  optimizerMinifyJavaScript: 'JavaScript minified',
  optimizerForceClasses: 'Classes enforced',
  optimizerEnableManipulationEngine: 'Manipulation by URL',
  optimizerEnableUpscaling: 'Upscaling',
  optimizerPrerenderHtml: 'HTML prerendered',
  optimizerStaticHtmlEnabled: 'Static HTML',
  optimizerStaticHtmlWordPressPath: 'WordPress path',
  optimizerStaticHtmlWordPressBypassCookie: 'WordPress bypass cookie',
  optimizerTunnelEnabled: 'Optimizer tunnel',
  enableVendorImageAi: 'AI images',

  enableLogging: 'Logging',
  enableExtendedLogging: 'Extended logging',
  logFormat: ['Log format', inEnum('PullZoneLogFormat')],
  loggingIPAnonymizationEnabled: 'IP addresses anonymized',
  logAnonymizationType: ['How IP addresses are anonymized', inEnum('LogAnonymizationType')],
  loggingSaveToStorage: 'Logs kept in storage',
  loggingStorageZoneId: ['Storage zone of logs', linked],
  logForwardingEnabled: 'Logs forwarded',
  logForwardingHostname: 'Logs forwarded to',
  logForwardingToken: 'Token of log forwarding',
  logForwardingPort: ['Port of log forwarding', (value: number) => String(value)],
  logForwardingProtocol: ['Protocol of log forwarding', inEnum('PullZoneLogForwarderProtocolType')],
  logForwardingFormat: ['Format of forwarded logs', inEnum('PullZoneLogFormat')],

  errorPageEnableCustomCode: 'Custom error page',
  errorPageCustomCode: 'Code of the error page',
  errorPageEnableStatuspageWidget: 'Status page widget',
  errorPageStatuspageCode: 'Code of the status page',
  errorPageWhitelabel: 'White label',
  preloadingScreenEnabled: 'Preloading screen',
  preloadingScreenTheme: [
    'Theme of the preloading screen',
    (value: number) => describeEnum('PreloadingScreenTheme', value)?.toLowerCase(),
  ],
  preloadingScreenDelay: ['Preloading screen after', whole(' ms')],
  preloadingScreenCodeEnabled: 'Own preloading code',
  preloadingScreenCode: 'Preloading code',
  preloadingScreenLogoUrl: 'Preloading logo',
  preloadingScreenShowOnFirstVisit: 'Preloading on the first visit',

  enabled: ['State', (isOn: boolean) => (isOn ? 'active' : 'disabled')],
  suspended: ['Suspended', (isSuspended: boolean) => (isSuspended ? 'yes' : 'no')],
  monthlyBandwidthLimit: ['Monthly limit', (bytes: number) => (bytes > 0 ? formatBytes(bytes) : 'unlimited')],
  type: ['Tier', inEnum('PullZoneType')],
  enableGeoZoneUS: 'Delivers from North America',
  enableGeoZoneEU: 'Delivers from Europe',
  enableGeoZoneASIA: 'Delivers from Asia and Oceania',
  enableGeoZoneSA: 'Delivers from South America',
  enableGeoZoneAF: 'Delivers from Africa',
  ipFamilyPolicy: ['Addresses', inEnum('IpFamilyPolicy')],
  // $/byte: too small for the format of money.
  priceOverride: ['Own price', (price: number) => `$${price} per byte`],
  euusDiscount: 'Discount, EU and US',
  southAmericaDiscount: 'Discount, South America',
  africaDiscount: 'Discount, Africa',
  asiaOceaniaDiscount: 'Discount, Asia and Oceania',
  routingFilters: 'Routing filters',
  cnameDomain: 'CNAME domain',
  dnsZoneId: ['DNS zone', linked],
  dnsRecordId: ['DNS record', linked],
  dnsRecordValue: 'DNS value',
  videoLibraryId: ['Video library', linked],
};

const words = new Map<string, Words>(Object.entries(settingWords));

/** `enableTLS1` → `TLS 1.0`; a member that has no words here → the service's own: `Enable new thing`. */
export function nameSetting(member: string): string {
  const found = words.get(member);
  if (found !== undefined) return typeof found === 'string' ? found : found[0];
  return capitalize(splitWords(member.replace(/^enable(?=[A-Z])/u, '')));
}

/** The value of a setting in words: `on`, `60 s`, `de, at and 12 more`; undefined where there is none. */
export function formatSetting(member: string, value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const found = words.get(member);
  if (found !== undefined && typeof found !== 'string') return found[1](value as never);
  if (typeof value === 'boolean') return formatOnOff(value);
  if (typeof value === 'number') return formatInteger(value);
  if (Array.isArray(value)) return value.length === 0 ? undefined : joinList(value as string[]);
  return typeof value === 'string' ? value : undefined;
}

/** Rows of settings that need no other one to be understood; those that are not reported or empty have none. */
export function listSettings(zone: Zone, ...members: readonly SettingName[]): Row[] {
  return members.flatMap((member) => {
    const value = formatSetting(member, zone[member]);
    return value === undefined ? [] : [[nameSetting(member), value] as const];
  });
}
