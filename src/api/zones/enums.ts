/**
 * Every enumeration of the specification ("Enumerations (integer values)"), by its name there: the names of the values 0,
 * 1, 2 and so on. The service adds values without notice, so numbers are kept and get their name only when they are shown.
 */
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
  // 35 and 36 do not exist.
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
