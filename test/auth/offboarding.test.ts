import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import type { Profile } from '../../src/auth/identity.ts';
import { createInstallations, NotInstalledError } from '../../src/auth/installations.ts';
import { createKeyStore } from '../../src/auth/keys/key-store.ts';
import { createSealer } from '../../src/auth/keys/sealing.ts';
import { createKeyLinks } from '../../src/auth/keys/tokens.ts';
import {
  type AccessEnd,
  createEndStore,
  createOffboarding,
  endAccessJob,
  type OffboardingPorts,
  reconcileAccessJob,
} from '../../src/auth/offboarding.ts';
import { hourMs } from '../../src/lib/time.ts';
import { Secret } from '../../src/secrets/secret.ts';
import type { Database } from '../../src/store/database.ts';
import { createQueue, type Queue } from '../../src/store/queue.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';
import { createKeyring } from './keyring/keyrings.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const queues: Queue[] = [];
afterEach(async () => {
  for (const queue of queues.splice(0)) await queue.stop({ graceMs: 0 });
});

const installedAt = Date.parse('2026-11-21T08:00:00.400Z');
const second = installedAt / 1000;
const acme = 'T0ACME000';
const corp = 'E0CORP0000';
const alice = { teamId: acme, userId: 'U0ALICE00' };
const bob = { teamId: acme, userId: 'U0BOB0000' };
const frank = { enterpriseId: corp, teamId: 'T0CORPONE', userId: 'U0FRANK00' };
const grace = { enterpriseId: corp, teamId: 'T0CORPTWO', userId: 'U0GRACE00' };
const inAcme = { teamId: acme, enterpriseId: undefined, isEnterpriseInstall: false } as const;

async function setUp(database: Database) {
  const { db } = database;
  let at = installedAt;
  const now = (): Date => new Date(at);
  const sealer = createSealer(await createKeyring());
  const installations = createInstallations({ db, sealer, now });
  const keyStore = createKeyStore({ db, sealer, now });
  const links = createKeyLinks({ db, sealer, now });
  const log = createMemoryLog();
  const ended: string[] = [];
  const endAccess = createOffboarding({
    installations,
    keyStore,
    links,
    log,
    hooks: [
      async ({ tenant, person }) => void ended.push(person?.userId ?? tenant),
      // While the app goes, somebody's key is still being checked.
      async ({ tenant, person }) => {
        if (!person && tenant === acme) await keyStore.link(alice, new Secret('linked meanwhile'));
      },
    ],
  });
  const bot = { id: 'B0BOT0000', userId: 'U0BOT0000', token: 'bot-token', scopes: [] };
  const install = () =>
    installations.storeInstallation({
      team: { id: acme },
      enterprise: undefined,
      user: { id: 'U0ADMIN00', token: undefined, scopes: undefined },
      bot,
      tokenType: 'bot',
    });
  await install();
  for (const person of [alice, bob, frank, grace]) await keyStore.link(person, new Secret('cdn key'));
  return {
    db,
    installations,
    install,
    keyStore,
    links,
    log,
    endAccess,
    ended,
    now,
    later: (ms: number) => void (at += ms),
    whoHasKeys: async () =>
      (await db.selectFrom('linked_keys').select('user_id').orderBy('user_id').execute()).map(
        ({ user_id }) => user_id,
      ),
  };
}

test('an event from before the installation ends nothing, a later one everything of its tenant', async () => {
  const bot = await setUp(await embedded.emptyDatabase());
  const end = { teamId: acme, cause: 'app-uninstalled' } as const;
  for (const late of [
    { ...end, at: second - 1 },
    { ...end, cause: 'tokens-revoked' as const, at: second - 3_600 },
    { ...end, ...alice, cause: 'user-deleted' as const, at: second - 2 },
  ])
    await bot.endAccess(late);
  expect(await bot.whoHasKeys()).toEqual(['U0ALICE00', 'U0BOB0000', 'U0FRANK00', 'U0GRACE00']);
  expect((await bot.installations.fetchInstallation(inAcme)).bot?.token).toBe('bot-token');

  const token = await bot.links.offer(bob, 'bob');
  // Of the same second: Slack tells whole ones.
  await bot.endAccess({ ...end, at: Math.floor(second) });
  expect(await bot.whoHasKeys()).toEqual(['U0FRANK00', 'U0GRACE00']);
  await expect(bot.installations.fetchInstallation(inAcme)).rejects.toBeInstanceOf(NotInstalledError);
  expect(bot.ended).toEqual([acme]);
  expect(await bot.links.find(token)).toBeUndefined();
});

test('another consent is a new installation', async () => {
  const bot = await setUp(await embedded.emptyDatabase());
  bot.later(60_000);
  expect(await bot.installations.installedAt(acme)).toEqual(new Date(installedAt));
  await bot.install();
  expect(await bot.installations.installedAt(acme)).toEqual(new Date(installedAt + 60_000));
  expect(await bot.installations.installedAt('T0NOWHERE')).toBeUndefined();
});

test('open links end with their person or workspace, also without a key', async () => {
  const bot = await setUp(await embedded.emptyDatabase());
  const keyless = { ...frank, userId: 'U0HEIDI00' };
  const [ofBob, ofFrank, ofKeyless, ofGrace] = [
    await bot.links.offer(bob, 'bob'),
    await bot.links.offer(frank, 'frank'),
    await bot.links.offer(keyless, 'heidi'),
    await bot.links.offer(grace, 'grace'),
  ];
  await bot.endAccess({ ...bob, cause: 'user-deleted', at: second });
  await bot.endAccess({
    enterpriseId: corp,
    teamId: 'T0CORPONE',
    cause: 'team-access-revoked',
    at: second,
  });
  for (const token of [ofBob, ofFrank, ofKeyless]) {
    expect(await bot.links.claim(token)).toBeUndefined();
    expect(await bot.links.find(token)).toBeUndefined();
  }
  expect(await bot.links.claim(ofGrace)).toBeDefined();
  expect(await bot.whoHasKeys()).toEqual(['U0ALICE00', 'U0GRACE00']);
  expect(bot.ended).toEqual(['U0BOB0000', 'U0FRANK00']);
});

test('the daily comparison ends who is gone, keeps who Slack does not tell of, and goes on after a failure', async () => {
  const bot = await setUp(await embedded.emptyDatabase());
  const beta = { teamId: 'T0BETA000', userId: 'U0IVAN000' };
  await bot.keyStore.link(beta, new Secret('cdn key'));
  const profile = { admin: false, foreign: false, timeZone: undefined };
  const profiles: Record<string, Profile | undefined> = {
    U0ALICE00: { ...profile, deleted: true },
    U0BOB0000: undefined,
    U0GRACE00: { ...profile, deleted: false },
  };
  const readProfile = async (id: string, { fresh = false }) => (fresh ? profiles[id] : profile);
  const ports = {
    endAccess: bot.endAccess,
    async isInstalled({ teamId, enterpriseId }: { teamId: string; enterpriseId?: string | undefined }) {
      if (enterpriseId === corp) throw new Error('Slack does not answer');
      return teamId !== 'T0BETA000';
    },
    people: () => ({ profile: readProfile }) as never,
  };
  const { db, log } = bot;
  const { signal } = new AbortController();
  // A few people are all looked up at each hour.
  await reconcileAccessJob.run({}, { db, ports, log, now: bot.now, signal, attempt: 1 });
  expect(await bot.whoHasKeys()).toEqual(['U0BOB0000', 'U0FRANK00', 'U0GRACE00']);
  expect(new Set(bot.ended)).toEqual(new Set(['T0BETA000', 'U0ALICE00']));
  const warnings = log.entries.filter(({ level }) => level === 'warn');
  expect(new Set(warnings.map(({ fields }) => Object(fields).tenant))).toEqual(new Set([corp]));
});

test('the comparison keeps an installation that is stored meanwhile, and one that is told to end is not done', async () => {
  const bot = await setUp(await embedded.emptyDatabase());
  const ending = new AbortController();
  const isInstalled = async () => {
    bot.later(60_000);
    await bot.install();
    return false;
  };
  const ports = { endAccess: bot.endAccess, isInstalled, people: () => ({}) as never };
  const { db, log, now } = bot;
  const run = (asked: () => Promise<boolean>) => {
    const context = { db, log, now, signal: ending.signal, attempt: 1 };
    return reconcileAccessJob.run({}, { ...context, ports: { ...ports, isInstalled: asked } });
  };
  await run(isInstalled);
  expect(await bot.whoHasKeys()).toContain('U0ALICE00');
  const cutOff = async (): Promise<boolean> => {
    ending.abort();
    throw new Error('cut off');
  };
  await expect(run(cutOff)).rejects.toThrow('aborted');
});

const begun = Date.parse('2026-11-21T08:29:00Z');
const nth = (n: number): string => String(n).padStart(6, '0');
const sealed = { sealed: 'opens under no key', key_id: 'k1', version: 1 };

/** A workspace for each person, every third without an installation; one has nobody. */
async function fillWorkspaces({ db }: Database) {
  const at = new Date(begun);
  const tenants = Array.from({ length: 450 }, (_, n) => `T${nth(n)}`);
  const people = tenants.map((tenant, n) => ({ tenant, user_id: `U${nth(n)}` }));
  await db
    .insertInto('linked_keys')
    .values(
      people.map((row) => ({ ...row, team_id: row.tenant, ...sealed, linked_at: at, fingerprint: 'f' })),
    )
    .execute();
  const installed = [...tenants.filter((_, n) => n % 3 !== 0), 'T000300EMPTY'];
  await db
    .insertInto('installations')
    .values(installed.map((tenant) => ({ tenant, ...sealed, installed_at: at })))
    .execute();
  const asked = { tenants: [] as string[], people: [] as string[] };
  const profile: Profile = { admin: false, foreign: false, deleted: false, timeZone: undefined };
  const ports: OffboardingPorts = {
    endAccess: async () => expect.unreachable(),
    async isInstalled({ teamId }) {
      asked.tenants.push(teamId ?? '');
      return true;
    },
    people: () =>
      ({
        async profile(id: string) {
          asked.people.push(id);
          return profile;
        },
      }) as never,
  };
  const run = (hour: number): Promise<void> => {
    const now = () => new Date(begun + hour * hourMs);
    const signal = new AbortController().signal;
    return reconcileAccessJob.run({}, { db, ports, log: createMemoryLog(), now, signal, attempt: 1 });
  };
  return { asked, run, everybody: people.map(({ user_id: id }) => id).toSorted() };
}

test('within a day Slack is asked once about everybody, each hour about some', async () => {
  const { asked, everybody, run } = await fillWorkspaces(await embedded.emptyDatabase());
  await run(0);
  const first = [...asked.people];
  expect(first.length).toBeGreaterThan(0);
  expect(first.length).toBeLessThan(everybody.length / 8);
  for (let hour = 1; hour < 24; hour += 1) await run(hour);
  expect(asked.people.toSorted()).toEqual(everybody);
  expect(asked.tenants).toContain('T000300EMPTY');

  asked.people.length = 0;
  await run(24);
  expect(asked.people).toEqual(first);
});

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)(
    'an event that arrives again is stored once; a job that fails runs again until it is done',
    async () => {
      const database = await emptyDatabase();
      const bot = await setUp(database);
      const queue = createQueue({ database, log: bot.log, now: bot.now });
      queues.push(queue);
      const done = Promise.withResolvers<void>();
      let tries = 0;
      const endAccess = async (end: AccessEnd): Promise<void> => {
        tries += 1;
        if (tries === 1) throw new Error('the database is away');
        await bot.endAccess(end);
        done.resolve();
      };
      const ports = { endAccess, isInstalled: async () => true, people: () => ({}) as never };
      await queue.start({ jobs: [endAccessJob], ports });
      const store = createEndStore(database.db, queue.enqueue, bot.now);
      const end = { ...alice, cause: 'user-deleted', at: second } as const;
      await Promise.all([store('Ev1', [end]), store('Ev1', [end])]);
      await store('Ev1', [end]);
      await done.promise;
      expect(await bot.whoHasKeys()).toEqual(['U0BOB0000', 'U0FRANK00', 'U0GRACE00']);
      const { rows } = await sql`select name from pgboss.job where name = 'end-access'`.execute(database.db);
      expect(rows).toHaveLength(1);
      expect(tries).toBe(2);
    },
  );
});
