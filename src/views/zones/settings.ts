import { type Enumeration, enumerations, getEnumName } from '../../api/zones/enums.ts';
import { type Format, type MemberRow, zoneMembers } from '../../api/zones/members.ts';
import { formatBytes, formatInteger, formatMoney, pluralize } from '../blocks/format.ts';
import { capitalize, truncate } from '../blocks/text.ts';

const rows: ReadonlyMap<string, MemberRow> = new Map(zoneMembers.map((row: MemberRow) => [row[0], row]));

/** `EnableTLS1` → `TLS 1.0`; a member that is not in the table → the service's own name: `Enable new thing`. */
export function nameSetting(member: string): string {
  const label = rows.get(member)?.[2].replace(': ', ' ');
  return label ?? capitalize(splitWords(member.replace(/^Enable(?=[A-Z])/u, '')));
}

/** The value of a setting in words: `on`, `60 s`, `de, at and 12 more`; undefined where there is none. */
export function formatSetting(member: string, value: unknown): string | undefined {
  const format = rows.get(member)?.[3] ?? 'text';
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'boolean') return (flagWords[format] ?? onOff)[value ? 0 : 1];
  if (typeof value === 'number') return formatCount(format, value);
  if (Array.isArray(value)) return value.length === 0 ? undefined : joinList(value.map(readName));
  if (typeof value !== 'string') return undefined;
  return format === 'code' ? pluralize(value.length, 'character') : value;
}

const onOff = ['on', 'off'] as const;
const flagWords: Partial<Record<Format, readonly [whenTrue: string, whenFalse: string]>> = {
  unless: ['off', 'on'],
  state: ['active', 'disabled'],
  yes: ['yes', 'no'],
};

function formatCount(format: Format, value: number): string {
  if (format in enumerations) return splitEnum(getEnumName(format as Enumeration, value));
  return (numberWords[format] ?? formatInteger)(value);
}

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
  const name = (value as { readonly Name?: string } | null)?.Name;
  return name ?? '(unnamed)';
}

/** `de, at, ch and 12 more`; `none` if the list is empty. */
export function joinList(values: readonly string[], most = 10): string {
  if (values.length === 0) return 'none';
  const shown = values.slice(0, most).map((value) => truncate(value, 60) || '(empty)');
  const more = values.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${formatInteger(more)} more` : shown.join(', ');
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
