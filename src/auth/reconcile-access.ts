import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { mapConcurrently } from '../lib/concurrency.ts';
import { defineJob, type JobContext } from '../store/queue/define-job.ts';
import type { OffboardingPorts } from './offboarding.ts';

// Slack answers about a hundred users.info a minute and workspace, and people who wait come first.
const lookupPauseMs = 1_000;
/** Slack's rates are each workspace's own. */
const tenantsAtOnce = 8;

interface Entry {
  readonly tenant: string;
  readonly userId: string;
  readonly teamId: string;
}

/**
 * Compares every installation and linked person with Slack once a day, in case that an event never arrived: each hour those
 * whose ids hash to it; at least twenty, so that a bot that runs by day only misses nobody.
 */
export const reconcileAccessJob = defineJob({
  name: 'reconcile-access',
  cron: '29 * * * *',
  data: z.object({}),
  onePerKey: 'running',
  timeLimitSeconds: 2 * 60 * 60,
  async run(_data, context: JobContext<OffboardingPorts>) {
    const hour = context.now().getUTCHours();
    // A few people are all asked about each hour: their bot may not run at every one.
    const { rows } = await sql<Entry>`
      with entries as (
        select tenant, user_id as "userId", team_id as "teamId" from linked_keys
        union all select tenant, '', tenant from installations),
        parts as (select least(24, 1 + count(*) / 20) as parts from entries)
      select tenant, "userId", "teamId" from entries, parts
       where (hashtext(tenant || "userId") & 2147483647) % parts = ${hour} % parts order by 1, 2`.execute(
      context.db,
    );
    const tenants = [...Map.groupBy(rows, ({ tenant }) => tenant)];
    await mapConcurrently(tenantsAtOnce, tenants, ([tenant, entries]) => compare(tenant, entries, context));
  },
});

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
    log.warn({ error, tenant }, 'cannot compare an installation with Slack; tried again tomorrow');
  }
}
