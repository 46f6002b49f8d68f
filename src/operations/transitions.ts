import type { Kysely, Transaction } from 'kysely';
import { type Audit, type AuditInput, isSecretLike } from '../auth/audit/audit.ts';
import type { Sealer } from '../auth/keys/sealing.ts';
import type { Schema } from '../store/schema.ts';
import {
  type Operation,
  type OperationOutcome,
  type OperationState,
  type ShownRequest,
  transitionsFrom,
  type VoidReason,
} from './model.ts';
import { addOperationEvent, type LoggedOperation, lockOperation, moveOperation } from './queries.ts';
import { readApprovals, readOperation, signApproval } from './row.ts';
import type { OperationValues } from './values.ts';

/** One step of an operation. */
export interface Step {
  /** `approval`: one of several, its state stays. */
  readonly to: OperationState | 'approval';
  readonly by: string;
  readonly outcome?: OperationOutcome | undefined;
}

/** An operation that is locked by the transaction at hand. */
export interface LockedOperation {
  readonly trx: Transaction<Schema>;
  readonly logged: LoggedOperation;
  readonly operation: Operation;
  readonly now: Date;
  /** Moves it; what came after is in the answer, not in here. */
  move(step: Step): Promise<Operation>;
  /** To `failed`, as void. */
  voided(why: VoidReason): Promise<Operation>;
}

export interface Transitions {
  /** Locks one operation and works on it in one transaction; undefined = there is none of this id (and tenant). */
  hold<T>(
    id: string,
    tenant: string | undefined,
    work: (held: LockedOperation) => Promise<T>,
  ): Promise<T | undefined>;
  /** A transaction whose audit records, those of moves in it included, come last. */
  together<T>(work: (trx: Transaction<Schema>, record: AddRecord) => Promise<T>): Promise<T>;
  /** Moves what this transaction has locked or made. */
  move(
    trx: Transaction<Schema>,
    record: AddRecord,
    logged: LoggedOperation,
    step: Step,
  ): Promise<LoggedOperation>;
}

/** Keeps a record for the end of the transaction: whoever appends makes others of the tenant wait. */
export type AddRecord = (entry: AuditInput) => void;

export interface TransitionsOptions {
  readonly db: Kysely<Schema>;
  readonly sealer: Sealer;
  readonly audit: Audit;
  readonly now: () => Date;
  readonly values: OperationValues;
  readonly enqueue: OnTransition;
  readonly follow?: OnTransition | undefined;
}

/** Stores work that follows a move, in the move's own transaction. */
export type OnTransition = (
  operation: Operation,
  options: { readonly in: Transaction<Schema> },
) => Promise<void>;

export function createTransitions({
  db,
  sealer,
  audit,
  now,
  values,
  enqueue,
  follow,
}: TransitionsOptions): Transitions {
  const together: Transitions['together'] = (work) =>
    db.transaction().execute(async (trx) => {
      const records: AuditInput[] = [];
      const answer = await work(trx, (entry) => void records.push(entry));
      for (const entry of records) await audit.record(entry, { in: trx });
      return answer;
    });

  const move: Transitions['move'] = async (trx, record, logged, step) => {
    const { row, events, triedAgainAs } = logged;
    const from = row.state as OperationState;
    const state = step.to === 'approval' ? from : step.to;
    if (step.to !== 'approval' && !transitionsFrom[from].includes(state))
      throw new Error(`No operation goes from ${from} to ${state}.`);
    const at = now();
    const seq = Math.max(row.seq, events.at(-1)?.seq ?? 0) + 1;
    const outcome = step.outcome ? JSON.stringify(step.outcome) : null;
    const moved = { state, seq, moved_by: step.by, moved_at: at, outcome };
    // It is locked; a second look costs nothing where a deletion hangs on it.
    if (!(await moveOperation(trx, row, moved))) throw new Error('An operation moved while it was locked.');
    const byPerson = step.by !== 'system' && (step.to === 'approval' || step.to === 'approved');
    const signed = byPerson ? signApproval(sealer, row, { by: step.by, at }) : undefined;
    const event = {
      operation_id: row.id,
      seq,
      at,
      actor: step.by,
      what: step.to,
      outcome,
      key_id: signed?.keyId ?? null,
      mac: signed?.mac ?? null,
    };
    await addOperationEvent(trx, event);
    const after = { row: { ...row, ...moved }, events: [...events, event], triedAgainAs };
    if (row.value_mac !== null && isOverFor(step)) await values.destroy(trx, row);
    if (step.to === 'approved') await enqueue(readOperation(after), { in: trx });
    await follow?.(readOperation(after), { in: trx });
    record(toAuditInput(after, step));
    return after;
  };

  return {
    together,
    move,
    hold: (id, tenant, work) =>
      together(async (trx, record) => {
        const logged = await lockOperation(trx, id);
        if (!logged || (tenant !== undefined && logged.row.tenant !== tenant)) return undefined;
        const step = async (to: Step): Promise<Operation> =>
          readOperation(await move(trx, record, logged, to));
        return work({
          trx,
          logged,
          operation: readOperation(logged),
          now: now(),
          move: step,
          voided: (why) => step({ to: 'failed', by: 'system', outcome: { word: 'void', why } }),
        });
      }),
  };
}

/**
 * What an operation's line in the audit says: what it is about by its ids, counts and stable words; no reason and no
 * value. An id that looks like a secret is withheld, since the record refuses it, and the move with it.
 */
export function toAuditInput(logged: LoggedOperation, { to, by, outcome }: Step): AuditInput {
  const { row, events } = logged;
  const facts: Record<string, string | number | boolean | undefined> = {
    operation: row.id,
    kind: row.kind,
    ...about(readOperation(logged).request),
    have: readApprovals(events).length,
    need: row.approvals_needed,
    outcome: outcome?.word,
    why: outcome?.why,
    status: outcome?.status,
    attemptOf: row.attempt_of ?? undefined,
  };
  return {
    tenant: row.tenant,
    actor: by,
    event: `operation-${to}`,
    subject: row.seal,
    detail: Object.fromEntries(
      Object.entries(facts).filter(
        (fact): fact is [string, string | number | boolean] => fact[1] !== undefined,
      ),
    ),
    requestId: outcome?.requestId === undefined ? undefined : named(outcome.requestId),
  };
}

function about(request: ShownRequest): Record<string, string | boolean | undefined> {
  if (request.kind === 'volume-delete') return { app: named(request.appId), volume: named(request.volumeId) };
  const { scriptId, variableId, required, setsValue } = request;
  return { script: named(scriptId), variable: named(variableId), required, setsValue };
}

function named(id: string): string {
  return isSecretLike(id) ? '[withheld]' : id;
}

/** Nobody tries again what was denied or taken back, or what is not what was sealed: its value is not kept. */
function isOverFor({ to, outcome }: Step): boolean {
  if (to === 'denied' || to === 'cancelled') return true;
  return outcome?.why === 'changed' || outcome?.why === 'key-gone';
}
