import { createHmac, type KeyObject } from 'node:crypto';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { canonicalJson, type Json } from '../../lib/canonical-json.ts';
import { listAddressParts } from '../../lib/ip.ts';
import { hostnameSecretFields } from '../../secrets/fields.ts';
import { isObject } from '../http/errors.ts';
import { type EdgeRule, headerActions, headerTriggers } from './fields.ts';
import {
  emptyFormats,
  type Format,
  type MemberRow,
  readZone,
  renameMembers,
  type ZoneMember,
  zoneMembers,
} from './members.ts';

/** The value of a setting as it may be shown; null = none. `hidden`: a digest of what is not shown. */
export type Setting = readonly [value: Json] | readonly [value: Json, hidden: string];

/** What people set of a zone, each value in one spelling. */
export interface ZoneSettings {
  readonly id: string;
  readonly name: string;
  /** By member, and `EdgeRules/<id>` next to its list, whose value is null. What was not reported is absent. */
  readonly settings: Readonly<Record<string, Setting>>;
  /** Some came in a form that cannot be read. */
  readonly isPartial?: true;
}

/** Digests hidden values under this key, for one zone: the same value in two zones is not seen to be the same. */
export interface DigestKey {
  readonly key: KeyObject;
  readonly acrossZones?: true;
}

/** Members that are lists, by the member that names an element and is unique in its list. */
export const listKeys: Readonly<Record<string, string>> = {
  Hostnames: 'Value',
  EdgeRules: 'Guid',
  OptimizerClasses: 'Name',
  BunnyAiImageBlueprints: 'Name',
};

/** The order of the edge rules, next to the rules themselves: a list of their ids and names. */
export const ruleOrder = 'EdgeRuleOrder';

/** The path of a zone that is new (before is null) or deleted (after is null); the value is its name. */
export const wholeZone = 'Zone';

/** One setting that changed. Where before and after are the same, a part changed that is not shown. */
export interface SettingChange {
  readonly path: string;
  readonly before: Json;
  readonly after: Json;
}

/** Characters: longer texts, such as the code of an error page, are told by their length. */
const longText = 500;
/** Characters of JSON: a longer element of a list is stored by its name, and its content as a digest. */
const longElement = 4_000;
/** Custom certificates are uploaded by people; all others renew themselves. */
const customCertificate = 3;

/** The settings of a raw zone; undefined if it is not a zone. Values of secrets do not leave this function. */
export function readZoneSettings(raw: unknown, digestKey: DigestKey): ZoneSettings | undefined {
  const read = readZone(raw);
  if (!read || !isObject(raw)) return undefined;
  const { summary, members: known } = read.zone;
  const given = renameMembers(raw);
  const digest = createDigest(digestKey, summary.id);
  const wrong = new Set(read.wrong.map((path) => path.split(/[.[]/u, 1)[0]));
  const settings: Record<string, Setting> = {};
  const lists: Record<string, Setting> = {};
  for (const [name, , , format, measured] of zoneMembers as readonly MemberRow[]) {
    if (measured || !Object.hasOwn(given, name) || wrong.has(name)) continue;
    const [value, whole] = [known[name] ?? null, given[name]];
    if (name in listKeys) {
      if (value !== null) Object.assign(lists, readList(name, value, whole, digest));
    } else if (format === 'secret')
      settings[name] =
        typeof whole === 'string' && whole.trim() !== '' ? ['set', digest(name, whole)] : [null];
    else if (value !== null || emptyFormats.has(format)) {
      const [shown, all] = [normalize(name, format, value), normalize(name, format, whole)];
      // A placeholder of the service is shown as none, and so is compared as none.
      if (typeof shown !== 'string' || typeof all !== 'string') settings[name] = [shown];
      else if (all.length > longText) settings[name] = [{ characters: all.length }, digest(name, all)];
      else settings[name] = all === shown ? [shown] : [shown, digest(name, all)];
    }
  }
  if (lists['EdgeRules']) settings[ruleOrder] = [listRuleOrder(known.EdgeRules ?? [])];
  const isPartial = (zoneMembers as readonly MemberRow[]).some(([name, , , , is]) => !is && wrong.has(name));
  const partial = isPartial ? ({ isPartial } as const) : {};
  return { id: summary.id, name: summary.name, settings: { ...settings, ...lists }, ...partial };
}

type Digest = (path: string, value: Json) => string;

function createDigest({ key, acrossZones }: DigestKey, zoneId: string): Digest {
  const hash = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  // The label tells which key it was: digests under different keys cannot be compared.
  const label = hash('label').slice(0, 6);
  return (path, value) => {
    // In another zone the same thing has another id.
    const place = acrossZones ? [path.split('/', 1)[0] ?? ''] : [zoneId, path];
    return `${label}.${hash(canonicalJson([...place, value])).slice(0, 22)}`;
  };
}

/** Whether a setting is what it was. A hidden part whose digests are under different keys counts as unchanged. */
export function isSameSetting([one, hidden]: Setting, [other, otherHidden]: Setting): boolean {
  if (canonicalJson(one) !== canonicalJson(other)) return false;
  if (hidden === undefined || otherHidden === undefined) return hidden === otherHidden;
  return hidden === otherHidden || hidden.split('.', 1)[0] !== otherHidden.split('.', 1)[0];
}

/** What differs between two states of a zone. A member that is not in both was not reported, and did not change. */
export function diffSettings({ settings: was }: ZoneSettings, { settings: now }: ZoneSettings) {
  return Object.keys({ ...now, ...was }).flatMap((path): SettingChange[] => {
    const member = memberOf(path);
    if (!was[member] || !now[member]) return [];
    const [before, after] = [was[path] ?? none, now[path] ?? none];
    if (isSameSetting(before, after)) return [];
    return path === ruleOrder && !isReordered(before[0], after[0]) ? [] : [describe(path, before, after)];
  });
}

export function mergeSettings(before: ZoneSettings, after: ZoneSettings): ZoneSettings {
  const unreported = Object.entries(before.settings).filter(([path]) => !after.settings[memberOf(path)]);
  return { ...after, settings: { ...Object.fromEntries(unreported), ...after.settings } };
}

const none: Setting = [null];

function memberOf(path: string): string {
  return path.split('/', 1)[0] ?? path;
}

function describe(path: string, [before]: Setting, [after]: Setting): SettingChange {
  const [was, now] = [before ?? [], after ?? []];
  // Beside null it may be the length of a text that became long.
  if (!isTexts(was) || !isTexts(now)) return { path, before, after };
  const [removed, added] = [was.filter((one) => !now.includes(one)), now.filter((one) => !was.includes(one))];
  return { path, before: removed.length > 0 ? removed : null, after: added.length > 0 ? added : null };
}

function isReordered(before: Json, after: Json): boolean {
  const [was = [], now = []] = [before, after].map((order) =>
    (order as { guid: string }[]).map(({ guid }) => guid),
  );
  const left = was.filter((id) => now.includes(id));
  return left.join(' ') !== now.filter((id) => was.includes(id)).join(' ');
}

/** The same for changes, whose lists are sets of texts. */
export function isTexts(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

type JsonObject = { readonly [member: string]: Json | undefined };

function readList(name: string, value: unknown, raw: unknown, digest: Digest): Record<string, Setting> {
  const keyOf = ({ [listKeys[name] ?? '']: key }: JsonObject, nth: number) => {
    if (typeof key !== 'string') return `#${nth + 1}`;
    return name === 'EdgeRules' ? normalizeGuid(key) : key;
  };
  const rawByKey = new Map(listElements(raw).map((element, nth) => [keyOf(element, nth), element]));
  const elements = listElements(value).map((element, nth): [string, Setting] => {
    const key = keyOf(element, nth);
    const path = `${name}/${key}`;
    const { Id: _, Guid: __, OrderIndex: ___, ...shown } = element;
    return [path, toElement(path, shown, rawByKey.get(key), digest)];
  });
  return { [name]: none, ...Object.fromEntries(elements) };
}

function normalizeGuid(guid: string): string {
  return guid.toLowerCase().replaceAll(/[{}]/gu, '');
}

function listElements(list: unknown): JsonObject[] {
  const elements = Array.isArray(list) ? list.filter(isObject) : [];
  return elements.map((element) => (normalizeThing(element as JsonObject) ?? {}) as JsonObject);
}

function toElement(path: string, shown: JsonObject, raw: JsonObject | undefined, digest: Digest): Setting {
  const hidden: Json[] = [];
  if (raw && pickRedacted(raw) !== pickRedacted(shown)) hidden.push(pickRedacted(raw));
  if (raw?.['CertificateProvisionType'] === customCertificate)
    hidden.push(JSON.stringify(raw, [...hostnameSecretFields]));
  const isLong = JSON.stringify(shown).length > longElement;
  if (isLong) hidden.push(shown);
  const { Name, Value, Description, Enabled } = shown;
  const told: Json = isLong ? { Name, Value, Description, Enabled, isLong } : shown;
  return hidden.length === 0 ? [told] : [told, digest(path, hidden)];
}

const redactedMembers =
  'ExtraActions Triggers PatternMatches Parameter1 ActionParameter1 ActionParameter2 ActionParameter3'.split(
    ' ',
  );

/** The members of an edge rule in which values may be redacted, of it and of its further actions and triggers. */
function pickRedacted(rule: JsonObject): string {
  return JSON.stringify(rule, redactedMembers);
}

function listRuleOrder(rules: readonly EdgeRule[]): Json {
  return rules
    .map(({ Guid, OrderIndex, Description }, nth) => ({
      guid: Guid === undefined ? `#${nth + 1}` : normalizeGuid(Guid),
      name: Description?.trim() || `Rule ${nth + 1}`,
      at: OrderIndex ?? nth,
    }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ guid, name }) => ({ guid, name }));
}

// The service writes one value in several ways, and not always in the same one. Values are compared and told in one.

/** `isHost`: a URL without a scheme begins with a host, even if that has no dot. */
function normalizeUrl(url: string, isHost = false): string {
  const [, scheme = '', authority = '', rest = ''] =
    /^((?:(?:[a-z][a-z\d+.-]*|\*):)?\/\/)?([^/?#]*)(.*)$/isu.exec(url.trim()) ?? [];
  if (scheme === '' && !isHost && !authority.includes('.')) return url.trim();
  const at = authority.lastIndexOf('@') + 1;
  const [, host = '', digits = ''] = /^(.*?)(?::(\d*))?$/u.exec(authority.slice(at)) ?? [];
  const address = isIPv6(host.slice(1, -1))
    ? `[${normalizeAddress(host.slice(1, -1))}]`
    : normalizeHost(host);
  const port = digits.replace(/^0+/u, '');
  const isDefault = port === '' || port === defaultPorts[scheme.toLowerCase()];
  const path = rest.replaceAll(/%[\da-f]{2}/giu, normalizeEscape).replace(/^\/(?=[?#]|$)/u, '');
  const login = authority.slice(0, at);
  return `${scheme.toLowerCase()}${login}${address}${isDefault ? '' : `:${port}`}${path.replace(/\?$/u, '')}`;
}

/** The path of a request is appended to it: a slash at its end makes no difference. */
const normalizeBase = (url: string): string => normalizeUrl(url).replace(/\/$/u, '');
const normalizeAuthority = (host: string): string => normalizeUrl(host, true);

const defaultPorts: Readonly<Record<string, string>> = { 'https://': '443', 'http://': '80' };

/** `%7e` → `~`, and `%c3` → `%C3`. */
function normalizeEscape(escape: string): string {
  const letter = String.fromCodePoint(Number.parseInt(escape.slice(1), 16));
  return /[\w.~-]/u.test(letter) ? letter : escape.toUpperCase();
}

/** Hostnames have no case, may end with a dot, and have two spellings of letters beyond ASCII. */
function normalizeHost(host: string): string {
  const plain = host.trim().toLowerCase();
  const name = plain.replace(/\.(?=$|:\d*$)/u, '');
  return normalizeIp(name.replace(/^[^:]*\P{ASCII}[^:]*/u, (found) => domainToASCII(found) || found));
}

/** `2001:DB8:0::1/128` → `2001:db8::1`, `10.0.0.5/24` → `10.0.0.0/24`, `2001:db8::5/32` → `2001:db8::/32`: one address, or a range. */
function normalizeAddress(text: string): string {
  const [typed = '', suffix] = text.trim().toLowerCase().split('/', 2);
  const [plain = '', zone] = typed.replace(/^\[(.*)\]$/u, '$1').split('%', 2);
  const address = normalizeIp(plain.replace(/^::ffff:(?=[\d.]+$)/u, ''));
  const whole = zone === undefined ? address : `${address}%${zone}`;
  const bits = Number(suffix);
  if (suffix === undefined || bits === (isIPv6(plain) ? 128 : 32)) return whole;
  const size = isIPv4(address) ? 32 : 128;
  if (!isIP(address) || zone !== undefined || !(bits >= 0 && bits < size)) return `${whole}/${suffix}`;
  const [separator, width, radix] = size === 32 ? (['.', 8, 10] as const) : ([':', 16, 16] as const);
  const network = listAddressParts(address).map((part, nth) => {
    const hostBits = Math.min(width, Math.max(0, width * (nth + 1) - bits));
    return ((Number.parseInt(part, radix) >> hostBits) << hostBits).toString(radix);
  });
  return `${normalizeIp(network.join(separator))}/${bits}`;
}

/** `2001:DB8:0::1` → `2001:db8::1`, and `0x0a.0.0.5` → `10.0.0.5`. */
function normalizeIp(address: string): string {
  if (isIPv6(address)) return new URL(`http://[${address}]`).hostname.slice(1, -1);
  const hasFourNumbers = /^(?:(?:0x[\da-f]+|\d+)(?:\.(?=.)|$)){4}$/u.test(address);
  return (hasFourNumbers && URL.parse(`http://${address}`)?.hostname) || address;
}

/** The seven digits of a short float: 9.50000001 → 9.5, and 12345678.000001 → 12345678. Whole numbers stay. */
function normalizeNumber(value: number, format?: Format): number {
  const whole = Math.round(value);
  const isWhole = Math.abs(value - whole) <= 1e-7 * Math.max(1, Math.abs(value));
  // A price per byte is near zero, and must not become zero.
  return isWhole && format !== 'price' ? whole : Number(value.toPrecision(7));
}

const normalizeText = (text: string): string => text.replaceAll(/\r\n?/gu, '\n').normalize('NFC').trim();

const spellings: Partial<Record<Format, (text: string) => string>> = {
  url: normalizeUrl,
  host: normalizeAuthority,
  hosts: normalizeAuthority,
  countries: (code) => code.trim().toUpperCase(),
  names: (names) => sortSet(names.split(',').map(normalizeHost)).join(', '),
};

const memberSpellings: Partial<Record<ZoneMember, (text: string) => string>> = {
  BlockedIps: normalizeAddress,
  OriginUrl: normalizeBase,
  LogForwardingHostname: normalizeAuthority,
  DnsRecordValue: normalizeAuthority,
  AccessControlOriginHeaderExtensions: (extension) => extension.trim().toLowerCase().replace(/^\./u, ''),
  OriginShieldZoneCode: (code) => code.trim().toUpperCase(),
  AWSSigningRegionName: (name) => name.trim().toLowerCase(),
  RoutingFilters: (name) => name.trim().toLowerCase(),
  OptimizerStaticHtmlWordPressPath: normalizeBase,
};

function sortSet(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].filter((text) => text !== '').toSorted();
}

function normalize(member: ZoneMember, format: Format, value: unknown): Json {
  if (typeof value === 'number')
    return normalizeNumber(format === 'byte limit' ? Math.max(0, value) : value, format);
  if (typeof value === 'boolean') return value;
  const spell = memberSpellings[member] ?? spellings[format] ?? normalizeText;
  if (typeof value === 'string') return spell(value) || null;
  if (!Array.isArray(value)) return null;
  const set = sortSet(value.filter((one) => typeof one === 'string').map((one) => spell(one)));
  return set.length === 0 ? null : set;
}

const sets: ReadonlySet<string> = new Set(['Triggers', 'PatternMatches']);

/** One spelling of an element of a list, such as an edge rule: no empty members, sets sorted. */
function normalizeThing(value: Json, name = ''): Json | undefined {
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
  const kept = members.filter(([, inner]) => inner !== undefined);
  return kept.length === 0 ? undefined : spellRule(Object.fromEntries(kept));
}

const toUpperCase = (pattern: string): string => pattern.toUpperCase();

/** By the type of trigger: address, extension, country, client address, method and state. */
const patternSpellings: Readonly<Record<number, (pattern: string) => string>> = {
  0: (pattern) =>
    /^(?:(?:(?:https?|\*):)?\/\/|[a-z\d-]+(?:\.[a-z\d-]+)+[:/])/iu.test(pattern)
      ? normalizeUrl(pattern)
      : pattern,
  3: (extension) => toUpperCase(extension).replace(/^\./u, ''),
  4: toUpperCase,
  5: normalizeAddress,
  9: toUpperCase,
  11: toUpperCase,
};

/** The action that sends a request to another origin. */
const originAction = 2;

const toLowerCase = (name: string) => name.toLowerCase();

function spellRule(thing: { [member: string]: Json | undefined }): JsonObject {
  const { Type, ActionType, PatternMatches: patterns } = thing;
  const respell = (member: string, isMeant: boolean, spell: (text: string) => string) => {
    const value = thing[member];
    if (isMeant && typeof value === 'string') thing[member] = spell(value);
    return isMeant && thing[member] === 'host';
  };
  const isOfHost = respell('Parameter1', headerTriggers.has(Type), toLowerCase);
  const setsHost = respell('ActionParameter1', headerActions.has(ActionType), toLowerCase);
  respell('ActionParameter1', ActionType === originAction, normalizeBase);
  respell('ActionParameter2', setsHost, normalizeAuthority);
  // The text of a header may be `30.0`; elsewhere it is a number.
  for (const member of ['ActionParameter1', 'ActionParameter2', 'ActionParameter3'])
    respell(member, !headerActions.has(ActionType), (text) => text.replace(/^(-?\d+)\.0+$/u, '$1'));
  const spell = isOfHost ? normalizeHost : patternSpellings[Number(Type)];
  if (spell && Array.isArray(patterns))
    thing['PatternMatches'] = sortSet(patterns.map((one) => spell(String(one))));
  return thing;
}
