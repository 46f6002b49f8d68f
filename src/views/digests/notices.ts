import type { Button, KnownBlock } from '@slack/types';
import { canBeTakenOver, type Digest, isChannelReason, type PauseReason } from '../../digests/model.ts';
import { actions, button, connectButton, context, message, plain, section } from '../blocks/blocks.ts';
import { type Failure, renderFailure } from '../blocks/failure.ts';
import type { Message } from '../blocks/message.ts';
import { formatCode, pluralize } from '../blocks/text.ts';
import { describeSchedule, formatRunTime } from './schedule.ts';
import { describePause } from './words.ts';

interface Framed {
  readonly digest: Digest;
  readonly due: Date;
  /** When it was made, if late. */
  readonly late: Date | undefined;
  /** Runs before it that were skipped. */
  readonly missed: number;
  /** The person who asked for it. */
  readonly byHand: string | undefined;
  readonly next: Date | undefined;
}

/** A post with notes about this run, its footer and buttons. */
export function renderPost(top: Message, frame: Framed): Message {
  const { digest, late, missed, byHand, next } = frame;
  const { zone } = digest.schedule;
  const notes = [
    ...(late
      ? [
          `:warning: Late: due ${formatRunTime(frame.due, zone)}, made ${formatRunTime(late, zone)}. The bot was down or busy.`,
        ]
      : []),
    ...(missed > 0
      ? [`:warning: Skipped while the bot was down: ${pluralize(missed, 'run')} before this one.`]
      : []),
  ];
  const source = byHand === undefined ? '' : `asked for by <@${byHand}> · `;
  const footer = context(`Digest ${formatCode(digest.id)} · ${source}${nextWords(digest, next)}`);
  return {
    ...top,
    text: [...notes, top.text].join('\n'),
    blocks: [
      ...notes.map((note) => context(note)),
      ...(top.blocks ?? [section(top.text)]),
      footer,
      runButtons(digest.id),
    ],
  };
}

/** For a run that is too old to be useful. */
export function renderSkipped(about: { digest: Digest; due: Date; missed: number }): Message {
  const { digest, due, missed } = about;
  const before = missed > 0 ? ` So were ${pluralize(missed, 'run')} before it.` : '';
  const text = `Skipped while I was down: the digest of ${formatRunTime(due, digest.schedule.zone)}.${before}`;
  return message(text, [
    section(`:zzz: ${text}`),
    context(`Digest ${formatCode(digest.id)} · ${nextWords(digest, digest.nextDue)}`),
    runButtons(digest.id),
  ]);
}

/** For a run that failed after all attempts. */
export function renderRunFailed(about: { digest: Digest; due: Date; failure: Failure }): Message {
  const { digest, due } = about;
  const { message: what, hint, reference } = about.failure;
  const told = renderFailure({
    message: `The digest of ${formatRunTime(due, digest.schedule.zone)} could not be made. ${what}`,
    hint,
    reference,
  });
  return {
    ...told,
    blocks: [
      ...(told.blocks ?? []),
      context(`Digest ${formatCode(digest.id)} · ${nextWords(digest, digest.nextDue)}`),
      runButtons(digest.id),
    ],
  };
}

/** Why a digest is paused and what can be done about it. `others`: other people than its owner read it. */
export function renderPaused(stop: { digest: Digest; reason: PauseReason; others: boolean }): Message {
  const { digest, reason, others } = stop;
  const text = `The digest ${formatCode(digest.id)} is paused: ${describePause(reason)}.`;
  const about = `It went to <#${digest.channel}> ${describeSchedule(digest.schedule)}, with the key of <@${digest.owner.userId}>.`;
  return message(text, [
    section(`:double_vertical_bar: *${text}*\n${about}\n${nextStep(reason)}`),
    actions(...stepButtons(digest, reason, others)),
  ]);
}

function nextStep(reason: PauseReason): string {
  if (reason === 'bot-removed')
    return 'Invite the bot there (`/invite @cdn`) and resume it, or edit it to go elsewhere.';
  if (isChannelReason(reason)) return 'Edit it to go to another channel.';
  if (reason === 'owner-gone') return 'Anybody who may read here can take it over, with their own key.';
  return canBeTakenOver(reason)
    ? 'Its owner can fix that and resume it; anybody who may read here can take it over, with their own key.'
    : 'It can be resumed.';
}

function stepButtons({ id }: Digest, reason: PauseReason, others: boolean): Button[] {
  const key = reason === 'key-missing' || reason === 'key-refused';
  return [
    ...(others && canBeTakenOver(reason) ? [takeOverButton(id)] : []),
    resumeButton(id),
    ...(key ? [connectButton('Connect my key')] : []),
    button('Edit', 'digests:edit', id),
    deleteButton(id),
  ];
}

/** For the owner: only a person can decide whether to post again. */
export function renderUnknown({ digest, due }: { digest: Digest; due: Date }): Message {
  const text = `I cannot tell whether your digest of ${formatRunTime(due, digest.schedule.zone)} arrived in <#${digest.channel}>.`;
  return message(text, [
    section(
      `:grey_question: *${text}*\nSlack did not answer when it was posted, and does not let me look. If it is not there, post it again.`,
    ),
    actions(button('Post it again', 'digests:again', `${digest.id}|${due.toISOString()}`)),
    context(`Digest ${formatCode(digest.id)} · ${nextWords(digest, digest.nextDue)}`),
  ]);
}

export function takeOverButton(id: string): Button {
  return button('Take over', 'digests:take-over', id, {
    confirm: {
      title: plain('Take this digest over?'),
      text: plain('It runs with your CDN key from now on, and shows this channel what your key can read.'),
      confirm: plain('Take over'),
      deny: plain('Leave it'),
    },
  });
}

export function resumeButton(id: string): Button {
  return button('Resume', 'digests:resume', id);
}

function deleteButton(id: string): Button {
  return button('Delete', 'digests:delete', id);
}

/** Under every post, for its owner and admins. */
function runButtons(id: string): KnownBlock {
  return actions(
    button('Run now', 'digests:run', id),
    button('Pause', 'digests:pause', id),
    button('Edit', 'digests:edit', id),
    deleteButton(id),
  );
}

function nextWords(digest: Digest, next: Date | undefined): string {
  if (digest.paused || !next) return 'paused';
  const { zone } = digest.schedule;
  return `next ${formatRunTime(next, zone)} ${zone}`;
}
