import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { mapConcurrently } from '../lib/concurrency.ts';
import { claimOnce } from '../store/database.ts';
import { defineJob, type Enqueue, type JobContext } from '../store/queue.ts';
import type { Db } from '../store/schema.ts';
import type { Log } from '../telemetry/log.ts';
import { type Installation, type People, type Person, tenantId } from './identity.ts';
import type { Installations } from './installations.ts';
import type { KeyStore } from './keys/key-store.ts';
import type { KeyLinks } from './keys/tokens.ts';

const accessEnd = z.object({
  cause: z.enum(['user-deleted', 'team-access-revoked', 'app-uninstalled', 'tokens-revoked']),
  /** Seconds since the epoch. */
  at: z.number(),
  enterpriseId: z.string().optional(),
  teamId: z.string(),
  userId: z.string().optional(),
});

export type AccessEnd = z.output<typeof accessEnd>;

type Ended = { readonly tenant: string; readonly person: Person | undefined };

/** Stops a feature's work. Called after the key is gone; may be called twice. */
export type OffboardingHook = (ended: Ended) => Promise<void>;

/** Destroys links, keys and tokens when their owner goes, and stops what ran on them. */
export function createOffboarding(options: {
  readonly installations: Installations;
  readonly keyStore: KeyStore;
  readonly links: KeyLinks;
  readonly hooks: readonly OffboardingHook[];
  readonly log: Log;
}) {
  const { installations, keyStore, links, hooks, log } = options;
  const runHooks = (ended: Ended) => Promise.all(hooks.map((hook) => hook(ended)));
  const endPerson = async (person: Person, cause: string): Promise<void> => {
    const tenant = tenantId(person);
    await links.forget({ tenant, user_id: person.userId });
    await keyStore.forget(person, { actor: 'system', cause });
    await runHooks({ person, tenant });
  };
  return async ({ cause, at, userId, ...place }: AccessEnd): Promise<void> => {
    const tenant = tenantId(place);
    const { enterpriseId, teamId } = place;
    const installedAt = await installations.installedAt(tenant);
    // Slack repeats an event for an hour. Its times are whole seconds.
    if (installedAt && at < Math.floor(installedAt.getTime() / 1000))
      return log.info({ tenant, cause }, 'event from before the installation ignored');
    if (userId !== undefined) await endPerson({ ...place, userId }, cause);
    else if (cause === 'team-access-revoked') {
      await links.forget({ tenant, team_id: teamId });
      for (const user of await keyStore.usersOfTeam(tenant, teamId))
        await endPerson({ ...place, userId: user }, cause);
    } else {
      await links.forget({ tenant });
      await keyStore.forgetTenant(tenant, { actor: 'system', cause });
      await runHooks({ person: undefined, tenant });
      const isEnterpriseInstall = enterpriseId !== undefined;
      await installations.remove({ isEnterpriseInstall, enterpriseId, teamId });
      // What was linked meanwhile.
      await keyStore.forgetTenant(tenant, { actor: 'system', cause });
    }
    log.info({ tenant, teamId, cause }, 'access ended: its keys and links are destroyed');
  };
}

export interface OffboardingPorts {
  readonly endAccess: (end: AccessEnd) => Promise<void>;
  /** Whether Slack still accepts the installation's token. Rejects where it does not say. */
  readonly isInstalled: (place: Installation) => Promise<boolean>;
  readonly people: (place: Installation) => People;
}

export const endAccessJob = defineJob({
  name: 'end-access',
  data: accessEnd,
  // A day, with five minutes between the later ones.
  retries: 300,
  run: (end, { ports }: JobContext<OffboardingPorts>) => ports.endAccess(end),
});

/** Stores the ends that an event tells of, as jobs: once, however often Slack repeats it. */
export function createEndStore(db: Db, enqueue: Enqueue, now: () => Date) {
  return (eventId: string, ends: readonly AccessEnd[]): Promise<void> =>
    db.transaction().execute(async (trx) => {
      if (!(await claimOnce(trx, `end:${eventId}`, now()))) return;
      for (const end of ends) await enqueue(endAccessJob, end, { in: trx, tenant: tenantId(end) });
    });
}

// Slack answers about a hundred users.info a minute and workspace, and people who wait come first.
const lookupPauseMs = 1_000;
const tenantsAtOnce = 8;

interface Entry {
  readonly tenant: string;
  readonly userId: string;
  readonly teamId: string;
}

/** Compares everybody with Slack once a day, in case that an event never arrived: each hour those whose ids hash to it. */
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
