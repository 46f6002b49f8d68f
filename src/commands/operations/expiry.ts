import type { ExpressionBuilder } from 'kysely';
import { z } from 'zod';
import type { Person } from '../../auth/identity.ts';
import { minuteMs } from '../../lib/time.ts';
import { defineJob, type JobContext } from '../../store/queue/define-job.ts';
import type { Schema } from '../../store/schema.ts';
import { markAbandoned } from './execute.ts';
import { findKind } from './kinds/kind.ts';
import { queueReminder } from './messages.ts';
import type { Operation } from './model.ts';
import { findOperationsToRemind } from './queries.ts';
import {
  expireOperation,
  type Ledger,
  type LockedOperation,
  transition,
  voidOperation,
  withLock,
} from './transitions.ts';
import { isOverdue, startWithinMs } from './validity.ts';
import { destroyIdleValues, destroyValuesOf } from './values.ts';

// Longer than a request may take with its waits for a rate limit.
const maxExecutionMs = 10 * minuteMs;

/** Once a minute: overdue operations expire, abandoned ones become unknown, approvers are reminded at half time. */
export const operationClockJob = defineJob({
  name: 'operation-clock',
  cron: '* * * * *',
  data: z.object({}),
  // The next minute does it again.
  retries: 0,
  async run(_, { ports, log }: JobContext<{ readonly ledger: Ledger }>) {
    const { ledger } = ports;
    const expired = await expireOverdue(ledger);
    const abandoned = await markLongExecuting(ledger);
    if (expired.length + abandoned.length > 0)
      log.info({ expired, abandoned }, 'operations expired or abandoned');
    for (const operation of await findOperationsToRemind(ledger)) await remindApprovers(ledger, operation);
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
  return moveEach(ledger, mayBeOverdue, async (locked) => {
    if (!isOverdue(locked.operation, ledger.now())) return false;
    await expireOperation(locked);
    return true;
  });
}

/** Operations that have been executing longer than any request takes become unknown. Answers their ids. */
export function markLongExecuting(ledger: Ledger): Promise<string[]> {
  const before = new Date(ledger.now().getTime() - maxExecutionMs);
  const isLong = (is: Where) => is.and([is('state', '=', 'executing'), is('moved_at', '<=', before)]);
  return moveEach(ledger, isLong, markAbandoned);
}

/** Reminds the approvers of an operation once. True for exactly one caller. */
export function remindApprovers({ db, now, outbox, kinds }: Ledger, operation: Operation): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('operations')
      .set({ reminded_at: now() })
      .where((is) => is.and({ id: operation.id, state: 'proposed', reminded_at: null }))
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) return false;
    await queueReminder({ outbox, kinds, db: trx }, operation);
    return true;
  });
}

/**
 * Cancels what has not begun of a person or a whole tenant, and destroys its values: a key was disconnected or the app
 * uninstalled. Answers the ids.
 */
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
    if (!['proposed', 'approved'].includes(state)) return false;
    // It does not need the key that its requester gave up.
    if (person && findKind(ledger.kinds, kind).keyless) return false;
    await transition(locked, { to: 'cancelled', by: 'system', outcome });
    return true;
  });
  await destroyValuesOf(ledger, tenant, person?.userId);
  return cancelled;
}

/** Voids what waits to change the settings of a tenant: they are other ones now, or somebody asked for another change. */
export function voidOvertaken(ledger: Ledger, tenant: string, kind: string): Promise<string[]> {
  const waits = (is: Where) => is.and({ tenant, kind, state: 'proposed' });
  return moveEach(ledger, waits, async (locked) => {
    if (locked.operation.state !== 'proposed') return false;
    await voidOperation(locked, 'overtaken');
    return true;
  });
}

type Where = ExpressionBuilder<Schema, 'operations'>;

/** Moves these operations, each under its lock; answers the ids of those that `move` moved. */
async function moveEach(
  ledger: Ledger,
  which: (where: Where) => ReturnType<Where['and']>,
  move: (locked: LockedOperation) => Promise<boolean>,
): Promise<string[]> {
  const rows = await ledger.db.selectFrom('operations').select('id').where(which).orderBy('id').execute();
  const moved: string[] = [];
  for (const { id } of rows) if ((await withLock(ledger, { id }, move)) === true) moved.push(id);
  return moved;
}
