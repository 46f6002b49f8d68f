import { canBeTakenOver, type Digest } from '../../../commands/reports/model.ts';
import { type Message, say } from '../../blocks/blocks.ts';
import { formatInteger } from '../../blocks/format.ts';
import { formatCode, join } from '../../blocks/text.ts';
import { digestCard } from '../card.ts';
import type { Listed } from '../list.ts';
import { describePause } from '../words.ts';
import { formatRunTime } from './schedule.ts';
import { describeKinds, describeOrder } from './words.ts';

/** A digest, and what the person who looks may do with it. */
export interface Row {
  readonly digest: Digest;
  readonly last: { readonly due: Date; readonly state: string } | undefined;
  readonly manages: boolean;
  /** Whether they own it. */
  readonly own: boolean;
}

export function listDigest({ digest, last, manages, own }: Row): Listed {
  const { id, owner, channel, schedule, paused, nextDue } = digest;
  const isStuck = canBeTakenOver(digest);
  const at = (moment: Date): string => formatRunTime(moment, schedule.zone);
  return {
    id,
    name: describeKinds(digest),
    state: join(
      [
        paused
          ? `:double_vertical_bar: *paused:* ${describePause(paused.reason, paused.by)}`
          : nextDue
            ? `next ${at(nextDue)}`
            : 'not planned',
        last ? `last ${at(last.due)}: ${ends[last.state] ?? 'in progress'}` : 'has not run yet',
      ],
      ' · ',
    ),
    what: describeOrder(digest),
    place: channel,
    owner: owner.userId,
    own,
    manages,
    urgency: Number(isStuck),
    buttons: digestCard.manageButtons(digest),
    takeOver: !own && isStuck ? digestCard.takeOverButton(id) : undefined,
  };
}

export function countDigests(rows: readonly Row[]) {
  const paused = rows.filter(({ digest }) => digest.paused).length;
  return {
    noun: 'digest',
    none: 'No digests yet. A digest posts a summary of your CDN on a schedule.',
    counts: [paused > 0 && `${formatInteger(paused)} paused`],
  } as const;
}

const ends: Readonly<Record<string, string>> = {
  sent: 'posted',
  quiet: 'nothing to report',
  skipped: 'skipped',
  failed: 'failed',
  unknown: 'unknown whether it arrived',
};

export function renderRunning({ id, channel }: Digest, isNew: boolean): Message {
  return say(`The digest ${formatCode(id)} is ${isNew ? '' : 'already '}on its way to <#${channel}>.`);
}

export function renderPostedAgain({ channel }: Digest): Message {
  return say(`It is on its way to <#${channel}>.`);
}
