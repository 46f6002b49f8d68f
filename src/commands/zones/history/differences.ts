import {
  isSameSetting,
  isTexts,
  ruleOrder,
  type Setting,
  type SettingChange,
  type ZoneSettings,
} from '../../../api/zones/settings.ts';
import { canonicalJson, type Json } from '../../../lib/canonical-json.ts';

/** What differs between two states of a zone. A member that is not in both was not reported, and did not change. */
export function diffSettings(before: ZoneSettings, after: ZoneSettings): SettingChange[] {
  const changes: SettingChange[] = [];
  for (const [name, now] of Object.entries(after.members)) {
    const was = before.members[name];
    if (!was || isSameSetting(was, now)) continue;
    if (name === ruleOrder && !isReordered(was[0], now[0])) continue;
    changes.push(describe(name, was, now));
  }
  for (const [name, now] of Object.entries(after.groups)) {
    const was = before.groups[name];
    if (!was) continue;
    for (const key of new Set([...Object.keys(was), ...Object.keys(now)])) {
      const [one = none, other = none] = [was[key], now[key]];
      if (!isSameSetting(one, other)) changes.push(describe(`${name}/${key}`, one, other));
    }
  }
  return changes;
}

/** The newer state, with what it does not report as it was last. */
export function mergeSettings(before: ZoneSettings, after: ZoneSettings): ZoneSettings {
  return {
    ...after,
    members: { ...before.members, ...after.members },
    groups: { ...before.groups, ...after.groups },
  };
}

const none: Setting = [null];

function describe(path: string, [before]: Setting, [after]: Setting): SettingChange {
  const [was, now] = [before ?? [], after ?? []];
  // Beside null it may be the length of a text that became long.
  if (!isTexts(was) || !isTexts(now)) return { path, before, after };
  const left = was.filter((one) => !now.includes(one));
  const came = now.filter((one) => !was.includes(one));
  return { path, before: toList(left), after: toList(came) };
}

function toList(texts: readonly string[]): Json {
  return texts.length === 0 ? null : texts;
}

/** Whether rules that are in both lists follow each other in another order. */
function isReordered(before: Json, after: Json): boolean {
  const [was, now] = [listIds(before), listIds(after)];
  const left = was.filter((id) => now.includes(id));
  return canonicalJson(left) !== canonicalJson(now.filter((id) => was.includes(id)));
}

function listIds(order: Json): string[] {
  return Array.isArray(order) ? (order as { guid: string }[]).map(({ guid }) => guid) : [];
}
