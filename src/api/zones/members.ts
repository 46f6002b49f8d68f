import { z } from 'zod';
import { isObject } from '../http/errors.ts';
import {
  compareNames,
  count,
  flag,
  id,
  link,
  omitMissing,
  readLeniently,
  text,
  texts,
} from '../http/lenient.ts';
import { edgeRule, hostname, namedProperties, number, secret, url } from './fields.ts';
import { hasPlaceholderOrigin, summarize, type ZoneSummary } from './summary.ts';

/** The names of the values 0, 1, 2 … of the specification's enumerations. The service adds values without notice. */
export const enumerations = {
  ExecutionPhase: list('Cache LoadBalancer PreCache'),
  IpFamilyPolicy: list('IPv4Only DualStack DualStackPreferIPv6 IPv6Only'),
  PullZoneType: list('Premium Volume'),
  PullZoneLogForwarderProtocolType: list('UDP TCP TCPEncrypted DataDog'),
  OptimizerWatermarkPosition: list('BottomLeft BottomRight TopLeft TopRight Center CenterStretch'),
  PermaCacheType: list('Automatic Manual'),
  LogAnonymizationType: list('OneDigit Drop'),
  PullZoneLogFormat: list('Plain JSON'),
  ShieldDDosProtectionType: list('DetectOnly ActiveStandard ActiveAggressive'),
  PullZoneOriginType: list(
    'OriginUrl DnsAccelerate StorageZone LoadBalancer EdgeScript MagicContainers PushZone',
  ),
  PreloadingScreenTheme: list('Light Dark'),
  StickySessionType: list('Off On'),
  // Published in August 2026; the specification does not have it yet.
  TlsSecurityLevelType: list('Legacy Compatible ModernOnly'),
  PrivateKeyType: list('Ecdsa Rsa'),
  CertificateProvisionType: list('Unknown Http01 Dns01 Custom Managed'),
  TriggerMatchingTypes: list('MatchAny MatchAll MatchNone'),
  PatternMatchingTypes: list('MatchAny MatchAll MatchNone'),
  TriggerTypes: list(
    `Url RequestHeader ResponseHeader UrlExtension CountryCode RemoteIP UrlQueryString RandomChance StatusCode
    RequestMethod CookieValue CountryStateCode OriginRetryAttemptCount OriginConnectionError`,
  ),
  EdgeRuleActionType: list(
    `ForceSSL Redirect OriginUrl OverrideCacheTime BlockRequest SetResponseHeader SetRequestHeader ForceDownload
    DisableTokenAuthentication EnableTokenAuthentication OverrideCacheTimePublic IgnoreQueryString DisableOptimizer
    ForceCompression SetStatusCode BypassPermaCache OverrideBrowserCacheTime OriginStorage SetNetworkRateLimit
    SetConnectionLimit SetRequestsPerSecondLimit RunEdgeScript OriginMagicContainers DisableWAF RetryOrigin
    OverrideBrowserCacheResponseHeader RemoveBrowserCacheResponseHeader DisableShieldChallenge DisableShield
    DisableShieldBotDetection BypassAwsS3Authentication DisableShieldAccessLists DisableShieldRateLimiting
    EnableRequestCoalescing DisableRequestCoalescing - - StripCookiesClientToOrigin`,
  ),
} as const;

export type Enumeration = keyof typeof enumerations;

/** The name of a value: `('PullZoneType', 1)` → `Volume`; a value newer than this table → `unknown (7)`. */
export function getEnumName(enumeration: Enumeration, value: number | null | undefined): string {
  if (value === undefined || value === null) return 'not reported';
  const name = enumerations[enumeration][value];
  return name === undefined || name === '-' ? `unknown (${value})` : name;
}

function list(names: string): readonly string[] {
  return names.split(/\s+/u);
}

/**
 * Every published member; other members and `secret` ones do not leave this folder. `measured`: the service moves it by itself.
 */
export const zoneMembers = [
  ['Name', 'head', 'Name', 'text'],
  ['Hostnames', 'hostnames', 'Hostnames', 'hostnames'],
  ['EdgeRules', 'rules', 'Edge rules', 'rules'],

  ['OriginUrl', 'origin', 'Origin', 'url'],
  ['OriginType', 'origin', 'Origin type', 'PullZoneOriginType'],
  ['StorageZoneId', 'origin', 'Storage zone', 'link'],
  ['LoadBalancerId', 'origin', 'Load balancer', 'link'],
  ['EdgeScriptId', 'origin', 'Edge script', 'link'],
  ['EdgeScriptExecutionPhase', 'origin', 'Edge script: runs in', 'ExecutionPhase'],
  ['MiddlewareScriptId', 'origin', 'Middleware script', 'link'],
  ['MagicContainersAppId', 'origin', 'App', 'text'],
  ['MagicContainersEndpointId', 'origin', 'App: endpoint', 'text'],
  ['OriginHostHeader', 'origin', 'Host header', 'host'],
  ['OriginLinkValue', 'origin', 'Connection', 'url'],
  ['OriginRetries', 'origin', 'Retries', 'count'],
  ['OriginRetryDelay', 'origin', 'Retries: delay', 'count'],
  ['OriginRetry5XXResponses', 'origin', 'Retries: on 5xx', 'flag'],
  ['OriginRetryConnectionTimeout', 'origin', 'Retries: on connection timeout', 'flag'],
  ['OriginRetryResponseTimeout', 'origin', 'Retries: on response timeout', 'flag'],
  ['OriginConnectTimeout', 'origin', 'Timeouts: connect', 'seconds'],
  ['OriginResponseTimeout', 'origin', 'Timeouts: response', 'seconds'],
  ['StickySessionType', 'origin', 'Sticky sessions', 'StickySessionType'],
  ['StickySessionCookieName', 'origin', 'Sticky sessions: cookie', 'text'],
  ['StickySessionClientHeaders', 'origin', 'Sticky sessions: headers', 'names'],
  ['RoutingFilters', 'origin', 'Routing filters', 'texts'],
  ['EnableWebSockets', 'origin', 'WebSockets', 'flag'],
  ['MaxWebSocketConnections', 'origin', 'WebSockets: at most', 'count'],
  ['AddHostHeader', 'origin', 'Hostname forwarded', 'flag'],
  ['FollowRedirects', 'origin', 'Redirects followed', 'flag'],
  ['AddCanonicalHeader', 'origin', 'Canonical header', 'flag'],
  ['EnableSafeHop', 'origin', 'Safe hop', 'flag'],

  ['CacheControlMaxAgeOverride', 'caching', 'CDN cache time', 'override'],
  ['CacheControlPublicMaxAgeOverride', 'caching', 'Browser cache time', 'override'],
  ['EnableWebPVary', 'caching', 'Cache varies by: WebP', 'flag'],
  ['EnableAvifVary', 'caching', 'Cache varies by: AVIF', 'flag'],
  ['EnableCountryCodeVary', 'caching', 'Cache varies by: country', 'flag'],
  ['EnableCountryStateCodeVary', 'caching', 'Cache varies by: state', 'flag'],
  ['EnableMobileVary', 'caching', 'Cache varies by: mobile', 'flag'],
  ['EnableHostnameVary', 'caching', 'Cache varies by: hostname', 'flag'],
  ['EnableCookieVary', 'caching', 'Cache varies by: cookie', 'flag'],
  ['CookieVaryParameters', 'caching', 'Cache varies by: cookies', 'texts'],
  ['QueryStringVaryParameters', 'caching', 'Cache varies by: query parameters', 'texts'],
  ['CacheKeyHeaders', 'caching', 'Cache varies by: headers', 'names'],
  ['IgnoreQueryStrings', 'caching', 'Query strings: ignored', 'flag'],
  ['EnableQueryStringOrdering', 'caching', 'Query strings: sorted', 'flag'],
  ['EnableSmartCache', 'caching', 'Smart cache', 'flag'],
  ['DisableCookies', 'caching', 'Cookies removed', 'flag'],
  ['CacheErrorResponses', 'caching', 'Errors cached', 'flag'],
  ['EnableCacheSlice', 'caching', 'Cache slice for video', 'flag'],
  ['UseStaleWhileUpdating', 'caching', 'Stale copies served: while updating', 'flag'],
  ['UseStaleWhileOffline', 'caching', 'Stale copies served: while offline', 'flag'],
  ['UseBackgroundUpdate', 'caching', 'Background update', 'flag'],
  ['PermaCacheStorageZoneId', 'caching', 'Perma-Cache storage zone', 'link'],
  ['PermaCacheType', 'caching', 'Perma-Cache storage zone: type', 'PermaCacheType'],
  ['EnableOriginShield', 'caching', 'Origin shield', 'flag'],
  ['OriginShieldZoneCode', 'caching', 'Origin shield: in', 'text'],
  ['OriginShieldEnableConcurrencyLimit', 'caching', 'Shield queue', 'flag'],
  ['OriginShieldMaxConcurrentRequests', 'caching', 'Shield queue: in parallel', 'count'],
  ['OriginShieldMaxQueuedRequests', 'caching', 'Shield queue: waiting', 'count'],
  ['OriginShieldQueueMaxWaitTime', 'caching', 'Shield queue: longest wait', 'count'],
  ['EnableRequestCoalescing', 'caching', 'Request coalescing', 'flag'],
  ['RequestCoalescingTimeout', 'caching', 'Request coalescing: longest wait', 'count'],

  ['ShieldDDosProtectionEnabled', 'security', 'DDoS protection', 'flag'],
  ['ShieldDDosProtectionType', 'security', 'DDoS protection: mode', 'ShieldDDosProtectionType'],
  ['TlsSecurityLevel', 'security', 'TLS profile', 'TlsSecurityLevelType'],
  ['EnableTLS1', 'security', 'TLS 1.0', 'flag'],
  ['EnableTLS1_1', 'security', 'TLS 1.1', 'flag'],
  ['VerifyOriginSSL', 'security', 'Origin certificate checked', 'flag'],
  ['EnableAutoSSL', 'security', 'Automatic certificates', 'flag'],
  ['DisableLetsEncrypt', 'security', 'Let’s Encrypt', 'unless'],
  ['ZoneSecurityEnabled', 'security', 'Token authentication', 'flag'],
  ['ZoneSecurityIncludeHashRemoteIP', 'security', 'Token authentication: token holds the IP', 'flag'],
  ['ZoneSecurityKey', 'security', 'Token authentication key', 'secret'],
  ['BlockedIps', 'security', 'Blocked IPs', 'texts'],
  ['BlockedCountries', 'security', 'Blocked countries', 'countries'],
  ['BudgetRedirectedCountries', 'security', 'Redirected countries', 'countries'],
  ['AllowedReferrers', 'security', 'Allowed referrers', 'hosts'],
  ['BlockedReferrers', 'security', 'Blocked referrers', 'hosts'],
  ['BlockRootPathAccess', 'security', 'Also blocked: root path', 'flag'],
  ['BlockPostRequests', 'security', 'Also blocked: POST', 'flag'],
  ['BlockNoneReferrer', 'security', 'Also blocked: direct access', 'flag'],
  ['RequestLimit', 'security', 'Requests per IP, second', 'limit'],
  ['BurstSize', 'security', 'Requests per IP, second: burst', 'count'],
  ['ConnectionLimitPerIPCount', 'security', 'Connections per IP', 'limit'],
  ['LimitRatePerSecond', 'security', 'Transfer rate', 'kb/s'],
  ['LimitRateAfter', 'security', 'Transfer rate: limited after', 'count'],
  ['EnableAccessControlOriginHeader', 'security', 'CORS headers', 'flag'],
  ['AccessControlOriginHeaderExtensions', 'security', 'CORS headers: for', 'texts'],
  ['AWSSigningEnabled', 'security', 'AWS signing', 'flag'],
  ['AWSSigningRegionName', 'security', 'AWS signing: region', 'text'],
  ['AWSSigningKey', 'security', 'AWS signing key', 'secret'],
  ['AWSSigningSecret', 'security', 'AWS signing secret', 'secret'],

  ['OptimizerEnabled', 'optimizer', 'Optimizer', 'flag'],
  ['OptimizerPricing', 'optimizer', 'Optimizer price a month', 'money'],
  ['OptimizerAutomaticOptimizationEnabled', 'optimizer', 'Automatic optimization', 'flag'],
  ['OptimizerEnableWebP', 'optimizer', 'WebP images', 'flag'],
  ['OptimizerImageQuality', 'optimizer', 'Image quality: desktop', 'count'],
  ['OptimizerMobileImageQuality', 'optimizer', 'Image quality: mobile', 'count'],
  ['OptimizerDesktopMaxWidth', 'optimizer', 'Maximum width: desktop', 'count'],
  ['OptimizerMobileMaxWidth', 'optimizer', 'Maximum width: mobile', 'count'],
  ['OptimizerWatermarkEnabled', 'optimizer', 'Watermark', 'flag'],
  ['OptimizerWatermarkUrl', 'optimizer', 'Watermark: from', 'url'],
  ['OptimizerWatermarkPosition', 'optimizer', 'Watermark: position', 'OptimizerWatermarkPosition'],
  ['OptimizerWatermarkOffset', 'optimizer', 'Watermark: offset', 'count'],
  ['OptimizerWatermarkMinImageSize', 'optimizer', 'Watermark: on images from', 'count'],
  ['OptimizerMinifyCSS', 'optimizer', 'Minified: CSS', 'flag'],
  ['OptimizerMinifyJavaScript', 'optimizer', 'Minified: JavaScript', 'flag'],
  ['OptimizerClasses', 'optimizer', 'Image classes', 'properties'],
  ['OptimizerForceClasses', 'optimizer', 'Image classes enforced', 'flag'],
  ['EnableBunnyImageAi', 'optimizer', 'AI images', 'flag'],
  ['BunnyAiImageBlueprints', 'optimizer', 'AI image blueprints', 'properties'],
  ['OptimizerEnableManipulationEngine', 'optimizer', 'Also on: manipulation by URL', 'flag'],
  ['OptimizerEnableUpscaling', 'optimizer', 'Also on: upscaling', 'flag'],
  ['OptimizerPrerenderHtml', 'optimizer', 'Also on: HTML prerendering', 'flag'],
  ['OptimizerStaticHtmlEnabled', 'optimizer', 'Also on: static HTML', 'flag'],
  ['OptimizerTunnelEnabled', 'optimizer', 'Also on: tunnel', 'flag'],
  ['OptimizerStaticHtmlWordPressPath', 'optimizer', 'WordPress: path', 'text'],
  ['OptimizerStaticHtmlWordPressBypassCookie', 'optimizer', 'WordPress: bypass cookie', 'text'],

  ['EnableLogging', 'logging', 'Logging', 'flag'],
  ['EnableExtendedLogging', 'logging', 'Extended logging', 'flag'],
  ['LogFormat', 'logging', 'Log format', 'PullZoneLogFormat'],
  ['LoggingIPAnonymizationEnabled', 'logging', 'IP addresses anonymized', 'flag'],
  ['LogAnonymizationType', 'logging', 'IP addresses anonymized: method', 'LogAnonymizationType'],
  ['LoggingSaveToStorage', 'logging', 'Logs kept', 'flag'],
  ['LoggingStorageZoneId', 'logging', 'Logs kept: in storage zone', 'link'],
  ['LogForwardingEnabled', 'logging', 'Logs forwarded', 'flag'],
  ['LogForwardingHostname', 'logging', 'Logs forwarded: to', 'url'],
  ['LogForwardingPort', 'logging', 'Logs forwarded: port', 'plain'],
  ['LogForwardingProtocol', 'logging', 'Logs forwarded: protocol', 'PullZoneLogForwarderProtocolType'],
  ['LogForwardingFormat', 'logging', 'Logs forwarded: format', 'PullZoneLogFormat'],
  ['LogForwardingToken', 'logging', 'Log forwarding token', 'secret'],

  ['ErrorPageEnableCustomCode', 'pages', 'Custom error page', 'flag'],
  ['ErrorPageCustomCode', 'pages', 'Custom error page: code', 'code'],
  ['ErrorPageEnableStatuspageWidget', 'pages', 'Status page widget', 'flag'],
  ['ErrorPageStatuspageCode', 'pages', 'Status page widget: code', 'text'],
  ['ErrorPageWhitelabel', 'pages', 'White label', 'flag'],
  ['PreloadingScreenEnabled', 'pages', 'Preloading screen', 'flag'],
  ['PreloadingScreenTheme', 'pages', 'Preloading screen: theme', 'PreloadingScreenTheme'],
  ['PreloadingScreenDelay', 'pages', 'Preloading screen: after', 'ms'],
  ['PreloadingScreenShowOnFirstVisit', 'pages', 'Preloading screen: on the first visit', 'flag'],
  ['PreloadingScreenLogoUrl', 'pages', 'Preloading screen: logo', 'url'],
  ['PreloadingScreenCodeEnabled', 'pages', 'Custom preloading code', 'flag'],
  ['PreloadingScreenCode', 'pages', 'Custom preloading code: code', 'code'],

  ['Id', 'account', 'Id', 'id', 'measured'],
  ['Enabled', 'account', 'State', 'state'],
  ['Suspended', 'account', 'Suspended', 'yes'],
  ['MonthlyBandwidthUsed', 'account', 'This month', 'bytes', 'measured'],
  ['MonthlyBandwidthLimit', 'account', 'Monthly limit', 'byte limit'],
  ['MonthlyCharges', 'account', 'Charges so far', 'money', 'measured'],
  ['Type', 'account', 'Tier', 'PullZoneType'],
  ['EnableGeoZoneUS', 'account', 'Delivers from: North America', 'flag'],
  ['EnableGeoZoneEU', 'account', 'Delivers from: Europe', 'flag'],
  ['EnableGeoZoneASIA', 'account', 'Delivers from: Asia and Oceania', 'flag'],
  ['EnableGeoZoneSA', 'account', 'Delivers from: South America', 'flag'],
  ['EnableGeoZoneAF', 'account', 'Delivers from: Africa', 'flag'],
  ['IpFamilyPolicy', 'account', 'IP versions', 'IpFamilyPolicy'],
  ['UserId', 'account', 'Owner', 'text', 'measured'],
  ['PriceOverride', 'account', 'Custom price', 'price'],
  ['EUUSDiscount', 'account', 'Discounts: EU and US', 'count'],
  ['SouthAmericaDiscount', 'account', 'Discounts: South America', 'count'],
  ['AfricaDiscount', 'account', 'Discounts: Africa', 'count'],
  ['AsiaOceaniaDiscount', 'account', 'Discounts: Asia and Oceania', 'count'],
  ['CnameDomain', 'account', 'CNAME domain', 'host'],
  ['DnsZoneId', 'account', 'DNS: zone', 'link'],
  ['DnsRecordId', 'account', 'DNS: record', 'link'],
  ['DnsRecordValue', 'account', 'DNS: value', 'text'],
  ['VideoLibraryId', 'account', 'Video library', 'link'],
  ['CacheVersion', 'account', 'Cache version', 'count', 'measured'],
] as const;

type NamedRow = (typeof zoneMembers)[number];
export type ZoneMember = NamedRow[0];
export type Section = NamedRow[1];
export type Format = NamedRow[3];
export type MemberRow = readonly [ZoneMember, Section, label: string, Format, measured?: 'measured'];

/** All other formats are numbers. `unless`: `true` means off; `code`: told by its length; `names`: separated by commas. */
const schemas = {
  flag,
  unless: flag,
  state: flag,
  yes: flag,
  texts,
  hosts: texts,
  countries: texts,
  id,
  text,
  code: text,
  url,
  host: url,
  names: text,
  link,
  secret,
  hostnames: z.array(hostname).nullish(),
  rules: z.array(edgeRule).nullish(),
  properties: z.array(namedProperties).nullish(),
} as const;

type Value<F extends Format> = F extends keyof typeof schemas
  ? NonNullable<z.output<(typeof schemas)[F]>>
  : number;

/** The reported members that are not secret, by the service's names. */
export type Members = { readonly [Row in NamedRow as Row[0]]?: Value<Row[3]> };

const zoneSchema = z.object(
  Object.fromEntries(
    zoneMembers.map(([member, , , format]): [string, z.ZodType] => [
      member,
      format in schemas ? schemas[format as keyof typeof schemas] : format in enumerations ? number : count,
    ]),
  ),
);

/** Names of the specification for members that the service has published under others. */
const otherNames: Readonly<Record<string, ZoneMember>> = {
  EnableVendorImageAi: 'EnableBunnyImageAi',
  VendorAiImageBlueprints: 'BunnyAiImageBlueprints',
};

export function renameMembers(raw: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const renamed: Record<string, unknown> = { ...raw };
  for (const [name, published] of Object.entries(otherNames)) {
    if (!Object.hasOwn(renamed, name)) continue;
    renamed[published] ??= renamed[name];
    delete renamed[name];
  }
  return renamed;
}

/** One zone with every member that is not secret. Absent members were not reported, or link to nothing. */
export interface Zone {
  readonly summary: ZoneSummary;
  readonly members: Members;
  /** Without members where null means empty. */
  readonly unreported: readonly ZoneMember[];
  /** Of another type than published, or negative. */
  readonly unreadable: readonly ZoneMember[];
}

/** Null is an empty value of these formats; for a flag or a number it means not reported. */
export const emptyFormats = new Set<string>(
  'text code url host names texts hosts countries link properties secret'.split(' '),
);

/** Parses one whole zone; undefined if it is not a zone. With the members that differ from the published ones. */
export function readZone(raw: unknown) {
  const summary = summarize(raw);
  if (!summary || !isObject(raw)) return undefined;
  const renamed = renameMembers(raw);
  const read = readLeniently(zoneSchema, renamed);
  if (!read) return undefined;
  const members = omitMissing(read.value);
  if (hasPlaceholderOrigin(raw)) delete members['OriginUrl'];
  const wrong = new Set(read.wrong.map((path) => path.split(/[.[]/u, 1)[0]));
  for (const name of ['MonthlyBandwidthUsed', 'MonthlyBandwidthLimit'] as const)
    if (Number(members[name]) < 0) wrong.add(name);
  const names = zoneMembers.filter(({ 3: format }) => !emptyFormats.has(format)).map(([name]) => name);
  const zone: Zone = {
    summary,
    members,
    unreported: names.filter(
      (name) => members[name] === undefined && !wrong.has(name) && !publishedLater.includes(name),
    ),
    unreadable: zoneMembers.flatMap(([name]) => (wrong.has(name) ? name : [])),
  };
  return { zone, wrong: read.wrong, ...compareNames(renamed, zoneSchema.shape, publishedLater) };
}

/** In no specification yet: many services do not have them. */
const publishedLater: readonly string[] = ['TlsSecurityLevel', 'LoadBalancerId'];

/** Every member that is not secret, null for those that were not reported. Ids are text, so that no reader rounds them. */
export function toWireZone({ members }: Zone): Record<string, unknown> {
  const names = zoneMembers.flatMap(([name, , , format]) => (format === 'secret' ? [] : [name]));
  return Object.fromEntries(names.map((name) => [name, members[name] ?? null]));
}
