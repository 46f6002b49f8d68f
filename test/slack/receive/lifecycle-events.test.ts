import { expect, test } from 'vitest';
import { createDeliver } from '../../../src/slack/receive/deliver.ts';
import { createInFlight } from '../../../src/slack/receive/in-flight.ts';
import type { LifecycleHandlers } from '../../../src/slack/sender.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { createMemoryLog } from '../../support/engines.ts';

test('an end is stored before it is acknowledged; where it cannot be, Slack is told to send it again', async () => {
  const stored: unknown[] = [];
  const isFailing = [true, false];
  const database = Promise.withResolvers<void>();
  const acknowledgedAt: number[] = [];
  const ends: LifecycleHandlers = {
    changed: () => undefined,
    async store(eventId, of) {
      if (isFailing.shift()) throw new Error('the database is away');
      stored.push([eventId, of]);
      if (stored.length > 1) await database.promise;
    },
  };
  const deliver = createDeliver({
    egress: { acknowledgement: (reply: unknown) => reply },
    ends,
    inFlight: createInFlight({ manyTenants: false }),
    log: createMemoryLog(),
    metrics: createMetrics(),
    now: () => new Date(),
  } as unknown as Parameters<typeof createDeliver>[0]);
  const send = () =>
    deliver(
      {
        event_id: 'Ev1',
        event_time: 1_795_000_000,
        team_id: 'T0ACME000',
        event: { type: 'app_uninstalled' },
      },
      async () => void acknowledgedAt.push(stored.length),
      { transport: 'http', sentAt: undefined },
    );
  await expect(send()).rejects.toThrow('the database is away');
  expect(acknowledgedAt).toEqual([]);
  await send();
  expect(acknowledgedAt).toEqual([1]);
  expect(stored).toEqual([['Ev1', [{ teamId: 'T0ACME000', at: 1_795_000_000, cause: 'app-uninstalled' }]]]);

  // Behind a database that is slow they do not pile up.
  const flood = Promise.allSettled(Array.from({ length: 300 }, send));
  await expect.poll(() => stored).toHaveLength(201);
  database.resolve();
  expect((await flood).filter(({ status }) => status === 'rejected')).toHaveLength(100);
  expect(stored).toHaveLength(201);
});
