/**
 * Every enumeration of the specification ("Enumerations (integer values)"), by its name there: number → name.
 * The service adds values without notice, so numbers are kept and get their name only when they are shown.
 */
export const enumerations = {
  ExecutionPhase: { 0: 'Cache', 1: 'LoadBalancer', 2: 'PreCache' },
  IpFamilyPolicy: { 0: 'IPv4Only', 1: 'DualStack', 2: 'DualStackPreferIPv6', 3: 'IPv6Only' },
  PullZoneType: { 0: 'Premium', 1: 'Volume' },
  PullZoneLogForwarderProtocolType: { 0: 'UDP', 1: 'TCP', 2: 'TCPEncrypted', 3: 'DataDog' },
  OptimizerWatermarkPosition: {
    0: 'BottomLeft',
    1: 'BottomRight',
    2: 'TopLeft',
    3: 'TopRight',
    4: 'Center',
    5: 'CenterStretch',
  },
  PermaCacheType: { 0: 'Automatic', 1: 'Manual' },
  LogAnonymizationType: { 0: 'OneDigit', 1: 'Drop' },
  PullZoneLogFormat: { 0: 'Plain', 1: 'JSON' },
  ShieldDDosProtectionType: { 0: 'DetectOnly', 1: 'ActiveStandard', 2: 'ActiveAggressive' },
  PullZoneOriginType: {
    0: 'OriginUrl',
    1: 'DnsAccelerate',
    2: 'StorageZone',
    3: 'LoadBalancer',
    4: 'EdgeScript',
    5: 'MagicContainers',
    6: 'PushZone',
  },
  PreloadingScreenTheme: { 0: 'Light', 1: 'Dark' },
  StickySessionType: { 0: 'Off', 1: 'On' },
  PrivateKeyType: { 0: 'Ecdsa', 1: 'Rsa' },
  CertificateProvisionType: { 0: 'Unknown', 1: 'Http01', 2: 'Dns01', 3: 'Custom', 4: 'Managed' },
  TriggerMatchingTypes: { 0: 'MatchAny', 1: 'MatchAll', 2: 'MatchNone' },
  PatternMatchingTypes: { 0: 'MatchAny', 1: 'MatchAll', 2: 'MatchNone' },
  TriggerTypes: {
    0: 'Url',
    1: 'RequestHeader',
    2: 'ResponseHeader',
    3: 'UrlExtension',
    4: 'CountryCode',
    5: 'RemoteIP',
    6: 'UrlQueryString',
    7: 'RandomChance',
    8: 'StatusCode',
    9: 'RequestMethod',
    10: 'CookieValue',
    11: 'CountryStateCode',
    12: 'OriginRetryAttemptCount',
    13: 'OriginConnectionError',
  },
  EdgeRuleActionType: {
    0: 'ForceSSL',
    1: 'Redirect',
    2: 'OriginUrl',
    3: 'OverrideCacheTime',
    4: 'BlockRequest',
    5: 'SetResponseHeader',
    6: 'SetRequestHeader',
    7: 'ForceDownload',
    8: 'DisableTokenAuthentication',
    9: 'EnableTokenAuthentication',
    10: 'OverrideCacheTimePublic',
    11: 'IgnoreQueryString',
    12: 'DisableOptimizer',
    13: 'ForceCompression',
    14: 'SetStatusCode',
    15: 'BypassPermaCache',
    16: 'OverrideBrowserCacheTime',
    17: 'OriginStorage',
    18: 'SetNetworkRateLimit',
    19: 'SetConnectionLimit',
    20: 'SetRequestsPerSecondLimit',
    21: 'RunEdgeScript',
    22: 'OriginMagicContainers',
    23: 'DisableWAF',
    24: 'RetryOrigin',
    25: 'OverrideBrowserCacheResponseHeader',
    26: 'RemoveBrowserCacheResponseHeader',
    27: 'DisableShieldChallenge',
    28: 'DisableShield',
    29: 'DisableShieldBotDetection',
    30: 'BypassAwsS3Authentication',
    31: 'DisableShieldAccessLists',
    32: 'DisableShieldRateLimiting',
    33: 'EnableRequestCoalescing',
    34: 'DisableRequestCoalescing',
    // 35 and 36 do not exist.
    37: 'StripCookiesClientToOrigin',
  },
} as const satisfies Record<string, Readonly<Record<number, string>>>;

export type Enumeration = keyof typeof enumerations;

/** The name of a value: `nameOf('PullZoneType', 1)` → `Volume`; a value newer than this table → `unknown (7)`. */
export function getEnumName(enumeration: Enumeration, value: number | undefined): string {
  if (value === undefined) return 'not reported';
  const names: Readonly<Record<number, string>> = enumerations[enumeration];
  return (Object.hasOwn(names, value) ? names[value] : undefined) ?? `unknown (${value})`;
}
