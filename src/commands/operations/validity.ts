import { type Authorizer, assertKnown } from '../../auth/policy/authorizer.ts';
import { decide } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import type { VoidReason } from '../../views/operations/describe.ts';
import { countApprovals, decideApprovalOf } from './kinds/kind.ts';
import {
  type DecisionContext,
  findApprovals,
  findCdnKey,
  type Operation,
  type RequesterContext,
} from './model.ts';
import { findApprovalProblem, findSealProblem } from './seal.ts';
import { expireOperation, type Ledger, type LockedOperation, voidOperation } from './transitions.ts';
import { openValue } from './values.ts';

export async function loadContext(authorizer: Authorizer, operation: Operation): Promise<RequesterContext> {
  const { requester, approvals } = operation;
  const [policy, actor, approvers] = await Promise.all([
    authorizer.policy({ fresh: true }),
    authorizer.actor({ userId: requester.userId, fresh: true }),
    Promise.all(approvals.map(({ by }) => authorizer.actor({ userId: by, fresh: true }))),
  ]);
  return { policy, requester: actor, approvers };
}

export async function loadDecisionContext(
  authorizer: Authorizer,
  operation: Operation,
  userId: string,
): Promise<DecisionContext> {
  const clicker = authorizer.actor({ userId, fresh: true });
  return { ...(await loadContext(authorizer, operation)), clicker: await clicker };
}

/** @throws UserError where the settings changed since the context was read */
export async function assertCurrent({ tx, operation }: LockedOperation, { policy }: RequesterContext) {
  const versions = tx.db.selectFrom('policies').select('version').where('tenant', '=', operation.tenant);
  const newest = await versions.orderBy('version', 'desc').limit(1).executeTakeFirst();
  if ((newest?.version ?? 0) !== policy.version)
    throw new UserError('The settings changed at this very moment.', 'Nothing was changed. Try again.');
}

/** An approved operation starts within this time: a deletion must not run after a day in a queue. */
export const startWithinMs = 10 * minuteMs;

/** Reads the sealed and signed times, not the row's own. */
export function isOverdue({ state, expiresAt, approvals, createdAt }: Operation, now: Date): boolean {
  if (state === 'proposed') return expiresAt <= now;
  const approvedAt = approvals.at(-1)?.at ?? createdAt;
  return state === 'approved' && now.getTime() - approvedAt.getTime() >= startWithinMs;
}

/** Checks the row, the log and the rights of now; voids or expires what may not go on. @throws RolesUnknown */
export async function stopUnlessValid(locked: LockedOperation, context: RequesterContext) {
  const { tx, operation } = locked;
  // Before the time is looked at: in a changed row the times may be changed too.
  const problem = await findStoredProblem(tx, operation);
  if (problem) return voidOperation(locked, problem);
  if (isOverdue(operation, tx.now())) return expireOperation(locked);
  const why = findRightsProblem(operation, context);
  if (why) return voidOperation(locked, why);
  const { row, kind } = operation;
  const isSameKey = kind.keyless || (await findCdnKey(tx, row)) === row.cdn_key;
  return isSameKey ? undefined : voidOperation(locked, 'key-replaced');
}

async function findStoredProblem(
  ledger: Ledger,
  operation: Operation,
): Promise<'changed' | 'key-gone' | undefined> {
  const { row, events } = operation;
  const last = events.at(-1);
  const state = last?.what === 'approval' ? 'proposed' : last?.what;
  if (last?.seq !== row.seq || state !== row.state) return 'changed';
  // An operation that began never begins again.
  if (events.some(({ what }) => what === 'executing')) return 'changed';
  const approvals = findApprovals(events);
  const approvers = new Set(approvals.map(({ actor }) => actor));
  const isConfirmed = row.via !== null && row.approvals_needed === 0;
  if (isConfirmed ? [...approvers].some((one) => one !== row.user_id) : approvers.has(row.user_id))
    return 'changed';
  if (row.state === 'approved' && approvers.size < (isConfirmed ? 1 : row.approvals_needed)) return 'changed';
  const problem = findSealProblem(ledger.sealer, operation);
  if (problem) return problem;
  for (const approval of approvals) {
    const forged = findApprovalProblem(ledger.sealer, row, approval);
    if (forged) return forged;
  }
  const opened = await openValue(ledger, row);
  return 'problem' in opened ? opened.problem : undefined;
}

function findRightsProblem(
  { kind, row, state, requester: { userId }, approvals, approvalsNeeded, via }: Operation,
  { policy, requester, approvers }: RequesterContext,
): VoidReason | undefined {
  if (kind.approval && policy.version !== row.policy_version) return 'overtaken';
  if (!assertKnown(decide(policy, requester, row.channel_id ?? undefined, kind.right)).allowed)
    return 'requester-may-not';
  if (countApprovals(kind, policy) > approvalsNeeded) return 'more-approvals';
  for (const { by } of approvals) {
    if (via && by === userId) continue;
    const approver = approvers.find(({ userId }) => userId === by);
    // Another approval may have been counted after the context was read.
    const may = approver
      ? assertKnown(decideApprovalOf(kind, policy, approver)).allowed
      : state === 'proposed';
    if (!may) return 'approver-may-not';
  }
  return undefined;
}
