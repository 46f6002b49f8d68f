import type { ActionsBlock, ContextBlock } from '@slack/types';
import type { RunRow } from '../../../commands/reports/digests/runs.ts';
import type { Digest, DigestSubject } from '../../../commands/reports/model.ts';
import { actions, context, type Message, message, section } from '../../blocks/blocks.ts';
import { button, commandButton } from '../../blocks/buttons.ts';
import { type Failure, renderFailure } from '../../blocks/failure.ts';
import { formatMoment, pluralize } from '../../blocks/format.ts';
import { isChart, isTable } from '../../blocks/native.ts';
import { formatCode, join, type Maybe } from '../../blocks/text.ts';
import { manageMenu } from '../card.ts';
import type { RenderedDigest } from './post.ts';
import { formatRunTime } from './schedule.ts';
import { describeTargets } from './words.ts';

/** A post with notes about this run, its footer and buttons. `late`: when it was made, if late. */
export function renderPost(
  { top, isFirst }: Pick<RenderedDigest, 'top' | 'isFirst'>,
  digest: Digest,
  run: RunRow,
  late: Date | undefined,
): Message {
  const { due, missed, by_hand: byHand } = run;
  const time = (at: Date): string => formatRunTime(at, digest.schedule.zone);
  const notes = [
    late && `:warning: Late: due ${time(due)}, posted ${time(late)}. The bot was down or busy.`,
    missed > 0 && `:warning: Skipped while the bot was down: ${pluralize(missed, 'run')} before this one.`,
  ];
  return message(join([...notes, top.text], '\n'), [
    ...notes.map((note) => note && context(note)),
    ...(top.blocks ?? []),
    runButtons(digest.id),
    footer(digest, [byHand !== null && `asked for by <@${byHand}>`, isFirst && firstRun]),
  ]);
}

/** The same read by another person with their own key, in private; without a chart the first table of the thread. */
export function renderOwnDigest(
  { top, thread }: Pick<RenderedDigest, 'top' | 'thread'>,
  { kinds }: Pick<DigestSubject, 'kinds'>,
  asOf: Date,
): Message {
  return message(top.text, [
    ...(top.blocks ?? []),
    ...(top.blocks?.some(isChart) ? [] : (thread[0]?.blocks?.filter(isTable) ?? [])),
    actions(
      kinds.includes('zones') && commandButton('Zones', 'zones only:attention', 0, { style: 'primary' }),
      kinds.includes('errors') && commandButton('Origin errors', 'errors', 1),
      kinds.includes('apps') && commandButton('App', 'app', 2),
      kinds.includes('scanning') && commandButton('Upload scanning', 'scanning', 3),
      kinds.includes('settings') && commandButton('Changed settings', 'changes', 4),
    ),
    context(`read with your key · as of ${formatMoment(asOf)}`),
  ]);
}

export function renderSkipped(digest: Digest, due: Date, missed: number): Message {
  const before = missed > 0 ? ` So were ${pluralize(missed, 'run')} before it.` : '';
  const text = `Skipped while the bot was down: the digest of ${formatRunTime(due, digest.schedule.zone)}.${before}`;
  return message(text, [section(`:zzz: ${text}`), runButtons(digest.id), footer(digest)]);
}

export function renderRunFailed(
  digest: Digest,
  due: Date,
  { message: what, hint, reference }: Failure,
): Message {
  const text = `The digest of ${formatRunTime(due, digest.schedule.zone)} could not be made. ${what}`;
  const failed = renderFailure({ message: text, hint, reference });
  return { ...failed, blocks: [...(failed.blocks ?? []), runButtons(digest.id), footer(digest)] };
}

/** For the owner: only a person can decide whether to post again. */
export function renderUnknown(digest: Digest, due: Date): Message {
  const text = `I can't tell whether your digest of ${formatRunTime(due, digest.schedule.zone)} arrived in <#${digest.channel}>.`;
  const why = 'Slack did not answer when it was posted, and the bot may not read the channel.';
  return message(text, [
    section(`:grey_question: *${text}*\n${why} If it is not there, post it again.`),
    actions(button('Post it again', 'digests:again', `${digest.id}|${due.toISOString()}`)),
    footer(digest),
  ]);
}

/** Under every post: for everybody, and in the menu for its owner and admins. */
function runButtons(id: string): ActionsBlock {
  return actions(
    button('Open with my key', 'digests:look', id),
    manageMenu({ kind: 'digest', id, paused: undefined }),
  );
}

const firstRun = 'first run: the next one says what changed';

function footer(digest: Digest, facts: readonly Maybe<string>[] = []): ContextBlock {
  const { id, owner, paused, nextDue, schedule } = digest;
  const whose = describeTargets(digest.subject);
  const next =
    paused || !nextDue ? 'paused' : `next ${formatRunTime(nextDue, schedule.zone)} ${schedule.zone}`;
  return context([`Digest ${formatCode(id)} of <@${owner.userId}>`, whose, ...facts, next]);
}
