import { digestDueJob, digestRunJob, reconcileDigestsJob } from '../../digests/jobs.ts';
import { digestMessages } from '../../digests/messages.ts';
import type { DigestPorts } from '../../digests/ports.ts';
import { beginExportJob } from '../../exports/begin.ts';
import { notifyOutcomeJob } from '../../exports/notify-outcome.ts';
import type { ExportPorts } from '../../exports/ports.ts';
import { exportRetentionJob } from '../../exports/retention.ts';
import { runExportJob } from '../../exports/run.ts';
import { executeOperationJob, type OperationPorts } from '../../operations/execute.ts';
import { operationClockJob } from '../../operations/expiry.ts';
import { operationMessages } from '../../operations/messages.ts';
import { createDeliverJob, sweepOutboxJob } from '../../outbox/deliver.ts';
import type { MessageKind } from '../../outbox/outbox.ts';
import type { Job } from '../../store/queue/define-job.ts';
import { auditCheckpoint, type CheckpointPorts, checkpointMessage } from './audit-checkpoint.ts';
import { housekeeping } from './housekeeping.ts';

/** What jobs reach outwards with. Each engine names the few that its own jobs need. */
export type Ports = DigestPorts & ExportPorts & OperationPorts & CheckpointPorts;

/** Every kind of message in the outbox. */
const messageKinds: readonly MessageKind<never, Ports>[] = [
  checkpointMessage,
  ...digestMessages,
  ...operationMessages,
];

/** Every job there is. A new one is a file beside this one and a line here. */
export const jobs: readonly Job<never, Ports>[] = [
  createDeliverJob(messageKinds),
  sweepOutboxJob,
  auditCheckpoint,
  digestDueJob,
  digestRunJob,
  reconcileDigestsJob,
  beginExportJob,
  runExportJob,
  notifyOutcomeJob,
  exportRetentionJob,
  housekeeping,
  operationClockJob,
  executeOperationJob,
];
