import type { Transaction } from 'kysely';
import { z } from 'zod';
import { SealError, type Sealer, type Signature } from '../auth/keys/sealing.ts';
import { decide, decideApproval, requiredApprovals } from '../auth/policy/policy.ts';
import type { Schema } from '../store/schema.ts';
import type {
  Approval,
  Json,
  MessageReference,
  Operation,
  OperationEvent,
  OperationKind,
  OperationOutcome,
  OperationState,
  RequesterContext,
  VoidReason,
} from './model.ts';
import { requiredRight, voidReasons } from './model.ts';
import type { EventRow, LoggedOperation, OperationRow } from './queries.ts';
import { readRequest, toJson, unreadableRequest } from './request.ts';
import { computeSeal } from './seal.ts';
import type { OperationValues } from './values.ts';

/** A row as people see it. Total: a row that somebody has changed still reads, and its next click voids it. */
export function readOperation({ row, events, triedAgainAs }: LoggedOperation): Operation {
  const kind = kindOf(row);
  const request = readRequest(row.kind, { ...row, setsValue: row.value_mac !== null });
  return {
    id: row.id,
    tenant: row.tenant,
    kind,
    state: row.state as OperationState,
    requester: { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.user_id },
    channelId: row.channel_id ?? undefined,
    request: request ?? unreadableRequest(kind),
    reason: row.reason ?? undefined,
    snapshot: (toJson(row.snapshot) ?? null) as Json,
    policyVersion: row.policy_version,
    approvalsNeeded: row.approvals_needed,
    approvals: readApprovals(events).map(approvalOf),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    seal: row.seal,
    movedBy: row.moved_by,
    movedAt: row.moved_at,
    outcome: readOutcome(row.outcome),
    messages: readMessages(row.messages),
    attemptOf: row.attempt_of ?? undefined,
    triedAgainAs,
  };
}

export function readEvent({ seq, at, actor, what, outcome }: EventRow): OperationEvent {
  return { seq, at, actor, what: what as OperationEvent['what'], outcome: readOutcome(outcome) };
}

/** A seal, authenticated: who has the database and not the keyring cannot make one. */
export function signSeal(sealer: Sealer, id: string, seal: string): Signature {
  return sealer.sign(sealParts(id, seal));
}

/** The same for one approval of what is sealed. */
export function signApproval(
  sealer: Sealer,
  of: { readonly id: string; readonly seal: string },
  { by, at }: Approval,
): Signature {
  return sealer.sign(approvalParts(of, { by, at }));
}

/**
 * Why an operation must not go on, looked at with what is stored and known now: seal, value, log, approvals, settings,
 * rights. Undefined = nothing. `final`: before it runs, when everybody who approved is known.
 */
export async function findVoidReason(
  options: { readonly trx: Transaction<Schema>; readonly sealer: Sealer; readonly values: OperationValues },
  logged: LoggedOperation,
  facts: RequesterContext | undefined,
  final = false,
): Promise<VoidReason | undefined> {
  const { trx, sealer, values } = options;
  const { row, events } = logged;
  const stored = storedReason(sealer, logged);
  if (stored) return stored;
  if (row.value_mac !== null) {
    const found = await values.open(trx, row);
    // A value that is gone while it is needed went with the key that sealed it.
    if ('missing' in found) return found.missing === 'other' ? 'changed' : 'key-gone';
  }
  if (!facts) return undefined;
  const { policy, requester, approvers } = facts;
  const kind = kindOf(row);
  const wanted = { needs: requiredRight[kind], name: kind };
  if (!decide(policy, requester, row.channel_id ?? undefined, wanted).allowed) return 'requester-may-not';
  if (requiredApprovals(policy, wanted.needs) > row.approvals_needed) return 'more-approvals';
  for (const { actor } of readApprovals(events)) {
    const approver = approvers.find(({ userId }) => userId === actor);
    // Before the last approval somebody else's may have come after the facts were read.
    const may = approver ? decideApproval(policy, approver).allowed : !final;
    if (!may) return 'approver-may-not';
  }
  return undefined;
}

/** What people, not the system, have approved. */
export function readApprovals(events: readonly EventRow[]): EventRow[] {
  return events.filter(
    ({ what, actor }) => (what === 'approval' || what === 'approved') && actor !== 'system',
  );
}

function kindOf(row: Pick<OperationRow, 'kind' | 'method'>): OperationKind {
  if (row.kind === 'volume-delete' || row.kind === 'variable-update') return row.kind;
  return row.method === 'DELETE' ? 'volume-delete' : 'variable-update';
}

/** Whether a request is still the one that was sealed, whatever became of it. */
export function findSealReason(sealer: Sealer, row: OperationRow): VoidReason | undefined {
  return ifAuthentic(() => {
    if (computeSeal(row) !== row.seal) return false;
    if (!readRequest(row.kind, { ...row, setsValue: row.value_mac !== null })) return false;
    return sealer.verify(sealParts(row.id, row.seal), { keyId: row.key_id, mac: row.mac });
  });
}

/** The same, and whether its log is what led to its state. */
function storedReason(sealer: Sealer, { row, events }: LoggedOperation): VoidReason | undefined {
  const last = events.at(-1);
  const state = last?.what === 'approval' ? 'proposed' : last?.what;
  if (last?.seq !== row.seq || state !== row.state) return 'changed';
  // What has begun once never begins again.
  if (events.some(({ what }) => what === 'executing')) return 'changed';
  const approvals = readApprovals(events);
  const by = new Set(approvals.map(({ actor }) => actor));
  if (by.has(row.user_id)) return 'changed';
  if (row.state === 'approved' && by.size < row.approvals_needed) return 'changed';
  return (
    findSealReason(sealer, row) ??
    ifAuthentic(() => approvals.every((event) => isAuthentic(sealer, row, event)))
  );
}

function ifAuthentic(look: () => boolean): VoidReason | undefined {
  try {
    return look() ? undefined : 'changed';
  } catch (error) {
    if (error instanceof SealError && error.code === 'unknown_key') return 'key-gone';
    throw error;
  }
}

function isAuthentic(sealer: Sealer, row: OperationRow, event: EventRow): boolean {
  if (event.key_id === null || event.mac === null) return false;
  return sealer.verify(approvalParts(row, approvalOf(event)), { keyId: event.key_id, mac: event.mac });
}

function sealParts(id: string, seal: string): string[] {
  return ['cdn-chatops operation v1', id, seal];
}

function approvalParts(
  { id, seal }: { readonly id: string; readonly seal: string },
  { by, at }: Approval,
): string[] {
  return ['cdn-chatops approval v1', id, seal, by, at.toISOString()];
}

function approvalOf({ actor, at }: EventRow): Approval {
  return { by: actor, at };
}

const outcomeShape = z.object({
  word: z.string(),
  status: z.number().optional(),
  requestId: z.string().optional(),
  why: z.enum(voidReasons).optional(),
  reason: z.string().optional(),
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});
const messagesShape = z.array(
  z.object({ role: z.enum(['requester', 'approval']), channel: z.string(), ts: z.string() }),
);

function readOutcome(text: string | null): OperationOutcome | undefined {
  return text === null ? undefined : outcomeShape.safeParse(toJson(text)).data;
}

function readMessages(text: string): MessageReference[] {
  return messagesShape.safeParse(toJson(text)).data ?? [];
}

/** As both engines store it: neither has NUL or half a surrogate pair. */
export function toStorable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}
