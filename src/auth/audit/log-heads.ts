import { z } from 'zod';
import { dayMs } from '../../lib/time.ts';
import { defineJob, type JobContext } from '../../store/queue/define-job.ts';
import { findHeads } from './chain.ts';

/**
 * Logs the newest link of each chain that grew within a day. Whoever keeps the logs can show that records were cut off or
 * written anew since: `npm run audit:verify -- --heads <log file>`.
 */
export const logAuditHeads = defineJob({
  name: 'log-audit-heads',
  cron: '7 * * * *',
  data: z.object({}),
  async run(_data, { db, log, now }: JobContext) {
    const since = now().getTime() - dayMs;
    for (const { tenant, seq, hash, at } of await findHeads(db))
      if (at.getTime() >= since) log.info({ tenant, seq, head: hash }, 'audit head');
  },
});
