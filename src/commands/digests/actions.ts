import { tenantId } from '../../auth/identity.ts';
import { canBeTakenOver, type Digest, isChannelReason } from '../../digests/model.ts';
import { findNextRuns } from '../../digests/schedule.ts';
import { undoMinutes } from '../../digests/service.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/message.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { digestSkeleton } from '../../views/digests/form.ts';
import * as views from '../../views/digests/list.ts';
import * as returns from '../../views/digests/reinstall-notice.ts';
import { describePause } from '../../views/digests/words.ts';
import type { Context, With } from '../context.ts';
import type { Action } from '../define.ts';
import { canManage, changedMeanwhile, channelRefusal, findDigestFor, findOwnDigestFor } from './access.ts';
import { editForm } from './form.ts';

/** A run at once, into its channel. */
export async function run(id: string, context: With<'digests' | 'keyStore'>): Promise<Message> {
  const digest = await findOwnDigestFor(id, context);
  if (digest.paused && digest.paused.reason !== 'by-hand') {
    throw new UserError(
      `The digest ${formatCode(digest.id)} is paused: ${describePause(digest.paused.reason, digest.paused.by)}.`,
      `When that is mended: \`/cdn digest resume ${digest.id}\``,
    );
  }
  await canRun(digest, context);
  const isNew = await context.digests.runNow(digest, context.person);
  return views.renderRunning(digest, isNew);
}

export async function pause(id: string, context: With<'digests'>): Promise<Message> {
  const digest = await findOwnDigestFor(id, context);
  if (digest.paused) return views.renderPausedByHand(digest);
  return views.renderPausedByHand(changed(await context.digests.pause(digest, context.person)));
}

export async function resume(id: string, context: With<'digests' | 'keyStore'>): Promise<Message> {
  const digest = await findOwnDigestFor(id, context);
  if (!digest.paused) return resumed(digest, context);
  await canRun(digest, context);
  if (isChannelReason(digest.paused.reason)) await canPost(digest, context);
  return resumed(changed(await context.digests.resume(digest, context.person)), context);
}

export async function remove(id: string, context: With<'digests'>): Promise<Message> {
  const digest = await findOwnDigestFor(id, context);
  return views.renderDeleted(changed(await context.digests.remove(digest, context.person)), undoMinutes);
}

async function restore(id: string, context: With<'digests'>): Promise<Message> {
  const digest = await context.digests.find(tenantId(context.person), id);
  if (digest) await canManage(digest, context);
  if (digest && !digest.deletedAt) return views.renderRestored(digest, nextThree(digest, context));
  const back = digest && (await context.digests.restore(digest, context.person));
  if (!back) {
    throw new UserError(
      `It is too late: the digest ${formatCode(id, 20)} is gone after ${undoMinutes} minutes.`,
      'Make a new one: `/cdn digest new`.',
    );
  }
  return views.renderRestored(back, nextThree(back, context));
}

/** Everything of mine that stopped with the app. */
async function resumeAll(_value: string, context: With<'digests' | 'keyStore'>): Promise<Message> {
  const { digests, person } = context;
  const mine = (await digests.list(tenantId(person))).filter(
    ({ digest: { owner, paused } }) => owner.userId === person.userId && paused?.reason === 'uninstalled',
  );
  const [first] = mine;
  if (!first)
    throw new UserError('None of your digests rests for that any more.', '`/cdn digest list` shows them.');
  await canRun(first.digest, context);
  const resumed: Digest[] = [];
  // What somebody else changed at this moment is as they left it.
  for (const { digest } of mine) resumed.push((await digests.resume(digest, person)) ?? digest);
  return returns.renderResumedAll(resumed.filter(({ paused }) => !paused));
}

async function takeOver(id: string, context: With<'digests'>): Promise<Message> {
  const { person, digests } = context;
  const digest = await findDigestFor(id, context);
  if (!digest.paused || !canBeTakenOver(digest.paused.reason)) {
    throw new UserError(
      digest.paused
        ? `The digest ${formatCode(digest.id)} is ${describePause(digest.paused.reason, digest.paused.by)}: that is for its owner and admins.`
        : `The digest ${formatCode(digest.id)} runs again already, with the key of <@${digest.owner.userId}>.`,
      '`/cdn digest list` shows how it stands.',
    );
  }
  await mayPostThere(digest, context);
  const taken = changed(await digests.takeOver(digest, person));
  const told = views.renderTakenOver(taken, person.userId, nextThree(taken, context));
  // Its channel sees it in the place of the notice; where it was pressed elsewhere, it is told.
  const isSeen = context.message?.channel === taken.channel || (await context.post(taken.channel, told));
  return isSeen ? told : views.takenOverOnly(taken);
}

/** What Slack did not answer for: a person has looked. */
async function again(value: string, context: With<'digests'>): Promise<Message> {
  const [id = '', due = ''] = value.split('|');
  const digest = await findOwnDigestFor(id, context);
  const at = new Date(due);
  const reopened = !Number.isNaN(at.getTime()) && (await context.digests.postAgain(digest, at));
  if (!reopened)
    throw new UserError('That run is settled already.', `A new one: \`/cdn digest run ${digest.id}\``);
  return views.renderPostedAgain(digest);
}

/** The owner's key has to be there; who resumes somebody else's cannot lend theirs. */
async function canRun(digest: Digest, context: With<'keyStore'>): Promise<void> {
  if (await context.keyStore.describe(digest.owner)) return;
  const own = digest.owner.userId === context.person.userId;
  throw new UserError(
    own ? 'You have no CDN key connected.' : `<@${digest.owner.userId}> has no CDN key connected.`,
    own ? 'Connect yours, then resume it.' : 'They can connect one; or edit it, and it runs with yours.',
    ...(own ? (['connect'] as const) : []),
  );
}

/** The channel hears that it begins again: where it cannot, the next run would only stop once more. */
async function canPost(digest: Digest, context: Context): Promise<void> {
  const told = await context.post(digest.channel, views.renderUnchanged(digest, context.person.userId));
  if (told) return;
  throw new UserError(
    `I cannot write into <#${digest.channel}>, so the digest ${formatCode(digest.id)} stays as it is.`,
    `Invite me there (\`/invite @cdn\`) and resume it, or let it go elsewhere: \`/cdn digest edit ${digest.id}\``,
  );
}

async function mayPostThere(digest: Digest, context: Context): Promise<void> {
  const refused = await channelRefusal(digest.channel, context);
  if (refused !== undefined) throw new UserError(refused, 'An admin can change that with `/cdn settings`.');
}

function changed(digest: Digest | undefined): Digest {
  if (!digest) throw changedMeanwhile();
  return digest;
}

function resumed(digest: Digest, context: Context): Message {
  return views.renderResumed(digest, nextThree(digest, context));
}

function nextThree(digest: Digest, { now }: Context): Date[] {
  return digest.paused ? [] : findNextRuns(digest.schedule, now(), 3);
}

/**
 * Beside the message: that one belongs to everybody in its channel. Needs no key of whoever presses: it is the owner's
 * that a digest runs with, and an admin without one has to be able to stop it.
 */
function apart(id: string, run: typeof resume): Action<'digests' | 'keyStore'> {
  return { id, needs: 'none', newMessage: true, run };
}

/** The menu of a row in the list. */
const menu: Action<'digests' | 'keyStore'> = {
  id: 'digests:menu',
  needs: 'none',
  needsFor: (value) => (value.startsWith('edit|') ? 'read' : 'none'),
  newMessage: true,
  modal: (value) => (value.startsWith('edit|') ? digestSkeleton('Edit the digest') : undefined),
  load: (value, context) => editForm(idIn(value), context),
  run: (value, context) => {
    const [verb = ''] = value.split('|');
    const work = Object.hasOwn(inMenu, verb) ? inMenu[verb] : undefined;
    if (!work)
      throw new UserError('This menu is from an older version of the bot.', 'Type `/cdn digest list`.');
    return work(idIn(value), context);
  },
};
const inMenu: Readonly<Record<string, typeof run>> = { run, pause, resume, delete: remove };

function idIn(value: string): string {
  return value.slice(value.indexOf('|') + 1);
}

const edit: Action<'digests'> = {
  id: 'digests:edit',
  needs: 'read',
  modal: () => digestSkeleton('Edit the digest'),
  load: editForm,
};

export const digestActions: readonly Action<'digests' | 'keyStore'>[] = [
  apart('digests:run', run),
  apart('digests:pause', pause),
  apart('digests:resume', resume),
  apart('digests:delete', remove),
  menu,
  edit,
  // In the place of the answer, or of the notice, that offered it.
  { id: 'digests:undo', needs: 'none', run: restore },
  { id: 'digests:take-over', needs: 'read', run: takeOver },
  { id: 'digests:resume-all', needs: 'read', run: resumeAll },
  { id: 'digests:again', needs: 'none', run: again },
];
