import { type ExpressionBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { CdnClient } from '../../api/cdn.ts';
import { ApiError } from '../../api/http/errors.ts';
import type { Person } from '../../auth/identity.ts';
import type { Authorizer } from '../../auth/policy/authorizer.ts';
import type { Policies } from '../../auth/policy/policies.ts';
import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Secret } from '../../secrets/secret.ts';
import { storeWithRetries } from '../../store/database.ts';
import { defineJob, type JobContext } from '../../store/queue.ts';
import type { Schema } from '../../store/schema.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type { Kind, Settlement } from './kinds/kind.ts';
import { type MessagePorts, queueReminder } from './messages.ts';
import { type Answer, type DecisionContext, findOperation, type Operation } from './model.ts';
import {
  assertCurrent,
  expireOperation,
  isOverdue,
  type Ledger,
  type LockedOperation,
  loadDecisionContext,
  startWithinMs,
  stopUnlessValid,
  transition,
  voidOperation,
  withLock,
} from './transitions.ts';
import { destroyIdleValues, destroyValuesOf, openValue } from './values.ts';

export interface OperationPorts extends MessagePorts {
  readonly ledger: Ledger;
  readonly policies: Policies;
  readonly authorizer: (person: Person) => Authorizer;
  readonly cdn: (person: Person, signal: AbortSignal) => Promise<CdnClient>;
  readonly explain: (error: unknown, feature: string) => Failure;
}

export async function queueExecution(locked: LockedOperation, by: string): Promise<Operation> {
  const operation = await transition(locked, { to: 'approved', by });
  const { tenant, id } = operation;
  await locked.tx.enqueue(executeOperationJob, { tenant, id }, { in: locked.tx.db });
  return operation;
}

/** `begin` lets one run through, ever. A run after a process that died finds it executing: the outcome is unknown. */
export const executeOperationJob = defineJob({
  name: 'operation-run',
  data: z.object({ tenant: z.string(), id: z.string() }),
  retries: 8,
  timeLimitSeconds: 120,
  atOnce: 4,
  // One that has not begun is left to expire.
  putAside: async ({ id }, { ports }: JobContext<OperationPorts>) =>
    void (await withLock(ports.ledger, { id }, markAbandoned)),
  async run({ tenant, id }, { ports, signal, log }: JobContext<OperationPorts>) {
    const { ledger } = ports;
    const found = await findOperation(ledger, tenant, id);
    if (!found) return;
    // Before it begins: if a key does not open, the job is retried.
    const cdn = found.kind.keyless ? undefined : await openCdn(ports, found.requester, signal);
    const begun = await begin(
      ledger,
      id,
      await loadDecisionContext(ports.authorizer(found.requester), found),
    );
    if (begun.kind === 'already' && begun.operation.state === 'executing') {
      log.warn({ operation: id }, 'operation was begun by a process that died');
      await withLock(ledger, { id }, markAbandoned);
      return;
    }
    if (begun.kind !== 'begun') return;
    const settlement = cdn || found.kind.keyless ? await send(begun, cdn, ports) : noKey;
    const { word, instances } = settlement.outcome;
    log.info({ operation: id, state: settlement.state, word, instances }, 'operation executed');
    await storeWithRetries(() => settle(ledger, id, settlement), signal);
  },
});

async function openCdn(ports: OperationPorts, requester: Person, signal: AbortSignal) {
  try {
    return await ports.cdn(requester, signal);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

interface Begun {
  readonly kind: 'begun';
  readonly operation: Operation;
  readonly value: Secret | undefined;
}

/** The only transition to `executing`; succeeds at most once per operation. */
export function begin(ledger: Ledger, id: string, context: DecisionContext): Promise<Answer | Begun> {
  return withLock(ledger, { id }, async (locked): Promise<Answer | Begun> => {
    const { tx, operation } = locked;
    if (operation.state !== 'approved') return { kind: 'already', operation };
    await assertCurrent(locked, context);
    const stopped = await stopUnlessValid(locked, context);
    if (stopped) return stopped;
    const opened = await openValue(tx, operation.row);
    const executing = await transition(locked, { to: 'executing', by: 'system' });
    return { kind: 'begun', operation: executing, value: 'value' in opened ? opened.value : undefined };
  });
}

const noKey: Settlement = { state: 'failed', outcome: { word: 'key-refused' } };

async function send(
  { operation, value }: Begun,
  cdn: CdnClient | undefined,
  ports: OperationPorts,
): Promise<Settlement> {
  const { row, kind, requester, approvals, name } = operation;
  try {
    return await kind.send({
      path: row.path,
      body: row.body,
      value,
      requester,
      policyVersion: row.policy_version,
      approvedBy: approvals.map(({ by }) => by),
      targetName: name,
      policies: ports.policies,
      cdn() {
        if (cdn) return cdn;
        throw new Error('a kind without a key does not ask the CDN');
      },
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { state, outcome } = classifyError(error, kind);
    const { reference } = ports.explain(error, 'operations');
    return { state, outcome: { ...outcome, facts: { ...outcome.facts, reference } } };
  }
}

const failures: Partial<Record<ApiError['code'], string>> = {
  key_refused: 'key-refused',
  rate_limited: 'rate-limited',
  not_found: 'not-found',
};

/** Whether the CDN made the change, as far as its error says. */
function classifyError(error: ApiError, kind: Kind<unknown>): Settlement {
  const { code, status, requestId, serviceMessage, fieldErrors, sent } = error;
  const says = status === 401 && code === 'key_refused' ? undefined : serviceMessage?.slice(0, 300);
  const end = (state: Settlement['state'], word: string): Settlement => ({
    state,
    outcome: { word, status, requestId, fields: [...fieldErrors], facts: { says } },
  });
  const known = failures[code];
  if (known) return end('failed', known);
  // A sentence with a success may be a refusal or none.
  const isClear = code === 'refused' && (status ?? 0) >= 400;
  if (!isClear) return sent ? end('unknown', 'unanswered') : end('failed', 'not-sent');
  return end('failed', kind.nameRefusal?.(error) ?? 'refused');
}

/** Stores the outcome. A late answer also replaces `unknown`, unless a person has confirmed an outcome. */
export function settle(ledger: Ledger, id: string, { state, outcome }: Settlement) {
  return withLock(ledger, { id }, async (locked) => {
    const { operation } = locked;
    const isLate = operation.state === 'unknown' && state !== 'unknown';
    if (operation.state !== 'executing' && !isLate) return { kind: 'already', operation } as const;
    const moved = await transition(locked, { to: state, by: 'system', outcome });
    return { kind: 'settled', operation: moved } as const;
  });
}

/** executing → unknown, never sent again: its process died. */
export async function markAbandoned(locked: LockedOperation) {
  if (locked.operation.state !== 'executing') return false;
  return transition(locked, { to: 'unknown', by: 'system', outcome: { word: 'process-died' } });
}

const maxExecutionMs = 10 * minuteMs;

export const operationClockJob = defineJob({
  name: 'operation-clock',
  cron: '* * * * *',
  data: z.object({}),
  retries: 0,
  async run(_, { ports, log }: JobContext<{ readonly ledger: Ledger }>) {
    const { ledger } = ports;
    const expired = await expireOverdue(ledger);
    const abandoned = await markLongExecuting(ledger);
    if (expired.length + abandoned.length > 0)
      log.info({ expired, abandoned }, 'operations expired or abandoned');
    await remindApprovers(ledger);
    await destroyIdleValues(ledger);
  },
});

export function expireOverdue(ledger: Ledger): Promise<string[]> {
  const now = ledger.now();
  const approvedBefore = new Date(now.getTime() - startWithinMs);
  const mayBeOverdue = (is: Where) =>
    is.or([
      is.and([is('state', '=', 'proposed'), is('expires_at', '<=', now)]),
      is.and([is('state', '=', 'approved'), is('moved_at', '<=', approvedBefore)]),
    ]);
  return moveEach(
    ledger,
    mayBeOverdue,
    async (locked) => isOverdue(locked.operation, now) && (await expireOperation(locked)),
  );
}

export function markLongExecuting(ledger: Ledger): Promise<string[]> {
  const before = new Date(ledger.now().getTime() - maxExecutionMs);
  const isLong = (is: Where) => is.and([is('state', '=', 'executing'), is('moved_at', '<=', before)]);
  return moveEach(ledger, isLong, markAbandoned);
}

/** Reminds the approvers past half of the time, once. Answers the ids. */
function remindApprovers({ db, now, outbox, kinds }: Ledger): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    const due = await trx
      .updateTable('operations')
      .set({ reminded_at: now() })
      .where((is) => is.and({ state: 'proposed', reminded_at: null }))
      .where('approvals_needed', '>', 0)
      .where('expires_at', '>', now())
      .where(sql<boolean>`created_at + (expires_at - created_at) / 2 <= ${now()}`)
      .returning(['id', 'tenant'])
      .execute();
    for (const { id, tenant } of due) {
      const operation = await findOperation({ db: trx, kinds }, tenant, id);
      if (operation) await queueReminder({ outbox, kinds, db: trx }, operation);
    }
    return due.map(({ id }) => id);
  });
}

/** Cancels what has not begun of a person or a tenant, and destroys its values. Answers the ids. */
export async function cancelUnbegun(
  ledger: Ledger,
  { person, tenant }: { readonly person: Person | undefined; readonly tenant: string },
): Promise<string[]> {
  const isUnbegun = (is: Where) =>
    is.and([
      is.and(person ? { tenant, user_id: person.userId } : { tenant }),
      is('state', 'in', ['proposed', 'approved']),
    ]);
  const outcome = { word: person ? 'requester-gone' : 'app-gone' };
  const cancelled = await moveEach(ledger, isUnbegun, async (locked) => {
    const { kind, state } = locked.operation;
    const stays = person !== undefined && kind.keyless;
    if (stays || !['proposed', 'approved'].includes(state)) return false;
    return transition(locked, { to: 'cancelled', by: 'system', outcome });
  });
  await destroyValuesOf(ledger, tenant, person?.userId);
  return cancelled;
}

/** Voids what waits to change the settings of a tenant: they are other ones now. */
export function voidOvertaken(ledger: Ledger, tenant: string, kind: string): Promise<string[]> {
  const waits = (is: Where) => is.and({ tenant, kind, state: 'proposed' });
  return moveEach(
    ledger,
    waits,
    async (locked) => locked.operation.state === 'proposed' && (await voidOperation(locked, 'overtaken')),
  );
}

type Where = ExpressionBuilder<Schema, 'operations'>;

async function moveEach(
  ledger: Ledger,
  which: (where: Where) => ReturnType<Where['and']>,
  move: (locked: LockedOperation) => Promise<unknown>,
): Promise<string[]> {
  const rows = await ledger.db.selectFrom('operations').select('id').where(which).orderBy('id').execute();
  const moved: string[] = [];
  for (const { id } of rows) if ((await withLock(ledger, { id }, move)) !== false) moved.push(id);
  return moved;
}
