import { type MemberRow, type Section, zoneMembers } from '../../api/zones/members.ts';
import type { Zone } from '../../api/zones/zone.ts';
import { join } from '../blocks/text.ts';
import { formatSetting } from './settings.ts';

/** A setting and its value as plain text, a row of a table. */
export type SettingRow = readonly [setting: string, value: string];

/** What the specification says of a zone that is not enabled. */
export const disabledBecause = 'resource limits were reached or the owning account ran out of funds';

/** The settings of a section, related ones in one row. Members that are not reported or empty have none. */
export function listSection({ members, summary }: Zone, wanted: Section): SettingRow[] {
  const found = zoneMembers.filter(([, section, , format]) => section === wanted && format !== 'secret');
  const groups = Map.groupBy(found as readonly MemberRow[], ([, , label]) => label.split(': ')[0] ?? label);
  const rows = [...groups].flatMap(([label, group]): SettingRow[] => {
    const value = describeGroup(group, members);
    return value === undefined ? [] : [[label, value]];
  });
  if (wanted === 'account' && summary.enabled === false) rows.push(['Disabled because', disabledBecause]);
  return rows;
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
  const value = members[member];
  const own = hasSwitch ? formatSetting(member, value) : undefined;
  if (hasSwitch && (others.length === 0 || value === undefined || value === false || value === 0)) return own;
  const parts = (hasSwitch ? others : group).map(([name, , partLabel]) => {
    const part = partLabel.slice(partLabel.indexOf(': ') + 2);
    const partValue = members[name];
    if (typeof partValue === 'boolean') return partValue && part;
    const text = formatSetting(name, partValue);
    return text && (Array.isArray(partValue) ? `${part} (${text})` : `${part} ${text}`);
  });
  const isReported = group.some(([name]) => members[name] !== undefined);
  const hasSwitches = group.some(([name]) => typeof members[name] === 'boolean');
  return join([own, ...parts], ', ') || (isReported && hasSwitches ? 'none' : undefined);
}
