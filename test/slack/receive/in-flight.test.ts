import { expect, test, vi } from 'vitest';
import { createInFlight } from '../../../src/slack/receive/in-flight.ts';
import { tenantScope } from '../../../src/telemetry/reference.ts';

const alice = { teamId: 'acme', userId: 'alice' };
const bob = { teamId: 'acme', userId: 'bob' };
const loop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const create = (manyTenants = true) => createInFlight({ manyTenants });

test('work begins in the order it came, after the acknowledgement, and all of it does', async () => {
  const inFlight = create();
  const begun: number[] = [];
  const all = Array.from({ length: 500 }, (_, nth) =>
    inFlight.run(async () => {
      begun.push(nth);
      expect(tenantScope.getStore()).toBe(alice.teamId);
      await loop();
    }, alice),
  );
  await Promise.resolve();
  expect(begun).toEqual([]);
  await Promise.all(all);
  expect(begun).toEqual(Array.from({ length: 500 }, (_, nth) => nth));
});

test('one person’s slow work leaves the turns of others, and their own later ones follow', async () => {
  const inFlight = create();
  const slow: (() => void)[] = [];
  for (let nth = 0; nth < 300; nth += 1)
    void inFlight.run(() => new Promise<void>((resolve) => slow.push(resolve)), alice);
  for (let nth = 0; nth < 20; nth += 1) await inFlight.run(async () => undefined, bob);
  expect(slow).toHaveLength(32);
  for (let ended = 0; ended < 300; ended += 1) {
    await expect.poll(() => slow.length).toBeGreaterThan(ended);
    slow[ended]?.();
  }
});

test.each([
  ['people', ['a', 'a', 'a', 'a', 'b', 'b', 'c'], ['a', 'b', 'c', 'a', 'b', 'a', 'a']],
  ['workspaces', ['x/1', 'x/2', 'x/3', 'y/4', 'y/5'], ['x/1', 'y/4', 'x/2', 'y/5', 'x/3']],
])('%s take turns, however much one of them brought first', async (_, given, expected) => {
  const inFlight = create();
  const begun: string[] = [];
  const run = (name: string): Promise<unknown> =>
    inFlight.run(async () => begun.push(name), {
      teamId: name.includes('/') ? name.charAt(0) : 't',
      userId: name,
    });
  await Promise.all(given.map(run));
  expect(begun).toEqual(expected);
});

test.each([
  ['the only workspace', false, 256],
  ['one of many workspaces', true, 192],
])('the people of %s together have so much at once, and the rest follows', async (_, manyTenants, most) => {
  const inFlight = create(manyTenants);
  const slow: (() => void)[] = [];
  const work = () => new Promise<void>((resolve) => slow.push(resolve));
  const all = Array.from({ length: 300 }, (_, nth) =>
    inFlight.run(work, { teamId: 'acme', userId: `${nth}` }),
  );
  await expect.poll(() => slow.length).toBe(most);
  for (let turn = 0; turn < 10; turn += 1) await loop();
  expect(slow).toHaveLength(most);
  if (manyTenants) await inFlight.run(async () => undefined, { teamId: 'beta', userId: 'bob' });
  for (let ended = 0; ended < 300; ended += 1) {
    await expect.poll(() => slow.length).toBeGreaterThan(ended);
    slow[ended]?.();
  }
  await Promise.all(all);
});

test('whoever waits for three seconds is told once, in the scope of their workspace; nobody else is', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const inFlight = create();
    const slow = Promise.withResolvers<void>();
    const told: unknown[] = [];
    const all = Array.from({ length: 33 }, (_, nth) =>
      inFlight.run(
        () => slow.promise,
        alice,
        () => told.push([nth, tenantScope.getStore()]),
      ),
    );
    for (let turn = 0; turn < 20; turn += 1) await loop();
    vi.advanceTimersByTime(2_999);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(10_000);
    expect(told).toEqual([[32, alice.teamId]]);
    slow.resolve();
    await Promise.all(all);
  } finally {
    vi.useRealTimers();
  }
});

let strangers = 0;

/** How many deliveries of this owner are accepted, one after the other. */
function fill(inFlight: ReturnType<typeof create>, tenant: string, person = '', bytes = 1_000): number {
  let count = 0;
  while (count < 5_000 && inFlight.admit({ tenant, person: person || `${(strangers += 1)}` }, bytes))
    count += 1;
  return count;
}

test('a thousand deliveries are accepted, and the next when one has ended, once', () => {
  const inFlight = create(false);
  const first = inFlight.admit({ tenant: 'acme', person: 'first' }, 1);
  expect(fill(inFlight, 'acme')).toBe(999);
  expect(inFlight.count()).toBe(1_000);
  first?.();
  expect(fill(inFlight, 'acme')).toBe(1);
  // What a delivery takes in addition to its body.
  expect(fill(create(false), 'acme', '', 32 * 1024)).toBe(800);
});

test('a person may have as much as is left free, a workspace three times as much', () => {
  const inFlight = create();
  expect(fill(inFlight, 'acme', 'alice')).toBe(500);
  expect(fill(inFlight, 'acme', 'bob')).toBe(250);
  expect(fill(inFlight, 'acme')).toBe(0);
  expect(fill(inFlight, 'beta')).toBeGreaterThan(150);
  expect(inFlight.admit({ tenant: 'gamma', person: 'carol' }, 1)).toBeDefined();
});

test('all bodies together have a limit, of which a person with large ones leaves as much', () => {
  const megabyte = 1024 * 1024;
  expect(fill(create(false), 'acme', '', megabyte)).toBe(31);
  const inFlight = create(false);
  expect(fill(inFlight, 'acme', 'alice', megabyte)).toBe(16);
  expect(fill(inFlight, 'acme', 'alice', 10)).toBe(0);
  expect(fill(inFlight, 'acme', 'bob', 10)).toBeGreaterThan(200);
});

test('a stop waits for what was accepted and what runs, then aborts it', async () => {
  const inFlight = create();
  const end = inFlight.admit({ tenant: 'acme', person: 'alice' }, 1);
  const slow = Promise.withResolvers<void>();
  let signal: AbortSignal | undefined;
  const running = inFlight.run((given) => {
    signal = given;
    return slow.promise;
  }, alice);
  let isDrained = false;
  const drained = inFlight.drain(60_000).then(() => (isDrained = true));
  await expect.poll(() => signal).toBeDefined();
  end?.();
  await loop();
  expect(isDrained).toBe(false);
  slow.resolve();
  await Promise.all([running, drained]);
  expect(signal?.aborted).toBe(false);

  // Also for what has not begun, which nobody may have admitted.
  let isDone = false;
  void inFlight.run(async () => (isDone = true), alice);
  await inFlight.drain(60_000);
  expect(isDone).toBe(true);
  const last = inFlight.admit({ tenant: 'acme', person: 'alice' }, 1);
  setImmediate(() => last?.());
  await inFlight.drain(60_000);

  const reply = Promise.withResolvers<void>();
  let isOver = false;
  void inFlight.run((given) => {
    signal = given;
    return reply.promise;
  }, alice);
  await expect.poll(() => inFlight.count()).toBe(1);
  const stopped = inFlight.drain(1).then(() => (isOver = true));
  await expect.poll(() => signal?.aborted).toBe(true);
  await loop();
  // What was aborted still sends its reply.
  expect(isOver).toBe(false);
  reply.resolve();
  await stopped;
});
