import { tenantId } from '../../auth/identity.ts';
import { assertKnown } from '../../auth/policy/authorizer.ts';
import { decideDestination } from '../../auth/policy/destinations.ts';
import { canBeTakenOver, type Digest, isChannelReason } from '../../digests/model.ts';
import { undoMinutes } from '../../digests/service.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import * as views from '../../views/digests/list.ts';
import { describePause } from '../../views/digests/words.ts';
import type { Action, Context, With } from '../define.ts';

type DigestContext = With<'digests' | 'keyStore'>;

/** Actions of an owner or admin on one digest, for the words of the command, the menu and the buttons. */
export const verbs = { run, pause, resume, delete: remove } as const;

/** Runs at once, into its channel. */
async function run(id: string, context: DigestContext): Promise<Message> {
  const digest = await findManagedDigest(id, context);
  if (digest.paused && digest.paused.reason !== 'by-hand') {
    throw new UserError(
      `The digest ${formatCode(digest.id)} is paused: ${describePause(digest.paused.reason)}.`,
      `Once that is fixed: \`/cdn digest resume ${digest.id}\``,
    );
  }
  await requireOwnersKey(digest, context);
  return views.renderRunning(digest, await context.digests.runNow(digest, context.person));
}

async function pause(id: string, context: DigestContext): Promise<Message> {
  const digest = await findManagedDigest(id, context);
  if (digest.paused) return views.renderPausedByHand(digest);
  return views.renderPausedByHand(requireChanged(await context.digests.pause(digest, context.person)));
}

async function resume(id: string, context: DigestContext): Promise<Message> {
  const digest = await findManagedDigest(id, context);
  if (!digest.paused) return views.renderResumed(digest, context.now());
  await requireOwnersKey(digest, context);
  // If the channel takes no message, the next run would only pause the digest again.
  const notice = views.renderUnchanged(digest, context.person.userId);
  if (isChannelReason(digest.paused.reason) && !(await context.post(digest.channel, notice)))
    throw new UserError(
      `I cannot write into <#${digest.channel}>, so the digest ${formatCode(digest.id)} stays paused.`,
      `Invite me there (\`/invite @cdn\`) and resume it, or let it go elsewhere: \`/cdn digest edit ${digest.id}\``,
    );
  const resumed = requireChanged(await context.digests.resume(digest, context.person));
  return views.renderResumed(resumed, context.now());
}

async function remove(id: string, context: DigestContext): Promise<Message> {
  const digest = await findManagedDigest(id, context);
  const deleted = requireChanged(await context.digests.delete(digest, context.person));
  return views.renderDeleted(deleted, undoMinutes);
}

async function restore(id: string, context: DigestContext): Promise<Message> {
  const digest = await context.digests.find(tenantId(context.person), id);
  if (digest) await requireManager(digest, context);
  const restored = digest?.deletedAt ? await context.digests.restore(digest, context.person) : digest;
  if (restored) return views.renderRestored(restored, context.now());
  throw new UserError(
    `The digest ${formatCode(id, 20)} is gone: deletions can be undone for ${undoMinutes} minutes.`,
    'Make a new one: `/cdn digest new`.',
  );
}

/** Resumes everything of the person's that was paused when the app was removed. */
async function resumeAll(_value: string, context: DigestContext): Promise<Message> {
  const { digests, person } = context;
  const listed = await digests.list(tenantId(person));
  const mine = listed
    .map(({ digest }) => digest)
    .filter(({ owner, paused }) => owner.userId === person.userId && paused?.reason === 'uninstalled');
  const [first] = mine;
  if (!first)
    throw new UserError(
      'None of your digests is paused for that any more.',
      '`/cdn digest list` shows them.',
    );
  await requireOwnersKey(first, context);
  const resumed: Digest[] = [];
  // A digest that was changed at this moment stays as it is.
  for (const digest of mine) resumed.push((await digests.resume(digest, person)) ?? digest);
  return views.renderResumedAll(resumed.filter(({ paused }) => !paused));
}

async function takeOver(id: string, context: DigestContext): Promise<Message> {
  const { person, digests } = context;
  const digest = await findDigest(id, context);
  if (!canBeTakenOver(digest)) {
    const { paused, owner } = digest;
    throw new UserError(
      paused
        ? `The digest ${formatCode(digest.id)} is ${describePause(paused.reason, paused.by)}: that is for its owner and admins.`
        : `The digest ${formatCode(digest.id)} runs again already, with the key of <@${owner.userId}>.`,
      '`/cdn digest list` shows its state.',
    );
  }
  const refused = await findChannelRefusal(digest.channel, context);
  if (refused !== undefined) throw new UserError(refused, 'An admin can change that with `/cdn settings`.');
  const taken = requireChanged(await digests.takeOver(digest, person));
  const notice = views.renderTakenOver(taken, person.userId, context.now());
  // Its channel sees it in the place of the notice; pressed elsewhere, the channel is told.
  const isSeen = context.message?.channel === taken.channel || (await context.post(taken.channel, notice));
  return isSeen ? notice : views.renderTakenOverOnly(taken);
}

/** Runs again after a post without an answer: a person has looked into the channel. */
async function postAgain(value: string, context: DigestContext): Promise<Message> {
  const [id = '', due = ''] = value.split('|');
  const digest = await findManagedDigest(id, context);
  if (await context.digests.postAgain(digest, new Date(due))) return views.renderPostedAgain(digest);
  throw new UserError('That run is settled already.', `A new one: \`/cdn digest run ${digest.id}\``);
}

/** A digest runs with its owner's key, also if an admin resumes it. */
async function requireOwnersKey({ owner }: Digest, { keyStore, person }: DigestContext): Promise<void> {
  if (await keyStore.describe(owner)) return;
  if (owner.userId === person.userId)
    throw new UserError('You have no CDN key connected.', 'Connect yours, then resume it.', 'connect');
  throw new UserError(
    `<@${owner.userId}> has no CDN key connected.`,
    'They can connect one; or edit it, and it runs with yours.',
  );
}

/** @throws UserError where there is none with this id, or it was deleted. */
export async function findDigest(id: string, context: With<'digests'>): Promise<Digest> {
  const found = await context.digests.find(tenantId(context.person), id.trim().toLowerCase());
  if (found && !found.deletedAt) return found;
  throw new UserError(
    `There is no digest ${formatCode(id, 20)}${found ? ' any more' : ''}.`,
    '`/cdn digest list` shows all.',
  );
}

/** The same, for its owner and admins. */
export async function findManagedDigest(id: string, context: With<'digests'>): Promise<Digest> {
  const digest = await findDigest(id, context);
  await requireManager(digest, context);
  return digest;
}

async function requireManager({ owner }: Digest, { person, decide }: Context): Promise<void> {
  if (owner.userId === person.userId || assertKnown(await decide('admin')).allowed) return;
  throw new UserError(
    `Only <@${owner.userId}>, whose digest this is, and admins may do that.`,
    'Ask them, or make one of your own: `/cdn digest new`.',
  );
}

/** Why this person's digest may not go into a channel, in words; undefined = it may. Settings are read again. */
export async function findChannelRefusal(
  channel: string,
  { authorizer }: Context,
): Promise<string | undefined> {
  const decision = await authorizer.decide('read', channel, { fresh: true });
  const destination = decideDestination(await authorizer.policy({ fresh: true }), 'digest', channel);
  const failed = [...decision.trace, ...destination.trace].find(({ ok }) => !ok);
  return failed && `A digest of yours may not go into <#${channel}>: ${failed.says}.`;
}

/** @throws UserError where another change of the digest came first. */
export function requireChanged(digest: Digest | undefined): Digest {
  if (digest) return digest;
  throw new UserError(
    'Somebody changed this digest a moment ago, so nothing was changed.',
    'Look again with `/cdn digest list`.',
  );
}

/** Answered beside the message, which everybody in the channel shares. Needs no key: the owner's is used. */
const beside = { needs: 'none', newMessage: true } as const;

/** Those with `beside` aside, the answer replaces the message that offered the button. */
export const digestActions: readonly Action<'digests' | 'keyStore'>[] = [
  { id: 'digests:run', ...beside, run },
  { id: 'digests:pause', ...beside, run: pause },
  { id: 'digests:resume', ...beside, run: resume },
  { id: 'digests:delete', ...beside, run: remove },
  { id: 'digests:undo', needs: 'none', run: restore },
  { id: 'digests:take-over', needs: 'read', run: takeOver },
  { id: 'digests:resume-all', needs: 'read', run: resumeAll },
  { id: 'digests:again', needs: 'none', run: postAgain },
];
