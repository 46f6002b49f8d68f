import { z } from 'zod';
import { endReturns, returnsOf, takeReturns } from '../store/digest-returns.ts';
import type { DigestRow } from '../store/digests.ts';
import * as views from '../views/digest-return.ts';
import { defineJob, type JobContext } from './define.ts';
import { digestOf } from './digest.ts';
import { tellPauses } from './digest-pauses.ts';
import { troublePosting } from './digest-trouble.ts';
import { SlackFailure } from './ports.ts';

/**
 * The app is back in a workspace, or its token is: whoever owns digests that stopped with it is told, once. Hourly too,
 * since nobody says so where a token works again without a new installation.
 */
export const digestsReturned = defineJob({
  name: 'digests-returned',
  cron: '11 * * * *',
  data: z.object({ tenant: z.string().optional() }),
  async run({ tenant }, { db, ports }) {
    await db.transaction().execute(async (trx) => {
      for (const row of await takeReturns(trx, tenant)) {
        const { tenant, enterprise_id: enterpriseId, team_id: teamId, owner } = row;
        await ports.enqueue(tellReturned, { tenant, enterpriseId, teamId, owner }, { in: trx });
      }
    });
  },
});

/** Tells one owner of all their digests that rest, in their direct messages; else each in its channel. */
export const tellReturned = defineJob({
  name: 'digests-owner-returned',
  data: z.object({
    tenant: z.string(),
    enterpriseId: z.string().nullable(),
    teamId: z.string(),
    owner: z.string(),
  }),
  retries: 5,
  async run(about, context) {
    const { db, ports, signal, log } = context;
    const rows = await returnsOf(db, about);
    const [first] = rows;
    if (!first) return;
    const digests = rows.map(digestOf);
    const person = digestOf(first).owner;
    const decision = await ports.standing(person).decide({ needs: 'read', name: 'digest' }, undefined);
    const notice = views.returned({ digests, hasKey: decision.reason !== 'no-key' });
    try {
      // Where they read it the bot may not look: after a crash right behind this they get it once more.
      await ports.slack(person, signal).post(about.owner, notice);
    } catch (error) {
      // Better once than twice.
      if (error instanceof SlackFailure && error.outcome === 'unknown') return endReturns(db, rows, 'yes');
      if (error instanceof SlackFailure && error.code === 'ratelimited') {
        // The next hour begins again.
        if (context.lastAttempt) await endReturns(db, rows, 'no');
        throw error;
      }
      const trouble = troublePosting(error);
      log.info({ tenant: about.tenant, owner: about.owner, error }, 'an owner of digests could not be told');
      // It is not back after all.
      if (trouble.kind === 'halt' && trouble.reason === 'uninstalled') return endReturns(db, rows, 'no');
      return tellElsewhere(rows, context);
    }
    await endReturns(db, rows, 'yes');
  },
});

async function tellElsewhere(rows: readonly DigestRow[], { db, ports }: JobContext): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await endReturns(trx, rows, 'each');
    await ports.enqueue(tellPauses, {}, { in: trx });
  });
}
