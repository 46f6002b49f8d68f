import type { Zone } from '../../api/zones/members.ts';
import { isAtLimit, legacyTls, rankAttention, type ZoneSummary } from '../../api/zones/summary.ts';
import { renderAnswer } from '../blocks/answer.ts';
import { context, type Message, say } from '../blocks/blocks.ts';
import { button, commandButton, type PanelPages, panelButton, selectOf } from '../blocks/buttons.ts';
import { andMore, formatMoment, formatRoundMoney } from '../blocks/format.ts';
import { renderLines } from '../blocks/table.ts';
import { capitalize, escapeMrkdwn, formatCode, join, plainText } from '../blocks/text.ts';
import { describeCondition, describeUsage, isActive } from './rows.ts';
import { disabledBecause, listEdgeRule, listGaps, listHostname, listSection } from './settings.ts';

export interface ShownZone {
  readonly zone: Zone;
  readonly asOf: Date;
  readonly panel: PanelPages;
}

export function renderZone({ zone, asOf, panel }: ShownZone): Message {
  const { summary } = zone;
  const state = describeState(summary);
  const weak = describeWeakSettings(zone);
  const usage = describeUsage(summary);
  const { charges: cost } = summary;
  const charges = cost === undefined ? 'charges not reported' : `${formatRoundMoney(cost)} so far`;
  return renderAnswer({
    text: `${withoutStyle(state)}, ${usage}${weak && `. Weak settings: ${weak}`}`,
    lines: [
      `${chooseIcon(summary)} ${state}`,
      // A zone at its limit is disabled by it.
      summary.enabled === false && !isAtLimit(summary) && `Because ${disabledBecause}`,
      join([usage, charges], ' · '),
      describePlace(zone),
    ],
    warnings: [weak && `:shield: Weak settings: ${weak}`],
    actions: [
      commandButton('Origin errors', `errors ${summary.id}`, 2, { style: 'primary' }),
      renderPartMenu(zone),
    ],
    share: `zone ${summary.id}`,
    more: [
      button('Refresh', 'zones:refresh', summary.id),
      button('Everything as JSON', 'zones:file', summary.id),
      panelButton(panel, 'zone', summary.id),
      commandButton('All zones', 'zones'),
      commandButton('Another zone', 'zone', 1),
    ],
    notes: [`as of ${formatMoment(asOf)}`, ...listGaps(zone), 'keys and tokens are never shown'],
  });
}

export function renderZonePart({ zone, asOf, panel }: ShownZone, wanted: ZonePart, page?: number): Message {
  const { summary } = zone;
  const state = describeState(summary);
  const parts = listParts(zone);
  const { label, caption, rows } = parts.find(({ part }) => part === wanted) ?? listEverything(parts);
  const words = `${summary.id} ${wanted}`;
  const none = label.endsWith('not reported') ? 'not reported' : 'none';
  const { picture, pages, chosen } = renderLines({
    rows: rows.map((cells) => cells.slice(0, wanted === 'all' ? 2 : 3)),
    page,
    turn: (label, nth) => button(label, 'zones:part', `${words} ${nth}`),
  });
  return renderAnswer({
    text: `${withoutStyle(state)}. ${caption}: ${rows.length === 0 ? none : rows.length}`,
    lines: [`${chooseIcon(summary)} ${state}`, rows.length === 0 && `${caption}: ${none}`],
    picture,
    actions: [renderPartMenu(zone, label), selectOf(chosen, pages, { chosen, nth: 1 })],
    share: `zone ${words}`,
    more: [
      button('Refresh', 'zones:refresh', words),
      button('Overview', 'zones:part', summary.id),
      button('Everything as JSON', 'zones:file', summary.id),
      panelButton(panel, 'zone', summary.id),
    ],
    notes: [
      `as of ${formatMoment(asOf)}`,
      ...listGaps(zone, wanted),
      (wanted === 'rules' || wanted === 'all') && 'header values are never shown',
    ],
  });
}

function describeState(zone: ZoneSummary): string {
  return `*${escapeMrkdwn(zone.name, 60) || 'unnamed'}* ${describeCondition(zone)}`;
}

/** Bold and code are for the eye; what is escaped stays so. */
function withoutStyle(text: string): string {
  return text.replaceAll(/[*`]/gu, '');
}

function chooseIcon(zone: ZoneSummary): string {
  if (rankAttention(zone) > 0) return ':warning:';
  return isActive(zone) ? ':large_green_circle:' : ':white_circle:';
}

/** By the type of origin, where it is neither an address nor a storage zone, script or app. */
const elsewhere: Readonly<Record<number, string>> = { 3: 'load balancer', 6: 'push zone' };

function describePlace({ members, summary }: Zone): string {
  const { Hostnames: hostnames = [] } = members;
  const own = hostnames.filter((host) => !(host.IsSystemHostname || host.IsManagedHostname));
  const first = (own[0] ?? hostnames[0])?.Value;
  const noHostname = members.Hostnames ? 'no hostname' : 'hostnames not reported';
  const { originUrl, storageZoneId, appId, edgeScriptId, middlewareScriptId, id } = summary;
  const hasOrigin = [originUrl, storageZoneId, appId, edgeScriptId].some((from) => from !== undefined);
  return join(
    [
      first ? join([formatCode(first, 80), andMore(hostnames.length - 1)], ' ') : noHostname,
      storageZoneId && `storage zone ${escapeMrkdwn(storageZoneId, 20)}`,
      appId && `app ${escapeMrkdwn(appId, 40)}`,
      !appId && originUrl && `from ${formatCode(originUrl, 80)}`,
      !hasOrigin && (elsewhere[members.OriginType ?? 0] ?? 'origin not reported'),
      edgeScriptId && `script ${escapeMrkdwn(edgeScriptId, 20)}`,
      middlewareScriptId && `middleware ${escapeMrkdwn(middlewareScriptId, 20)}`,
      `zone ${escapeMrkdwn(id, 20)}`,
    ],
    ' · ',
  );
}

/** Settings that are weak by themselves, the most serious first. Members that are not reported count as fine. */
function describeWeakSettings({ members }: Zone): string {
  return join(
    [
      members.TlsSecurityLevel === legacyTls && 'TLS profile Legacy',
      members.EnableTLS1 && 'TLS 1.0 on',
      members.EnableTLS1_1 && 'TLS 1.1 on',
      members.VerifyOriginSSL === false && 'origin certificate not checked',
      members.ShieldDDosProtectionEnabled === false && 'DDoS protection off',
    ],
    ', ',
  );
}

export function renderZoneFile(
  { id, name }: Pick<ZoneSummary, 'id' | 'name'>,
  json: string,
  asOf: Date,
): Message {
  const text = `The documented fields of zone ${escapeMrkdwn(name, 80) || escapeMrkdwn(id, 20)}, as JSON.`;
  const file = `zone-${id}-${plainText(name, 60).replaceAll(/[^\w.-]+/gu, '_')}.json`;
  return {
    ...say(
      text,
      context(
        `As of ${formatMoment(asOf)}. Keys, tokens, certificates, header values, query values and fields that the CDN does not document are left out. IDs are text; null: nothing linked, or not reported.`,
      ),
    ),
    files: [
      { name: file, title: text, mimetype: 'application/json', content: new TextEncoder().encode(json) },
    ],
  };
}

/** The parts of a zone, in the order of the menu. */
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
  readonly label: string;
  readonly caption: string;
  readonly rows: readonly (readonly string[])[];
}

export function listParts(zone: Zone): PartTable[] {
  const { Hostnames, EdgeRules } = zone.members;
  const hostnames = Hostnames ?? [];
  const rules = (EdgeRules ?? [])
    .toSorted((a, b) => (a.OrderIndex ?? 0) - (b.OrderIndex ?? 0))
    .map(listEdgeRule);
  const tables: Partial<Record<ZonePart, Omit<PartTable, 'part' | 'label'>>> = {
    hostnames: {
      caption: 'Hostnames',
      rows: hostnames.map(listHostname),
    },
    rules: {
      caption: 'Edge rules',
      rows: rules.map(([name, does, when]) => [name, does, when.replace(/^when /u, '')]),
    },
  };
  return zoneParts.flatMap((part): PartTable[] => {
    if (part === 'all') return [];
    const table = tables[part];
    const isReported = part === 'hostnames' ? Hostnames : EdgeRules;
    if (table)
      return [
        {
          part,
          label: table.caption + (isReported ? ` (${table.rows.length})` : ', not reported'),
          ...table,
        },
      ];
    const caption = capitalize(part);
    return [{ part, label: caption, caption, rows: listSection(zone, part) }];
  });
}

export function listEverything(parts: readonly PartTable[]): PartTable {
  const isLong = ({ part }: PartTable): boolean => part === 'hostnames' || part === 'rules';
  const all = parts.toSorted((a, b) => Number(isLong(a)) - Number(isLong(b)));
  const rows = all.flatMap(({ part, caption, rows }) =>
    rows.map(([name = '', first = '', second]) => {
      if (second === undefined) return [name, first, caption];
      const isCondition = part === 'rules' && !/^(?:always|unless)/u.test(second);
      return [name, `${first}${part === 'hostnames' ? ',' : isCondition ? ' when' : ''} ${second}`, caption];
    }),
  );
  return { part: 'all', label: 'All settings', caption: 'All settings', rows };
}

function renderPartMenu(zone: Zone, chosen?: string) {
  const { id, appId, edgeScriptId, middlewareScriptId, storageZoneId } = zone.summary;
  const { PermaCacheStorageZoneId, LoggingSaveToStorage, LoggingStorageZoneId } = zone.members;
  const logs = LoggingSaveToStorage ? LoggingStorageZoneId : undefined;
  const parts = listParts(zone);
  const settings = [...parts, listEverything(parts)].map(({ part, label }) =>
    button(label, 'zones:part', `${id} ${part}`),
  );
  const others = [
    commandButton('What changed', `changes ${id}`),
    commandButton('Compare with another zone', `compare ${id}`),
  ];
  const related = [
    ...listIds(appId).map((app) => commandButton(`App ${app}`, `app ${app}`)),
    ...listIds(appId).map((app) => commandButton(`Zones of the app ${app}`, `zones app:${app}`)),
    ...listIds(edgeScriptId, middlewareScriptId).map((script) =>
      commandButton(`Zones with script ${script}`, `zones script:${script}`),
    ),
    ...listIds(storageZoneId, PermaCacheStorageZoneId, logs).map((storage) =>
      commandButton(`Zones of storage zone ${storage}`, `zones storage:${storage}`),
    ),
  ];
  return selectOf(
    'Settings…',
    [
      { label: 'Settings', buttons: settings },
      { label: 'Compare', buttons: others },
      related.length > 0 && { label: 'Related', buttons: related },
    ],
    { chosen },
  );
}

function listIds(...found: readonly (string | undefined)[]): string[] {
  return [...new Set(found.filter((id) => id !== undefined))];
}
