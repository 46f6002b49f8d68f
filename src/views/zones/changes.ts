import type { ModalView } from '@slack/types';
import {
  isSameSetting,
  listKeys,
  ruleOrder,
  type Setting,
  type SettingChange,
  type ZoneSettings,
} from '../../api/zones/settings.ts';
import { renderAnswer } from '../blocks/answer.ts';
import { type Message, picked } from '../blocks/blocks.ts';
import { commandButton, type PanelPages, panelButton, replacingButton, selectOf } from '../blocks/buttons.ts';
import {
  agree,
  countOf,
  formatCount,
  formatInteger,
  formatMoment,
  formatPeriod,
  pluralize,
} from '../blocks/format.ts';
import { modal, searchSelect } from '../blocks/inputs.ts';
import { type Period, rollBack, writeMovingPeriod } from '../blocks/period.ts';
import { renderLines } from '../blocks/table.ts';
import { capitalize, escapeMrkdwn, join, plainText, unbold } from '../blocks/text.ts';
import { pickZone } from './rows.ts';
import { describeChange, formatStoredSetting, joinList, nameChange, nameStoredSetting } from './settings.ts';

const offeredDays = [1, 7, 30, 100];

interface StoredChange extends SettingChange {
  readonly at: Date;
  readonly zoneId: string;
  readonly zoneName: string;
}

export interface ShownChanges {
  readonly changes: readonly StoredChange[];
  readonly total: number;
  /** The zones that were compared; `first`: those without a baseline until now; from when on changes are recorded. */
  readonly look: {
    readonly zones: number;
    readonly first: number;
    readonly skipped: number;
    readonly partial?: number;
    readonly since?: Date | undefined;
    readonly allSince?: Date | undefined;
  };
  readonly zone: { readonly id: string; readonly name: string } | undefined;
  readonly period: Period;
  /** 1 by default. */
  readonly page?: number | undefined;
  readonly asOf: Date;
  readonly panel: PanelPages;
}

/** What cannot be read is not compared. */
export function describeUnread({ skipped, partial = 0 }: Pick<ShownChanges['look'], 'skipped' | 'partial'>) {
  const parts = [
    skipped > 0 && `:warning: ${pluralize(skipped, 'zone')} could not be read`,
    partial > 0 && `:warning: some settings of ${formatCount(partial, 'zone')} could not be read`,
  ];
  return join(parts, ' · ');
}

export function renderChanges(shown: ShownChanges): Message {
  const { changes, total, look, zone, period, page, asOf, panel } = shown;
  const { from, until } = endsOf(period, asOf);
  // On the reader's clock.
  const when =
    period.last !== undefined
      ? `in the ${nameLast(period.last)}`
      : until
        ? `from ${formatMoment(from)} to ${formatMoment(until)}`
        : `since ${formatMoment(from)}`;
  const write = (other: Period): string => join(['changes', zone?.id, writeMovingPeriod(other)], ' ');
  const where = zone ? `*${escapeMrkdwn(zone.name, 60) || zone.id}*` : formatCount(look.zones, 'zone');
  const isFirst = look.first > 0 && look.first === look.zones && total === 0;
  // Changes before the baseline are unknown.
  const isShort = look.since !== undefined && look.since > from;
  const isBefore = until !== undefined && look.since !== undefined && look.since > until;
  const someFirst = !isFirst && look.first > 0;
  const fromAll = isShort && look.since ? look.since : from;
  const isPartly = !zone && !isBefore && look.allSince !== undefined && look.allSince > fromAll;
  const { partial = 0 } = look;
  const asFar = someFirst || isPartly || look.skipped + partial > 0 ? ', as far as recorded' : '';
  const isEmpty = !zone && look.zones === 0 && total === 0;
  const line = isEmpty
    ? '*No zones to compare*'
    : isFirst
      ? `*Baseline taken* of ${where}. Changes are recorded from now on`
      : isBefore
        ? `No record of ${where} ${when}: changes have been recorded since ${formatMoment(look.since)}`
        : total === 0
          ? `${until ? 'No change found' : 'Nothing changed'} in ${where} ${isShort && !until ? `since ${formatMoment(look.since)}` : when}${asFar}`
          : `*${pluralize(total, 'setting')} changed* in ${zone ? where : countZones(shown)} ${when}`;
  const { picture, pages } = renderLines({
    rows: changes.map((change) => [
      ...(zone ? [] : [change.zoneName || change.zoneId]),
      nameChange(change),
      describeChange(change),
      { at: change.at },
    ]),
    total,
    page,
    turn: (label, nth) => replacingButton(label, `${write(period)} page:${nth}`),
  });
  return renderAnswer({
    text: unbold(line),
    lines: [
      line,
      someFirst && `Baseline taken of ${formatCount(look.first, 'more zone')}`,
      isShort &&
        !isFirst &&
        !isBefore &&
        (total > 0 || until) &&
        `Recorded since ${formatMoment(look.since)}`,
      isPartly &&
        look.first === 0 &&
        `Some zones have been recorded only since ${formatMoment(look.allSince)}`,
      describeUnread(look),
    ],
    picture,
    actions: [
      zone && commandButton(plainText(`Zone ${zone.name || zone.id}`, 60), `zone ${zone.id} all`, 1),
      !zone && pickZone('changes:zone', 'Of one zone…'),
      selectOf(
        'Period…',
        [
          {
            label: 'Period',
            buttons: offeredDays.map((days) =>
              replacingButton(capitalize(nameLast(days * 1440)), write(rollBack(days * 1440, asOf))),
            ),
          },
          { label: 'Changes', buttons: pages },
        ],
        { chosen: capitalize(when.replace('in the ', '')) },
      ),
    ],
    share: write(period),
    more: [
      replacingButton('Compare again', write(period)),
      zone && commandButton('Changes of all zones', 'changes', 2),
      zone && commandButton('Compare with another zone', `compare ${zone.id}`, 3),
      zone && panelButton(panel, 'zone', zone.id),
    ],
    notes: [
      `compared ${formatMoment(asOf)}`,
      'a change is found at the next comparison',
      'values of keys and tokens are never shown',
    ],
  });
}

const nameLast = (minutes: number): string => `last ${formatPeriod(minutes)}`;

/** Without `until` it lasts until now. */
export function endsOf({ from, to, last, isOpen }: Period, asOf: Date) {
  const isOver = last === undefined && !isOpen && to <= asOf.getTime();
  return { from: new Date(from), until: isOver ? new Date(to) : undefined };
}

/** `3 of 240 zones`; of more changes than are shown, the zones of all are not known. */
function countZones({ changes, total, look }: ShownChanges): string {
  const changed = new Set(changes.map(({ zoneId }) => zoneId)).size;
  return changes.length < total ? formatCount(look.zones, 'zone') : countOf(changed, look.zones, 'zone');
}

type Pair = readonly [ZoneSettings, ZoneSettings];

interface ComparedRow {
  readonly name: string;
  readonly values: readonly [string, string];
  readonly isSame: boolean;
}

export function renderComparison(zones: Pair, all: boolean, asOf: Date, page?: number): Message {
  const rows = compareZones(zones);
  const differing = rows.filter(({ isSame }) => !isSame);
  const same = rows.length - differing.length;
  const [first, second] = zones.map(({ id, name }) => `*${escapeMrkdwn(name, 60) || id}*`);
  const line =
    differing.length === 0
      ? `${first} and ${second} have *the same settings*`
      : `*${pluralize(differing.length, 'setting')}* ${agree(differing.length, 'differs', 'differ')} between ${first} and ${second}, ${formatInteger(same)} are the same`;
  const ids = zones.map(({ id }) => id).join(' ');
  const share = `compare ${ids}${all ? ' all' : ''}`;
  // Settings that neither zone has are left out.
  const alike = rows.filter(({ isSame, values: [value] }) => isSame && value !== 'none');
  const { picture, pages, chosen } = renderLines({
    columns: ['Setting', ...zones.map(({ id, name }) => plainText(name || id, 40))],
    rows: [...differing, ...(all ? alike : [])].map(({ name, values }) => [name, ...values]),
    page,
    turn: (label, nth) => replacingButton(label, `${share} page:${nth}`),
  });
  return renderAnswer({
    text: unbold(line),
    lines: [line],
    picture,
    actions: [
      replacingButton(all ? 'Only what differs' : 'All settings', `compare ${ids}${all ? '' : ' all'}`),
      selectOf(chosen, pages, { chosen }),
    ],
    share,
    more: [
      commandButton('Compare others', 'compare', 1),
      ...zones.flatMap(({ id, name }, nth) => [
        commandButton(plainText(`Zone ${name || id}`, 60), `zone ${id}`, 2 + nth),
        commandButton(plainText(`Changes of ${name || id}`, 60), `changes ${id}`, 4 + nth),
      ]),
    ],
    notes: [`as of ${formatMoment(asOf)}`, 'keys and tokens: only whether they match'],
  });
}

const none: Setting = [null];

export function compareZones(zones: Pair): ComparedRow[] {
  const [one, other] = zones.map((zone) => byName(zone.settings)) as [NamedSettings, NamedSettings];
  const rows = Object.entries({ ...one, ...other }).map(([name, { path }]) => ({
    ...compareSettings(path, one[name]?.setting ?? none, other[name]?.setting ?? none),
    name,
    isMember: !path.includes('/'),
  }));
  const all = [...rows, { ...compareHostnames(zones), isMember: false }];
  // What people made by hand comes before what is the same in most zones.
  const rank = ({ isMember, isSame, values }: (typeof all)[number]) =>
    isMember ? (isSame ? 4 : 1) : values.includes('none') ? 3 : 2;
  return all.toSorted((a, b) => rank(a) - rank(b));
}

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

export function renderCompareForm(first: string | undefined): ModalView {
  const chosen = first !== undefined && /^\d{1,19}$/u.test(first) ? picked(first) : undefined;
  const placeholder = 'Type part of its name or hostname';
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
