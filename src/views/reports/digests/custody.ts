import type { KnownBlock } from '@slack/types';
import type { Digest } from '../../../commands/reports/digests/model.ts';
import { canBeTakenOver } from '../../../commands/reports/schedules/model.ts';
import { actions, section } from '../../blocks/blocks.ts';
import { button } from '../../blocks/buttons.ts';
import { formatCode } from '../../blocks/text.ts';
import { createCustodyViews } from '../schedules/custody.ts';
import { describePause } from '../schedules/words.ts';
import { describeNextRuns, describeSchedule, formatRunTime } from './schedule.ts';
import { describeOrder } from './words.ts';

export const digestCustody = createCustodyViews<Digest>({
  noun: 'digest',
  plural: 'digests',
  describe: (digest) => `runs ${describeOrder(digest)}`,
  describePast: ({ channel, schedule }) => `went to <#${channel}> ${describeSchedule(schedule)}`,
  describeNext: ({ schedule }, now) => describeNextRuns(schedule, now),
  renderRow: (digest) => renderDigestRow({ digest, last: undefined, manages: true, own: true }),
  ownButtons: (id) => [button('Run now', 'digests:run', id)],
});

/** A digest, and what the person who looks may do with it. */
export interface Row {
  readonly digest: Digest;
  readonly last: { readonly due: Date; readonly state: string } | undefined;
  readonly manages: boolean;
  /** Whether they own it. */
  readonly own: boolean;
}

/** What, when, where, how the last run went, a menu for managers, and a button for people who can take it over. */
export function renderDigestRow({ digest, last, manages, own }: Row): KnownBlock[] {
  const { id, owner, channel, schedule, paused, nextDue } = digest;
  const next = nextDue ? `next ${formatRunTime(nextDue, schedule.zone)}` : '';
  const state = paused ? `:double_vertical_bar: *paused:* ${describePause(paused.reason, paused.by)}` : next;
  const ended = last
    ? ` · last ${formatRunTime(last.due, schedule.zone)}: ${ends[last.state] ?? 'under way'}`
    : '';
  const row = section(
    `${formatCode(id)} ${describeOrder(digest)}\n<#${channel}> · <@${owner.userId}> · ${state}${ended}`,
  );
  const isOrphaned = !own && canBeTakenOver(digest);
  if (!manages) return [isOrphaned ? { ...row, accessory: digestCustody.takeOverButton(id) } : row];
  // Not in the menu: its confirmation would ask for every entry.
  const menu = digestCustody.manageMenu(digest);
  return [
    { ...row, ...(menu ? { accessory: menu } : {}) },
    ...(isOrphaned ? [actions(digestCustody.takeOverButton(id))] : []),
  ];
}

export const ends: Readonly<Record<string, string>> = {
  sent: 'posted',
  quiet: 'silent',
  skipped: 'skipped',
  failed: 'failed',
  unknown: 'unknown whether it arrived',
};
