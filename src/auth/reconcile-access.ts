import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { mapConcurrently } from '../lib/concurrency.ts';
import { dayMs, hourMs, minuteMs } from '../lib/time.ts';
import { defineJob, type JobContext } from '../store/queue/define-job.ts';
import type { Db } from '../store/schema.ts';
import { deployment } from './audit/audit.ts';
import type { OffboardingPorts } from './offboarding.ts';

// Slack answers about a hundred users.info a minute and workspace, and people who wait come first.
const lookupPauseMs = 1_000;
/** Slack's rates are each workspace's own. */
const tenantsAtOnce = 8;
/** People and installations that are read together; a killed run asks as many again at most. */
const batchSize = 200;
/** Time in which a run takes batches. The last one ends within minutes, then the next run goes on. */
const shareMs = 55 * minuteMs;
/** Time from the beginning of a round to the next. Shorter than a day, since the hourly runs are not exact. */
const roundMs = dayMs - hourMs / 2;

/** A linked person, or an installation, whose `userId` is empty. */
interface Entry {
  readonly tenant: string;
  readonly userId: string;
  readonly teamId: string;
}

/**
 * Compares every installation and every linked person with Slack, in case that an event never arrived: a round a day, or
 * longer where there are so many. Each run goes on behind the last batch that was stored, whoever worked on it.
 */
export const reconcileAccessJob = defineJob({
  name: 'reconcile-access',
  cron: '29 * * * *',
  data: z.object({}),
  onePerKey: 'running',
  timeLimitSeconds: 2 * 60 * 60,
  async run(_data, context: JobContext<OffboardingPorts>) {
    const { db, now, signal } = context;
    const startedAt = now();
    const round = await db
      .selectFrom('access_rounds')
      .selectAll()
      .where('tenant', '=', deployment)
      .executeTakeFirst();
    const isUnderWay = typeof round?.after_tenant === 'string';
    if (round && !isUnderWay && round.begun_at.getTime() > startedAt.getTime() - roundMs) return;
    const begunAt = isUnderWay ? round.begun_at : startedAt;
    let last = { tenant: round?.after_tenant ?? '', userId: round?.after_user ?? '' };
    let isDone = false;
    while (!isDone && now().getTime() < startedAt.getTime() + shareMs) {
      const batch = await readBatch(db, last);
      const tenants = [...Map.groupBy(batch, ({ tenant }) => tenant)];
      await mapConcurrently(tenantsAtOnce, tenants, ([tenant, entries]) => compare(tenant, entries, context));
      signal.throwIfAborted();
      last = batch.at(-1) ?? last;
      isDone = batch.length < batchSize;
      const position = {
        begun_at: begunAt,
        after_tenant: isDone ? null : last.tenant,
        after_user: isDone ? null : last.userId,
      };
      await db
        .insertInto('access_rounds')
        .values({ tenant: deployment, ...position })
        .onConflict((conflict) => conflict.column('tenant').doUpdateSet(position))
        .execute();
    }
  },
});

/** The next entries in the order of the primary keys, which both parts are read by. */
async function readBatch(db: Db, after: { tenant: string; userId: string }): Promise<Entry[]> {
  const { rows } = await sql<Entry>`
    (select tenant, user_id as "userId", team_id as "teamId" from linked_keys
      where (tenant, user_id) > (${after.tenant}, ${after.userId}) order by tenant, user_id limit ${batchSize})
    union all
    (select tenant, '', tenant from installations
      where tenant > ${after.tenant} order by tenant limit ${batchSize})
    order by 1, 2 limit ${batchSize}`.execute(db);
  return rows;
}

/** Asks Slack about one tenant and its people, one a second. */
async function compare(
  tenant: string,
  entries: readonly Entry[],
  { ports, now, signal, log }: JobContext<OffboardingPorts>,
): Promise<void> {
  signal.throwIfAborted();
  const enterpriseId = tenant.startsWith('E') ? tenant : undefined;
  const people = entries.filter(({ userId }) => userId !== '');
  // What Slack says is of now: an installation that is stored meanwhile stays.
  const at = Math.floor(now().getTime() / 1000);
  try {
    const place = { enterpriseId, teamId: people[0]?.teamId ?? tenant };
    if (!(await ports.isInstalled(place)))
      return await ports.endAccess({ ...place, cause: 'tokens-revoked', at });
    for (const [nth, { teamId, userId }] of people.entries()) {
      if (nth > 0) await setTimeout(lookupPauseMs, undefined, { signal });
      const profile = await ports.people({ enterpriseId, teamId }).profile(userId, { fresh: true });
      if (profile?.deleted)
        await ports.endAccess({ enterpriseId, teamId, userId, cause: 'user-deleted', at });
    }
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ error, tenant }, 'cannot compare an installation with Slack; tried again in the next round');
  }
}
