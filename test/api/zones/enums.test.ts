import { expect, test } from 'vitest';
import { enumerations, getEnumName } from '../../../src/api/zones/members.ts';

test('every enumeration of the specification is there, with all of its values', () => {
  const sizes = Object.entries(enumerations).map(([name, values]) => [
    name,
    values.filter((value) => value !== '-').length,
  ]);
  expect(Object.fromEntries(sizes)).toEqual({
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
    PrivateKeyType: 2,
    CertificateProvisionType: 5,
    TriggerMatchingTypes: 3,
    PatternMatchingTypes: 3,
    TriggerTypes: 14,
    EdgeRuleActionType: 36,
  });
});

test.each([
  ['PullZoneType', 1, 'Volume'],
  ['EdgeRuleActionType', 37, 'StripCookiesClientToOrigin'],
  ['EdgeRuleActionType', 35, 'unknown (35)'],
  ['PullZoneType', 7, 'unknown (7)'],
  ['PullZoneType', undefined, 'not reported'],
] as const)('%s %s reads as %s', (enumeration, value, name) => {
  expect(getEnumName(enumeration, value)).toBe(name);
});
