import type { Zone } from '../../api/zones/members.ts';
import { getEnumName } from '../../api/zones/members.ts';
import { button, commandButton, selectOf } from '../blocks/buttons.ts';
import { capitalize } from '../blocks/text.ts';
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
  return zoneParts.flatMap((part): PartTable[] => {
    if (part === 'all') return [];
    if (part === 'hostnames')
      return [
        {
          part,
          label: `Hostnames (${hostnames.length})`,
          caption: 'Hostnames',
          columns: ['Name', 'Certificate', 'HTTPS'],
          rows: hostnames.map(listHostname),
        },
      ];
    if (part === 'rules')
      return [
        {
          part,
          label: `Edge rules (${rules.length})`,
          caption: 'Edge rules',
          columns: ['Rule', 'Does', 'When'],
          rows: rules.map(([name, does, when]) => [name, does, when.replace(/^when /u, '')]),
        },
      ];
    const caption = capitalize(part);
    return [{ part, label: caption, caption, columns: ['Setting', 'Value'], rows: listSection(zone, part) }];
  });
}

/** Everything in one table: the client's own search replaces scrolling. */
export function listEverything(parts: readonly PartTable[]): PartTable {
  // A zone may have more hostnames and rules than a table has rows: they come last.
  const all = parts.toSorted((a, b) => a.columns.length - b.columns.length);
  const rows = all.flatMap(({ part, caption, rows }) =>
    rows.map(([name = '', first = '', second]) => {
      if (second === undefined) return [name, first, caption];
      const isCondition = part === 'rules' && !/^(?:always|unless)/u.test(second);
      return [name, `${first}${part === 'hostnames' ? ',' : isCondition ? ' when' : ''} ${second}`, caption];
    }),
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
  const { id } = zone.summary;
  const { apps, scripts, storage } = findNeighbours(zone);
  const neighbours = [
    ...apps.flatMap((app) => [
      commandButton(`App ${app}`, `app ${app}`),
      commandButton(`Zones of the app ${app}`, `zones app:${app}`),
    ]),
    ...scripts.map((script) => commandButton(`Zones with script ${script}`, `zones script:${script}`)),
    ...storage.map((zone) => commandButton(`Zones of storage zone ${zone}`, `zones storage:${zone}`)),
  ];
  const parts = listParts(zone);
  const settings = [...parts, listEverything(parts)].map(({ part, label }) =>
    button(label, 'zones:part', `${id} ${part}`),
  );
  const others = [
    commandButton('What changed', `changes ${id}`),
    commandButton('Compare with another zone', `compare ${id}`),
  ];
  return selectOf(
    'Settings…',
    [
      { label: 'Settings', buttons: settings },
      { label: 'Compare', buttons: others },
      neighbours.length > 0 && { label: 'Related', buttons: neighbours },
    ],
    { chosen },
  );
}

/** A zone with many rules names many; the first are enough for a menu. */
const mostNeighbours = 10;

/** The ids that a zone shows, of its settings and of its edge rules. */
function findNeighbours({ summary, members }: Zone): Record<'apps' | 'scripts' | 'storage', string[]> {
  const steps = (members.EdgeRules ?? []).flatMap((rule) => [rule, ...rule.ExtraActions]);
  const ofRules = (type: number) =>
    steps.filter(({ ActionType }) => ActionType === type).map(({ ActionParameter1 }) => ActionParameter1);
  const logs = members.LoggingSaveToStorage ? members.LoggingStorageZoneId : undefined;
  const { storageZoneId, edgeScriptId, middlewareScriptId } = summary;
  return {
    apps: listIds([summary.appId, ...ofRules(edgeRuleActions.app)]),
    scripts: listIds([edgeScriptId, middlewareScriptId, ...ofRules(edgeRuleActions.script)]),
    storage: listIds([
      storageZoneId,
      members.PermaCacheStorageZoneId,
      logs,
      ...ofRules(edgeRuleActions.storage),
    ]),
  };
}

/** Unique ids; drops values that are not ids, since a rule parameter can be any text. */
function listIds(found: readonly (string | undefined)[]): string[] {
  const ids = found.filter((id) => id !== undefined && /^[\w-]{1,40}$/u.test(id));
  return [...new Set(ids)].slice(0, mostNeighbours) as string[];
}
