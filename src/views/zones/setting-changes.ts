import { isTexts, ruleOrder, type SettingChange, wholeZone } from '../../api/zones/settings.ts';
import type { Json } from '../../lib/canonical-json.ts';
import { pluralize } from '../blocks/format.ts';
import { join, truncate } from '../blocks/text.ts';
import { listEdgeRule } from './edge-rules.ts';
import { listHostname } from './parts.ts';
import { formatSetting, joinList, nameSetting } from './settings.ts';

/** The name of a setting by its path, as plain text: `TLS 1.0`, `Edge rule Old pages`, `Hostname a.example`. */
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

/** The value of a setting by its path, as plain text; `none` if it is missing. */
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

/** The setting that changed, as plain text. */
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

/** Its description, else what it does. */
function nameRule(value: Json): string {
  if (!isObject(value)) return 'unnamed';
  const { Description: description, isLong } = value;
  if (typeof description === 'string' && description.trim() !== '') return truncate(description.trim(), 60);
  return isLong === true ? 'unnamed' : `to ${truncate(listEdgeRule(value, 0)[1], 60)}`;
}

/** `width 200, quality 80` */
function describeProperties(properties: Json | undefined): string {
  const pairs = isObject(properties) ? Object.entries(properties) : [];
  const words = pairs.map(([name, value]) => `${name} ${typeof value === 'string' ? value : '–'}`);
  return words.length === 0 ? 'no properties' : joinList(words);
}
