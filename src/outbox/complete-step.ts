import { sql } from 'kysely';
import { z } from 'zod';
import { type Installation, tenantId } from '../auth/identity.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import { defineJob, type Enqueue, type JobContext } from '../store/queue.ts';
import type { Db, Trx } from '../store/schema.ts';
import { makeReference } from '../telemetry/reference.ts';
import { canBeLifted, classifySlackFailure, describeLift, type OpenSlack } from './slack-port.ts';

/*
 * The end of a workflow step: a job under the key of its run, which survives a killed process. From the delivery on such a
 * job waits: it ends a run whose work died.
 */

const endSchema = z.union([
  z.object({ outputs: z.record(z.string(), z.union([z.string(), z.number()]).optional()) }),
  z.object({ error: z.string().min(1) }),
]);
export type StepRunEnd = z.output<typeof endSchema>;

export const completeStepJob = defineJob({
  name: 'complete-step',
  data: z.object({
    run: z.string(),
    installation: z.object({ enterpriseId: z.string().optional(), teamId: z.string() }),
    end: endSchema,
    /** Only if the run has not asked for an operation: that one ends it. From then on it asks for none. */
    unlessProposed: z.literal(true).optional(),
    /** When Slack first refused it: a run may be days old when its operation ends. In milliseconds. */
    refusedAt: z.number().optional(),
  }),
  onePerKey: 'waiting',
  // About an hour.
  retries: 20,
  timeLimitSeconds: 60,
  async run(data, { db, ports, signal, log, now }: JobContext<Ports>) {
    const { run, installation, end, unlessProposed } = data;
    if (unlessProposed && !(await closeStepRun(db, run, now()))) return;
    const slack = ports.slack(installation, signal);
    try {
      await slack.completeStep(run, end);
    } catch (error) {
      const { meaning, code, askedMs = minuteMs } = classifySlackFailure(error);
      if (meaning === 'app') return log.info({ run, code }, 'step of a lost app');
      if (meaning === 'unclear' || meaning === 'not-sent') throw error;
      if (meaning === 'pass' || canBeLifted(code)) {
        const { refusedAt = now().getTime() } = data;
        const waitedMs = now().getTime() - refusedAt;
        if (waitedMs < longestWaitMs) {
          const at = new Date(now().getTime() + Math.max(askedMs, waitedMs / 4));
          return endStepRun(ports.enqueue, { run, installation }, end, { at, unlessProposed, refusedAt });
        }
        ports.untold(completeStepJob.name);
        return log.error({ run, code, fix: describeLift(code) }, 'end of a step was refused for a day');
      }
      const reference = makeReference();
      log.error({ run, reference, error }, 'Slack refused the end of a step');
      const text = `The result of this step could not be delivered. Tell the team that runs this bot. Reference ${reference}`;
      await slack.completeStep(run, { error: text });
    }
  },
});

/** Afterwards nobody waits for the workflow. */
const longestWaitMs = dayMs;

type Ports = {
  readonly slack: OpenSlack;
  readonly enqueue: Enqueue;
  readonly untold: (kind: string) => void;
};
type Enqueuing = { readonly enqueue: Enqueue; readonly db: Db | Trx };

/** Stores how a run ends. Replaces what still waits. */
export async function endStepRun(
  enqueue: Enqueue,
  { run, installation }: StepRun,
  end: StepRunEnd,
  more: {
    readonly in?: Trx;
    readonly at?: Date;
    readonly unlessProposed?: true | undefined;
    readonly refusedAt?: number;
  } = {},
): Promise<void> {
  const { unlessProposed, refusedAt, ...options } = more;
  const { teamId, enterpriseId } = installation;
  const data = { run, installation: { teamId, enterpriseId }, end, unlessProposed, refusedAt };
  await enqueue(completeStepJob, data, { ...options, key: run, tenant: tenantId(installation) });
}

export interface StepRun {
  readonly run: string;
  readonly installation: Installation;
}

const diedAfterMs = 10 * minuteMs;

/** Stores a run that was delivered, and its end in case that the work on it dies. False if it was delivered before. */
export async function beginStepRun(
  { db, enqueue }: Enqueuing,
  { run, installation }: StepRun,
  { now, ifItDies }: { readonly now: Date; readonly ifItDies: string },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('step_runs')
      .values({
        id: run,
        tenant: tenantId(installation),
        enterprise_id: installation.enterpriseId ?? null,
        team_id: installation.teamId,
        begun_at: now,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows !== 1n) return false;
    const at = new Date(now.getTime() + diedAfterMs);
    await endStepRun(
      enqueue,
      { run, installation },
      { error: ifItDies },
      { in: trx, at, unlessProposed: true },
    );
    return true;
  });
}

/** Closes a step run so that it can no longer propose an operation. False if it already has, or does not exist. */
export async function closeStepRun(db: Db | Trx, run: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('step_runs')
    .set({ closed_at: sql<Date>`coalesce(closed_at, ${at}::timestamptz)` })
    .where('id', '=', run)
    .where('operation_id', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
