import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { prepareEngines } from '../../support/engines.ts';
import { type KilledBot, prepareKilledBot } from '../../support/killed-bot.ts';
import { says } from './words.ts';
import { alice, bob, carol, configure, deploys, type Member, ops, type Volumes } from './workspace.ts';

const engines = await prepareEngines();

/** Where the process is killed. The CDN holds the request back, or its answer, so that the moment is sure. */
type Moment =
  | 'asked for, before anybody approved'
  | 'approved, at once'
  | 'approved, a moment later'
  | 'sent, not yet processed'
  | 'processed, the answer on its way'
  | 'answered, while it is told';

const ending = (volumeId: string): RegExp =>
  says.yourRequest(volumeId, `(${says.done}|${says.notDone}|${says.outcomeUnknown})`);

/** The deletion of an earlier volume may come after a restart, while another one is asked for. */
const deletionOf = (volumeId: string) => ({ method: 'DELETE', path: new RegExp(`/${volumeId}$`) });

/** Said to be done: one request. Unknown: none or one. Never two, never a wrong word. */
function sure(told: string, count: number, isDeleted: boolean): void {
  if (told.includes(says.outcomeUnknown)) expect(count).toBeLessThanOrEqual(1);
  else
    expect({ done: told.includes(says.done), count, isDeleted }).toEqual({
      done: true,
      count: 1,
      isDeleted: true,
    });
}

// At the same time: each of these mostly waits for a process.
describe.concurrent.each(engines.both)('killed with $name', ({ createLocation, skip }) => {
  describe.skipIf(skip)('at any moment', () => {
    let running: KilledBot;
    let people: Record<'alice' | 'bob', Member>;

    beforeAll(async () => {
      running = await prepareKilledBot(await createLocation(), { env: { ADMIN_USER_IDS: carol } });
      const { slack, start, connect } = running;
      people = { alice: slack.as(alice), bob: slack.as(bob) };
      await start();
      await connect(alice, ops);
      await configure(slack.as(carol), { operators: [alice], approvers: [bob], approvalChannel: deploys });
    }, 60_000);

    afterAll(() => running.stop(), 60_000);

    function volume(name: string): Volumes {
      const app = running.cdn.data.apps[0];
      if (!app) throw new Error('the CDN has no app');
      app.volumes[name] = [{ id: `${name}-1`, detached: true }];
      return { appId: app.id, volumeId: name };
    }

    async function ask({ appId, volumeId }: Volumes): Promise<{ ts: string }> {
      await people.alice.slash(`volume delete ${appId} ${volumeId}`);
      await people.alice.waitForModal('volumes:submit', 20_000);
      await people.alice.submit({ confirmVolumeId: volumeId, reason: 'A test of what lasts' });
      await people.alice.waitForModal(/Requested:/, 20_000);
      await people.alice.closeModal();
      await people.alice.waitForMessage(says.yourRequest(volumeId), 60_000);
      return people.bob.waitForMessage(says.asksToDelete(volumeId), 60_000);
    }

    const countSent = (volumeId: string): number =>
      running.cdn.requests.filter(({ method, path }) => method === 'DELETE' && path.endsWith(`/${volumeId}`))
        .length;
    const isDeleted = (volumeId: string): boolean =>
      !Object.hasOwn(running.cdn.data.apps[0]?.volumes ?? {}, volumeId);

    async function waitForRequest(volumeId: string): Promise<void> {
      await vi.waitUntil(() => countSent(volumeId) === 1, { timeout: 60_000, interval: 2 });
    }

    const kill: Record<Moment, (volume: Volumes, card: { ts: string }) => Promise<void>> = {
      async 'asked for, before anybody approved'({ volumeId }, card) {
        await running.killAndRestart();
        await people.bob.press('approvals:approve', card);
        // The next moment kills the process: not in the middle of this one.
        await people.alice.waitForMessage(ending(volumeId), 60_000);
      },
      async 'approved, at once'(_, card) {
        await people.bob.press('approvals:approve', card);
        await running.killAndRestart();
        // The press may have got lost with the process: the card is still there, and so is its button.
        await people.bob.press('approvals:approve', card).catch(() => undefined);
      },
      async 'approved, a moment later'({ volumeId }, card) {
        await people.bob.press('approvals:approve', card);
        await people.bob.waitForMessage(says.approved(`volume ${volumeId} `), 30_000);
        await running.killAndRestart();
      },
      async 'sent, not yet processed'({ volumeId }, card) {
        running.cdn.faults.add({ match: deletionOf(volumeId), drop: 'before-headers', delayMs: Infinity });
        await people.bob.press('approvals:approve', card);
        await waitForRequest(volumeId);
        await running.killAndRestart();
      },
      async 'processed, the answer on its way'({ volumeId }, card) {
        running.cdn.faults.add({ match: deletionOf(volumeId), trickle: { bytes: 1, everyMs: 5_000 } });
        await people.bob.press('approvals:approve', card);
        await vi.waitUntil(() => isDeleted(volumeId), { timeout: 60_000, interval: 2 });
        await running.killAndRestart();
      },
      async 'answered, while it is told'({ volumeId }, card) {
        // Carried out before the process ends: one that came after it would undo what the next process tells.
        const updates = [
          running.slack.script.hold('chat.update', 'after'),
          running.slack.script.hold('chat.update', 'after'),
        ];
        await people.bob.press('approvals:approve', card);
        await vi.waitUntil(() => isDeleted(volumeId), { timeout: 60_000, interval: 2 });
        await running.killAndRestart();
        for (const update of updates) update.release();
      },
    };

    const expected: Record<Moment, (told: string, count: number, isDeleted: boolean) => void> = {
      'asked for, before anybody approved': (told, count) => {
        expect({ told, count }).toEqual({ told: expect.stringContaining(says.done), count: 1 });
      },
      'approved, at once': sure,
      'approved, a moment later': sure,
      'sent, not yet processed': (told, count, isDeleted) => {
        expect(told).toContain(says.outcomeUnknown);
        expect({ count, isDeleted }).toEqual({ count: 1, isDeleted: false });
      },
      'processed, the answer on its way': (told, count, isDeleted) => {
        expect(told).toContain(says.outcomeUnknown);
        expect({ count, isDeleted }).toEqual({ count: 1, isDeleted: true });
      },
      'answered, while it is told': sure,
    };

    let tries = 0;
    test('at most one DELETE is sent for each request, and its message is true', async () => {
      const moments = Object.keys(kill) as Moment[];
      const names = String.fromCodePoint(97 + tries++);
      for (const [index, moment] of moments.entries()) {
        const one = volume(`${names}${index}`);
        const card = await ask(one);
        await kill[moment](one, { ts: card.ts });
      }
      for (const [index, moment] of moments.entries()) {
        const volumeId = `${names}${index}`;
        const { reads } = await people.alice.waitForMessage(ending(volumeId), 150_000);
        expect({ moment, count: countSent(volumeId) <= 1 }).toEqual({ moment, count: true });
        expected[moment](reads, countSent(volumeId), isDeleted(volumeId));
      }
      expect(running.output()).not.toContain(running.cdn.key);
    }, 400_000);
  });
});
