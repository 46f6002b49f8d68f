import { z } from 'zod';
import { logAuditHeads } from '../auth/audit/chain.ts';
import { endAccessJob, type OffboardingPorts } from '../auth/offboarding.ts';
import { reconcileAccessJob } from '../auth/reconcile-access.ts';
import { exportRetentionJob } from '../commands/exports/retention.ts';
import { exportMessages, runExportJob } from '../commands/exports/run.ts';
import type { ExportPorts } from '../commands/exports/store.ts';
import { executeOperationJob, type OperationPorts } from '../commands/operations/execute.ts';
import { operationClockJob } from '../commands/operations/expiry.ts';
import { operationMessages } from '../commands/operations/messages.ts';
import { rememberedDays } from '../commands/reports/accounts/error-days.ts';
import { alertMessages } from '../commands/reports/alerts/write.ts';
import { digestMessages } from '../commands/reports/digests/run-digest.ts';
import { pauseMessages } from '../commands/reports/pauses.ts';
import { reconcileReportsJob, reportJobs } from '../commands/reports/runner.ts';
import type { ReportPorts } from '../commands/reports/store.ts';
import { dayMs, hourMs, toUtcDay } from '../lib/time.ts';
import { completeStepJob } from '../outbox/complete-step.ts';
import { createDeliverJob, sweepOutboxJob } from '../outbox/deliver.ts';
import type { MessageKind } from '../outbox/outbox.ts';
import { defineJob, type Job } from '../store/queue/define-job.ts';
import type { Enqueue, EnqueueOptions } from '../store/queue/queue.ts';
import type { Db } from '../store/schema.ts';

/** The outbound ports of all jobs. Each engine names the few that its own jobs need. */
export type Ports = ReportPorts & ExportPorts & OperationPorts & OffboardingPorts;

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

export async function deleteOldRows(db: Db, now: Date): Promise<void> {
  const before = (ms: number): Date => new Date(now.getTime() - ms);
  const old = [
    // Slack repeats a delivery for about an hour; a day leaves room for clocks that disagree.
    db.deleteFrom('deliveries').where('seen_at', '<', before(dayMs)),
    // An expired link still says so, and offers a new one, for a day.
    db.deleteFrom('key_links').where('expires_at', '<', before(dayMs)),
    db.deleteFrom('client_tokens').where('expires_at', '<', before(dayMs)),
    // A deletion can be undone for minutes; a run of a deleted digest may still be under way.
    db.deleteFrom('reports').where('deleted_at', '<', before(hourMs)),
    db.deleteFrom('report_incidents').where('closed_at', '<', before(100 * dayMs)),
    // Later runs are compared with earlier ones of a quarter of a year.
    db
      .deleteFrom('report_runs')
      .where('due', '<', before(100 * dayMs))
      .where('state', 'not in', ['due', 'collecting', 'sending']),
    // A message can be edited for as long as its row is kept.
    db
      .deleteFrom('outbox')
      .where('changed_at', '<', before(100 * dayMs))
      .where('next_at', 'is', null),
    db.deleteFrom('step_runs').where('begun_at', '<', before(100 * dayMs)),
    // The hour that counts, and one for clocks that disagree.
    // A code that a zone did not have for so long is a new one.
    db.deleteFrom('error_days').where('day', '<', toUtcDay(before(rememberedDays * dayMs))),
    db.deleteFrom('read_budgets').where('hour', '<', before(dayMs)),
    db.deleteFrom('zone_changes').where('at', '<', before(100 * dayMs)),
    // With the settings that nobody has looked at since.
    db.deleteFrom('zone_looks').where('looked_at', '<', before(100 * dayMs)),
    db.deleteFrom('slack_pace').where('free_at', '<', before(dayMs)),
  ];
  for (const query of old) await query.execute();
}

export async function repairSchedules(enqueue: Enqueue, options?: EnqueueOptions): Promise<void> {
  await enqueue(reconcileReportsJob, {}, options);
}

/** Every job there is. A new one is a file in its engine's folder and a line here. */
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
