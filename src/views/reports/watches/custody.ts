import type { KnownBlock } from '@slack/types';
import type { Watch } from '../../../commands/reports/watches/model.ts';
import { section } from '../../blocks/blocks.ts';
import { button } from '../../blocks/buttons.ts';
import { formatCode } from '../../blocks/text.ts';
import { formatRunTime } from '../digests/schedule.ts';
import { createCustodyViews } from '../schedules/custody.ts';
import { describePause, formatPlace } from '../schedules/words.ts';
import { describeEvery, describeSubject } from './words.ts';

export const watchCustody = createCustodyViews<Watch>({
  noun: 'watch',
  plural: 'watches',
  describe: ({ subject, channel }) => `tells ${formatPlace(channel)}: ${describeSubject(subject)}`,
  describePast: ({ subject, channel }) =>
    `looked ${describeEvery(subject.every)} for ${formatPlace(channel)}`,
  describeNext: ({ nextDue, subject }) =>
    nextDue ? `Next look: ${formatRunTime(nextDue, subject.timeZone)}` : 'No look is planned.',
  renderRow: renderWatchRow,
  ownButtons: (id) => [button('Look now', 'watches:look', id)],
});

/** Channel and owner; once, where it is the owner's conversation. */
export function formatReaders(channel: string, owner: string): string {
  return channel === owner ? `<@${owner}> alone` : `${formatPlace(channel)} · <@${owner}>`;
}

function renderWatchRow({ id, subject, channel, owner, paused }: Watch): KnownBlock[] {
  const state = paused ? ` · :double_vertical_bar: *paused:* ${describePause(paused.reason, paused.by)}` : '';
  const where = `${formatReaders(channel, owner.userId)}${state}`;
  return [section(`${formatCode(id)} ${describeSubject(subject)}\n${where}`)];
}
