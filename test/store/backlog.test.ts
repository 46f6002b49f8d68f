import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { readBacklog } from '../../src/store/backlog.ts';
import { createQueue, defineJob, type Queue } from '../../src/store/queue.ts';
import type { Db } from '../../src/store/schema.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';
import { noPorts } from './queue/no-ports.ts';

const { embedded } = await prepareEngines();
let queue: Queue | undefined;
afterEach(() => queue?.stop());

const minute = 60_000;
const now = new Date();
const ago = (ms: number): Date => new Date(now.getTime() - ms);
const job = defineJob({ name: 'digest-run', data: z.object({}), onePerKey: 'waiting', run: async () => {} });

/** An outbox with one message due for five minutes and one later, and a digest, a run and an alert that should have begun. */
async function fill(db: Db): Promise<void> {
  const message = { tenant: 'T0', team_id: 'T0', kind: 'note', about: '{}', places: '[]', changed_at: now };
  const due = { ...message, doubt: 'look', state: 'due', expires_at: now } as const;
  await db
    .insertInto('outbox')
    .values([
      { ...due, id: 'a', next_at: ago(5 * minute) },
      { ...due, id: 'b', next_at: ago(-minute) },
      { ...due, id: 'c', next_at: null },
    ])
    .execute();
  const report = { tenant: 'T0', team_id: 'T0', owner: 'U0', channel: 'C0', body: '{}', revision: 1 };
  const stored = { ...report, kind: 'digest', failures: 0, created_at: now };
  await db
    .insertInto('reports')
    .values([
      { ...stored, id: 'late', next_due: ago(3 * minute) },
      { ...stored, id: 'paused', next_due: ago(3 * minute), paused: 'owner' },
      { ...stored, id: 'soon', next_due: ago(minute) },
    ])
    .execute();
  await db
    .insertInto('reports')
    .values([
      { ...stored, kind: 'alert', id: 'late alert', next_due: ago(3 * minute) },
      { ...stored, kind: 'alert', id: 'soon alert', next_due: ago(minute) },
    ])
    .execute();
  const run = { missed: 0, attempts: 0, due: ago(9 * minute), run_at: ago(9 * minute) };
  await db
    .insertInto('report_runs')
    .values([
      { ...run, report_id: 'late', state: 'due' },
      { ...run, report_id: 'soon', state: 'sent' },
    ])
    .execute();
}

test('depth and age are of what could start now, and late is what could not', async () => {
  const database = await embedded.emptyDatabase();
  queue = createQueue({ database, log: createMemoryLog(), now: () => now });
  await queue.start({ jobs: [job], ports: noPorts, work: false });
  await queue.enqueue(job, {}, { key: 'one' });
  await queue.enqueue(job, {}, { key: 'two', at: ago(-minute) });
  await fill(database.db);
  const later = new Date(Date.now() + 30_000);
  const backlog = await readBacklog(database.db, later);
  expect(backlog).toMatchObject({
    database_takes_writes: 1,
    queue_depth: { 'digest-run': 1 },
    queue_active: { 'digest-run': 0 },
    outbox_depth: 1,
    late: { digest: 2, alert: 1 },
    operations: { proposed: 0, unknown: 0 },
  });
  const { 'digest-run': oldest } = backlog.queue_oldest_seconds as Record<string, number>;
  expect(oldest).toBeGreaterThan(25);
  expect(oldest).toBeLessThan(60);
  expect(backlog.outbox_oldest_seconds).toBeGreaterThan(300);
});

test('a database that is away is told as such', async () => {
  const database = await (await embedded.createLocation()).open();
  await database.close();
  expect(await readBacklog(database.db, now)).toEqual({ database_takes_writes: 0, database_up: 0 });
});
