import type { SettingChange } from '../../api/zones/settings.ts';
import { renderAnswer } from '../blocks/answer.ts';
import type { Message } from '../blocks/blocks.ts';
import { button, commandButton, type PanelPages, panelButton, selectOf } from '../blocks/buttons.ts';
import {
  countOf,
  formatCount,
  formatMoment,
  formatPeriod,
  formatSpan,
  formatUtc,
  pluralize,
} from '../blocks/format.ts';
import { renderTable } from '../blocks/table.ts';
import { escapeMrkdwn, plainText, unbold } from '../blocks/text.ts';
import { pickZone } from './rows.ts';
import { describeChange, nameChange } from './setting-changes.ts';

/** As people choose them. */
const periods = ['24h', '7d', '30d', '100d'];

interface StoredChange extends SettingChange {
  readonly at: Date;
  readonly zoneId: string;
  readonly zoneName: string;
}

export interface ShownChanges {
  /** The newest first. */
  readonly changes: readonly StoredChange[];
  /** Of the period, shown or not. */
  readonly total: number;
  /** The zones that were compared; `first`: those without a baseline until now; from when on changes are recorded. */
  readonly look: {
    readonly zones: number;
    readonly first: number;
    readonly since?: Date | undefined;
    readonly allSince?: Date | undefined;
  };
  /** Undefined: all zones. */
  readonly zone: { readonly id: string; readonly name: string } | undefined;
  /** As it is typed, without spaces: `7d`, `since_2026-11-20T10:00Z`. */
  readonly period: string;
  readonly from: Date;
  /** Undefined: until now. */
  readonly until: Date | undefined;
  readonly asOf: Date;
  readonly panel: PanelPages;
}

/** What changed in the settings of one zone or of all, after a look. */
export function renderChanges(shown: ShownChanges): Message {
  const { changes, total, look, zone, period, asOf, panel } = shown;
  const { from, until } = shown;
  const words = describePeriod(period, from, until);
  const when = /^\d/u.test(period) && !until ? `in ${words}` : words;
  const where = zone ? `*${escapeMrkdwn(zone.name, 60) || zone.id}*` : formatCount(look.zones, 'zone');
  const share = ['changes', zone?.id, period.replace('_', ' ')].filter(Boolean).join(' ');
  const isFirst = look.first > 0 && look.first === look.zones && total === 0;
  // Changes before the baseline are unknown.
  const isShort = look.since !== undefined && look.since > from;
  const line = isFirst
    ? `*Baseline taken* of ${where}. Changes are recorded from now on`
    : until && look.since && look.since > until
      ? `No record of ${where} ${when}: changes are recorded since ${formatMoment(look.since)}`
      : total === 0
        ? `Nothing changed in ${where} ${isShort ? `since ${formatMoment(look.since)}` : when}`
        : `*${pluralize(total, 'setting')} changed* in ${zone ? where : countZones(shown)} ${when}`;
  const someFirst = !isFirst && look.first > 0;
  const isPartly = !isShort && look.allSince !== undefined && look.allSince > from;
  return renderAnswer({
    text: unbold(line),
    lines: [
      line,
      someFirst && `Baseline taken of ${formatCount(look.first, 'more zone')}`,
      isShort && !isFirst && total > 0 && `Recorded since ${formatMoment(look.since)}`,
      isPartly && !isFirst && !zone && `Some zones are recorded since ${formatMoment(look.allSince)}`,
    ],
    picture: renderTable({
      caption: `Changed settings, ${words}`,
      columns: zone ? ['Setting', 'Change', 'Found'] : ['Zone', 'Setting', 'Change', 'Found'],
      rows: changes.map((change) => [
        ...(zone ? [] : [change.zoneName || change.zoneId]),
        nameChange(change),
        describeChange(change),
        { at: change.at },
      ]),
      total,
    }),
    actions: [
      zone
        ? commandButton(plainText(`Zone ${zone.name || zone.id}`, 60), `zone ${zone.id} all`, 1)
        : findBusiest(changes),
      !zone && pickZone('changes:zone', 'Of one zone…'),
      selectOf(
        'Period…',
        periods.map((each) =>
          button(labelPeriod(describePeriod(each, from)), 'changes:show', `${each} ${zone?.id ?? ''}`.trim()),
        ),
        { chosen: labelPeriod(words) },
      ),
    ],
    share,
    more: [
      button('Compare again', 'changes:show', `${period} ${zone?.id ?? ''}`.trim()),
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

function labelPeriod(words: string): string {
  return words.replace('the last', 'Last');
}

const minutesOf: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 };

/** `the last 7 days`, `since 20 Nov 10:00 UTC`, `20 Nov 10:00 to 11:00 UTC` */
function describePeriod(period: string, from: Date, until?: Date): string {
  const [, count, unit = ''] = /^(\d+)([mhd])$/u.exec(period) ?? [];
  if (count) return `the last ${formatPeriod(Number(count) * (minutesOf[unit] ?? 1))}`;
  return until ? formatSpan(from, until) : `since ${formatUtc(from)}`;
}

/** `3 of 240 zones`; of more changes than are shown, the zones of all are not known. */
function countZones({ changes, total, look }: ShownChanges): string {
  const changed = new Set(changes.map(({ zoneId }) => zoneId)).size;
  return changes.length < total ? formatCount(look.zones, 'zone') : countOf(changed, look.zones, 'zone');
}

/** The zone with the most changes is looked at next. */
function findBusiest(changes: readonly StoredChange[]) {
  const counts = new Map<string, number>();
  for (const { zoneId } of changes) counts.set(zoneId, (counts.get(zoneId) ?? 0) + 1);
  const [busiest] = [...counts].toSorted(([, a], [, b]) => b - a);
  const change = changes.find(({ zoneId }) => zoneId === busiest?.[0]);
  return (
    change &&
    counts.size > 1 &&
    commandButton(
      plainText(`Changes of ${change.zoneName || change.zoneId}`, 60),
      `changes ${change.zoneId}`,
      1,
    )
  );
}
