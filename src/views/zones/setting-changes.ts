import { isTexts, ruleOrder, type SettingChange, wholeZone } from '../../api/zones/settings.ts';
import type { Json } from '../../lib/canonical-json.ts';
import { pluralize } from '../blocks/format.ts';
import { join, truncate } from '../blocks/text.ts';
import { type EdgeRule, listEdgeRule } from './edge-rules.ts';
import { listHostname } from './parts.ts';
import { formatSetting, joinList, nameSetting } from './settings.ts';

/** Added to a value of which a part changed that is not shown. */
const notShown = 'changed, not shown';

/** The name of a setting by its path, as plain text: `TLS 1.0`, `Edge rule Old pages`, `Hostname a.example`. */
export function nameStoredSetting(path: string, value: Json): string {
  const [group = '', ...rest] = path.split('/');
  const key = rest.join('/');
  if (path === wholeZone) return 'Zone';
  if (path === ruleOrder) return 'Edge rules, order';
  if (key === '') return nameSetting(path);
  if (group === 'EdgeRules') return `Edge rule ${nameRule(value)}`;
  return `${groupNames[group] ?? group} ${key}`;
}

const groupNames: Readonly<Record<string, string>> = {
  Hostnames: 'Hostname',
  OptimizerClasses: 'Image class',
  BunnyAiImageBlueprints: 'AI image blueprint',
};

/** The value of a setting by its path, as plain text; `none` where there is none. */
export function formatStoredSetting(path: string, value: Json): string {
  if (value === null) return 'none';
  const [group, key] = path.split('/');
  if (path === ruleOrder) return isList(value) ? joinList(value.map(nameOf)) : 'none';
  if (isObject(value)) {
    if (typeof value['characters'] === 'number') return pluralize(value['characters'], 'character');
    if (value['isLong'] === true) return 'too long to show';
    if (group === 'Hostnames') return describeHostname(value);
    if (group === 'EdgeRules') return describeRule(value);
    return describeProperties(value['Properties']);
  }
  return (key === undefined ? formatSetting(path, value) : undefined) ?? 'none';
}

/** The setting that changed, as plain text. */
export function nameChange({ path, before, after }: SettingChange): string {
  return nameStoredSetting(path, after ?? before);
}

/** How it changed, as plain text: `off → on`, `added 10.0.0.1, removed 10.0.0.2`, `changed, not shown`. */
export function describeChange({ path, before, after }: SettingChange): string {
  if (path === wholeZone) return after === null ? 'deleted' : 'new';
  if (isTexts(before ?? after) && isTexts(after ?? before))
    return join(
      [
        after !== null && `added ${describeTexts(after)}`,
        before !== null && `removed ${describeTexts(before)}`,
      ],
      ', ',
    );
  const [was, now] = [formatStoredSetting(path, before), formatStoredSetting(path, after)];
  if (was === now) return notShown;
  if (path.includes('/') && before === null) return `added: ${now}`;
  if (path.includes('/') && after === null) return `removed: ${was}`;
  return `${truncate(was, 120)} → ${truncate(now, 120)}`;
}

type JsonObject = { readonly [member: string]: Json | undefined };

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function describeTexts(texts: Json): string {
  return (isTexts(texts) && joinList(texts)) || 'none';
}

function nameOf(rule: Json): string {
  return isObject(rule) && typeof rule['name'] === 'string' ? rule['name'] : 'unnamed';
}

/** `Http01, HTTPS forced` */
function describeHostname(value: JsonObject): string {
  const [, certificate, https] = listHostname(value);
  return `certificate ${certificate}, ${https}`;
}

/** `off, redirect to /new (301) when URL is /old/*` */
function describeRule(value: JsonObject): string {
  const rule = value as EdgeRule;
  const [, does, when] = listEdgeRule(rule, 0);
  return join([rule.Enabled === false && 'off', rule.ReadOnly && 'read only', `${does} ${when}`], ', ');
}

/** Its description, else what it does. */
function nameRule(value: Json): string {
  if (!isObject(value)) return 'unnamed';
  const description = value['Description'] ?? undefined;
  if (typeof description === 'string' && description.trim() !== '') return truncate(description.trim(), 60);
  if (value['isLong'] === true) return 'unnamed';
  return `to ${truncate(listEdgeRule(value, 0)[1], 60)}`;
}

/** `width 200, quality 80` */
function describeProperties(properties: Json | undefined): string {
  if (!isObject(properties)) return 'no properties';
  const pairs = Object.entries(properties).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : '–'}`,
  );
  return pairs.length === 0 ? 'no properties' : joinList(pairs);
}
