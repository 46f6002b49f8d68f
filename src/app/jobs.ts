import { sql } from 'kysely';
import { z } from 'zod';
import { logAuditHeads } from '../auth/audit/audit.ts';
import { endAccessJob, type OffboardingPorts, reconcileAccessJob } from '../auth/offboarding.ts';
import { type ExportPorts, exportMessages } from '../commands/exports/exports.ts';
import { exportRetentionJob, runExportJob } from '../commands/exports/jobs.ts';
import {
  executeOperationJob,
  type OperationPorts,
  operationClockJob,
} from '../commands/operations/execute.ts';
import { operationMessages } from '../commands/operations/messages.ts';
import { rememberedDays } from '../commands/reports/accounts.ts';
import { alertMessages } from '../commands/reports/alerts/write.ts';
import { digestMessages } from '../commands/reports/digests/run-digest.ts';
import { pauseMessages } from '../commands/reports/life.ts';
import { reconcileReportsJob, reportJobs } from '../commands/reports/runner.ts';
import type { ReportPorts } from '../commands/reports/store.ts';
import { dayMs, toUtcDay } from '../lib/time.ts';
import { completeStepJob } from '../outbox/complete-step.ts';
import { createDeliverJob, type DeliverPorts, sweepOutboxJob } from '../outbox/deliver.ts';
import type { MessageKind } from '../outbox/outbox.ts';
import { defineJob, type Enqueue, type EnqueueOptions, type Job } from '../store/queue.ts';
import type { Db, Schema } from '../store/schema.ts';

export type Ports = ReportPorts & ExportPorts & OperationPorts & OffboardingPorts & DeliverPorts;

const messageKinds: readonly MessageKind<never, Ports>[] = [
  ...digestMessages,
  ...alertMessages,
  ...pauseMessages,
  ...exportMessages,
  ...operationMessages,
];

const housekeepingJob = defineJob({
  name: 'housekeeping',
  cron: '*/15 * * * *',
  data: z.object({}),
  run: (_data, { db, now }) => deleteOldRows(db, now()),
});

/** Rows go when this moment of theirs is so many days past; `unless` keeps some. */
const retention: readonly (readonly [table: keyof Schema, moment: string, days: number, unless?: string])[] =
  [
    // Slack repeats a delivery for about an hour; a day leaves room for clocks that disagree.
    ['deliveries', 'seen_at', 1],
    // An expired link still says so for a day.
    ['key_links', 'expires_at', 1],
    ['client_tokens', 'expires_at', 1],
    // A deletion can be undone for minutes; a run of a deleted digest may still be under way.
    ['reports', 'deleted_at', 1 / 24],
    ['report_incidents', 'closed_at', 100],
    // Later runs are compared with earlier ones of a quarter of a year.
    ['report_runs', 'due', 100, `state in ('due', 'collecting', 'sending')`],
    // A message can be edited for as long as its row is kept.
    ['outbox', 'changed_at', 100, 'next_at is not null'],
    ['step_runs', 'begun_at', 100],
    // The hour that counts, and one for clocks that disagree.
    ['read_budgets', 'hour', 1],
    ['zone_changes', 'at', 100],
    ['zone_looks', 'looked_at', 100],
    ['slack_pace', 'free_at', 1],
  ];

export async function deleteOldRows(db: Db, now: Date): Promise<void> {
  for (const [table, moment, days, unless = 'false'] of retention)
    await sql`delete from ${sql.table(table)}
      where ${sql.ref(moment)} < ${new Date(now.getTime() - days * dayMs)} and not (${sql.raw(unless)})`.execute(
      db,
    );
  // A code that a zone did not have for so long is a new one.
  const oldest = toUtcDay(new Date(now.getTime() - rememberedDays * dayMs));
  await db.deleteFrom('error_days').where('day', '<', oldest).execute();
}

export async function repairSchedules(enqueue: Enqueue, options?: EnqueueOptions): Promise<void> {
  await enqueue(reconcileReportsJob, {}, options);
}

export const jobs: readonly Job<never, Ports>[] = [
  createDeliverJob(messageKinds),
  sweepOutboxJob,
  completeStepJob,
  logAuditHeads,
  ...reportJobs,
  runExportJob,
  exportRetentionJob,
  housekeepingJob,
  operationClockJob,
  executeOperationJob,
  endAccessJob,
  reconcileAccessJob,
];
