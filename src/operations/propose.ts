import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { tenantId } from '../auth/identity.ts';
import type { Sealer } from '../auth/keys/sealing.ts';
import { requiredApprovals } from '../auth/policy/policy.ts';
import { minuteMs } from '../lib/time.ts';
import type { Schema } from '../store/schema.ts';
import { type Operation, type Proposal, requiredRight } from './model.ts';
import { addOperation, addOperationEvent, type LoggedOperation, type OperationRow } from './queries.ts';
import { toStoredRequest } from './request.ts';
import { readOperation, signSeal, toStorable } from './row.ts';
import { canonicalJson, computeSeal } from './seal.ts';
import { type AddRecord, type OnTransition, type Transitions, toAuditInput } from './transitions.ts';
import { commit, type OperationValues } from './values.ts';

/** Writes a sealed request down, and approves it where nobody has to. */
export type Propose = (
  trx: Transaction<Schema>,
  record: AddRecord,
  proposal: Proposal,
  attemptOf?: string,
) => Promise<Operation>;

export function createPropose(options: {
  readonly moves: Transitions;
  readonly sealer: Sealer;
  readonly values: OperationValues;
  readonly now: () => Date;
  readonly follow?: OnTransition | undefined;
}): Propose {
  const { moves, sealer, values, now, follow } = options;
  return async (trx, record, proposal, attemptOf) => {
    const { requester, channelId, request, reason, snapshot, policy } = proposal;
    const at = now();
    const value = request.kind === 'variable-update' ? request.value : undefined;
    const committed = value && commit(value);
    const sealed = {
      id: newId(),
      tenant: tenantId(requester),
      kind: request.kind,
      enterprise_id: requester.enterpriseId ?? null,
      team_id: requester.teamId,
      user_id: requester.userId,
      channel_id: channelId ?? null,
      ...toStoredRequest(request),
      value_mac: committed?.mac ?? null,
      reason: reason === undefined ? null : toStorable(reason),
      snapshot: canonicalJson(snapshot),
      policy_version: policy.version,
      approvals_needed: requiredApprovals(policy, requiredRight[request.kind]),
      attempt_of: attemptOf ?? null,
      created_at: at,
      expires_at: new Date(at.getTime() + policy.expiryMinutes * minuteMs),
    };
    const seal = computeSeal(sealed);
    const { keyId, mac } = signSeal(sealer, sealed.id, seal);
    const row: OperationRow = {
      ...sealed,
      state: 'proposed',
      seq: 1,
      seal,
      key_id: keyId,
      mac,
      moved_by: requester.userId,
      moved_at: at,
      outcome: null,
      messages: '[]',
      reminded_at: null,
    };
    const event = {
      operation_id: row.id,
      seq: 1,
      at,
      actor: requester.userId,
      what: 'proposed' as const,
      outcome: null,
      key_id: null,
      mac: null,
    };
    await addOperation(trx, row);
    await addOperationEvent(trx, event);
    if (committed) await values.put(trx, row, committed);
    const proposed: LoggedOperation = { row, events: [event], triedAgainAs: undefined };
    await follow?.(readOperation(proposed), { in: trx });
    record(toAuditInput(proposed, { to: 'proposed', by: requester.userId }));
    if (row.approvals_needed > 0) return readOperation(proposed);
    return readOperation(await moves.move(trx, record, proposed, { to: 'approved', by: 'system' }));
  };
}

const letters = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Sixteen of 32 letters and digits: 80 random bits, and none that is taken for another. */
function newId(): string {
  return Array.from(randomBytes(16), (byte) => letters[byte % letters.length]).join('');
}
