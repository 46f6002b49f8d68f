import { z } from 'zod';
import type {
  CheckpointClaim,
  CheckpointReport,
  CheckpointResult,
  Checkpoints,
} from '../../auth/audit/checkpoints.ts';
import { UserError } from '../../errors.ts';
import { type OpenSlack, type Place, SlackFailure } from '../../outbox/slack-port.ts';
import { defineJob, type JobContext } from '../../store/queue/define-job.ts';
import { renderBrokenRecord, renderCheckpoint } from '../../views/audit/checkpoint.ts';

export interface CheckpointPorts {
  readonly slack: OpenSlack;
  readonly checkpoints: Checkpoints;
}

/**
 * Posts the daily checkpoint of each tenant that wants one. It looks every hour: a bot that was down at midnight makes
 * up for it, what Slack refused is tried again, and whatever runs how often, a tenant's day is taken once.
 */
export const auditCheckpoint = defineJob({
  name: 'audit-checkpoint',
  cron: '7 * * * *',
  data: z.object({}),
  async run(_data, context: JobContext<CheckpointPorts>) {
    const { ports, log, signal } = context;
    for (const tenant of await ports.checkpoints.tenants()) {
      if (signal.aborted) return;
      try {
        const taken = await ports.checkpoints.take(tenant);
        if (!taken) continue;
        const { turn, news } = taken;
        if (news.kind === 'broken') log.error({ ...news.broken }, 'the audit record does not hold together');
        await ports.checkpoints.settle(turn, news, await posted(turn, news, context));
      } catch (error) {
        // One tenant's trouble is not the others'.
        log.error({ tenant, error }, 'an audit checkpoint could not be made');
      }
    }
  },
});

async function posted(
  { tenant, day, channel }: CheckpointClaim,
  news: CheckpointReport,
  { ports, log, signal }: JobContext<CheckpointPorts>,
): Promise<CheckpointResult> {
  const marker = { type: 'audit_checkpoint', payload: { tenant, day, kind: news.kind } };
  const message = news.kind === 'signed' ? renderCheckpoint(news) : renderBrokenRecord(news.broken);
  try {
    await ports.slack(placeOf(tenant), signal).post(channel, message, { marker });
    return { state: 'posted' };
  } catch (error) {
    const { outcome, code } = reasonOf(error);
    log.warn({ tenant, channel, code }, 'an audit checkpoint could not be posted');
    return { state: outcome === 'unknown' ? 'unknown' : 'failed', code };
  }
}

function reasonOf(error: unknown): Pick<SlackFailure, 'outcome' | 'code'> {
  if (error instanceof SlackFailure) return error;
  // Before anything was sent: the app is no longer installed there.
  if (error instanceof UserError) return { outcome: 'refused', code: 'not_installed' };
  throw error;
}

/** Organisations' ids begin with E: https://docs.slack.dev/enterprise */
function placeOf(tenant: string): Place {
  return tenant.startsWith('E') ? { teamId: tenant, enterpriseId: tenant } : { teamId: tenant };
}
