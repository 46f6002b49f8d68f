/**
 * The pull zone of the specification ("Resources and their fields"), transcribed member by member: name → kind.
 * Both the generator's types and the tests come from this one table, so a forgotten member is a type error.
 */
export const zoneFields = {
  Id: 'int64',
  Name: 'string?',
  OriginUrl: 'string?',
  Enabled: 'boolean',
  Suspended: 'boolean',
  Hostnames: 'Hostname[]?',
  StorageZoneId: 'int64',
  EdgeScriptId: 'int64',
  EdgeScriptExecutionPhase: 'ExecutionPhase',
  MiddlewareScriptId: 'int64?',
  MagicContainersAppId: 'string?',
  MagicContainersEndpointId: 'string?',
  AllowedReferrers: 'string[]?',
  BlockedReferrers: 'string[]?',
  BlockedIps: 'string[]?',
  EnableGeoZoneUS: 'boolean',
  EnableGeoZoneEU: 'boolean',
  EnableGeoZoneASIA: 'boolean',
  EnableGeoZoneSA: 'boolean',
  EnableGeoZoneAF: 'boolean',
  IpFamilyPolicy: 'IpFamilyPolicy',
  ZoneSecurityEnabled: 'boolean',
  ZoneSecurityKey: 'string?',
  ZoneSecurityIncludeHashRemoteIP: 'boolean',
  IgnoreQueryStrings: 'boolean',
  MonthlyBandwidthLimit: 'int64',
  MonthlyBandwidthUsed: 'int64',
  MonthlyCharges: 'decimal',
  AddHostHeader: 'boolean',
  OriginHostHeader: 'string?',
  Type: 'PullZoneType',
  AccessControlOriginHeaderExtensions: 'string[]?',
  EnableAccessControlOriginHeader: 'boolean',
  DisableCookies: 'boolean',
  BudgetRedirectedCountries: 'string[]?',
  BlockedCountries: 'string[]?',
  EnableOriginShield: 'boolean',
  CacheControlMaxAgeOverride: 'int64',
  CacheControlPublicMaxAgeOverride: 'int64',
  BurstSize: 'int32',
  RequestLimit: 'int32',
  BlockRootPathAccess: 'boolean',
  BlockPostRequests: 'boolean',
  LimitRatePerSecond: 'double',
  LimitRateAfter: 'double',
  ConnectionLimitPerIPCount: 'int32',
  PriceOverride: 'decimal',
  OptimizerPricing: 'decimal',
  AddCanonicalHeader: 'boolean',
  EnableLogging: 'boolean',
  EnableCacheSlice: 'boolean',
  EnableSmartCache: 'boolean',
  EdgeRules: 'EdgeRule[]?',
  EnableWebPVary: 'boolean',
  EnableAvifVary: 'boolean',
  EnableCountryCodeVary: 'boolean',
  EnableCountryStateCodeVary: 'boolean',
  EnableMobileVary: 'boolean',
  EnableCookieVary: 'boolean',
  CookieVaryParameters: 'string[]?',
  EnableHostnameVary: 'boolean',
  CnameDomain: 'string?',
  AWSSigningEnabled: 'boolean',
  AWSSigningKey: 'string?',
  AWSSigningSecret: 'string?',
  AWSSigningRegionName: 'string?',
  LoggingIPAnonymizationEnabled: 'boolean',
  EnableTLS1: 'boolean',
  EnableTLS1_1: 'boolean',
  TlsSecurityLevel: 'TlsSecurityLevelType',
  VerifyOriginSSL: 'boolean',
  ErrorPageEnableCustomCode: 'boolean',
  ErrorPageCustomCode: 'string?',
  ErrorPageEnableStatuspageWidget: 'boolean',
  ErrorPageStatuspageCode: 'string?',
  ErrorPageWhitelabel: 'boolean',
  OriginShieldZoneCode: 'string?',
  LogForwardingEnabled: 'boolean',
  LogForwardingHostname: 'string?',
  LogForwardingPort: 'int32',
  LogForwardingToken: 'string?',
  LogForwardingProtocol: 'PullZoneLogForwarderProtocolType',
  LoggingSaveToStorage: 'boolean',
  LoggingStorageZoneId: 'int64',
  FollowRedirects: 'boolean',
  VideoLibraryId: 'int64',
  DnsRecordId: 'int64',
  DnsZoneId: 'int64',
  DnsRecordValue: 'string?',
  OptimizerEnabled: 'boolean',
  OptimizerTunnelEnabled: 'boolean',
  OptimizerDesktopMaxWidth: 'int32',
  OptimizerMobileMaxWidth: 'int32',
  OptimizerImageQuality: 'int32',
  OptimizerMobileImageQuality: 'int32',
  OptimizerEnableWebP: 'boolean',
  OptimizerPrerenderHtml: 'boolean',
  OptimizerEnableManipulationEngine: 'boolean',
  OptimizerMinifyCSS: 'boolean',
  OptimizerMinifyJavaScript: 'boolean',
  OptimizerWatermarkEnabled: 'boolean',
  OptimizerWatermarkUrl: 'string?',
  OptimizerWatermarkPosition: 'OptimizerWatermarkPosition',
  OptimizerWatermarkOffset: 'double',
  OptimizerWatermarkMinImageSize: 'int32',
  OptimizerAutomaticOptimizationEnabled: 'boolean',
  PermaCacheStorageZoneId: 'int64',
  PermaCacheType: 'PermaCacheType',
  OriginRetries: 'int32',
  OriginConnectTimeout: 'int32',
  OriginResponseTimeout: 'int32',
  UseStaleWhileUpdating: 'boolean',
  UseStaleWhileOffline: 'boolean',
  OriginRetry5XXResponses: 'boolean',
  OriginRetryConnectionTimeout: 'boolean',
  OriginRetryResponseTimeout: 'boolean',
  OriginRetryDelay: 'int32',
  QueryStringVaryParameters: 'string[]?',
  OriginShieldEnableConcurrencyLimit: 'boolean',
  OriginShieldMaxConcurrentRequests: 'int32',
  EnableSafeHop: 'boolean',
  CacheErrorResponses: 'boolean',
  OriginShieldQueueMaxWaitTime: 'int32',
  OriginShieldMaxQueuedRequests: 'int32',
  OptimizerClasses: 'OptimizerClass[]?',
  OptimizerForceClasses: 'boolean',
  OptimizerStaticHtmlEnabled: 'boolean',
  OptimizerStaticHtmlWordPressPath: 'string?',
  OptimizerStaticHtmlWordPressBypassCookie: 'string?',
  UseBackgroundUpdate: 'boolean',
  EnableAutoSSL: 'boolean',
  EnableQueryStringOrdering: 'boolean',
  LogAnonymizationType: 'LogAnonymizationType',
  LogFormat: 'PullZoneLogFormat',
  LogForwardingFormat: 'PullZoneLogFormat',
  ShieldDDosProtectionType: 'ShieldDDosProtectionType',
  ShieldDDosProtectionEnabled: 'boolean',
  OriginType: 'PullZoneOriginType',
  EnableRequestCoalescing: 'boolean',
  RequestCoalescingTimeout: 'int32',
  OriginLinkValue: 'string?',
  DisableLetsEncrypt: 'boolean',
  EnableVendorImageAi: 'boolean',
  VendorAiImageBlueprints: 'VendorAiImageBlueprint[]?',
  PreloadingScreenEnabled: 'boolean',
  PreloadingScreenShowOnFirstVisit: 'boolean',
  PreloadingScreenCode: 'string?',
  PreloadingScreenLogoUrl: 'string?',
  PreloadingScreenCodeEnabled: 'boolean',
  PreloadingScreenTheme: 'PreloadingScreenTheme',
  PreloadingScreenDelay: 'int32',
  EUUSDiscount: 'int32',
  SouthAmericaDiscount: 'int32',
  AfricaDiscount: 'int32',
  AsiaOceaniaDiscount: 'int32',
  RoutingFilters: 'string[]?',
  BlockNoneReferrer: 'boolean',
  StickySessionType: 'StickySessionType',
  StickySessionCookieName: 'string?',
  StickySessionClientHeaders: 'string?',
  LoadBalancerId: 'int64?',
  UserId: 'string?',
  CacheVersion: 'int64',
  OptimizerEnableUpscaling: 'boolean',
  EnableWebSockets: 'boolean',
  MaxWebSocketConnections: 'int32',
  EnableExtendedLogging: 'boolean',
  CacheKeyHeaders: 'string?',
} as const;

/** How many values an enumeration of the specification has: a generated number is always below it. */
export const enumerationSizes = {
  ExecutionPhase: 3,
  IpFamilyPolicy: 4,
  PullZoneType: 2,
  PullZoneLogForwarderProtocolType: 4,
  OptimizerWatermarkPosition: 6,
  PermaCacheType: 2,
  LogAnonymizationType: 2,
  PullZoneLogFormat: 2,
  ShieldDDosProtectionType: 3,
  PullZoneOriginType: 7,
  PreloadingScreenTheme: 2,
  StickySessionType: 2,
  TlsSecurityLevelType: 3,
} as const;

export interface Hostname {
  Id: number;
  Value: string | null;
  ForceSSL: boolean;
  IsSystemHostname: boolean;
  IsManagedHostname: boolean;
  HasCertificate: boolean;
  /** Held by every generated hostname, but sent only when a request sets includeCertificate. */
  Certificate: string | null;
  CertificateKey: string | null;
  CertificateKeyType: number;
  CertificateProvisionType: number;
}

export interface EdgeRuleAction {
  ActionType: number;
  ActionParameter1: string | null;
  ActionParameter2: string | null;
  ActionParameter3: string | null;
}

export interface Trigger {
  Type: number;
  PatternMatches: string[] | null;
  PatternMatchingType: number;
  Parameter1: string | null;
}

export interface EdgeRule extends EdgeRuleAction {
  Guid: string | null;
  Triggers: Trigger[] | null;
  ExtraActions: EdgeRuleAction[] | null;
  TriggerMatchingType: number;
  Description: string | null;
  Enabled: boolean;
  OrderIndex: number;
  ReadOnly: boolean;
}

interface NamedProperties {
  Name: string | null;
  Properties: Record<string, string> | null;
}

interface Kinds extends Record<keyof typeof enumerationSizes, number> {
  int32: number;
  int64: number;
  double: number;
  decimal: number;
  boolean: boolean;
  'int64?': number | null;
  'string?': string | null;
  'string[]?': string[] | null;
  'Hostname[]?': Hostname[] | null;
  'EdgeRule[]?': EdgeRule[] | null;
  'OptimizerClass[]?': NamedProperties[] | null;
  'VendorAiImageBlueprint[]?': NamedProperties[] | null;
}

/** One pull zone as it goes over the wire: 166 members of the specification and two that were published later. */
export type PullZone = { -readonly [Field in keyof typeof zoneFields]: Kinds[(typeof zoneFields)[Field]] };
