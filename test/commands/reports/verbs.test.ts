import { expect, test } from 'vitest';
import { initialPolicy } from '../../../src/auth/policy/policy.ts';
import type { Context } from '../../../src/commands/define.ts';
import { digest as feature } from '../../../src/commands/reports/digests/feature.ts';
import { UserError } from '../../../src/errors.ts';
import { alice, bob, createDigestHarness, type DigestHarness } from '../../support/digests/harness.ts';
import { prepareEngines } from '../../support/engines.ts';

const { embedded } = await prepareEngines();

/** What a press of this person has: the real reports and rights. */
function contextOf(harness: DigestHarness, person: typeof alice): Context {
  const { reports, policies, now, slack } = harness;
  const { ports, signal } = harness.context;
  const authorizer = ports.authorizer(person);
  return {
    person,
    reports,
    policies,
    now,
    authorizer,
    people: ports.people(person),
    decide: (...asked: Parameters<Context['decide']>) => authorizer.decide(asked[0], undefined, asked[1]),
    sharing: {
      hasBot: async (channel: string) => slack.world.channels.get(channel)?.botIsMember === true,
      readAudience: (channel: string) => ports.readAudience(person, channel, { signal, knownMs: 0 }),
    },
  } as unknown as Context;
}

async function press(
  harness: DigestHarness,
  verb: string,
  person: typeof alice,
  id: string,
): Promise<string> {
  const action = feature.actions?.find((one) => one.id === `digests:${verb}`);
  try {
    await action?.run?.(id, contextOf(harness, person));
    return 'done';
  } catch (error) {
    if (error instanceof UserError) return 'refused';
    throw error;
  }
}

const channel = ({ slack }: DigestHarness) => slack.world.channels.get('C0OPS0000') ?? {};
const pause =
  (reason: string | null, by: string | null = null) =>
  ({ db }: DigestHarness) =>
    db.updateTable('reports').set({ paused: reason, paused_by: by, next_due: null }).execute();

type Prepare = (harness: DigestHarness) => unknown;

test.each<[string, string, typeof alice, Prepare, string]>([
  ['runs', 'take-over', bob, () => undefined, 'refused'],
  ['is paused by its owner', 'take-over', bob, pause('by-hand', alice.userId), 'refused'],
  ['lost its owner', 'take-over', bob, pause('owner-gone'), 'done'],
  [
    'lost its owner, in a channel that may read nothing',
    'take-over',
    bob,
    (harness) =>
      Promise.all([
        pause('owner-gone')(harness),
        harness.policies.save({
          tenant: alice.teamId,
          base: 0,
          policy: { ...initialPolicy, caps: { C0OPS0000: 'none' } },
          by: bob.userId,
          difference: [],
        }),
      ]),
    'refused',
  ],
  [
    'lost its owner, in a channel that other organizations read',
    'take-over',
    bob,
    async (harness) => {
      Object.assign(channel(harness), { shared: true });
      await pause('owner-gone')(harness);
    },
    'refused',
  ],
  [
    'is paused since the bot is not in its channel, where it still is not',
    'take-over',
    bob,
    async (harness) => {
      Object.assign(channel(harness), { botIsMember: false });
      await pause('bot-removed')(harness);
    },
    'refused',
  ],
  [
    'is paused since the bot is not in its channel, where it still is not',
    'resume',
    alice,
    async (harness) => {
      Object.assign(channel(harness), { botIsMember: false });
      await pause('bot-removed')(harness);
    },
    'refused',
  ],
  ...['channel-shared', 'by-hand'].map((reason): [string, string, typeof alice, Prepare, string] => [
    `is paused (${reason}), in a channel that other organizations read`,
    'resume',
    alice,
    async (harness) => {
      Object.assign(channel(harness), { shared: true });
      await pause(reason)(harness);
    },
    'refused',
  ]),
  ['is paused since the bot was not in its channel', 'resume', alice, pause('bot-removed'), 'done'],
  ['lost a right', 'resume', bob, pause('right-lost'), 'refused'],
])('a digest that %s: %s by %o', async (_, verb, person, prepare, end) => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  const { id } = await harness.createDaily();
  await prepare(harness);
  const before = await harness.reports.find(alice.teamId, id);
  expect(await press(harness, verb, person, id)).toBe(end);
  const after = await harness.reports.find(alice.teamId, id);
  expect(after).toMatchObject(end === 'refused' ? { ...before } : { owner: person, paused: undefined });
});

test('a deletion is undone by its owner for fifteen minutes, and by nobody else', async () => {
  await using harness = await createDigestHarness(await embedded.emptyDatabase());
  const { id } = await harness.createDaily();
  expect(await press(harness, 'delete', bob, id)).toBe('refused');
  expect(await press(harness, 'delete', alice, id)).toBe('done');
  expect(await press(harness, 'undo', bob, id)).toBe('refused');
  expect(await press(harness, 'undo', alice, id)).toBe('done');
  expect((await harness.reports.find(alice.teamId, id))?.deletedAt).toBeUndefined();
  expect(await press(harness, 'delete', alice, id)).toBe('done');
  harness.advance(16 * 60_000);
  expect(await press(harness, 'undo', alice, id)).toBe('refused');
});

test('a form that is not filled in has no preview', async () => {
  const preview = feature.actions?.find((one) => one.id === 'digests:preview');
  const shown = preview?.load?.('', { modal: { fields: {} } } as unknown as Context);
  await expect(shown).rejects.toBeInstanceOf(UserError);
});
