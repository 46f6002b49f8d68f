import { randomBytes } from 'node:crypto';
import { type Person, tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { canonicalJson, type Json } from '../../lib/canonical-json.ts';
import { dayMs, minuteMs } from '../../lib/time.ts';
import { takeLock } from '../../store/database.ts';
import { formatCount } from '../../views/blocks/format.ts';
import { waitsForRequester } from '../../views/operations/describe.ts';
import { queueExecution } from './execute.ts';
import { countApprovals, findKind, type OperationRow } from './kinds/kind.ts';
import { queueMessages } from './messages.ts';
import type { Answer, Operation, Proposal } from './model.ts';
import { findCdnKey, findRequestedBy, lockOperation, readOperation, toStorable } from './queries.ts';
import { collectSignedParts, computeSeal, findSealProblem } from './seal.ts';
import { linkStepRun } from './steps.ts';
import {
  appendEvent,
  inTransaction,
  type Ledger,
  type LedgerTransaction,
  toAuditInput,
  withLock,
} from './transitions.ts';
import { commitToValue, openValue, storeValue } from './values.ts';

/** Stores a sealed request. Where the policy needs no approval, its execution is queued at once. */
export function propose(ledger: Ledger, proposal: Proposal): Promise<Operation> {
  return inTransaction(ledger, (tx) => storeProposal(tx, proposal));
}

/** Proposes the same request as a new operation that needs approvals of its own; once for each operation. */
export function retry(
  ledger: Ledger,
  id: string,
  requester: Person,
  now: Pick<Proposal, 'policy' | 'channelId' | 'snapshot' | 'approvers'>,
): Promise<Answer> {
  return withLock(ledger, { id, tenant: tenantId(requester) }, async (locked): Promise<Answer> => {
    const { tx, logged, operation } = locked;
    if (operation.requester.userId !== requester.userId)
      return { kind: 'not-requester', press: 'retry', operation };
    if (logged.triedAgainAs !== undefined) {
      const other = await lockOperation(tx.db, logged.triedAgainAs);
      return { kind: 'already-retried', operation: other ? readOperation(tx.kinds, other) : operation };
    }
    const kind = findKind(tx.kinds, operation.kind);
    // A request of its own version would bring older settings back.
    const may = !kind.approval && ['failed', 'unknown', 'expired'].includes(operation.state);
    if (!may || findSealProblem(tx, logged.row)) return { kind: 'not-now', why: 'state', operation };
    const opened = await openValue(tx, logged.row);
    if ('problem' in opened) return { kind: 'not-now', why: 'value-gone', operation };
    const proposal = {
      ...now,
      ...opened,
      kind,
      request: operation.request,
      requester,
      reason: operation.reason,
      via: operation.via,
    };
    return { kind: 'proposed', operation: await storeProposal(tx, proposal, id) };
  });
}

/** Requests of one person by assistants: so many may wait, and be made in a day. Approvers are not to be tired out. */
const mostByAssistant = { waiting: 3, aDay: 10 };

/**
 * Proposes what an assistant asks for in its person's name. The same request that still waits is answered again.
 *
 * @throws UserError where there are too many
 */
export function proposeByAssistant(
  ledger: Ledger,
  proposal: Omit<Proposal, 'value'> & { readonly via: string },
): Promise<Operation> {
  const { requester, kind, request } = proposal;
  return inTransaction(ledger, async (tx) => {
    await takeLock(tx.db, `assistant/${tenantId(requester)}/${requester.userId}`);
    const since = tx.now().getTime() - dayMs;
    const asked = (await findRequestedBy(tx, requester, 100)).filter(
      ({ via, createdAt }) => via !== undefined && createdAt.getTime() > since,
    );
    const waiting = asked.filter(({ state, expiresAt }) => state === 'proposed' && expiresAt > tx.now());
    const same = waiting.find(
      (one) =>
        one.kind === kind.name && canonicalJson(one.request as Json) === canonicalJson(request as Json),
    );
    if (same) return same;
    if (waiting.length >= mostByAssistant.waiting)
      throw new UserError(
        `${formatCount(mostByAssistant.waiting, 'request')} of this person by assistants wait already.`,
        'Decide or cancel one of them: `/cdn approvals`.',
      );
    if (asked.length >= mostByAssistant.aDay)
      throw new UserError(
        `Assistants asked for ${formatCount(mostByAssistant.aDay, 'change')} in this person’s name within a day.`,
        'The person can ask for more themselves.',
      );
    return storeProposal(tx, proposal);
  });
}

async function storeProposal(tx: LedgerTransaction, proposal: Proposal, attemptOf?: string) {
  const { requester, channelId, kind, request, value, reason, snapshot, policy, approvers, stepRun } =
    proposal;
  const at = tx.now();
  const commitment = value && commitToValue(value);
  const owner = { tenant: tenantId(requester), user_id: requester.userId };
  const sealed = {
    ...owner,
    id: newId(),
    kind: kind.name,
    enterprise_id: requester.enterpriseId ?? null,
    team_id: requester.teamId,
    channel_id: channelId ?? null,
    ...kind.request(request, value),
    value_mac: commitment?.mac ?? null,
    cdn_key: kind.keyless ? null : await findCdnKey(tx, owner),
    reason: reason === undefined ? null : toStorable(reason),
    snapshot: canonicalJson(snapshot),
    policy_version: policy.version,
    approvals_needed: countApprovals(kind, policy),
    attempt_of: attemptOf ?? null,
    via: proposal.via ?? null,
    created_at: at,
    expires_at: new Date(at.getTime() + (kind.approval?.expiresAfterMs ?? policy.expiryMinutes * minuteMs)),
  };
  const { id } = sealed;
  const seal = computeSeal(sealed);
  const { keyId, mac } = tx.sealer.sign(collectSignedParts({ id, seal }));
  const by = requester.userId;
  const row: OperationRow = {
    ...sealed,
    state: 'proposed',
    seq: 1,
    seal,
    key_id: keyId,
    mac,
    moved_by: by,
    moved_at: at,
    outcome: null,
    approvers: JSON.stringify(approvers),
    reminded_at: null,
  };
  await tx.db.insertInto('operations').values(row).execute();
  const event = await appendEvent(tx, row, 'proposed');
  if (commitment) await storeValue(tx, row, commitment);
  if (stepRun !== undefined) await linkStepRun(tx, stepRun, row);
  const logged = { row, events: [event], triedAgainAs: undefined };
  const operation = readOperation(tx.kinds, logged);
  await queueMessages(tx, operation, kind.approval ? undefined : policy.approvalChannel);
  tx.record(toAuditInput(tx.kinds, logged, { to: 'proposed', by }));
  const waits = row.approvals_needed > 0 || waitsForRequester(operation);
  return waits ? operation : queueExecution({ tx, logged }, 'system');
}

const letters = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Sixteen of 32 letters and digits (80 random bits) without those that look alike. */
function newId(): string {
  return Array.from(randomBytes(16), (byte) => letters[byte % letters.length]).join('');
}
