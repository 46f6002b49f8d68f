import { z } from 'zod';
import { SlackFailure } from '../outbox/slack-port.ts';
import { defineJob } from '../store/queue/define-job.ts';
import * as views from '../views/digests/reinstall-notice.ts';
import { classifySlackFailure } from './classify-failure.ts';
import { notifyPausesJob } from './pause-notifications.ts';
import type { DigestContext } from './ports.ts';
import type { DigestRow } from './queries/digests.ts';
import {
  claimReinstallNotifications,
  findReinstalledDigests,
  settleReinstallNotifications,
} from './queries/reinstall-notifications.ts';
import { readDigest } from './row.ts';

/**
 * The app is back in a workspace, or its token is: whoever owns digests that stopped with it is told, once. Hourly too,
 * since nobody says so where a token works again without a new installation.
 */
export const findReinstalledJob = defineJob({
  name: 'digests-returned',
  cron: '11 * * * *',
  data: z.object({ tenant: z.string().optional() }),
  async run({ tenant }, { db, ports }: DigestContext) {
    await db.transaction().execute(async (trx) => {
      for (const row of await claimReinstallNotifications(trx, tenant)) {
        const { tenant, enterprise_id: enterpriseId, team_id: teamId, owner } = row;
        await ports.enqueue(notifyReinstalledJob, { tenant, enterpriseId, teamId, owner }, { in: trx });
      }
    });
  },
});

/** Tells one owner of all their digests that rest, in their direct messages; else each in its channel. */
export const notifyReinstalledJob = defineJob({
  name: 'digests-owner-returned',
  data: z.object({
    tenant: z.string(),
    enterpriseId: z.string().nullable(),
    teamId: z.string(),
    owner: z.string(),
  }),
  retries: 5,
  async run(about, context: DigestContext) {
    const { db, ports, signal, log } = context;
    const rows = await findReinstalledDigests(db, about);
    const [first] = rows;
    if (!first) return;
    const digests = rows.map(readDigest);
    const person = readDigest(first).owner;
    const decision = await ports.authorizer(person).decide({ needs: 'read', name: 'digest' }, undefined);
    const notice = views.renderReinstalled({ digests, hasKey: decision.reason !== 'no-key' });
    try {
      // Where they read it the bot may not look: after a crash right behind this they get it once more.
      await ports.slack(person, signal).post(about.owner, notice);
    } catch (error) {
      // Better once than twice.
      if (error instanceof SlackFailure && error.outcome === 'unknown')
        return settleReinstallNotifications(db, rows, 'yes');
      if (error instanceof SlackFailure && error.code === 'ratelimited') {
        // The next hour begins again.
        if (context.lastAttempt) await settleReinstallNotifications(db, rows, 'no');
        throw error;
      }
      const trouble = classifySlackFailure(error);
      log.info({ tenant: about.tenant, owner: about.owner, error }, 'an owner of digests could not be told');
      // It is not back after all.
      if (trouble.kind === 'halt' && trouble.reason === 'uninstalled')
        return settleReinstallNotifications(db, rows, 'no');
      return tellElsewhere(rows, context);
    }
    await settleReinstallNotifications(db, rows, 'yes');
  },
});

async function tellElsewhere(rows: readonly DigestRow[], { db, ports }: DigestContext): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await settleReinstallNotifications(trx, rows, 'each');
    await ports.enqueue(notifyPausesJob, {}, { in: trx });
  });
}
