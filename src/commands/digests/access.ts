import { tenantId } from '../../auth/identity.ts';
import { decideDestination } from '../../auth/policy/policy.ts';
import type { Digest } from '../../digests/model.ts';
import { UserError } from '../../errors.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { Context, With } from '../context.ts';

/** The digest with this id. @throws UserError where there is none, or it was deleted. */
export async function findDigestFor(id: string, context: With<'digests'>): Promise<Digest> {
  const found = await context.digests.find(tenantId(context.person), id.trim().toLowerCase());
  if (found && !found.deletedAt) return found;
  throw new UserError(
    `There is no digest ${formatCode(id, 20)}${found ? ' any more' : ''}.`,
    '`/cdn digest list` shows those there are.',
  );
}

/** The same, for somebody who wants to do something with it: its owner or an admin. */
export async function findOwnDigestFor(id: string, context: With<'digests'>): Promise<Digest> {
  const digest = await findDigestFor(id, context);
  await canManage(digest, context);
  return digest;
}

/** @throws UserError for others than its owner and admins. */
export async function canManage(digest: Digest, { person, authorizer }: Context): Promise<void> {
  if (digest.owner.userId === person.userId || (await authorizer.actor()).admin) return;
  throw new UserError(
    `Only <@${digest.owner.userId}>, whose digest this is, and admins may do that.`,
    'Ask them, or make one of your own: `/cdn digest new`.',
  );
}

/** Why this person's digest may not go into a channel, in words; undefined = it may. Settings are read again. */
export async function channelRefusal(channel: string, { authorizer }: Context): Promise<string | undefined> {
  const decision = await authorizer.decide({ needs: 'read', name: 'digest' }, channel, { fresh: true });
  const destination = decideDestination(await authorizer.policy({ fresh: true }), 'digest', channel);
  const failed = [...decision.trace, ...destination.trace].find(({ ok }) => !ok);
  return failed && `A digest of yours may not go into <#${channel}>: ${failed.says}.`;
}

/** Somebody else was faster with the same digest. */
export function changedMeanwhile(): UserError {
  return new UserError(
    'Somebody changed this digest a moment ago, so nothing was changed.',
    'Look again with `/cdn digest list`.',
  );
}
