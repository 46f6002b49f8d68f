import type { Json } from '../../lib/canonical-json.ts';
import type { Format } from './members.ts';

// The service writes one value in several ways, and not always in the same one. Values are compared and told in one.

/** `HTTPS://Host.example:443/` → `https://host.example`; other texts only trimmed. */
function normalizeUrl(url: string): string {
  const [, scheme = '', authority = '', rest = ''] =
    /^([a-z][a-z\d+.-]*:\/\/)?([^/?#]*)(.*)$/isu.exec(url.trim()) ?? [];
  if (scheme === '' && !authority.includes('.')) return url.trim();
  const at = authority.lastIndexOf('@') + 1;
  const host = normalizeHost(authority.slice(at)).replace(defaultPorts[scheme.toLowerCase()] ?? /(?!)/u, '');
  return `${scheme.toLowerCase()}${authority.slice(0, at)}${host}${rest === '/' ? '' : rest}`;
}

const defaultPorts: Readonly<Record<string, RegExp>> = { 'https://': /:443$/u, 'http://': /:80$/u };

/** Hostnames have no case, and may end with a dot. */
function normalizeHost(host: string): string {
  return host
    .trim()
    .toLowerCase()
    .replace(/\.(?=$|:\d*$)/u, '');
}

/** Six digits, as no setting has more that somebody chose: 9.50000001 → 9.5. Whole numbers stay. */
function normalizeNumber(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(6));
}

const normalizeText = (text: string): string => text.replaceAll('\r\n', '\n').trim();

/** Of a text, or of each element of a set of texts. */
const spellings: Partial<Record<Format, (text: string) => string>> = {
  url: normalizeUrl,
  host: normalizeUrl,
  hosts: normalizeUrl,
  countries: (code) => code.trim().toUpperCase(),
  // Header names have no case, and their order says nothing.
  names: (names) => sortSet(names.split(',').map(normalizeHost)).join(', '),
};

function sortSet(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].filter((text) => text !== '').toSorted();
}

/** The one spelling of a member's value; null = none. */
export function normalize(format: Format, value: unknown): Json {
  if (typeof value === 'number') return normalizeNumber(value);
  if (typeof value === 'boolean') return value;
  const spell = spellings[format] ?? normalizeText;
  if (typeof value === 'string') return spell(value) || null;
  if (!Array.isArray(value)) return null;
  const set = sortSet(value.filter((one) => typeof one === 'string').map((one) => spell(one)));
  return set.length === 0 ? null : set;
}

/** Lists in an edge rule whose order says nothing. */
const sets: ReadonlySet<string> = new Set(['Triggers', 'PatternMatches']);

/** One spelling of an element of a list, such as an edge rule: no empty members, sets sorted. */
export function normalizeThing(value: Json, name = ''): Json | undefined {
  if (typeof value === 'number') return normalizeNumber(value);
  if (typeof value === 'string') {
    const isUrl = name.startsWith('ActionParameter') && /^\s*https?:/iu.test(value);
    const text = isUrl ? normalizeUrl(value) : normalizeText(value);
    return (name === 'Value' ? normalizeHost(text) : text) || undefined;
  }
  if (typeof value !== 'object') return value;
  if (value === null) return undefined;
  if (Array.isArray(value)) {
    const elements = (value as readonly Json[]).flatMap((one) => normalizeThing(one, name) ?? []);
    if (elements.length === 0) return undefined;
    if (!sets.has(name)) return elements;
    return sortSet(elements.map((one) => JSON.stringify(one))).map((text) => JSON.parse(text) as Json);
  }
  const members = Object.entries(value).map(([member, inner]): [string, Json | undefined] => [
    member,
    normalizeThing(inner as Json, member),
  ]);
  return Object.fromEntries(members.filter(([, inner]) => inner !== undefined));
}
