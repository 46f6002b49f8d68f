import { getEnumName } from '../../api/zones/enums.ts';
import type { Section } from '../../api/zones/members.ts';
import type { Zone } from '../../api/zones/zone.ts';
import { type ButtonGroup, button, commandButton, selectOf } from '../blocks/buttons.ts';
import type { Maybe } from '../blocks/text.ts';
import { edgeRuleActions, listEdgeRule } from './edge-rules.ts';
import { listSection } from './settings.ts';

/** The parts of a zone, in the order of the menu. `all` is one table to search in. */
export const zoneParts = [
  'hostnames',
  'origin',
  'caching',
  'security',
  'rules',
  'optimizer',
  'logging',
  'pages',
  'account',
  'all',
] as const;
export type ZonePart = (typeof zoneParts)[number];

interface PartTable {
  readonly part: ZonePart;
  /** `Hostnames (3)` in the menu. */
  readonly label: string;
  readonly caption: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Every member of a zone except its name, each in exactly one part. */
export function listParts(zone: Zone): PartTable[] {
  const hostnames = zone.members.Hostnames ?? [];
  const rules = (zone.members.EdgeRules ?? [])
    .toSorted((a, b) => (a.OrderIndex ?? 0) - (b.OrderIndex ?? 0))
    .map(listEdgeRule);
  return [
    {
      part: 'hostnames',
      label: `Hostnames (${hostnames.length})`,
      caption: 'Hostnames',
      columns: ['Name', 'Certificate', 'HTTPS'],
      rows: hostnames.map(listHostname),
    },
    settings('origin', 'Origin', zone),
    settings('caching', 'Caching', zone),
    settings('security', 'Security', zone),
    {
      part: 'rules',
      label: `Edge rules (${rules.length})`,
      caption: 'Edge rules',
      columns: ['Rule', 'Does', 'When'],
      rows: rules.map(([name, does, when]) => [name, does, when.replace(/^when /u, '')]),
    },
    settings('optimizer', 'Optimizer', zone),
    settings('logging', 'Logging', zone),
    settings('pages', 'Pages', zone),
    settings('account', 'Account', zone),
  ];
}

/** The cells of a row as one: `Http01, HTTPS forced`, `block the request when URL is /a`. */
function joinFacts(part: ZonePart, [first = '', second]: readonly string[]): string {
  if (second === undefined) return first;
  if (part === 'hostnames') return `${first}, ${second}`;
  return /^(?:always|unless)/u.test(second) ? `${first} ${second}` : `${first} when ${second}`;
}

function settings(part: Section & ZonePart, label: string, zone: Zone): PartTable {
  const rows = listSection(zone, part);
  return { part, label, caption: label, columns: ['Setting', 'Value'], rows };
}

/** Everything in one table: the client's own search replaces scrolling. */
export function listEverything(parts: readonly PartTable[]): PartTable {
  // A zone may have more hostnames and rules than a table has rows: they come last.
  const isSetting = ({ columns }: PartTable) => columns.length === 2;
  const all = [...parts.filter(isSetting), ...parts.filter((part) => !isSetting(part))];
  const rows = all.flatMap(({ part, caption, rows }) =>
    rows.map(([name = '', ...facts]) => [name, joinFacts(part, facts), caption]),
  );
  const columns = ['Setting', 'Value', 'Section'];
  return { part: 'all', label: 'All, searchable', caption: 'All settings', columns, rows };
}

interface ShownHostname {
  readonly Value?: string;
  readonly ForceSSL?: boolean;
  readonly IsSystemHostname?: boolean;
  readonly IsManagedHostname?: boolean;
  readonly HasCertificate?: boolean;
  readonly CertificateProvisionType?: number;
}

/** Name, certificate and HTTPS. */
export function listHostname(host: ShownHostname): [name: string, certificate: string, https: string] {
  const isPlatforms = host.IsSystemHostname || host.IsManagedHostname;
  const { CertificateProvisionType: type } = host;
  const kind = type === undefined ? 'yes' : getEnumName('CertificateProvisionType', type);
  const certificate = host.HasCertificate ? kind : host.HasCertificate === false ? 'none' : 'not reported';
  return [
    host.Value ?? 'not reported',
    isPlatforms ? 'managed by the CDN' : certificate,
    host.ForceSSL === undefined ? 'HTTPS not reported' : host.ForceSSL ? 'HTTPS forced' : 'HTTPS not forced',
  ];
}

/** The parts, and what the zone is linked to. */
export function renderPartMenu(zone: Zone, chosen?: string) {
  const parts = listParts(zone);
  const menu = [...parts, listEverything(parts)].map(({ part, label }) =>
    button(label, 'zones:part', `${zone.summary.id} ${part}`),
  );
  const { apps, scripts, storage } = findNeighbours(zone);
  const neighbours: ButtonGroup = {
    label: 'Related',
    buttons: [
      ...apps.flatMap((id) => [
        commandButton(`App ${id}`, `app ${id}`),
        commandButton(`Zones of the app ${id}`, `zones app:${id}`),
      ]),
      ...scripts.map((id) => commandButton(`Zones with script ${id}`, `zones script:${id}`)),
      ...storage.map((id) => commandButton(`Zones of storage zone ${id}`, `zones storage:${id}`)),
    ],
  };
  const overTime: ButtonGroup = {
    label: 'Compare',
    buttons: [
      commandButton('What changed', `changes ${zone.summary.id}`),
      commandButton('Compare with another zone', `compare ${zone.summary.id}`),
    ],
  };
  const hasNeighbours = neighbours.buttons.some((entry) => !!entry);
  return selectOf(
    'Settings…',
    [{ label: 'Settings', buttons: menu }, overTime, hasNeighbours && neighbours],
    { chosen },
  );
}

/** A zone with many rules names many; the first are enough for a menu. */
const mostNeighbours = 10;

/** The ids that a zone shows, of its settings and of its edge rules. */
function findNeighbours(zone: Zone): Record<'apps' | 'scripts' | 'storage', string[]> {
  const { appId, edgeScriptId, middlewareScriptId, storageZoneId } = zone.summary;
  const { EdgeRules: rules = [], PermaCacheStorageZoneId: cache, LoggingStorageZoneId: logs } = zone.members;
  const steps = rules.flatMap((rule) => [rule, ...(rule.ExtraActions ?? [])]);
  const ofRules = (type: number) =>
    steps.filter(({ ActionType }) => ActionType === type).map(({ ActionParameter1 }) => ActionParameter1);
  return {
    apps: listIds(appId, ...ofRules(edgeRuleActions.app)),
    scripts: listIds(edgeScriptId, middlewareScriptId, ...ofRules(edgeRuleActions.script)),
    storage: listIds(
      storageZoneId,
      cache,
      zone.members.LoggingSaveToStorage && logs,
      ...ofRules(edgeRuleActions.storage),
    ),
  };
}

/** Each id once, without what is none: a parameter of a rule is any text. */
function listIds(...found: readonly Maybe<string>[]): string[] {
  const ids = found.filter((id) => typeof id === 'string' && /^[\w-]{1,40}$/u.test(id)) as string[];
  return [...new Set(ids)].slice(0, mostNeighbours);
}
