import { type Audit, type AuditInput, isSecretLike } from '../../auth/audit/audit.ts';
import type { Signature } from '../../auth/keys/sealing.ts';
import { type Authorizer, assertKnown } from '../../auth/policy/authorizer.ts';
import { type Actor, decide, type Reason } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { Enqueue } from '../../store/queue.ts';
import type { Trx } from '../../store/schema.ts';
import type { VoidReason } from '../../views/operations/describe.ts';
import {
  countApprovals,
  decideApprovalOf,
  type EventRow,
  type Kinds,
  type OperationOutcome,
  type OperationRow,
} from './kinds/kind.ts';
import { endStepOf, refreshMessages } from './messages.ts';
import {
  type DecisionContext,
  findApprovals,
  findCdnKey,
  lockOperation,
  type Operation,
  type OperationState,
  readOperation,
  transitionsFrom,
} from './model.ts';
import { collectSignedParts, findApprovalProblem, findSealProblem } from './seal.ts';
import { destroyValue, openValue, type ValueStore } from './values.ts';

/**
 * The ledger of everything that writes to the CDN. A transition is one transaction: a compare-and-set of the row, its
 * event, messages, job and audit record. Any number of processes may call these functions.
 */
export interface Ledger extends ValueStore {
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  readonly outbox: Outbox;
  readonly kinds: Kinds;
  readonly onTransition?: (to: string) => void;
  readonly onRefused?: (reason: Reason) => void;
}

export interface LedgerTransaction extends Ledger {
  readonly db: Trx;
  /** Written at the end: appending one makes the tenant's other writers wait. */
  readonly record: (entry: AuditInput) => void;
}

export async function inTransaction<T>(
  ledger: Ledger,
  work: (tx: LedgerTransaction) => Promise<T>,
): Promise<T> {
  const records: AuditInput[] = [];
  const answer = await ledger.db.transaction().execute(async (db) => {
    const done = await work({ ...ledger, db, record: (entry) => void records.push(entry) });
    for (const entry of records) await ledger.audit.record(entry, db);
    return done;
  });
  for (const { event } of records) ledger.onTransition?.(event.replace(/^operation-/u, ''));
  return answer;
}

export interface LockedOperation {
  readonly tx: LedgerTransaction;
  readonly operation: Operation;
}

/** Works on one operation in one transaction: two presses run one after the other. */
export function withLock<T>(
  ledger: Ledger,
  { id, tenant }: { readonly id: string; readonly tenant?: string },
  work: (locked: LockedOperation) => Promise<T>,
): Promise<T | { readonly kind: 'not-found' }> {
  return inTransaction(ledger, async (tx) => {
    const operation = await lockOperation(tx, id);
    if (!operation || (tenant ?? operation.tenant) !== operation.tenant) return { kind: 'not-found' };
    return work({ tx, operation });
  });
}

export interface Step {
  readonly to: OperationState | 'approval';
  readonly by: string;
  readonly outcome?: OperationOutcome | undefined;
}

export async function transition({ tx, operation }: LockedOperation, step: Step): Promise<Operation> {
  const { row, events, state: from } = operation;
  const state = step.to === 'approval' ? from : step.to;
  if (step.to !== 'approval' && !transitionsFrom[from].includes(state))
    throw new Error(`no operation moves from ${from} to ${state}`);
  const at = tx.now();
  const moved = {
    state,
    seq: Math.max(row.seq, events.at(-1)?.seq ?? 0) + 1,
    moved_by: step.by,
    moved_at: at,
    outcome: step.outcome ? JSON.stringify(step.outcome) : null,
  };
  const { numUpdatedRows } = await tx.db
    .updateTable('operations')
    .set(moved)
    .where('id', '=', row.id)
    .where('state', '=', row.state)
    .where('seq', '=', row.seq)
    .executeTakeFirst();
  // The row is locked; the comparison is repeated because a deletion depends on it.
  if (numUpdatedRows !== 1n) throw new Error('an operation moved while it was locked');
  const isApproval = step.by !== 'system' && (step.to === 'approval' || step.to === 'approved');
  const signed = isApproval ? tx.sealer.sign(collectSignedParts(row, { by: step.by, at })) : undefined;
  const event = await appendEvent(tx, { ...row, ...moved }, step.to, signed);
  // Only what was done, or may have been, can be undone: else the value of a variable is not kept.
  const isUndone = ['denied', 'cancelled', 'expired', 'failed'].includes(step.to);
  if (row.value_mac !== null && isUndone) await destroyValue(tx, row);
  const after = readOperation(tx.kinds, { ...row, ...moved }, [...events, event]);
  await refreshMessages(tx, after);
  // A step was told that the outcome is unknown.
  if (from !== 'unknown') await endStepOf(tx, after);
  tx.record(toAuditInput(after, step));
  return after;
}

export async function appendEvent(
  { db }: LedgerTransaction,
  { id, seq, moved_at: at, moved_by: actor, outcome }: OperationRow,
  what: Step['to'],
  signed?: Signature,
): Promise<EventRow> {
  const [keyId, mac] = [signed?.keyId ?? null, signed?.mac ?? null];
  const event = { operation_id: id, seq, at, actor, what, outcome, key_id: keyId, mac };
  await db.insertInto('operation_events').values(event).execute();
  return event;
}

export async function voidOperation(locked: LockedOperation, why: VoidReason) {
  const outcome = { word: 'void', why };
  const operation = await transition(locked, { to: 'failed', by: 'system', outcome });
  return { kind: 'void', why, operation } as const;
}

export async function expireOperation(locked: LockedOperation) {
  const outcome = { word: 'expired' };
  const operation = await transition(locked, { to: 'expired', by: 'system', outcome });
  return { kind: 'expired', operation } as const;
}

export function toAuditInput(operation: Operation, { to, by, outcome }: Step): AuditInput {
  const { row, kind, request, approvals } = operation;
  const ids = request === undefined ? {} : kind.audit(request, operation);
  return {
    tenant: row.tenant,
    actor: by,
    event: `operation-${to}`,
    subject: row.seal,
    detail: {
      operation: row.id,
      kind: row.kind,
      ...Object.fromEntries(Object.entries(ids ?? {}).map(([name, value]) => [name, withholdSecret(value)])),
      have: approvals.length,
      need: row.approvals_needed,
      outcome: outcome?.word,
      why: outcome?.why,
      status: outcome?.status,
      instances: outcome?.instances?.map(withholdSecret).join(' '),
      via: row.via ?? undefined,
    },
    requestId: outcome?.requestId === undefined ? undefined : withholdSecret(outcome.requestId),
  };
}

/** The audit would refuse the record, and the transition with it. */
function withholdSecret<T>(fact: T): T | string {
  return typeof fact === 'string' && isSecretLike(fact) ? '[withheld]' : fact;
}

export async function loadDecisionContext(
  authorizer: Authorizer,
  operation: Operation,
  clickerId?: string,
): Promise<DecisionContext> {
  const read = (userId: string): Promise<Actor> => authorizer.actor({ userId, fresh: true });
  const [policy, requester, approvers, clicker] = await Promise.all([
    authorizer.policy({ fresh: true }),
    read(operation.requester.userId),
    Promise.all(operation.approvals.map(({ by }) => read(by))),
    clickerId === undefined ? undefined : read(clickerId),
  ]);
  return { policy, requester, approvers, clicker: clicker ?? requester };
}

/** @throws UserError where the settings changed since the context was read */
export async function assertCurrent({ tx, operation }: LockedOperation, { policy }: DecisionContext) {
  const versions = tx.db.selectFrom('policies').select('version').where('tenant', '=', operation.tenant);
  const newest = await versions.orderBy('version', 'desc').limit(1).executeTakeFirst();
  if ((newest?.version ?? 0) !== policy.version)
    throw new UserError('The settings changed just now.', 'Nothing was changed. Try again.');
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
export async function stopUnlessValid(locked: LockedOperation, context: DecisionContext) {
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
  { policy, requester, approvers }: DecisionContext,
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
