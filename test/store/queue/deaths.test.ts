import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../src/store/database.ts';
import { defineJob } from '../../../src/store/queue/define-job.ts';
import { createQueue, type Queue } from '../../../src/store/queue/queue.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';

const engines = await prepareEngines();
const queues: Queue[] = [];
afterEach(async () => {
  for (const queue of queues.splice(0)) await queue.stop({ graceMs: 0 });
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
  const start = async (work: boolean): Promise<Queue> => {
    const queue = createQueue({ database, log: createMemoryLog(), now: () => new Date() });
    queues.push(queue);
    await queue.start({ jobs: [job], ports: {}, work });
    return queue;
  };
  const queue = await start(false);
  await queue.enqueue(job, { n: 7 });
  const more = JSON.stringify(left.deaths > 0 ? { deaths: left.deaths } : {});
  await sql`update pgboss.job set state = 'retry', retry_count = 1, output = ${JSON.stringify(left.output)}::jsonb,
    data = data || ${more}::jsonb`.execute(database.db);
  await start(true);
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
  const queue = createQueue({ database, log: createMemoryLog(), now: () => new Date() });
  queues.push(queue);
  await queue.start({ jobs: [job], ports: {} });
  await queue.enqueue(job, {});
  await done.promise;
  expect(attempts).not.toContain('put aside');
});

test('what repairs lost jobs adds none beside one that is tried again', async () => {
  const database = await engines.embedded.emptyDatabase();
  const job = defineJob({
    name: 'kept',
    data: z.object({}),
    onePerKey: 'waiting',
    run: async () => undefined,
  });
  const queue = createQueue({ database, log: createMemoryLog(), now: () => new Date() });
  queues.push(queue);
  await queue.start({ jobs: [job], ports: {}, work: false });
  await queue.enqueue(job, {}, { key: 'a' });
  await sql`update pgboss.job set state = 'retry'`.execute(database.db);
  await queue.enqueue(job, {}, { key: 'a', unlessUnderWay: true });
  await queue.enqueue(job, {}, { key: 'b', unlessUnderWay: true });
  const { rows } = await sql<{ key: string }>`
    select singleton_key as key from pgboss.job order by 1`.execute(database.db);
  expect(rows.map(({ key }) => key)).toEqual(['a', 'b']);
});
