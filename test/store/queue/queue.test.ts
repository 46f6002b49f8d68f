import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Ports, jobs as registered } from '../../../src/app/jobs.ts';
import { claimOnce, type Database } from '../../../src/store/database.ts';
import { createQueue, defineJob, type Job, type Queue } from '../../../src/store/queue.ts';
import { tenantScope } from '../../../src/telemetry/reference.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';
import { noPorts } from './no-ports.ts';

const engines = await prepareEngines();
const queues: Queue[] = [];
afterEach(async () => {
  for (const queue of queues.splice(0)) await queue.stop({ graceMs: 0 });
});

async function startQueue(
  database: Database,
  jobs: readonly Job<never, Ports>[],
  { work = true, log = createMemoryLog(), manyTenants = false } = {},
) {
  const queue = createQueue({ database, log, now: () => new Date(), manyTenants });
  queues.push(queue);
  await queue.start({ jobs, ports: noPorts, work });
  return queue;
}

/** A job that writes down what it was given, and says when it has seen a number of runs. */
function createCountingJob(expected = 1) {
  const seen: number[] = [];
  const { promise: done, resolve } = Promise.withResolvers<number[]>();
  const job = defineJob({
    name: 'counting',
    data: z.object({ n: z.number() }),
    async run({ n }) {
      seen.push(n);
      if (seen.length === expected) resolve(seen);
    },
  });
  return { job, seen, done };
}

async function listJobs(database: Database) {
  const { rows } = await sql<{ name: string; state: string; output: unknown }>`
    select name, state, output from pgboss.job order by created_on`.execute(database.db);
  return rows;
}

describe.each(engines.both)('on $name', ({ skip, createLocation, emptyDatabase }) => {
  describe.skipIf(skip)('the queue', () => {
    test('what fails between several statements leaves no transaction to others', async () => {
      const database = await (await createLocation()).open();
      await sql`drop schema pgboss cascade`.execute(database.db);
      await sql`create schema pgboss`.execute(database.db);
      await sql`create type pgboss.job_state as enum ('of another program')`.execute(database.db);
      await expect(startQueue(database, [])).rejects.toThrow('create_queue');
      const none = queues.at(-1)?.enqueue(createCountingJob().job, { n: 1 });
      await expect(none).rejects.toThrow('not started');
      const { rows } = await sql<{ one: number }>`select 1 as one`.execute(database.db);
      expect(rows).toEqual([{ one: 1 }]);
    });

    test('a job is stored with the rows of its transaction, and runs once they are there', async () => {
      const database = await emptyDatabase();
      const { promise: found, resolve } = Promise.withResolvers<unknown>();
      const job = defineJob({
        name: 'look',
        data: z.object({}),
        run: async (_data, { db }) => resolve(await db.selectFrom('deliveries').select('id').execute()),
      });
      const queue = await startQueue(database, [job]);
      await database.db.transaction().execute(async (trx) => {
        await queue.enqueue(job, {}, { in: trx });
        await trx.insertInto('deliveries').values({ id: 'row', seen_at: new Date() }).execute();
      });
      expect(await found).toEqual([{ id: 'row' }]);
    });

    test('a process that only enqueues leaves the work to the others', async () => {
      const there = await createLocation();
      const database = await there.open();
      const { job, seen, done } = createCountingJob();
      const front = await startQueue(database, [job], { work: false });
      await front.enqueue(job, { n: 1 });
      expect(seen).toEqual([]);
      await startQueue(database.engine === 'postgres' ? await there.open() : database, [job]);
      expect(await done).toEqual([1]);
    });

    test('two processes share the jobs: each runs once', async () => {
      const there = await createLocation();
      const first = await there.open();
      const second = first.engine === 'postgres' ? await there.open() : first;
      const { job, seen, done } = createCountingJob(100);
      const queue = await startQueue(first, [job]);
      await startQueue(second, [job]);
      for (let n = 0; n < 100; n += 1) await queue.enqueue(job, { n });
      await done;
      expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
    });

    test('the job of a process that was killed begins again, with the death counted', async () => {
      const database = await emptyDatabase();
      const begun = Promise.withResolvers<string>();
      const job = defineJob({
        name: 'left',
        data: z.object({}),
        run: async (_data, { attempt, db }) => {
          const { rows } = await sql`select output from pgboss.job`.execute(db);
          begun.resolve(`attempt ${attempt}: ${JSON.stringify(rows)}`);
        },
      });
      const queue = await startQueue(database, [job], { work: false });
      await queue.enqueue(job, {});
      // Beside the embedded database no other process lives: its heartbeat is not waited for.
      const [silentSeconds, why] =
        database.engine === 'embedded' ? [0, 'the process ended'] : [60, 'job heartbeat timeout'];
      await sql`update pgboss.job set state = 'active', started_on = now() - interval '1 minute',
        heartbeat_on = now() - ${silentSeconds}::int * interval '1 second'`.execute(database.db);
      await startQueue(database, [job]);
      expect(await begun.promise).toMatch(new RegExp(`^attempt 2: .*${why}`, 'u'));
      const { rows } = await sql`select data -> 'deaths' as deaths from pgboss.job`.execute(database.db);
      expect(rows).toEqual([{ deaths: 1 }]);
    });
  });
});

describe('the queue', () => {
  const { emptyDatabase } = engines.embedded;

  test('a job that is due at once is kept while it waits to be tried again', async () => {
    const database = await emptyDatabase();
    const tried = Promise.withResolvers<void>();
    const job = defineJob({
      name: 'failing',
      data: z.object({}),
      onePerKey: 'waiting',
      async run() {
        tried.resolve();
        throw new Error('as ordered');
      },
    });
    const queue = await startQueue(database, [job]);
    await queue.enqueue(job, {}, { key: 'a' });
    await tried.promise;
    await queue.enqueue(job, {}, { key: 'a', at: new Date('2020-01-01') });
    const { rows } = await sql<{ isKept: boolean }>`
      select keep_until > now() as "isKept" from pgboss.job where name = 'failing'`.execute(database.db);
    expect(rows.map(({ isKept }) => isKept)).not.toContain(false);
    expect(rows.length).toBeGreaterThan(0);
  });

  test('what must not be tried twice never is, also where an earlier version stored it otherwise', async () => {
    const database = await emptyDatabase();
    const once = { name: 'once', data: z.object({}), run: async () => undefined };
    const read = async () =>
      (
        await sql`select retry_limit, expire_seconds from pgboss.queue where name = 'once'`.execute(
          database.db,
        )
      ).rows;
    await startQueue(database, [defineJob(once)], { work: false });
    expect(await read()).toEqual([{ retry_limit: 3, expire_seconds: 900 }]);
    await startQueue(database, [defineJob({ ...once, retries: 0, timeLimitSeconds: 60 })], { work: false });
    expect(await read()).toEqual([{ retry_limit: 0, expire_seconds: 60 }]);
  });

  test('of what waits for a key the newest holds, and what cannot be stored is said', async () => {
    const database = await emptyDatabase();
    const data = z.object({ n: z.number() });
    const job = defineJob({ name: 'next', data, onePerKey: 'waiting', run: async () => undefined });
    const queue = await startQueue(database, [job], { work: false });
    for (const n of [1, 2]) await queue.enqueue(job, { n }, { key: 'a' });
    const { rows } = await sql`select data from pgboss.job where name = 'next'`.execute(database.db);
    expect(rows).toEqual([{ data: { n: 2 } }]);
    await queue.enqueue(job, { n: 3 });
    await expect(queue.enqueue(job, { n: 4 })).rejects.toThrow('was not stored');
  });

  test('of jobs of one key one runs at a time', async () => {
    const database = await emptyDatabase();
    const begun: string[] = [];
    const [first, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const job = defineJob({
      name: 'keyed',
      data: z.object({ key: z.string() }),
      onePerKey: 'running',
      atOnce: 3,
      async run({ key }) {
        begun.push(key);
        first.resolve();
        await free.promise;
      },
    });
    const queue = await startQueue(database, [job]);
    await queue.enqueue(job, { key: 'a' }, { key: 'a' });
    await first.promise;
    await queue.enqueue(job, { key: 'a' }, { key: 'a' });
    await queue.enqueue(job, { key: 'b' }, { key: 'b' });
    await expect.poll(() => begun, { timeout: 20_000 }).toContain('b');
    expect(begun).toEqual(['a', 'b']);
    free.resolve();
    await expect.poll(() => begun.length, { timeout: 20_000 }).toBe(3);
  });

  test('a transaction that fails takes its job with it', async () => {
    const database = await emptyDatabase();
    const { job, seen, done } = createCountingJob();
    const queue = await startQueue(database, [job]);
    const failing = database.db.transaction().execute(async (trx) => {
      await queue.enqueue(job, { n: 1 }, { in: trx });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await queue.enqueue(job, { n: 2 });
    await done;
    expect(seen).toEqual([2]);
    expect(await listJobs(database)).toHaveLength(1);
  });

  test('a failure is logged whole, retried later, and stored without what the error held', async () => {
    const database = await emptyDatabase();
    const log = createMemoryLog();
    const { promise: failed, resolve } = Promise.withResolvers<void>();
    const job = defineJob({
      name: 'failing',
      data: z.object({}),
      async run() {
        resolve();
        throw Object.assign(new TypeError('refused'), { options: { headers: { AccessKey: 'S3CRET' } } });
      },
    });
    const queue = await startQueue(database, [job], { log });
    await queue.enqueue(job, {});
    await failed;
    await queue.stop();
    const [row] = await listJobs(database);
    expect(row?.state).toBe('retry');
    expect((row?.output as { message: string } | undefined)?.message).toMatchInlineSnapshot(
      `"TypeError: the log has it under the job’s id"`,
    );
    expect(JSON.stringify(row)).not.toContain('S3CRET');
    expect(log.entries).toMatchObject([
      { level: 'error', message: 'job failed', fields: { job: 'failing', attempt: 1 } },
    ]);
  });

  test('data that is not as the job wants it is refused where it is enqueued', async () => {
    const database = await emptyDatabase();
    const { job } = createCountingJob();
    const queue = await startQueue(database, [job], { work: false });
    await expect(queue.enqueue(job, { n: 'seven' as unknown as number })).rejects.toThrow(/expected number/);
    expect(await listJobs(database)).toEqual([]);
  });

  test('a stop waits for what runs', async () => {
    const database = await emptyDatabase();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const job = defineJob({
      name: 'slow',
      data: z.object({}),
      async run() {
        begun.resolve();
        await goOn.promise;
      },
    });
    const queue = await startQueue(database, [job]);
    await queue.enqueue(job, {});
    await begun.promise;
    const stopping = queue.stop();
    goOn.resolve();
    await stopping;
    expect(await listJobs(database)).toMatchObject([{ state: 'completed' }]);
  });

  test('what runs longer than the grace of a stop is told to end and gets a moment', async () => {
    const database = await emptyDatabase();
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const job = defineJob({
      name: 'endless',
      data: z.object({}),
      run: async (_data, { signal, db }) => {
        resolve();
        await new Promise((done) => signal.addEventListener('abort', done));
        await claimOnce(db, 'last words', new Date());
      },
    });
    const queue = await startQueue(database, [job]);
    await queue.enqueue(job, {});
    await begun;
    await queue.stop({ graceMs: 0 });
    expect(await database.db.selectFrom('deliveries').select('id').execute()).toEqual([{ id: 'last words' }]);
    expect(await listJobs(database)).toMatchObject([{ state: 'completed' }]);
  });

  test('what lost its claim is told to end', async () => {
    const database = await emptyDatabase();
    const told = Promise.withResolvers<boolean>();
    const job = defineJob({
      name: 'taken',
      data: z.object({}),
      async run(_data, { signal, db }) {
        await sql`update pgboss.job set state = 'cancelled'`.execute(db);
        signal.addEventListener('abort', () => told.resolve(signal.aborted));
        await told.promise;
      },
    });
    const queue = await startQueue(database, [job]);
    await queue.enqueue(job, {});
    expect(await told.promise).toBe(true);
  });

  test('jobs with a time of their own are scheduled, and no longer once they are gone', async () => {
    const database = await emptyDatabase();
    const findScheduled = async () =>
      (await sql`select name, cron, timezone from pgboss.schedule order by name`.execute(database.db)).rows;
    const wanted = registered
      .filter(({ cron }) => cron !== undefined)
      .map(({ name, cron }) => ({ name, cron, timezone: 'UTC' }))
      .toSorted((one, other) => one.name.localeCompare(other.name));
    const queue = await startQueue(database, registered);
    expect(wanted).toContainEqual({ name: 'housekeeping', cron: '*/15 * * * *', timezone: 'UTC' });
    expect(await findScheduled()).toEqual(wanted);
    await queue.stop();
    await startQueue(database, []);
    expect(await findScheduled()).toEqual([]);
  });
});

interface Left {
  readonly output: object;
  readonly deaths: number;
  readonly hasPutAside?: boolean;
}

/** What became of one job whose row is as its dead processes left it. */
async function runAfter(database: Database, left: Left) {
  const done = Promise.withResolvers<'run' | 'put aside'>();
  const job = defineJob({
    name: 'deadly',
    data: z.object({ n: z.number() }),
    run: async () => done.resolve('run'),
    ...(left.hasPutAside !== false && {
      putAside: async ({ n }: { n: number }) => done.resolve(n === 7 ? 'put aside' : 'run'),
    }),
  });
  const queue = await startQueue(database, [job], { work: false });
  await queue.enqueue(job, { n: 7 });
  const more = JSON.stringify(left.deaths > 0 ? { deaths: left.deaths } : {});
  await sql`update pgboss.job set state = 'retry', retry_count = 1, output = ${JSON.stringify(left.output)}::jsonb,
    data = data || ${more}::jsonb`.execute(database.db);
  await startQueue(database, [job]);
  const ran = await done.promise;
  const { rows } = await sql<{ deaths: number | null }>`
    select (data ->> 'deaths')::int as deaths from pgboss.job`.execute(database.db);
  return { ran, deaths: rows[0]?.deaths ?? 0 };
}

const lostHere = { message: 'the process ended' };
const lostElsewhere = { value: { message: 'job heartbeat timeout' } };

test.each([
  { output: lostHere, deaths: 0, ran: 'run', after: 1 },
  { output: lostHere, deaths: 1, ran: 'put aside', after: 2 },
  { output: lostElsewhere, deaths: 1, ran: 'put aside', after: 2 },
  // Nothing else would tell that it ended: it goes on, as often as it may be tried.
  { output: lostHere, deaths: 1, hasPutAside: false, ran: 'run', after: 2 },
  // It failed by itself: no process died.
  { output: { message: 'Error: the log has it' }, deaths: 1, ran: 'run', after: 1 },
])('a job after $deaths deaths that ended with $output is $ran', async ({ ran, after, ...left }) => {
  expect(await runAfter(await engines.embedded.emptyDatabase(), left)).toEqual({ ran, deaths: after });
});

test('a process that lives and lost its claims has not died', async () => {
  const database = await engines.embedded.emptyDatabase();
  const attempts: string[] = [];
  const done = Promise.withResolvers<void>();
  const job = defineJob({
    name: 'lost',
    data: z.object({}),
    retries: 10,
    async run(_data, { attempt }) {
      attempts.push(`run ${attempt}`);
      if (attempts.length === 4) return done.resolve();
      await sql`update pgboss.job set state = 'retry', start_after = now(), retry_count = retry_count + 1,
        output = ${JSON.stringify(lostElsewhere)}::jsonb`.execute(database.db);
    },
    async putAside() {
      attempts.push('put aside');
      done.resolve();
    },
  });
  const queue = await startQueue(database, [job]);
  await queue.enqueue(job, {});
  await done.promise;
  expect(attempts).not.toContain('put aside');
});

test.each(['retry', 'active'])('what repairs lost jobs adds none beside one in state %s', async (state) => {
  const database = await engines.embedded.emptyDatabase();
  const job = defineJob({
    name: 'kept',
    data: z.object({}),
    onePerKey: 'waiting',
    run: async () => undefined,
  });
  const queue = await startQueue(database, [job], { work: false });
  await queue.enqueue(job, {}, { key: 'a' });
  await sql`update pgboss.job set state = ${state}::pgboss.job_state`.execute(database.db);
  await queue.enqueue(job, {}, { key: 'a', unlessUnderWay: true });
  await queue.enqueue(job, {}, { key: 'b', unlessUnderWay: true });
  const { rows } = await sql<{ key: string }>`
    select singleton_key as key from pgboss.job order by 1`.execute(database.db);
  expect(rows.map(({ key }) => key)).toEqual(['a', 'b']);
});

/** A job of four workers that ends when its tenant is let go. */
function createSlowJob() {
  const begun: string[] = [];
  const { promise: free, resolve: letGo } = Promise.withResolvers<void>();
  const job = defineJob({
    name: 'slow',
    data: z.object({ of: z.string() }),
    atOnce: 4,
    async run({ of }) {
      begun.push(of);
      if (of === 'busy') await free;
    },
  });
  return { job, begun, letGo };
}

describe.each(engines.both)('tenants share the workers, on $name', ({ skip, emptyDatabase }) => {
  const flood = 40;
  const patient = { timeout: 20_000 };

  test.skipIf(skip)('a tenant whose jobs never end leaves a worker to the next', async () => {
    const { job, begun, letGo } = createSlowJob();
    const database = await emptyDatabase();
    const started = await startQueue(database, [job], { manyTenants: true });
    await database.db.transaction().execute(async (trx) => {
      for (let nth = 0; nth < flood; nth += 1)
        await started.enqueue(job, { of: 'busy' }, { in: trx, tenant: 'T0BUSY000' });
    });
    for (let nth = 0; nth < 5; nth += 1) {
      await started.enqueue(job, { of: 'quiet' }, { tenant: 'T0QUIET00' });
      await expect.poll(() => begun.filter((of) => of === 'quiet').length, patient).toBe(nth + 1);
    }
    expect(begun.filter((of) => of === 'busy')).toHaveLength(3);
    letGo();
    await expect.poll(() => begun.length, patient).toBe(flood + 5);
  });

  test.skipIf(skip)('where there is one tenant only it has every worker', async () => {
    const { job, begun, letGo } = createSlowJob();
    const started = await startQueue(await emptyDatabase(), [job]);
    for (let nth = 0; nth < 6; nth += 1) await started.enqueue(job, { of: 'busy' }, { tenant: 'T0BUSY000' });
    await expect.poll(() => begun.length, patient).toBe(4);
    letGo();
    await expect.poll(() => begun.length, patient).toBe(6);
  });

  test.skipIf(skip)('what a command or a job enqueues is for the tenant it works for', async () => {
    const after = defineJob({ name: 'after', data: z.object({}), run: async () => undefined });
    const first = defineJob({
      name: 'first',
      data: z.object({}),
      run: async () => queues[0]?.enqueue(after, {}),
    });
    const database = await emptyDatabase();
    const started = await startQueue(database, [first, after], { manyTenants: true });
    await tenantScope.run('T0ACME000', () => started.enqueue(first, {}));
    const findGroups = async () =>
      (await sql<{ group_id: string }>`select group_id from pgboss.job`.execute(database.db)).rows;
    await expect.poll(findGroups, patient).toEqual([{ group_id: 'T0ACME000' }, { group_id: 'T0ACME000' }]);
  });
});

test.skipIf(engines.postgres.skip)(
  'a queue whose tables another process creates at that moment starts a moment later',
  async () => {
    const { open } = await engines.postgres.createLocation();
    const [own, other] = [await open(), await open()];
    const { job } = createCountingJob();
    await sql`drop schema pgboss cascade`.execute(own.db);
    let starting: Promise<Queue> | undefined;
    await other.db.transaction().execute(async (trx) => {
      await sql`create schema pgboss`.execute(trx);
      starting = startQueue(own, [job], { work: false });
      const waiting = sql`select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await waiting.execute(other.backgroundDb)).rows).toHaveLength(1);
    });
    await (await starting)?.enqueue(job, { n: 1 });
    expect(await listJobs(own)).toHaveLength(1);
  },
);
