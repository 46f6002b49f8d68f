import type { Zone } from '../../api/zones/members.ts';
import {
  type Enumeration,
  enumerations,
  type Format,
  getEnumName,
  type MemberRow,
  type Section,
  zoneMembers,
} from '../../api/zones/members.ts';
import { formatBytes, formatInteger, formatMoney, listSome, pluralize } from '../blocks/format.ts';
import { capitalize, join, truncate } from '../blocks/text.ts';

const rows: ReadonlyMap<string, MemberRow> = new Map(zoneMembers.map((row: MemberRow) => [row[0], row]));

/** What the specification says of a zone that is not enabled. */
export const disabledBecause = 'resource limits were reached or the owning account ran out of funds';

/** The settings of a section in words, related ones in one row. Members that are not reported or empty have none. */
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

/**
 * One setting, or several: `on, in FR`, `WebP, cookies (currency)`, `desktop 85, mobile 70`. Where the first is the group's own
 * switch and is off, the rest does not apply.
 */
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
export function nameSetting(member: string): string {
  const label = rows.get(member)?.[2].replace(': ', ' ');
  return label ?? capitalize(splitWords(member.replace(/^Enable(?=[A-Z])/u, '')));
}

/** The value of a setting in words: `on`, `60 s`, `de, at and 12 more`; undefined if it is missing. */
export function formatSetting(member: string, value: unknown): string | undefined {
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
  'byte limit': (value) => (value > 0 ? formatBytes(value) : 'unlimited'),
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

/** `de, at, ch and 12 more`; `none` if the list is empty. */
export function joinList(values: readonly string[], most = 10): string {
  if (values.length === 0) return 'none';
  return listSome(
    values.map((value) => truncate(value, 60) || '(empty)'),
    most,
  );
}

/** `EnableTokenAuthentication` → `enable token authentication`, `RemoteIP` → `remote IP`. */
export function splitWords(name: string): string {
  return name
    .replace(/(?<=[a-z\d])(?=[A-Z])/gu, ' ')
    .split(' ')
    .map((word) =>
      /^(?:Url|Aws)$/u.test(word) ? word.toUpperCase() : /^[A-Z]{2,}/u.test(word) ? word : word.toLowerCase(),
    )
    .join(' ');
}
