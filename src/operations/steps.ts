import { endStepRun } from '../outbox/complete-step.ts';
import type { Enqueue } from '../store/queue/queue.ts';
import type { Trx } from '../store/schema.ts';
import { describeDeletion, hasEnded } from '../views/steps.ts';
import type { Operation } from './model.ts';

/*
 * Operations that a step of Workflow Builder asked for: the step ends with its operation.
 */

type StepTrx = { readonly db: Trx; readonly enqueue: Enqueue };

/**
 * Ties a new operation to the run of the step that asks for it, in the transaction that stores it.
 *
 * @throws Error where the run has asked before, or is none of this tenant.
 */
export async function linkStepRun(
  { db }: StepTrx,
  run: string,
  { id, tenant }: { readonly id: string; readonly tenant: string },
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('step_runs')
    .set({ operation_id: id })
    .where('id', '=', run)
    .where('tenant', '=', tenant)
    .where('operation_id', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new Error('a run of a step asks for one operation');
}

/** Has the waiting step of an operation that has ended told of it, in the transaction in which it ends. */
export async function endStepOf({ db, enqueue }: StepTrx, operation: Operation): Promise<void> {
  if (!hasEnded(operation)) return;
  const row = await db
    .selectFrom('step_runs')
    .select('id')
    .where('operation_id', '=', operation.id)
    .executeTakeFirst();
  if (!row) return;
  const run = { run: row.id, installation: operation.requester };
  await endStepRun(enqueue, run, { outputs: describeDeletion(operation) }, { in: db });
}
