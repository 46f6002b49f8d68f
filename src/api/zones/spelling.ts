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

/** A set of texts: sorted, each once. */
function normalizeSet(texts: readonly string[], normalize: (text: string) => string): readonly string[] {
  return [...new Set(texts.map(normalize))].filter((text) => text !== '').toSorted();
}

const trim = (text: string): string => text.replaceAll('\r\n', '\n').trim();

/** The one spelling of a member's value; null = none. */
export function normalize(format: Format, value: unknown): Json {
  if (typeof value === 'number') return normalizeNumber(value);
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value)) {
    const texts = value.filter((one) => typeof one === 'string');
    const set = normalizeSet(texts, setSpellings[format] ?? trim);
    return set.length === 0 ? null : set;
  }
  if (typeof value !== 'string') return null;
  return (textSpellings[format] ?? trim)(value) || null;
}

const setSpellings: Partial<Record<Format, (text: string) => string>> = {
  hosts: normalizeUrl,
  countries: (code) => code.trim().toUpperCase(),
};

const textSpellings: Partial<Record<Format, (text: string) => string>> = {
  url: normalizeUrl,
  host: normalizeUrl,
  // Header names have no case, and their order says nothing.
  names: (names) => normalizeSet(names.split(','), normalizeHost).join(', '),
};

/**
 * One spelling of a thing in a list, such as an edge rule: no empty members, sets sorted. `sets`: members whose elements
 * have no order.
 */
export function normalizeThing(value: Json, sets: ReadonlySet<string>, name = ''): Json | undefined {
  if (typeof value === 'number') return normalizeNumber(value);
  if (typeof value === 'string') {
    const isUrl = name.startsWith('ActionParameter') && /^\s*https?:/iu.test(value);
    const text = isUrl ? normalizeUrl(value) : trim(value);
    return (name === 'Value' ? normalizeHost(text) : text) || undefined;
  }
  if (typeof value !== 'object') return value;
  if (value === null) return undefined;
  if (Array.isArray(value)) {
    const elements = (value as readonly Json[]).flatMap((one) => normalizeThing(one, sets, name) ?? []);
    if (elements.length === 0) return undefined;
    return sets.has(name) ? sortAsText(elements) : elements;
  }
  const members = Object.entries(value as { readonly [member: string]: Json | undefined }).flatMap(
    ([member, inner]) => {
      const normal = inner === undefined ? undefined : normalizeThing(inner, sets, member);
      return normal === undefined ? [] : [[member, normal] as const];
    },
  );
  return Object.fromEntries(members);
}

function sortAsText(elements: readonly Json[]): readonly Json[] {
  const texts = new Map(elements.map((one) => [JSON.stringify(one), one]));
  return [...texts.keys()].toSorted().flatMap((text) => texts.get(text) ?? []);
}
