import { z } from 'zod';
import { safeParameters, safePatterns, safeUrl } from './hidden.ts';
import { count, flag, id, link, renamed, text, texts } from './lenient.ts';

// An enumeration's number, named by nameOf(enumerations…) where it is shown. The service adds values at will.
const number = z.number().int().nullish();
const url = z.string().transform(safeUrl).nullish();
/** Read, so that it is not taken for an unknown member, and dropped. */
const secret = z.unknown().transform(() => undefined);

const hostname = z
  .object({
    Id: id.nullish(),
    Value: text,
    ForceSSL: flag,
    IsSystemHostname: flag,
    IsManagedHostname: flag,
    HasCertificate: flag,
    Certificate: secret,
    CertificateKey: secret,
    CertificateKeyType: number,
    CertificateProvisionType: number,
  })
  .transform(renamed);
export type Hostname = z.output<typeof hostname>;

const action = { ActionType: number, ActionParameter1: text, ActionParameter2: text, ActionParameter3: text };

interface Action {
  ActionType?: number | null | undefined;
  ActionParameter1?: string | null | undefined;
  ActionParameter2?: string | null | undefined;
  ActionParameter3?: string | null | undefined;
}

function withSafeParameters<T extends Action>(rule: T): T {
  const parameters = [rule.ActionParameter1, rule.ActionParameter2, rule.ActionParameter3].map(
    (one) => one ?? undefined,
  );
  const [first, second, third] = safeParameters(rule.ActionType ?? undefined, parameters);
  return { ...rule, ActionParameter1: first, ActionParameter2: second, ActionParameter3: third };
}

const extraAction = z.object(action).transform((wire) => renamed(withSafeParameters(wire)));
export type EdgeRuleAction = z.output<typeof extraAction>;

const trigger = z
  .object({ Type: number, PatternMatches: texts, PatternMatchingType: number, Parameter1: text })
  .transform((wire) => {
    const patterns = safePatterns(
      wire.Type ?? undefined,
      wire.Parameter1 ?? undefined,
      wire.PatternMatches ?? [],
    );
    return { ...renamed(wire), patternMatches: patterns };
  });
export type EdgeRuleTrigger = z.output<typeof trigger>;

const edgeRule = z
  .object({
    Guid: text,
    ...action,
    Triggers: z.array(trigger).nullish(),
    ExtraActions: z.array(extraAction).nullish(),
    TriggerMatchingType: number,
    Description: text,
    Enabled: flag,
    OrderIndex: count,
    ReadOnly: flag,
  })
  .transform((wire) => ({
    ...renamed(withSafeParameters(wire)),
    triggers: wire.Triggers ?? [],
    extraActions: wire.ExtraActions ?? [],
  }));
export type EdgeRule = z.output<typeof edgeRule>;

/** OptimizerClass and VendorAiImageBlueprint. */
const namedProperties = z
  .object({ Name: text, Properties: z.record(z.string(), z.string()).nullish() })
  .transform(renamed);

/**
 * PullZoneModel: all 166 members of the specification in its order, with their types. This table is the allow-list:
 * what is not in it, or is in it as `secret`, does not leave this folder.
 */
export const zoneFields = {
  Id: id,
  Name: text,
  OriginUrl: url,
  Enabled: flag,
  Suspended: flag,
  Hostnames: z.array(hostname).nullish(),
  StorageZoneId: link,
  EdgeScriptId: link,
  EdgeScriptExecutionPhase: number,
  MiddlewareScriptId: link,
  MagicContainersAppId: text,
  MagicContainersEndpointId: text,
  AllowedReferrers: texts,
  BlockedReferrers: texts,
  BlockedIps: texts,
  EnableGeoZoneUS: flag,
  EnableGeoZoneEU: flag,
  EnableGeoZoneASIA: flag,
  EnableGeoZoneSA: flag,
  EnableGeoZoneAF: flag,
  IpFamilyPolicy: number,
  ZoneSecurityEnabled: flag,
  ZoneSecurityKey: secret,
  ZoneSecurityIncludeHashRemoteIP: flag,
  IgnoreQueryStrings: flag,
  MonthlyBandwidthLimit: count,
  MonthlyBandwidthUsed: count,
  MonthlyCharges: count,
  AddHostHeader: flag,
  OriginHostHeader: text,
  Type: number,
  AccessControlOriginHeaderExtensions: texts,
  EnableAccessControlOriginHeader: flag,
  DisableCookies: flag,
  BudgetRedirectedCountries: texts,
  BlockedCountries: texts,
  EnableOriginShield: flag,
  CacheControlMaxAgeOverride: count,
  CacheControlPublicMaxAgeOverride: count,
  BurstSize: count,
  RequestLimit: count,
  BlockRootPathAccess: flag,
  BlockPostRequests: flag,
  LimitRatePerSecond: count,
  LimitRateAfter: count,
  ConnectionLimitPerIPCount: count,
  PriceOverride: count,
  OptimizerPricing: count,
  AddCanonicalHeader: flag,
  EnableLogging: flag,
  EnableCacheSlice: flag,
  EnableSmartCache: flag,
  EdgeRules: z.array(edgeRule).nullish(),
  EnableWebPVary: flag,
  EnableAvifVary: flag,
  EnableCountryCodeVary: flag,
  EnableCountryStateCodeVary: flag,
  EnableMobileVary: flag,
  EnableCookieVary: flag,
  CookieVaryParameters: texts,
  EnableHostnameVary: flag,
  CnameDomain: text,
  AWSSigningEnabled: flag,
  AWSSigningKey: secret,
  AWSSigningSecret: secret,
  AWSSigningRegionName: text,
  LoggingIPAnonymizationEnabled: flag,
  EnableTLS1: flag,
  EnableTLS1_1: flag,
  VerifyOriginSSL: flag,
  ErrorPageEnableCustomCode: flag,
  ErrorPageCustomCode: text,
  ErrorPageEnableStatuspageWidget: flag,
  ErrorPageStatuspageCode: text,
  ErrorPageWhitelabel: flag,
  OriginShieldZoneCode: text,
  LogForwardingEnabled: flag,
  LogForwardingHostname: url,
  LogForwardingPort: count,
  LogForwardingToken: secret,
  LogForwardingProtocol: number,
  LoggingSaveToStorage: flag,
  LoggingStorageZoneId: link,
  FollowRedirects: flag,
  VideoLibraryId: link,
  DnsRecordId: link,
  DnsZoneId: link,
  DnsRecordValue: text,
  OptimizerEnabled: flag,
  OptimizerTunnelEnabled: flag,
  OptimizerDesktopMaxWidth: count,
  OptimizerMobileMaxWidth: count,
  OptimizerImageQuality: count,
  OptimizerMobileImageQuality: count,
  OptimizerEnableWebP: flag,
  OptimizerPrerenderHtml: flag,
  OptimizerEnableManipulationEngine: flag,
  OptimizerMinifyCSS: flag,
  OptimizerMinifyJavaScript: flag,
  OptimizerWatermarkEnabled: flag,
  OptimizerWatermarkUrl: url,
  OptimizerWatermarkPosition: number,
  OptimizerWatermarkOffset: count,
  OptimizerWatermarkMinImageSize: count,
  OptimizerAutomaticOptimizationEnabled: flag,
  PermaCacheStorageZoneId: link,
  PermaCacheType: number,
  OriginRetries: count,
  OriginConnectTimeout: count,
  OriginResponseTimeout: count,
  UseStaleWhileUpdating: flag,
  UseStaleWhileOffline: flag,
  OriginRetry5XXResponses: flag,
  OriginRetryConnectionTimeout: flag,
  OriginRetryResponseTimeout: flag,
  OriginRetryDelay: count,
  QueryStringVaryParameters: texts,
  OriginShieldEnableConcurrencyLimit: flag,
  OriginShieldMaxConcurrentRequests: count,
  EnableSafeHop: flag,
  CacheErrorResponses: flag,
  OriginShieldQueueMaxWaitTime: count,
  OriginShieldMaxQueuedRequests: count,
  OptimizerClasses: z.array(namedProperties).nullish(),
  OptimizerForceClasses: flag,
  OptimizerStaticHtmlEnabled: flag,
  OptimizerStaticHtmlWordPressPath: text,
  OptimizerStaticHtmlWordPressBypassCookie: text,
  UseBackgroundUpdate: flag,
  EnableAutoSSL: flag,
  EnableQueryStringOrdering: flag,
  LogAnonymizationType: number,
  LogFormat: number,
  LogForwardingFormat: number,
  ShieldDDosProtectionType: number,
  ShieldDDosProtectionEnabled: flag,
  OriginType: number,
  EnableRequestCoalescing: flag,
  RequestCoalescingTimeout: count,
  OriginLinkValue: url,
  DisableLetsEncrypt: flag,
  EnableVendorImageAi: flag,
  VendorAiImageBlueprints: z.array(namedProperties).nullish(),
  PreloadingScreenEnabled: flag,
  PreloadingScreenShowOnFirstVisit: flag,
  PreloadingScreenCode: text,
  PreloadingScreenLogoUrl: url,
  PreloadingScreenCodeEnabled: flag,
  PreloadingScreenTheme: number,
  PreloadingScreenDelay: count,
  EUUSDiscount: count,
  SouthAmericaDiscount: count,
  AfricaDiscount: count,
  AsiaOceaniaDiscount: count,
  RoutingFilters: texts,
  BlockNoneReferrer: flag,
  StickySessionType: number,
  StickySessionCookieName: text,
  StickySessionClientHeaders: text,
  UserId: text,
  CacheVersion: count,
  OptimizerEnableUpscaling: flag,
  EnableWebSockets: flag,
  MaxWebSocketConnections: count,
  EnableExtendedLogging: flag,
  CacheKeyHeaders: text,
} as const;
