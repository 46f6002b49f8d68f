import { z } from 'zod';
import type { CheckpointReport, Checkpoints } from '../auth/audit/checkpoints.ts';
import { defineMessage, type Ended, type Outbox } from '../outbox/outbox.ts';
import { defineJob, type JobContext } from '../store/queue/define-job.ts';
import { renderBrokenRecord, renderCheckpoint } from '../views/audit/audit.ts';

export type CheckpointPorts = { readonly outbox: Outbox; readonly checkpoints: Checkpoints };

interface About {
  readonly tenant: string;
  readonly day: string;
  readonly kind: CheckpointReport['kind'];
}

// The next hour tries again.
const expiryMs = 50 * 60_000;

/** A daily checkpoint in the channel that the settings name. */
export const checkpointMessage = defineMessage({
  kind: 'audit-checkpoint',
  async ended(trx, { about, state, code }: Ended<About>, { ports }: JobContext<CheckpointPorts>) {
    const states = { sent: 'posted', dead: 'failed', unknown: 'unknown' } as const;
    await ports.checkpoints.recordResult(trx, about, { state: states[state], code });
  },
});

/**
 * Posts the daily checkpoint of each tenant that wants one. It runs every hour: a bot that was down at midnight makes up
 * for it, and a post that Slack refused is tried again. A tenant's day is claimed once.
 */
export const auditCheckpoint = defineJob({
  name: 'audit-checkpoint',
  cron: '7 * * * *',
  data: z.object({}),
  async run(_data, { ports, log, signal }: JobContext<CheckpointPorts>) {
    const { checkpoints, outbox } = ports;
    for (const tenant of await checkpoints.tenants()) {
      if (signal.aborted) return;
      try {
        await checkpoints.claim(tenant, (trx, { day, at, channel, report }) => {
          const { kind } = report;
          if (kind === 'broken') log.error({ ...report.broken }, 'audit record is broken');
          return outbox.put(trx, {
            id: `audit-checkpoint:${tenant}:${at.toISOString()}`,
            kind: checkpointMessage,
            about: { tenant, day, kind },
            installation: installationOf(tenant),
            to: { places: [channel] },
            body: kind === 'signed' ? renderCheckpoint(report) : renderBrokenRecord(report.broken),
            doubt: 'look',
            expiresAt: new Date(at.getTime() + expiryMs),
          });
        });
      } catch (error) {
        // One tenant's failure does not keep the others from theirs.
        log.error({ tenant, error }, 'audit checkpoint failed');
      }
    }
  },
});

/** Organisations' ids begin with E: https://docs.slack.dev/enterprise */
function installationOf(tenant: string) {
  return tenant.startsWith('E') ? { teamId: tenant, enterpriseId: tenant } : { teamId: tenant };
}
