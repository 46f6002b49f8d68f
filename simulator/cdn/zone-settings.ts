import type { Dice } from './dice.ts';
import type { PullZone } from './zone-fields.ts';

/** What differs from zone to zone and is made in zones.ts; everything else is a setting. */
type Identity =
  | 'Id'
  | 'Name'
  | 'OriginUrl'
  | 'Enabled'
  | 'Suspended'
  | 'Hostnames'
  | 'EdgeRules'
  | 'StorageZoneId'
  | 'EdgeScriptId'
  | 'EdgeScriptExecutionPhase'
  | 'MiddlewareScriptId'
  | 'MagicContainersAppId'
  | 'MagicContainersEndpointId'
  | 'OriginType'
  | 'OriginLinkValue'
  | 'Type'
  | 'MonthlyBandwidthLimit'
  | 'MonthlyBandwidthUsed'
  | 'MonthlyCharges'
  | 'CnameDomain'
  | 'UserId'
  | 'VideoLibraryId'
  | 'DnsRecordId'
  | 'DnsZoneId'
  | 'DnsRecordValue'
  | 'ZoneSecurityEnabled'
  | 'ZoneSecurityKey'
  | 'AWSSigningEnabled'
  | 'AWSSigningKey'
  | 'AWSSigningSecret'
  | 'AWSSigningRegionName'
  | 'LogForwardingEnabled'
  | 'LogForwardingHostname'
  | 'LogForwardingPort'
  | 'LogForwardingToken'
  | 'LogForwardingProtocol';

export type ZoneIdentity = Pick<PullZone, Identity>;
type ZoneSettings = Omit<PullZone, Identity>;

const plain: ZoneSettings = {
  AllowedReferrers: [],
  BlockedReferrers: [],
  BlockedIps: [],
  EnableGeoZoneUS: true,
  EnableGeoZoneEU: true,
  EnableGeoZoneASIA: true,
  EnableGeoZoneSA: true,
  EnableGeoZoneAF: true,
  IpFamilyPolicy: 1,
  ZoneSecurityIncludeHashRemoteIP: false,
  IgnoreQueryStrings: true,
  AddHostHeader: false,
  OriginHostHeader: '',
  AccessControlOriginHeaderExtensions: ['eot', 'ttf', 'woff', 'woff2', 'css'],
  EnableAccessControlOriginHeader: true,
  DisableCookies: true,
  BudgetRedirectedCountries: [],
  BlockedCountries: [],
  EnableOriginShield: false,
  CacheControlMaxAgeOverride: -1,
  CacheControlPublicMaxAgeOverride: -1,
  BurstSize: 0,
  RequestLimit: 0,
  BlockRootPathAccess: false,
  BlockPostRequests: false,
  LimitRatePerSecond: 0,
  LimitRateAfter: 0,
  ConnectionLimitPerIPCount: 0,
  PriceOverride: 0,
  OptimizerPricing: 9.5,
  AddCanonicalHeader: false,
  EnableLogging: true,
  EnableCacheSlice: false,
  EnableSmartCache: true,
  EnableWebPVary: false,
  EnableAvifVary: false,
  EnableCountryCodeVary: false,
  EnableCountryStateCodeVary: false,
  EnableMobileVary: false,
  EnableCookieVary: false,
  CookieVaryParameters: [],
  EnableHostnameVary: false,
  LoggingIPAnonymizationEnabled: true,
  EnableTLS1: false,
  EnableTLS1_1: false,
  VerifyOriginSSL: true,
  ErrorPageEnableCustomCode: false,
  ErrorPageCustomCode: null,
  ErrorPageEnableStatuspageWidget: false,
  ErrorPageStatuspageCode: null,
  ErrorPageWhitelabel: false,
  OriginShieldZoneCode: 'FR',
  LoggingSaveToStorage: false,
  LoggingStorageZoneId: 0,
  FollowRedirects: false,
  OptimizerEnabled: false,
  OptimizerTunnelEnabled: false,
  OptimizerDesktopMaxWidth: 1600,
  OptimizerMobileMaxWidth: 800,
  OptimizerImageQuality: 85,
  OptimizerMobileImageQuality: 70,
  OptimizerEnableWebP: true,
  OptimizerPrerenderHtml: false,
  OptimizerEnableManipulationEngine: true,
  OptimizerMinifyCSS: true,
  OptimizerMinifyJavaScript: true,
  OptimizerWatermarkEnabled: false,
  OptimizerWatermarkUrl: '',
  OptimizerWatermarkPosition: 0,
  OptimizerWatermarkOffset: 3,
  OptimizerWatermarkMinImageSize: 300,
  OptimizerAutomaticOptimizationEnabled: true,
  PermaCacheStorageZoneId: 0,
  PermaCacheType: 0,
  OriginRetries: 0,
  OriginConnectTimeout: 10,
  OriginResponseTimeout: 60,
  UseStaleWhileUpdating: false,
  UseStaleWhileOffline: false,
  OriginRetry5XXResponses: false,
  OriginRetryConnectionTimeout: true,
  OriginRetryResponseTimeout: true,
  OriginRetryDelay: 0,
  QueryStringVaryParameters: [],
  OriginShieldEnableConcurrencyLimit: false,
  OriginShieldMaxConcurrentRequests: 200,
  EnableSafeHop: false,
  CacheErrorResponses: false,
  OriginShieldQueueMaxWaitTime: 30,
  OriginShieldMaxQueuedRequests: 5000,
  OptimizerClasses: [],
  OptimizerForceClasses: false,
  OptimizerStaticHtmlEnabled: false,
  OptimizerStaticHtmlWordPressPath: '',
  OptimizerStaticHtmlWordPressBypassCookie: '',
  UseBackgroundUpdate: false,
  EnableAutoSSL: true,
  EnableQueryStringOrdering: true,
  LogAnonymizationType: 0,
  LogFormat: 1,
  LogForwardingFormat: 1,
  ShieldDDosProtectionType: 1,
  ShieldDDosProtectionEnabled: true,
  EnableRequestCoalescing: false,
  RequestCoalescingTimeout: 30,
  DisableLetsEncrypt: false,
  EnableVendorImageAi: false,
  VendorAiImageBlueprints: [],
  PreloadingScreenEnabled: false,
  PreloadingScreenShowOnFirstVisit: false,
  PreloadingScreenCode: '',
  PreloadingScreenLogoUrl: '',
  PreloadingScreenCodeEnabled: false,
  PreloadingScreenTheme: 0,
  PreloadingScreenDelay: 700,
  EUUSDiscount: 0,
  SouthAmericaDiscount: 0,
  AfricaDiscount: 0,
  AsiaOceaniaDiscount: 0,
  RoutingFilters: ['all'],
  BlockNoneReferrer: false,
  StickySessionType: 0,
  StickySessionCookieName: '',
  StickySessionClientHeaders: '',
  CacheVersion: 1,
  OptimizerEnableUpscaling: false,
  EnableWebSockets: false,
  MaxWebSocketConnections: 0,
  EnableExtendedLogging: false,
  CacheKeyHeaders: null,
};

const storefront: ZoneSettings = {
  ...plain,
  IgnoreQueryStrings: false,
  QueryStringVaryParameters: ['page', 'sort', 'color'],
  EnableOriginShield: true,
  EnableCookieVary: true,
  CookieVaryParameters: ['currency', 'language'],
  OptimizerEnabled: true,
  OptimizerClasses: [
    { Name: 'thumbnail', Properties: { width: '240', quality: '70' } },
    { Name: 'hero', Properties: { width: '1920', sharpen: 'true' } },
  ],
  BlockedCountries: ['KP'],
  RequestLimit: 60,
  BurstSize: 120,
  UseStaleWhileOffline: true,
  EnableWebPVary: true,
};

const media: ZoneSettings = {
  ...plain,
  AllowedReferrers: ['www.example.com', 'shop.example.com'],
  BlockNoneReferrer: true,
  EnableCacheSlice: true,
  CacheControlMaxAgeOverride: 2_592_000,
  LimitRatePerSecond: 2048,
  LimitRateAfter: 10,
  BudgetRedirectedCountries: ['BR', 'AU'],
  EnableVendorImageAi: true,
  VendorAiImageBlueprints: [{ Name: 'poster', Properties: { prompt: 'a calm poster', size: '1024' } }],
  OptimizerWatermarkEnabled: true,
  OptimizerWatermarkUrl: 'https://assets.example.com/mark.png',
  OptimizerWatermarkPosition: 1,
  PermaCacheStorageZoneId: 2003,
};

const service: ZoneSettings = {
  ...plain,
  IgnoreQueryStrings: false,
  DisableCookies: false,
  EnableSmartCache: false,
  CacheControlMaxAgeOverride: 0,
  BlockedIps: ['203.0.113.66'],
  ConnectionLimitPerIPCount: 40,
  EnableRequestCoalescing: true,
  EnableWebSockets: true,
  MaxWebSocketConnections: 500,
  CacheKeyHeaders: 'Accept-Language,X-Tenant',
  OriginRetries: 2,
  OriginRetry5XXResponses: true,
  StickySessionType: 1,
  StickySessionCookieName: 'node',
  StickySessionClientHeaders: 'X-Client-Id',
};

const pages: ZoneSettings = {
  ...plain,
  FollowRedirects: true,
  AddCanonicalHeader: true,
  ErrorPageEnableCustomCode: true,
  ErrorPageCustomCode: '<h1>{{status_code}} – back in a moment</h1>',
  ErrorPageEnableStatuspageWidget: true,
  ErrorPageStatuspageCode: 'example-status',
  OptimizerEnabled: true,
  OptimizerStaticHtmlEnabled: true,
  OptimizerStaticHtmlWordPressPath: '/wp-content',
  OptimizerStaticHtmlWordPressBypassCookie: 'wordpress_logged_in',
  PreloadingScreenEnabled: true,
  PreloadingScreenCode: '<p>One moment …</p>',
  PreloadingScreenTheme: 1,
  UseStaleWhileUpdating: true,
  UseBackgroundUpdate: true,
};

/** The settings of one zone: one of five ways teams set zones up, with a few switches thrown by the dice. */
export function zoneSettings(dice: Dice): ZoneSettings {
  return {
    ...dice.pick([plain, storefront, media, service, pages]),
    EnableOriginShield: dice.chance(0.4),
    OriginShieldZoneCode: dice.pick(['FR', 'DE', 'IL', 'NY']),
    EnableTLS1: dice.chance(0.05),
    EnableTLS1_1: dice.chance(0.1),
    VerifyOriginSSL: dice.chance(0.7),
    EnableLogging: dice.chance(0.85),
    ShieldDDosProtectionType: dice.between(0, 2),
    CacheVersion: dice.between(1, 40),
    EUUSDiscount: dice.chance(0.05) ? 10 : 0,
  };
}
