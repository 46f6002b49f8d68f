import { type Person, tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { closeStepRun, endStepRun } from '../../outbox/complete-step.ts';
import type { Enqueue } from '../../store/queue/queue.ts';
import type { Db, Trx } from '../../store/schema.ts';
import { type DeletionOutputs, describeDeletion, hasEnded } from '../../views/steps.ts';
import type { Operation } from './model.ts';

type StepTrx = { readonly db: Trx; readonly enqueue: Enqueue };

/** Ties a new operation to the step run that asks for it. @throws UserError where the run has asked before or has ended. */
export async function linkStepRun(
  { db }: StepTrx,
  run: string,
  { id, tenant }: { readonly id: string; readonly tenant: string },
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('step_runs')
    .set({ operation_id: id })
    .where((is) => is.and({ id: run, tenant, operation_id: null, closed_at: null }))
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw answered();
}

/** Ends a step without an operation: its person does not want one. @throws UserError where it is too late for that. */
export async function rejectStepRun(
  { db, enqueue, now }: { readonly db: Db; readonly enqueue: Enqueue; readonly now: () => Date },
  run: string,
  person: Person,
  outputs: DeletionOutputs,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const open = { id: run, tenant: tenantId(person), closed_at: null };
    const rows = trx
      .selectFrom('step_runs')
      .select('id')
      .where((is) => is.and(open));
    if (!(await rows.forUpdate().executeTakeFirst())) throw answered();
    if (!(await closeStepRun(trx, run, now()))) throw answered();
    await endStepRun(enqueue, { run, installation: person }, { outputs }, { in: trx });
  });
}

function answered(): UserError {
  return new UserError(
    'This was answered before, or its workflow has ended meanwhile. Nothing is asked for a second time.',
    'Run the workflow again, or type `/cdn volume delete`.',
  );
}

/** Tells the waiting step of an operation that has ended, in the transaction in which it ends. */
export async function endStepOf({ db, enqueue }: StepTrx, operation: Operation): Promise<void> {
  if (!hasEnded(operation)) return;
  const rows = db.selectFrom('step_runs').select('id as run').where('operation_id', '=', operation.id);
  const found = await rows.executeTakeFirst();
  if (!found) return;
  const run = { ...found, installation: operation.requester };
  await endStepRun(enqueue, run, { outputs: describeDeletion(operation) }, { in: db });
}
