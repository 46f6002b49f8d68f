import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { startCdn } from '../../simulator/cdn/server.ts';
import { startSlack } from '../../simulator/slack/server.ts';
import { buildApp } from '../../src/app/build-app.ts';
import { readConfig } from '../../src/app/config.ts';
import { jobs } from '../../src/app/jobs.ts';
import { executeOperationJob } from '../../src/commands/operations/execute.ts';
import { createQueue } from '../../src/store/queue.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { noPorts } from '../store/queue/no-ports.ts';
import { ask, connect, environment } from '../support/bot.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';
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

  const [slack, cdn] = await Promise.all([startSlack(), startCdn({ zones: 5 })]);
  const env = environment({ slack, cdn, dataDir });
  const app = await buildApp({ config: readConfig(env), log: createLogger('silent') });
  onTestFinished(async () => {
    await app.stop();
    await Promise.all([slack.close(), cdn.close()]);
  });
  await app.start();
  const readDepth = async (): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${app.port()}/metrics`)).text();
    const depth = new RegExp(`^chatops_queue_depth\\{queue="${executeOperationJob.name}"\\} (\\d+)$`, 'mu');
    return Number(depth.exec(text)?.[1] ?? 0);
  };
  await connect({ slack, cdn, env }, alice, ops);
  const person = slack.as(alice, ops);
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
