import type { KnownBlock } from '@slack/types';
import { tenantId } from '../../auth/identity.ts';
import { assertKnown } from '../../auth/policy/authorizer.ts';
import type { PendingChange } from '../../auth/policy/pending.ts';
import { decide, initialPolicy } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { renderPending, renderPendingEnd } from '../../views/settings/pending.ts';
import { renderSaved } from '../../views/settings/settings.ts';
import type { Action, With } from '../define.ts';
import { assertAllowed } from '../operations/proposals.ts';
import { announce, findConsequences } from './save.ts';

/** A press on a change that waits for a second admin, answered beside the message or on top of the settings. */
const press = { needs: 'admin', changesHome: true, newMessage: true } as const;

const confirmAction: Action<'policies'> = { ...press, id: 'settings:confirm', run: confirm };

const rejectAction: Action<'policies'> = {
  ...press,
  id: 'settings:reject',
  async run(id, context) {
    const { policies, person } = context;
    const change = await findWaiting(id, context);
    if (change?.state === 'waiting') await policies.reject(change, person.userId);
    return renderPendingEnd(await policies.pending(tenantId(person), id));
  },
};

export const pendingActions = [confirmAction, rejectAction];

/** For the Home tab of admins. */
export async function renderHomePending(context: With<'policies'>): Promise<KnownBlock[]> {
  const { policies, person } = context;
  const change = await policies.pending(tenantId(person));
  if (!change || !(await context.decide('admin')).allowed) return [];
  return renderPending(change, person.userId);
}

async function confirm(id: string, context: With<'policies'>): Promise<Message> {
  const { policies, person, authorizer } = context;
  const change = await findWaiting(id, context);
  if (change?.state !== 'waiting') return renderPendingEnd(change);
  const { author } = change;
  if (author.userId === person.userId)
    throw new UserError('You asked for this yourself.', 'Another admin confirms it.');
  const asked = await authorizer.actor({ userId: author.userId, fresh: true });
  if (!assertKnown(decide(initialPolicy, asked, undefined, 'admin')).allowed)
    throw new UserError(`<@${author.userId}> is no longer an admin. Nothing was changed.`, 'Reject it.');
  const before = await authorizer.policy({ fresh: true });
  const found = await findConsequences(before, change.policy, context);
  if (!(await policies.confirm(change, person.userId)))
    return renderPendingEnd(await policies.pending(tenantId(person), id));
  const after = await authorizer.policy({ fresh: true });
  const who = { by: author.userId, second: person.userId };
  return renderSaved(after.version, found, await announce(before, after, found, who, context)).message;
}

/** The change, for somebody who is an admin by their profile of now. */
async function findWaiting(id: string, context: With<'policies'>): Promise<PendingChange | undefined> {
  assertAllowed(await context.decide('admin', { fresh: true }), context);
  return context.policies.pending(tenantId(context.person), id);
}
