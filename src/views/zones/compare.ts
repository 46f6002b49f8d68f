import type { ModalView } from '@slack/types';
import { isSameSetting, ruleOrder, type Setting, type ZoneSettings } from '../../api/zones/settings.ts';
import { renderAnswer } from '../blocks/answer.ts';
import { type Message, picked } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
import { modal, searchSelect } from '../blocks/inputs.ts';
import { renderTable } from '../blocks/table.ts';
import { escapeMrkdwn, plainText, unbold } from '../blocks/text.ts';
import { formatStoredSetting, nameStoredSetting } from './setting-changes.ts';
import { joinList } from './settings.ts';

type Pair = readonly [ZoneSettings, ZoneSettings];

interface ComparedRow {
  readonly name: string;
  readonly values: readonly [string, string];
  readonly isSame: boolean;
}

/** Two zones side by side: what differs, or everything. */
export function renderComparison({
  zones,
  all,
  asOf,
}: {
  readonly zones: Pair;
  readonly all: boolean;
  readonly asOf: Date;
}): Message {
  const [one, other] = zones;
  const rows = compareZones(zones);
  const differing = rows.filter(({ isSame }) => !isSame);
  const same = rows.length - differing.length;
  const [first, second] = zones.map(({ id, name }) => `*${escapeMrkdwn(name, 60) || id}*`);
  const line =
    differing.length === 0
      ? `${first} and ${second} have *the same settings*`
      : `*${pluralize(differing.length, 'setting')}* ${differing.length === 1 ? 'differs' : 'differ'} between ${first} and ${second}, ${formatInteger(same)} are the same`;
  const ids = `${one.id} ${other.id}`;
  const shown = all ? [...differing, ...rows.filter(isSet)] : differing;
  return renderAnswer({
    text: unbold(line),
    lines: [line],
    picture: renderTable({
      caption: all ? 'All settings, those that differ first' : 'Settings that differ',
      columns: ['Setting', ...zones.map(({ id, name }) => plainText(name || id, 40))],
      rows: shown.map(({ name, values }) => [name, ...values]),
    }),
    actions: [
      all
        ? button('Only what differs', 'compare:show', ids, { style: 'primary' })
        : button('All settings', 'compare:show', `${ids} all`, { style: 'primary' }),
      commandButton('Compare others', 'compare', 1),
    ],
    share: `compare ${ids}${all ? ' all' : ''}`,
    more: zones.flatMap(({ id, name }, nth) => [
      commandButton(plainText(`Zone ${name || id}`, 60), `zone ${id}`, 2 + nth),
      commandButton(plainText(`Changes of ${name || id}`, 60), `changes ${id}`, 4 + nth),
    ]),
    notes: [`as of ${formatMoment(asOf)}`, 'of keys and tokens only whether they are the same'],
  });
}

/** Settings that neither zone has are left out of the whole table. */
function isSet({ isSame, values: [value] }: ComparedRow): boolean {
  return isSame && value !== 'none';
}

const none: Setting = [null];

/** Members of the service that name a zone: they always differ. */
const names = new Set(['Name', ruleOrder]);

/** Each setting of two zones, those that differ first. */
export function compareZones(zones: Pair): ComparedRow[] {
  const [one, other] = zones;
  const members = Object.keys({ ...one.members, ...other.members })
    .filter((member) => !names.has(member))
    .map((path) => compareSetting(path, one.members[path] ?? none, other.members[path] ?? none));
  const groups = Object.keys({ ...one.groups, ...other.groups }).filter((group) => group !== 'Hostnames');
  const things = groups.flatMap((group) => {
    const [mine = {}, others = {}] = zones.map((zone) => byName(group, zone.groups[group] ?? {}));
    return Object.keys({ ...mine, ...others }).map((name) => ({
      ...compareSetting(`${group}/${name}`, mine[name] ?? none, others[name] ?? none),
      name,
    }));
  });
  const inBoth = things.filter(({ values }) => !values.includes('none'));
  const inOne = things.filter(({ values }) => values.includes('none'));
  // A table may not hold them all: what people made by hand comes before what is the same in most zones.
  const different = members.filter(({ isSame }) => !isSame);
  return [
    ...different,
    ...inBoth,
    ...inOne,
    compareHostnames(zones),
    ...members.filter(({ isSame }) => isSame),
  ];
}

/** No two zones have one in common. */
function compareHostnames([one, other]: Pair): ComparedRow {
  const [mine, others] = [one, other].map(({ groups }) => joinList(Object.keys(groups['Hostnames'] ?? {})));
  return { name: 'Hostnames', values: [mine ?? 'none', others ?? 'none'], isSame: mine === others };
}

function compareSetting(path: string, a: Setting, b: Setting): ComparedRow {
  const [first, second] = [formatStoredSetting(path, a[0]), formatStoredSetting(path, b[0])];
  const isSame = isSameSetting(a, b);
  // Their values are not shown, or not whole.
  const judged = isSame ? 'the same' : 'another one';
  const isHidden = first === second && (!isSame || a[1] !== undefined);
  return {
    name: nameStoredSetting(path, a[0] ?? b[0]),
    values: [first, isHidden ? `${second}, ${judged}` : second],
    isSame,
  };
}

/** The things of a group by the name that people know: ids differ from zone to zone. Of equal names each has a number. */
function byName(group: string, things: Readonly<Record<string, Setting>>): Record<string, Setting> {
  const named: Record<string, Setting> = {};
  for (const [key, setting] of Object.entries(things)) {
    const name = nameStoredSetting(`${group}/${key}`, setting[0]);
    let unique = name;
    for (let nth = 2; Object.hasOwn(named, unique); nth += 1) unique = `${name} (${nth})`;
    named[unique] = setting;
  }
  return named;
}

/** Asks for two zones. `first` is an id that was typed already. */
export function renderCompareForm(first: string | undefined): ModalView {
  const chosen = first !== undefined && /^\d{1,19}$/u.test(first) ? picked(first) : undefined;
  const placeholder = 'Type a part of its name or hostname';
  return modal({ callbackId: 'compare:submit', title: 'Compare two zones', submit: 'Compare' }, [
    searchSelect('zone', 'Zone', {
      actionId: 'zones:pick',
      placeholder,
      chosen,
      focus: chosen === undefined,
    }),
    searchSelect('otherZone', 'Compared with', { placeholder, focus: chosen !== undefined }),
  ]);
}
