import { expect, test } from 'vitest';
import type { CheckInput, Condition } from '../../../../src/commands/reports/checks/check.ts';
import { conditions, digestKinds, findDigestKind } from '../../../../src/commands/reports/checks/list.ts';
import { collectDigest, renderDigest } from '../../../../src/commands/reports/digests/run-digest.ts';
import { minuteMs } from '../../../../src/lib/time.ts';
import { startLooks } from '../../../support/alerts/looks.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { alice, never } from '../accounts/account-harness.ts';

const { embedded } = await prepareEngines();

/** A condition with the two halves of its evaluation. */
type Halves = Condition<string, unknown> & {
  readonly read: (input: CheckInput<unknown>) => Promise<unknown>;
  readonly judge: (facts: unknown, input: unknown) => unknown;
};

async function startWorld() {
  const world = await startLooks(await embedded.emptyDatabase(), [
    { Name: 'shop', Enabled: false, MagicContainersAppId: 'app0api00000001' },
    { Name: 'docs' },
  ]);
  world.fail(1001, 80);
  return world;
}

test.each(conditions.map((condition) => [condition.name, condition as unknown as Halves] as const))(
  '%s: the same facts are judged alike, and are not changed by it',
  async (_name, { target, threshold, window, read, judge, evaluate }) => {
    const world = await startWorld();
    const targets = target === 'shieldZones' ? ['501'] : [];
    const subject = { targets, threshold: threshold?.initial, window: window?.initial };
    const before = { ...subject, account: await world.accounts.open(alice, never), lookedAt: undefined };
    const first = await evaluate({ ...before, now: world.now(), memory: undefined });
    world.later(5 * minuteMs);
    world.fail(1002, 90, { code: 'dns_lookup' });
    const now = world.now();
    const account = await world.accounts.open(alice, never);
    const input = { ...before, account, now, lookedAt: now, memory: first.memory };
    const about = { ...input, threshold: threshold?.initial ?? 0, window: window?.initial ?? 0 };
    const facts = await read(about);
    const once = JSON.stringify(await judge(facts, about));
    expect(JSON.stringify(await judge(facts, about))).toBe(once);
  },
);

const explain = () => ({ message: 'It failed.' });

test.each(digestKinds.map(({ name }) => [name]))('%s: the same figures are told alike', async (kind) => {
  const world = await startWorld();
  const targets = { zones: [], shieldZones: ['501'], apps: ['app0api00000001'] };
  const subject = { kinds: [kind].map(findDigestKind), targets, only: 'always', timeZone: 'UTC' } as const;
  const account = await world.accounts.open(alice, never);
  const about = { account, now: world.now(), explain, history: [], baseline: undefined };
  const { collected } = await collectDigest(subject, about);
  const stored = JSON.parse(JSON.stringify(collected)) as typeof collected;
  const told = structuredClone(renderDigest(stored, subject));
  expect(renderDigest(stored, subject)).toEqual(told);
  expect(stored).toEqual(JSON.parse(JSON.stringify(collected)));
});
