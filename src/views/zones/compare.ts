import type { ModalView } from '@slack/types';
import {
  isSameSetting,
  listKeys,
  ruleOrder,
  type Setting,
  type ZoneSettings,
} from '../../api/zones/settings.ts';
import { renderAnswer } from '../blocks/answer.ts';
import { type Message, picked } from '../blocks/blocks.ts';
import { button, commandButton } from '../blocks/buttons.ts';
import { agree, formatInteger, formatMoment, pluralize } from '../blocks/format.ts';
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
  const rows = compareZones(zones);
  const differing = rows.filter(({ isSame }) => !isSame);
  const same = rows.length - differing.length;
  const [first, second] = zones.map(({ id, name }) => `*${escapeMrkdwn(name, 60) || id}*`);
  const line =
    differing.length === 0
      ? `${first} and ${second} have *the same settings*`
      : `*${pluralize(differing.length, 'setting')}* ${agree(differing.length, 'differs', 'differ')} between ${first} and ${second}, ${formatInteger(same)} are the same`;
  const ids = zones.map(({ id }) => id).join(' ');
  // Settings that neither zone has are left out of the whole table.
  const alike = rows.filter(({ isSame, values: [value] }) => isSame && value !== 'none');
  const shown = all ? [...differing, ...alike] : differing;
  return renderAnswer({
    text: unbold(line),
    lines: [line],
    picture: renderTable({
      caption: all ? 'All settings, those that differ first' : 'Settings that differ',
      columns: ['Setting', ...zones.map(({ id, name }) => plainText(name || id, 40))],
      rows: shown.map(({ name, values }) => [name, ...values]),
    }),
    actions: [
      button(all ? 'Only what differs' : 'All settings', 'compare:show', all ? ids : `${ids} all`, {
        style: 'primary',
      }),
      commandButton('Compare others', 'compare', 1),
    ],
    share: `compare ${ids}${all ? ' all' : ''}`,
    more: zones.flatMap(({ id, name }, nth) => [
      commandButton(plainText(`Zone ${name || id}`, 60), `zone ${id}`, 2 + nth),
      commandButton(plainText(`Changes of ${name || id}`, 60), `changes ${id}`, 4 + nth),
    ]),
    notes: [`as of ${formatMoment(asOf)}`, 'keys and tokens: only whether they match'],
  });
}

const none: Setting = [null];

/** Each setting of two zones, those that differ first. */
export function compareZones(zones: Pair): ComparedRow[] {
  const [one, other] = zones.map((zone) => byName(zone.settings)) as [NamedSettings, NamedSettings];
  const rows = Object.entries({ ...one, ...other }).map(([name, { path }]) => ({
    ...compareSettings(path, one[name]?.setting ?? none, other[name]?.setting ?? none),
    name,
    isMember: !path.includes('/'),
  }));
  const isInOne = ({ values }: ComparedRow) => values.includes('none');
  const members = rows.filter(({ isMember }) => isMember);
  const elements = rows.filter(({ isMember }) => !isMember);
  // A table may not hold them all: what people made by hand comes before what is the same in most zones.
  return [
    ...members.filter(({ isSame }) => !isSame),
    ...elements.filter((row) => !isInOne(row)),
    ...elements.filter(isInOne),
    compareHostnames(zones),
    ...members.filter(({ isSame }) => isSame),
  ];
}

/** No two zones have one in common. */
function compareHostnames(zones: Pair): ComparedRow {
  const [one = '', other = ''] = zones.map(({ settings }) => {
    const paths = Object.keys(settings).filter((path) => path.startsWith('Hostnames/'));
    return joinList(paths.map((path) => path.slice('Hostnames/'.length)));
  });
  return { name: 'Hostnames', values: [one, other], isSame: one === other };
}

function compareSettings(path: string, a: Setting, b: Setting): Pick<ComparedRow, 'values' | 'isSame'> {
  const [first, second] = [formatStoredSetting(path, a[0]), formatStoredSetting(path, b[0])];
  const isSame = isSameSetting(a, b);
  // Their values are not shown, or not whole.
  const isHidden = first === second && (!isSame || a[1] !== undefined);
  const judged = isHidden ? `${second}, ${isSame ? 'the same' : 'another one'}` : second;
  return { values: [first, judged], isSame };
}

type NamedSettings = Record<string, { readonly path: string; readonly setting: Setting }>;

/** By the names that people know: ids differ from zone to zone. Equal names are numbered. */
function byName(settings: ZoneSettings['settings']): NamedSettings {
  const named: NamedSettings = {};
  for (const [path, setting] of Object.entries(settings)) {
    // Names always differ, and hostnames have a row of their own.
    if (path === 'Name' || path === ruleOrder || path in listKeys || path.startsWith('Hostnames/')) continue;
    const name = nameStoredSetting(path, setting[0]);
    let unique = name;
    for (let nth = 2; Object.hasOwn(named, unique); nth += 1) unique = `${name} (${nth})`;
    named[unique] = { path, setting };
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
