import { expect, test } from 'vitest';
import { Secret } from '../../../src/secrets/secret.ts';
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

test('an end whose storing takes too long is not acknowledged, before Slack has given up', async () => {
  let isAcknowledged = false;
  const deliver = createDeliver({
    egress: { acknowledgement: (reply: unknown) => reply },
    ends: { changed: () => undefined, store: () => new Promise(() => undefined) },
    log: createMemoryLog(),
    metrics: createMetrics(),
    now: () => new Date(),
  } as unknown as Parameters<typeof createDeliver>[0]);
  const body = { team_id: 'T0ACME000', event: { type: 'app_uninstalled' } };
  const ack = async (): Promise<void> => void (isAcknowledged = true);
  await expect(deliver(body, ack, { transport: 'http', sentAt: undefined })).rejects.toThrow('too long');
  expect(isAcknowledged).toBe(false);
});

test('in a flood a person is told once that the bot is busy, a thousand wait for it, one who is not reached holds up nobody, and Slack tells the rest', async () => {
  const told: string[] = [];
  const slack = Promise.withResolvers<void>();
  const send = async (person: string): Promise<void> => {
    told.push(person);
    await slack.promise;
    if (person === 'U0') throw new Error('Slack is away');
  };
  const chat = {
    postEphemeral: ({ user }: { user: string }) => send(user),
    postMessage: ({ channel }: { channel: string }) => send(channel),
  };
  const log = createMemoryLog();
  const deliver = createDeliver({
    access: { own: () => undefined, token: async () => new Secret('xoxb-of-a-test') },
    clients: { interactive: () => ({ chat }) },
    egress: { acknowledgement: (reply: unknown) => reply },
    ends: {},
    inFlight: { admit: () => undefined, count: () => 0 },
    log,
    throttledLog: log,
    metrics: createMetrics(),
    now: () => new Date(),
  } as unknown as Parameters<typeof createDeliver>[0]);
  const replies: unknown[] = [];
  const knock = (body: object) =>
    deliver({ ...body, team: { id: 'T1' } }, async (reply) => void replies.push(reply), {
      transport: 'http',
      sentAt: undefined,
    });
  // An acknowledgement that shows the refusal is enough.
  await knock({ command: '/cdn', user_id: 'U9999', team_id: 'T1' });
  const press = (nth: number) =>
    knock({ type: 'block_actions', user: { id: `U${nth}` }, channel: { id: 'C1' }, actions: [{}] });
  let unacknowledged = 0;
  for (let nth = 0; nth < 1_134; nth += 1) await press(nth % 1_100).catch(() => (unacknowledged += 1));
  // Slack shows that these failed. Two who wait are not told again, and 32 are being told.
  expect([replies.length, unacknowledged]).toEqual([1_035, 100]);
  expect(told.length).toBeLessThanOrEqual(32);
  slack.resolve();
  await expect.poll(() => new Set(told).size).toBe(1_032);
  // Whom the channel does not reach is written to.
  expect(told.filter((person) => person === 'U0')).toHaveLength(2);
  expect([told.length, told.includes('U9999')]).toEqual([1_033, false]);
});
