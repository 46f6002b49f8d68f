import { type EdgeRule as ReadRule, redactedValue } from '../../api/zones/fields.ts';
import {
  type Enumeration,
  enumerations,
  type Format,
  getEnumName,
  type MemberRow,
  type Section,
  type Zone,
  zoneMembers,
} from '../../api/zones/members.ts';
import { isTexts, ruleOrder, type SettingChange, wholeZone } from '../../api/zones/settings.ts';
import type { Json } from '../../lib/canonical-json.ts';
import { formatBytes, formatInteger, formatMoney, listSome, pluralize } from '../blocks/format.ts';
import { capitalize, join, truncate } from '../blocks/text.ts';

const rows: ReadonlyMap<string, MemberRow> = new Map(zoneMembers.map((row: MemberRow) => [row[0], row]));

/** What the specification says of a zone that is not enabled. */
export const disabledBecause = 'resource limits were reached or the owning account ran out of funds';

/** The settings of a section in words, related ones in one row, without what is not reported or empty. */
export function listSection({ members, summary }: Zone, wanted: Section): [setting: string, value: string][] {
  const found = [...rows.values()].filter(
    ([, section, , format]) => section === wanted && format !== 'secret',
  );
  const groups = Map.groupBy(found, ([, , label]) => label.split(': ')[0] ?? label);
  const listed = [...groups].flatMap(([label, group]): [string, string][] => {
    const value = describeGroup(group, members);
    return value === undefined ? [] : [[label, value]];
  });
  if (wanted === 'account' && summary.enabled === false) listed.push(['Disabled because', disabledBecause]);
  return listed;
}

/** What is not in the settings of a section, or of all. */
export function listGaps({ unreported, unreadable }: Zone, wanted?: Section | 'all'): string[] {
  const name = (members: readonly string[]): string => {
    const own = members.filter((member) => [undefined, 'all', rows.get(member)?.[1]].includes(wanted));
    return listSome(own.map(nameSetting), 5);
  };
  const [missing, wrong] = [name(unreported), name(unreadable)];
  return [
    ...(missing === '' ? [] : [`not reported: ${missing}`]),
    ...(wrong === '' ? [] : [`:warning: could not be read: ${wrong}`]),
  ];
}

/** One setting, or several: `on, in FR`, `desktop 85, mobile 70`. Where the group's own switch is off, the rest is left out. */
function describeGroup(group: readonly MemberRow[], members: Zone['members']): string | undefined {
  const [first, ...others] = group;
  if (!first) return undefined;
  const [member, , label] = first;
  const hasSwitch = !label.includes(': ');
  const own = hasSwitch ? formatSetting(member, members[member]) : undefined;
  if (hasSwitch && (others.length === 0 || !members[member])) return own;
  const parts = (hasSwitch ? others : group).map(([name, , partLabel]) => {
    const part = partLabel.slice(partLabel.indexOf(': ') + 2);
    const value = members[name];
    if (typeof value === 'boolean') return value && part;
    const text = formatSetting(name, value);
    return text && (Array.isArray(value) ? `${part} (${text})` : `${part} ${text}`);
  });
  const hasSwitches = group.some(([name]) => typeof members[name] === 'boolean');
  return join([own, ...parts], ', ') || (hasSwitches ? 'none' : undefined);
}

/** `EnableTLS1` → `TLS 1.0`; a member that is not in the table → the service's own name: `Enable new thing`. */
function nameSetting(member: string): string {
  const label = rows.get(member)?.[2].replace(': ', ' ');
  return label ?? capitalize(splitWords(member.replace(/^Enable(?=[A-Z])/u, '')));
}

function formatSetting(member: string, value: unknown): string | undefined {
  const format = rows.get(member)?.[3] ?? 'text';
  if (typeof value === 'boolean') return (flagWords[format] ?? ['on', 'off'])[value ? 0 : 1];
  if (typeof value === 'number')
    return format in enumerations
      ? splitEnum(getEnumName(format as Enumeration, value))
      : (numberWords[format] ?? formatInteger)(value);
  if (Array.isArray(value)) return value.length === 0 ? undefined : joinList(value.map(readName));
  if (typeof value !== 'string' || value === '') return undefined;
  return format === 'code' ? pluralize(value.length, 'character') : value;
}

const flagWords: Partial<Record<Format, readonly [whenTrue: string, whenFalse: string]>> = {
  unless: ['off', 'on'],
  state: ['active', 'disabled'],
  yes: ['yes', 'no'],
};

const numberWords: Partial<Record<Format, (value: number) => string>> = {
  plain: String,
  seconds: (value) => `${formatInteger(value)} s`,
  ms: (value) => `${formatInteger(value)} ms`,
  limit: (value) => (value === 0 ? 'unlimited' : formatInteger(value)),
  'kb/s': (value) => (value === 0 ? 'unlimited' : `${formatInteger(value)} kb/s`),
  override: (value) => (value < 0 ? 'not overridden' : formatInteger(value)),
  bytes: formatBytes,
  'byte limit': (value) => (value === 0 ? 'unlimited' : formatBytes(value)),
  money: formatMoney,
  price: (value) => `$${value} per byte`,
};

/** `ActiveStandard` → `active standard`; names with figures or an abbreviation stay: `IPv4Only`, `TCPEncrypted`. */
function splitEnum(name: string): string {
  return /^[A-Z][a-z]+(?:[A-Z][a-z]+)*$/u.test(name) ? splitWords(name) : name;
}

function readName(value: unknown): string {
  if (typeof value === 'string') return value;
  return (value as { readonly Name?: string } | null)?.Name ?? '(unnamed)';
}

export function joinList(values: readonly string[]): string {
  const names = values.map((value) => truncate(value, 60) || '(empty)');
  return listSome(names, 10) || 'none';
}

/** `EnableTokenAuthentication` → `enable token authentication`, `RemoteIP` → `remote IP`. */
function splitWords(name: string): string {
  return name
    .replace(/(?<=[a-z\d])(?=[A-Z])/gu, ' ')
    .split(' ')
    .map((word) =>
      /^(?:Url|Aws)$/u.test(word) ? word.toUpperCase() : /^[A-Z]{2,}/u.test(word) ? word : word.toLowerCase(),
    )
    .join(' ');
}

export function listHostname(
  host: NonNullable<Zone['members']['Hostnames']>[number],
): [name: string, certificate: string, https: string] {
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

/** A rule as it was read, or as a look stored it, where empty members are absent. */
type EdgeRule = Partial<ReadRule>;
type Action = Pick<EdgeRule, 'ActionType' | 'ActionParameter1' | 'ActionParameter2' | 'ActionParameter3'>;
type Trigger = Partial<ReadRule['Triggers'][number]>;

/** Its name, what it does and when: `Old pages`, `redirect to /new (301)`, `when URL is /old/*`. */
export function listEdgeRule(rule: EdgeRule, nth: number): [name: string, does: string, when: string] {
  const actions = limitParts([rule, ...(rule.ExtraActions ?? [])].map(describeAction), 4);
  const state = join([rule.Enabled === false && 'off', rule.ReadOnly && 'read only'], ', ');
  const name = rule.Description?.trim() || `Rule ${nth + 1}`;
  return [state ? `${name} (${state})` : name, actions.join(', then '), describeCondition(rule)];
}

/** The effect of an action with its parameters, by type, as plain text. Header values are never shown. */
const actionWords: Readonly<Record<number, (one: string, two: string) => string>> = {
  1: (to, status) => `redirect to ${to}${status && ` (${status})`}`,
  2: (origin) => `fetch from ${origin}`,
  3: (time) => `set the CDN’s cache time to ${formatTime(time)}`,
  4: () => 'block the request',
  5: (name) => `set the response header ${name}`,
  6: (name) => `set the request header ${name}`,
  10: (time) => `set the public cache time to ${formatTime(time)}`,
  14: (status) => `answer with the status ${status}`,
  16: (time) => `set the browser’s cache time to ${formatTime(time)}`,
  17: (id) => `fetch from the storage zone ${id}`,
  19: (limit) => `limit connections to ${limit}`,
  20: (limit) => `limit requests a second to ${limit}`,
  21: (id) => `run the edge script ${id}`,
  22: (id) => `fetch from the app ${id}`,
};

function describeAction(action: Action): string {
  const { ActionType, ActionParameter1 = '', ActionParameter2 = '', ActionParameter3 = '' } = action;
  const describe = actionWords[ActionType ?? -1];
  if (describe) return describe(ActionParameter1, ActionParameter2);
  const parameters = [ActionParameter1, ActionParameter2, ActionParameter3].filter(Boolean);
  return [splitWords(getEnumName('EdgeRuleActionType', ActionType)), ...parameters.map(formatPattern)].join(
    ' ',
  );
}

function describeCondition({ Triggers, TriggerMatchingType }: EdgeRule): string {
  const [first, ...others] = limitParts((Triggers ?? []).map(describeTrigger), 5);
  if (first === undefined) return 'always';
  if (others.length === 0) return TriggerMatchingType === 2 ? `unless ${first}` : `when ${first}`;
  const parts = [first, ...others];
  switch (TriggerMatchingType ?? -1) {
    case 0:
      return `when ${parts.join(', or ')}`;
    case 1:
      return `when ${parts.join(', and ')}`;
    case 2:
      return `when none of these: ${parts.join('; ')}`;
    default:
      return `when ${getEnumName('TriggerMatchingTypes', TriggerMatchingType)}: ${parts.join('; ')}`;
  }
}

function describeTrigger({ Type, PatternMatches, PatternMatchingType, Parameter1 }: Trigger): string {
  const what = splitWords(getEnumName('TriggerTypes', Type)) + (Parameter1 ? ` ${Parameter1}` : '');
  const parts = limitParts((PatternMatches ?? []).map(formatPattern), 3);
  if (parts.length === 0) return what;
  switch (PatternMatchingType ?? -1) {
    case 0:
      return `${what} is ${parts.join(' or ')}`;
    case 1:
      return `${what} is ${parts.length > 1 ? 'all of ' : ''}${parts.join(' and ')}`;
    case 2:
      return `${what} is ${parts.length > 1 ? 'neither ' : 'not '}${parts.join(' nor ')}`;
    default:
      return `${what} ${getEnumName('PatternMatchingTypes', PatternMatchingType)}: ${parts.join(', ')}`;
  }
}

function limitParts(parts: readonly string[], most: number): string[] {
  const more = parts.length - most;
  return more > 0 ? [...parts.slice(0, most), `${more} more`] : [...parts];
}

/** Values of headers and cookies are redacted by the API client: they may be passwords. */
function formatPattern(pattern: string): string {
  return pattern === redactedValue ? 'a value that is not shown' : truncate(pattern, 80) || '(empty)';
}

/** As sent: the specification gives no unit. */
function formatTime(value: string): string {
  return value || 'a time not reported';
}

export function nameStoredSetting(path: string, value: Json): string {
  const [group = '', ...rest] = path.split('/');
  if (path === wholeZone) return 'Zone';
  if (path === ruleOrder) return 'Edge rules, order';
  if (rest.length === 0) return nameSetting(path);
  if (group === 'EdgeRules') return `Edge rule ${nameRule(value)}`;
  return `${groupNames[group] ?? group} ${rest.join('/')}`;
}

const groupNames: Readonly<Record<string, string>> = {
  Hostnames: 'Hostname',
  OptimizerClasses: 'Image class',
  BunnyAiImageBlueprints: 'AI image blueprint',
};

export function formatStoredSetting(path: string, value: Json): string {
  const [group, key] = path.split('/');
  if (path === ruleOrder)
    return Array.isArray(value) ? joinList(value.map(({ name }: { name: string }) => name)) : 'none';
  if (!isObject(value)) return (key === undefined ? formatSetting(path, value) : undefined) ?? 'none';
  if (typeof value['characters'] === 'number') return pluralize(value['characters'], 'character');
  if (value['isLong'] === true) return 'too long to show';
  if (group === 'EdgeRules') {
    const [, does, when] = listEdgeRule(value, 0);
    return join(
      [value['Enabled'] === false && 'off', value['ReadOnly'] === true && 'read only', `${does} ${when}`],
      ', ',
    );
  }
  if (group !== 'Hostnames') return describeProperties(value['Properties']);
  const [, certificate, https] = listHostname(value);
  return `certificate ${certificate}, ${https}`;
}

export function nameChange({ path, before, after }: SettingChange): string {
  return nameStoredSetting(path, after ?? before);
}

/** How it changed, as plain text: `off → on`, `added 10.0.0.1, removed 10.0.0.2`, `changed, not shown`. */
export function describeChange({ path, before, after }: SettingChange): string {
  if (path === wholeZone) return after === null ? 'deleted' : 'new';
  if (isTexts(before ?? after) && isTexts(after ?? before))
    return join(
      [isTexts(after) && `added ${joinList(after)}`, isTexts(before) && `removed ${joinList(before)}`],
      ', ',
    );
  const [was, now] = [formatStoredSetting(path, before), formatStoredSetting(path, after)];
  if (was === now) return 'changed, not shown';
  if (path.includes('/') && before === null) return `added: ${now}`;
  if (path.includes('/') && after === null) return `removed: ${was}`;
  return `${truncate(was, 120)} → ${truncate(now, 120)}`;
}

function isObject(value: Json | undefined): value is { readonly [member: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameRule(value: Json): string {
  if (!isObject(value)) return 'unnamed';
  const { Description: description, isLong } = value;
  if (typeof description === 'string' && description.trim() !== '') return truncate(description.trim(), 60);
  return isLong === true ? 'unnamed' : `to ${truncate(listEdgeRule(value, 0)[1], 60)}`;
}

function describeProperties(properties: Json | undefined): string {
  const pairs = isObject(properties) ? Object.entries(properties) : [];
  const words = pairs.map(([name, value]) => `${name} ${typeof value === 'string' ? value : '–'}`);
  return words.length === 0 ? 'no properties' : joinList(words);
}
