import { createHmac, type KeyObject } from 'node:crypto';
import { canonicalJson, type Json } from '../../lib/canonical-json.ts';
import { hostnameSecretFields } from '../../secrets/fields.ts';
import { isObject } from '../http/errors.ts';
import type { EdgeRule } from './fields.ts';
import { type Format, type MemberRow, renameMembers, zoneMembers } from './members.ts';
import { normalize, normalizeThing } from './spelling.ts';
import { readZone } from './zone.ts';

/**
 * The value of a setting as it may be shown; null = none. `hidden`: digests of a part that is not shown (a key, the password
 * in an address, a header's value, a long text), one for each key of the keyring, so that a change of it is noticed.
 */
export type Setting = readonly [value: Json] | readonly [value: Json, hidden: string];

/**
 * What people set of a zone, each value in one spelling (spelling.ts). Members that the CDN did not report are absent, which
 * is not the same as null.
 */
export interface ZoneSettings {
  readonly id: string;
  readonly name: string;
  /** By the service's names. */
  readonly members: Readonly<Record<string, Setting>>;
  /** Members that are lists of things with a name of their own: hostnames by host, edge rules by id. */
  readonly groups: Readonly<Record<string, Readonly<Record<string, Setting>>>>;
}

/** Digests hidden values under these keys, for one zone: the same value in two zones is not seen to be the same. */
export interface DigestKeys {
  readonly keys: readonly KeyObject[];
  /** Digests the values of all zones alike, to compare them with each other. */
  readonly acrossZones?: true;
}

/** By the name that an element has of its own, which is unique in its list. */
const groupKeys: Readonly<Record<string, string>> = {
  Hostnames: 'Value',
  EdgeRules: 'Guid',
  OptimizerClasses: 'Name',
  BunnyAiImageBlueprints: 'Name',
};

/** The order of the edge rules, beside the rules themselves: a list of their ids and names. */
export const ruleOrder = 'EdgeRuleOrder';

/** The path of a zone that is new or deleted; the value is its name. */
export const wholeZone = 'Zone';

/**
 * One setting that changed. Of a list of texts only what left it and what came. Where both are the same, a part changed that
 * is not shown: a key, a header's value.
 */
export interface SettingChange {
  /** A member's name as the service has it, `EdgeRules/<id>` and the like, or `wholeZone`. */
  readonly path: string;
  /** Null = none; of a whole zone: it is new. */
  readonly before: Json;
  /** Null = none; of a whole zone: it was deleted. */
  readonly after: Json;
}

/** Longer texts, such as the code of an error page, are told by their length. In characters. */
const longText = 500;

/** The settings of a raw zone; undefined if it is none. Values of secrets do not leave this function. */
export function readZoneSettings(raw: unknown, digestKeys: DigestKeys): ZoneSettings | undefined {
  const read = readZone(raw);
  if (!read || !isObject(raw)) return undefined;
  const { summary, members: known } = read.zone;
  const given = renameMembers(raw);
  const digest = createDigest(digestKeys, summary.id);
  const wrong = new Set(read.wrong.map((path) => path.split(/[.[]/u, 1)[0]));
  const members: Record<string, Setting> = {};
  const groups: Record<string, Record<string, Setting>> = {};
  for (const [name, , , format, measured] of zoneMembers as readonly MemberRow[]) {
    if (measured || !Object.hasOwn(given, name) || wrong.has(name)) continue;
    const [value, whole] = [known[name] ?? null, given[name]];
    const group = groupKeys[name];
    if (group !== undefined) {
      if (value !== null) groups[name] = readGroup(name, group, value, whole, digest);
    } else if (format === 'secret') members[name] = toSecret(name, whole, digest);
    // Null stands for an empty text or list, and for no link; of a flag or a number it means: not reported.
    else if (value !== null || emptyFormats.has(format))
      members[name] = toSetting(name, format, value, whole, digest);
  }
  if (groups['EdgeRules']) members[ruleOrder] = [listRuleOrder(known.EdgeRules ?? [])];
  return { id: summary.id, name: summary.name, members, groups };
}

const emptyFormats: ReadonlySet<Format> = new Set([
  'text',
  'code',
  'url',
  'host',
  'names',
  'texts',
  'hosts',
  'countries',
  'link',
]);

/** Whether a setting is what it was. A hidden part whose digests are under no common key counts as unchanged. */
export function isSameSetting(one: Setting, other: Setting): boolean {
  return canonicalJson(one[0]) === canonicalJson(other[0]) && isSameHidden(one[1], other[1]);
}

function isSameHidden(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined || one === other) return one === other;
  const known = new Map(one.split(' ').map((part) => part.split('.') as [string, string]));
  const common = other.split(' ').flatMap((part) => {
    const [label = '', mac] = part.split('.');
    return known.has(label) ? [known.get(label) === mac] : [];
  });
  return common.every((isSame) => isSame);
}

type Digest = (path: string, value: Json) => string;

function createDigest({ keys, acrossZones }: DigestKeys, zoneId: string): Digest {
  return (path, value) => {
    // In another zone the same thing has another id.
    const place = acrossZones ? [path.split('/', 1)[0] ?? ''] : [zoneId, path];
    const text = canonicalJson([...place, value]);
    // 16 bytes for each key, behind a label that only the same key gives.
    return keys.map((key) => `${labelOf(key)}.${computeMac(key, text, 22)}`).join(' ');
  };
}

const labels = new WeakMap<KeyObject, string>();

function labelOf(key: KeyObject): string {
  const label = labels.get(key) ?? computeMac(key, 'label', 6);
  labels.set(key, label);
  return label;
}

function computeMac(key: KeyObject, text: string, length: number): string {
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, length);
}

function toSetting(name: string, format: Format, value: unknown, raw: unknown, digest: Digest): Setting {
  const shown = normalize(format, value);
  // A placeholder of the service is shown as none, and so is compared as none.
  if (typeof shown !== 'string' || typeof raw !== 'string') return [shown];
  const whole = normalize(format, raw);
  if (raw.length > longText) return [{ characters: raw.length }, digest(name, whole)];
  return whole === shown ? [shown] : [shown, digest(name, whole)];
}

function toSecret(name: string, raw: unknown, digest: Digest): Setting {
  return typeof raw === 'string' && raw !== '' ? ['set', digest(name, raw)] : [null];
}

/** Of changes, whose lists are sets of texts. */
export function isTexts(value: Json): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

type RawObject = Readonly<Record<string, unknown>>;
type JsonObject = { readonly [member: string]: Json | undefined };

function readGroup(
  name: string,
  keyName: string,
  value: unknown,
  raw: unknown,
  digest: Digest,
): Record<string, Setting> {
  const keyOf = (element: RawObject, nth: number) => toText(element[keyName]) ?? `#${nth + 1}`;
  const rawByKey = new Map(listThings(raw).map((element, nth) => [keyOf(element, nth), element]));
  return Object.fromEntries(
    listThings(value).map((element, nth) => {
      const key = keyOf(element, nth);
      // Ids, and the place in the order, which moves with every other rule.
      const { Id: _, Guid: __, OrderIndex: ___, ...shown } = element;
      return [key, toElement(`${name}/${key}`, shown, rawByKey.get(key), digest)];
    }),
  );
}

/** The things of a list, which is JSON, in one spelling. */
function listThings(things: unknown): JsonObject[] {
  return listObjects(things).map((one) => (normalizeThing(one as Json, sets) ?? {}) as JsonObject);
}

/** Lists in an edge rule whose order says nothing. */
const sets: ReadonlySet<string> = new Set(['Triggers', 'PatternMatches']);

/** Characters of JSON: a thing that is longer is told by its name, and its content by a digest. */
const longThing = 4_000;
/** Custom certificates are uploaded by people; all others renew themselves. */
const customCertificate = 3;

function toElement(path: string, shown: JsonObject, raw: RawObject | undefined, digest: Digest): Setting {
  const hidden: Json[] = [];
  if (raw) {
    const given = pickHidden(raw);
    if (canonicalJson(given) !== canonicalJson(pickHidden(shown))) hidden.push(given);
    if (raw['CertificateProvisionType'] === customCertificate)
      hidden.push(hostnameSecretFields.map((name) => toText(raw[name])));
  }
  const isLong = JSON.stringify(shown).length > longThing;
  const { Name, Value, Description, Enabled } = shown;
  const told: Json = isLong ? { Name, Value, Description, Enabled, isLong } : shown;
  if (isLong) hidden.push(shown);
  return hidden.length === 0 ? [told] : [told, digest(path, hidden)];
}

/** The members of an edge rule in which values are hidden, of it and of its further actions and triggers. */
function pickHidden(rule: RawObject): Json {
  return [
    listParameters(rule),
    listObjects(rule['ExtraActions']).map(listParameters),
    listObjects(rule['Triggers']).map((one) => [toText(one['Parameter1']), listPatterns(one)]),
  ];
}

function listParameters(action: RawObject): Json {
  return [1, 2, 3].map((nth) => toText(action[`ActionParameter${nth}`]));
}

function listPatterns({ PatternMatches: patterns }: RawObject): Json {
  return Array.isArray(patterns) ? patterns.map(toText) : [];
}

function listObjects(value: unknown): RawObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function listRuleOrder(rules: readonly EdgeRule[]): Json {
  return rules
    .map(({ Guid, OrderIndex, Description }, nth) => ({
      guid: Guid ?? `#${nth + 1}`,
      name: Description?.trim() || `Rule ${nth + 1}`,
      at: OrderIndex ?? nth,
    }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ guid, name }) => ({ guid, name }));
}
