import { expect, test } from 'vitest';
import { addExport } from '../../src/exports/queries/exports.ts';
import { runExportJob } from '../../src/exports/run.ts';
import { noPorts } from '../store/queue/no-ports.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';

const { embedded } = await prepareEngines();
const begun = Date.parse('2026-11-21T08:00:00.000Z');

test('a pause that ends while the job looks at it is waited for: the export is looked at again', async () => {
  const { db } = await embedded.emptyDatabase();
  await addExport(db, {
    id: 'waits',
    tenant: 'T0ACME000',
    enterprise_id: null,
    team_id: 'T0ACME000',
    user_id: 'U0ALICE00',
    channel: null,
    request: '{}',
    asked_at: new Date(begun),
  });
  const over = new Date(begun + 5);
  await db.updateTable('exports').set({ state: 'waiting', lease_until: over }).execute();
  const again: unknown[] = [];
  let looks = 0;
  await runExportJob.run(
    { id: 'waits' },
    {
      db,
      log: createMemoryLog(),
      ports: { ...noPorts, enqueue: async (...about) => `${again.push(about)}` },
      // Each look at the clock is ten milliseconds after the one before.
      now: () => {
        looks += 1;
        return new Date(begun + (looks - 1) * 10);
      },
      signal: AbortSignal.timeout(10_000),
      attempt: 1,
      lastAttempt: false,
    },
  );
  expect(again).toEqual([[runExportJob, { id: 'waits' }, { at: new Date(over.getTime() + 1_000) }]]);
});
