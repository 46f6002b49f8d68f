import { sql } from 'kysely';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Ports } from '../../../src/app/jobs.ts';
import { tenantScope } from '../../../src/lib/fair-queue.ts';
import { defineJob, type Job } from '../../../src/store/queue/define-job.ts';
import { createQueue, type Queue } from '../../../src/store/queue/queue.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';
import { noPorts } from './no-ports.ts';

const engines = await prepareEngines();
let queue: Queue | undefined;
afterEach(() => queue?.stop({ graceMs: 0 }));

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

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  const start = async (jobs: readonly Job<never, Ports>[], manyTenants: boolean) => {
    const database = await emptyDatabase();
    queue = createQueue({ database, log: createMemoryLog(), now: () => new Date(), manyTenants });
    await queue.start({ jobs, ports: noPorts });
    return { queue, database };
  };

  const flood = 300;
  const patient = { timeout: 20_000 };

  test.skipIf(skip)('a tenant whose jobs never end leaves a worker to the next', async () => {
    const { job, begun, letGo } = createSlowJob();
    const { queue: started, database } = await start([job], true);
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
    const { queue: started } = await start([job], false);
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
      run: async () => void (await queue?.enqueue(after, {})),
    });
    const { queue: started, database } = await start([first, after], true);
    await tenantScope.run('T0ACME000', () => started.enqueue(first, {}));
    const findGroups = async () =>
      (await sql<{ group_id: string }>`select group_id from pgboss.job`.execute(database.db)).rows;
    await expect.poll(findGroups, patient).toEqual([{ group_id: 'T0ACME000' }, { group_id: 'T0ACME000' }]);
  });
});
