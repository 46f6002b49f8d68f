import { appIds } from './apps.ts';
import { canary } from './canaries.ts';
import { createRandom, type RandomSource } from './dice.ts';
import { oneRuleOfEachKind, someRules } from './edge-rules.ts';
import { scriptIds } from './variables.ts';
import type { Hostname, PullZone } from './zone-fields.ts';
import { type ZoneIdentity, zoneSettings } from './zone-settings.ts';

const GB = 1_000_000_000;

interface Story {
  name: string;
  /** Bytes a month; 0 = unlimited. */
  limit?: number;
  /** Share of the limit that is used, or bytes where there is no limit. */
  used?: number;
  enabled?: false;
  suspended?: true;
  /** The first customer hostname has no certificate. */
  bare?: true;
  script?: number;
  middleware?: number;
  app?: string;
}

// The first zones are written by hand, so that every state a person may meet is on the first page.
const stories: readonly Story[] = [
  { name: 'shop', limit: 5000 * GB, used: 0.62, script: scriptIds.storefront },
  { name: 'assets', used: 812 * GB },
  { name: 'api', limit: 2000 * GB, used: 0.48, app: appIds.api },
  { name: 'media', limit: 10_000 * GB, used: 0.91 },
  { name: 'docs', used: 12.4 * GB, bare: true },
  { name: 'checkout', limit: 500 * GB, used: 1, enabled: false },
  { name: 'video', limit: 20_000 * GB, used: 0.3, suspended: true },
  { name: 'blog', used: 88 * GB, middleware: scriptIds.abTests },
  { name: 'images', limit: 3000 * GB, used: 0.805 },
  { name: 'downloads', limit: 8000 * GB, used: 0.799 },
  { name: 'shop-staging', used: 0, script: scriptIds.storefront, bare: true },
  { name: 'edge-lab', used: 1.2 * GB },
];

const subjects = [
  'shop',
  'assets',
  'api',
  'media',
  'docs',
  'checkout',
  'blog',
  'static',
  'images',
  'video',
  'search',
  'auth',
  'status',
  'landing',
  'fonts',
  'mail',
] as const;
const places = ['eu', 'us', 'asia', 'staging', 'preview', 'legacy', 'partner', 'internal'] as const;

/** The name of the n-th generated zone (from 0): stories first, then `shop-eu-12` and the like; unique for any n. */
function nameOf(index: number): string {
  const story = stories[index];
  if (story) return story.name;
  const rest = index - stories.length;
  const subject = subjects[rest % subjects.length] ?? 'zone';
  const place = places[Math.floor(rest / subjects.length) % places.length] ?? 'eu';
  return `${subject}-${place}-${Math.floor(rest / (subjects.length * places.length)) + 1}`;
}

function someStory(index: number, dice: RandomSource): Story {
  const limit = dice.chance(0.35) ? dice.pick([100, 500, 1000, 5000]) * GB : 0;
  const share = dice.chance(0.12) ? 0.8 + dice.next() * 0.2 : dice.next() * 0.8;
  const drawn = dice.next();
  return {
    name: nameOf(index),
    limit,
    used: limit > 0 ? share : Math.floor(dice.next() ** 4 * 4000 * GB),
    ...(drawn < 0.02 ? { enabled: false } : {}),
    ...(drawn > 0.99 ? { suspended: true } : {}),
    ...(dice.chance(0.08) ? { bare: true } : {}),
    ...(dice.chance(0.1) ? { script: dice.pick([scriptIds.storefront, scriptIds.abTests]) } : {}),
    ...(dice.chance(0.05) ? { app: dice.pick([appIds.api, appIds.worker]) } : {}),
  };
}

export function hostname(zoneId: number, position: number, value: string, more: Partial<Hostname>): Hostname {
  const certified = more.HasCertificate ?? true;
  const owner = `${zoneId}-${position}`;
  return {
    Id: zoneId * 10 + position,
    Value: value,
    ForceSSL: certified,
    IsSystemHostname: false,
    IsManagedHostname: false,
    HasCertificate: certified,
    Certificate: certified ? canary('certificate', owner) : null,
    CertificateKey: certified ? canary('certificate-key', owner) : null,
    CertificateKeyType: position % 2,
    CertificateProvisionType: certified ? 1 : 0,
    ...more,
  };
}

function hostnames(zoneId: number, story: Story, dice: RandomSource): Hostname[] {
  const system = hostname(zoneId, 0, `${story.name}.cdn.example.net`, {
    IsSystemHostname: true,
    CertificateProvisionType: 4,
  });
  const own = hostname(zoneId, 1, `${story.name}.example.com`, story.bare ? { HasCertificate: false } : {});
  const extra = dice.chance(0.2)
    ? [hostname(zoneId, 2, `cdn-${story.name}.example.org`, { CertificateProvisionType: 3 })]
    : [];
  return [system, own, ...extra];
}

function identity(index: number, dice: RandomSource): ZoneIdentity {
  const id = 1001 + index;
  const story = stories[index] ?? someStory(index, dice);
  const limit = story.limit ?? 0;
  const used = Math.floor(limit > 0 ? limit * (story.used ?? 0) : (story.used ?? 0));
  const stored = story.app === undefined && dice.chance(0.25);
  const signed = dice.chance(0.1);
  const forwarded = dice.chance(0.2);
  const secured = dice.chance(0.5);
  const login = dice.chance(0.2) ? `deploy:${canary('origin-password', id)}@` : '';
  return {
    Id: id,
    Name: story.name,
    // Of an app the service gives a placeholder (origin type 5).
    OriginUrl: story.app
      ? 'https://bunny.net'
      : stored
        ? ''
        : `https://${login}origin-${story.name}.example.com`,
    Enabled: story.enabled ?? true,
    Suspended: story.suspended ?? false,
    Hostnames: hostnames(id, story, dice),
    StorageZoneId: stored ? 2000 + (index % 40) : -1,
    EdgeScriptId: story.script ?? -1,
    EdgeScriptExecutionPhase: dice.between(0, 2),
    MiddlewareScriptId: story.middleware ?? null,
    MagicContainersAppId: story.app ?? null,
    MagicContainersEndpointId: story.app === undefined ? null : 'endpoint-1',
    OriginType: story.app === undefined ? (stored ? 2 : 0) : 5,
    OriginLinkValue: stored ? `storage-${2000 + (index % 40)}` : null,
    Type: index % 7 === 3 ? 1 : 0,
    MonthlyBandwidthLimit: limit,
    MonthlyBandwidthUsed: used,
    MonthlyCharges: Math.round((used / GB) * 1.02) / 100,
    EdgeRules:
      story.name === 'edge-lab'
        ? oneRuleOfEachKind(id)
        : someRules(id, dice, index === 0 ? 8 : dice.between(0, 2)),
    CnameDomain: 'cdn.example.net',
    UserId: '8a5e1c1e-0000-4000-8000-00000000002a',
    VideoLibraryId: -1,
    DnsRecordId: 0,
    DnsZoneId: -1,
    DnsRecordValue: null,
    ZoneSecurityEnabled: secured,
    ZoneSecurityKey: canary('zone-security-key', id),
    AWSSigningEnabled: signed,
    AWSSigningKey: signed ? canary('aws-signing-key', id) : null,
    AWSSigningSecret: signed ? canary('aws-signing-secret', id) : null,
    AWSSigningRegionName: signed ? 'eu-central-1' : null,
    LogForwardingEnabled: forwarded,
    LogForwardingHostname: forwarded ? `https://logs:${canary('log-password', id)}@logs.example.com` : null,
    LogForwardingPort: forwarded ? 6514 : 0,
    LogForwardingToken: forwarded ? canary('log-forwarding-token', id) : null,
    LogForwardingProtocol: forwarded ? dice.between(0, 3) : 0,
  };
}

/**
 * The n-th generated pull zone (from 0), whole: the same for the same n in every run, for any count.
 * Ids start at 1001; secrets are canaries (canaries.ts).
 */
export function generateZone(index: number): PullZone {
  const dice = createRandom(index);
  return { ...identity(index, dice), ...zoneSettings(dice) };
}

/** A small zone for tests: an ordinary one with what the test is about put over it. */
export function zone(changes: Partial<PullZone> & { Name: string }): PullZone {
  const like = generateZone(20);
  const id = changes.Id ?? 1001;
  return {
    ...like,
    Id: id,
    OriginUrl: `https://origin-${changes.Name}.example.com`,
    OriginType: 0,
    Enabled: true,
    Suspended: false,
    MonthlyBandwidthLimit: 0,
    MonthlyBandwidthUsed: 0,
    MonthlyCharges: 0,
    EdgeRules: [],
    Hostnames: hostnames(id, { name: changes.Name }, createRandom(0)).slice(0, 2),
    ...changes,
  };
}
