import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { jobs } from '../../src/app/jobs.ts';
import { executeOperationJob } from '../../src/commands/operations/execute.ts';
import { createQueue } from '../../src/store/queue.ts';
import { noPorts } from '../store/queue/no-ports.ts';
import { ask, connect, startBot } from '../support/bot.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';
import { alice, ops } from '../support/people.ts';

const { embedded } = await prepareEngines();
const waiting = 20_000;

test('with thousands of jobs waiting a command is answered at once', async () => {
  const { dataDir, open } = await embedded.createLocation();
  const database = await open();
  const queue = createQueue({ database, log: createMemoryLog(), now: () => new Date() });
  await queue.start({ jobs, ports: noPorts, work: false });
  await queue.enqueue(executeOperationJob, { tenant: 'T0ACME000', id: 'none' });
  await queue.stop({ graceMs: 0 });
  await sql`
    insert into pgboss.job
    select (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid()))).*
      from pgboss.job one, generate_series(1, ${waiting})
     where name = ${executeOperationJob.name}`.execute(database.db);
  await database.close();

  await using bot = await startBot({ zones: 5, dataDir });
  const readDepth = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${bot.app.port()}/metrics`)).text();
    const depth = new RegExp(`^chatops_queue_depth\\{queue="${executeOperationJob.name}"\\} (\\d+)$`, 'mu');
    return Number(depth.exec(text)?.[1] ?? 0);
  };
  await connect(bot, alice, ops);
  const person = bot.slack.as(alice, ops);
  const took: number[] = [];
  for (let typed = 0; typed < 20; typed += 1) {
    const start = performance.now();
    await ask(person, 'zones');
    took.push(performance.now() - start);
  }
  // As many wait still, and they are worked on meanwhile.
  const depth = await readDepth();
  expect(depth).toBeGreaterThan(waiting / 2);
  expect(Math.max(...took)).toBeLessThan(3_000);
  await expect.poll(readDepth, { timeout: 30_000, interval: 1_000 }).toBeLessThan(depth);
});
