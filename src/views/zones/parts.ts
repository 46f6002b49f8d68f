import type { Hostname } from '../../api/zones/fields.ts';
import type { Zone } from '../../api/zones/zone.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { type ButtonGroup, selectOf } from '../blocks/menu-of-buttons.ts';
import type { Maybe } from '../blocks/text.ts';
import { listAccount, listLogging, listOrigin, listPages } from './delivery.ts';
import { edgeRuleActions, listEdgeRule } from './edge-rules.ts';
import { describeEnum, type Row } from './fields.ts';
import { listCaching, listOptimizer, listSecurity } from './sections.ts';

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
  const rules = zone.edgeRules
    .toSorted((a, b) => (a.orderIndex ?? 0) - (b.orderIndex ?? 0))
    .map(listEdgeRule);
  return [
    {
      part: 'hostnames',
      label: `Hostnames (${zone.hostnames.length})`,
      caption: 'Hostnames',
      columns: ['Name', 'Certificate', 'HTTPS'],
      rows: zone.hostnames.map(listHostname),
    },
    settings('origin', 'Origin', listOrigin(zone)),
    settings('caching', 'Caching', listCaching(zone)),
    settings('security', 'Security', listSecurity(zone)),
    {
      part: 'rules',
      label: `Edge rules (${rules.length})`,
      caption: 'Edge rules',
      columns: ['Rule', 'Does', 'When'],
      rows: rules.map(([name, does, when]) => [name, does, when.replace(/^when /u, '')]),
    },
    settings('optimizer', 'Optimizer', listOptimizer(zone)),
    settings('logging', 'Logging', listLogging(zone)),
    settings('pages', 'Pages', listPages(zone)),
    settings('account', 'Account', listAccount(zone)),
  ];
}

/** The cells of a row as one: `Http01, HTTPS forced`, `block the request when URL is /a`. */
function joinFacts(part: ZonePart, [first = '', second]: readonly string[]): string {
  if (second === undefined) return first;
  if (part === 'hostnames') return `${first}, HTTPS ${second}`;
  return /^(?:always|unless)/u.test(second) ? `${first} ${second}` : `${first} when ${second}`;
}

function settings(part: ZonePart, label: string, rows: readonly Row[]): PartTable {
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

/** Name, certificate and HTTPS. */
export function listHostname(host: Hostname): [name: string, certificate: string, https: string] {
  const isPlatforms = host.isSystemHostname || host.isManagedHostname;
  const kind = describeEnum('CertificateProvisionType', host.certificateProvisionType) ?? 'yes';
  const certificate = host.hasCertificate ? kind : host.hasCertificate === false ? 'none' : 'not reported';
  return [
    host.value ?? 'not reported',
    isPlatforms ? 'of the platform' : certificate,
    host.forceSSL === undefined ? 'not reported' : host.forceSSL ? 'forced' : 'not forced',
  ];
}

/** The parts, and what hangs together with the zone. */
export function renderPartMenu(zone: Zone, chosen?: string) {
  const parts = listParts(zone);
  const menu = [...parts, listEverything(parts)].map(({ part, label }) =>
    button(label, 'zones:part', `${zone.summary.id} ${part}`),
  );
  const { apps, scripts, storage } = findNeighbours(zone);
  const neighbours: ButtonGroup = {
    label: 'Hangs together',
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
    label: 'Over time and beside others',
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
  const steps = zone.edgeRules.flatMap((rule) => [rule, ...rule.extraActions]);
  const ofRules = (type: number) =>
    steps.filter(({ actionType }) => actionType === type).map(({ actionParameter1 }) => actionParameter1);
  const { permaCacheStorageZoneId: cache, loggingStorageZoneId: logs, loggingSaveToStorage } = zone;
  return {
    apps: listIds(appId, ...ofRules(edgeRuleActions.app)),
    scripts: listIds(edgeScriptId, middlewareScriptId, ...ofRules(edgeRuleActions.script)),
    storage: listIds(storageZoneId, cache, loggingSaveToStorage && logs, ...ofRules(edgeRuleActions.storage)),
  };
}

/** Each id once, without what is none: a parameter of a rule is any text. */
function listIds(...found: readonly Maybe<string>[]): string[] {
  const ids = found.filter((id) => typeof id === 'string' && /^[\w-]{1,40}$/u.test(id)) as string[];
  return [...new Set(ids)].slice(0, mostNeighbours);
}
