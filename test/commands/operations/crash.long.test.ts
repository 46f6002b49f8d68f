import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type CdnSimulator, startCdn } from '../../../simulator/cdn/server.ts';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { environment } from '../../support/bot.ts';
import { copyEmbeddedDatabase } from '../../support/database-templates.ts';
import { findPostgres, type PostgresServer } from '../../support/postgres.ts';
import { type BotProcess, startBotProcess } from '../../support/process.ts';
import { says } from './words.ts';
import { alice, bob, carol, configure, deploys, type Member, ops, type Volumes } from './workspace.ts';

const found = await findPostgres();
const engines = [
  { name: 'the embedded database', postgres: undefined, skip: false },
  typeof found === 'string'
    ? { name: `PostgreSQL (${found})`, postgres: undefined, skip: true }
    : { name: 'PostgreSQL', postgres: found, skip: false },
];

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
describe.concurrent.each(engines)('killed with $name', ({ postgres, skip }) => {
  describe.skipIf(skip)('at any moment', () => {
    let slack: SlackSimulator;
    let cdn: CdnSimulator;
    let dataDir: string;
    let server: PostgresServer | undefined;
    let env: Record<string, string>;
    let running: BotProcess;
    let people: Record<'alice' | 'bob' | 'carol', Member>;

    beforeAll(async () => {
      [slack, cdn, dataDir, server] = await Promise.all([
        startSlack(),
        startCdn({ zones: 5 }),
        mkdtemp(join(tmpdir(), 'chatops-crash-')),
        postgres?.start(),
      ]);
      const url = await server?.createDatabase();
      if (!url) await copyEmbeddedDatabase(dataDir);
      env = {
        ...environment({ slack, cdn, dataDir }),
        ADMIN_USER_IDS: carol,
        ...(url
          ? { DATABASE_URL: url.reveal(), ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` }
          : {}),
      };
      people = { alice: slack.as(alice), bob: slack.as(bob), carol: slack.as(carol) };
      await begin();
      const self = slack.as(alice, ops);
      await self.slash('connect');
      await self.waitForModal(/key/i);
      await self.submit({ accessKey: cdn.key });
      await self.waitForModal(/connected/i);
      await self.closeModal();
      await configure(people.carol, { operators: [alice], approvers: [bob], approvalChannel: deploys });
    }, 60_000);

    afterAll(async () => {
      await running.kill('SIGTERM');
      await Promise.all([slack.close(), cdn.close(), server?.stop()]);
      await rm(dataDir, { recursive: true, force: true });
    }, 60_000);

    async function begin(): Promise<void> {
      running = startBotProcess(env);
      await running.waitForOutput('"ready"', 60_000);
    }

    async function killAndRestart(): Promise<void> {
      await running.kill('SIGKILL');
      await begin();
    }

    function volume(name: string): Volumes {
      const app = cdn.data.apps[0];
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
      cdn.requests.filter(({ method, path }) => method === 'DELETE' && path.endsWith(`/${volumeId}`)).length;
    const isDeleted = (volumeId: string): boolean =>
      !Object.hasOwn(cdn.data.apps[0]?.volumes ?? {}, volumeId);

    async function waitForRequest(volumeId: string): Promise<void> {
      await vi.waitUntil(() => countSent(volumeId) === 1, { timeout: 60_000, interval: 2 });
    }

    const kill: Record<Moment, (volume: Volumes, card: { ts: string }) => Promise<void>> = {
      async 'asked for, before anybody approved'({ volumeId }, card) {
        await killAndRestart();
        await people.bob.press('approvals:approve', card);
        // The next moment kills the process: not in the middle of this one.
        await people.alice.waitForMessage(ending(volumeId), 60_000);
      },
      async 'approved, at once'(_, card) {
        await people.bob.press('approvals:approve', card);
        await killAndRestart();
        // The press may have got lost with the process: the card is still there, and so is its button.
        await people.bob.press('approvals:approve', card).catch(() => undefined);
      },
      async 'approved, a moment later'({ volumeId }, card) {
        await people.bob.press('approvals:approve', card);
        await people.bob.waitForMessage(says.approved(`volume ${volumeId} `), 30_000);
        await killAndRestart();
      },
      async 'sent, not yet processed'({ volumeId }, card) {
        cdn.faults.add({ match: deletionOf(volumeId), drop: 'before-headers', delayMs: Infinity });
        await people.bob.press('approvals:approve', card);
        await waitForRequest(volumeId);
        await killAndRestart();
      },
      async 'processed, the answer on its way'({ volumeId }, card) {
        cdn.faults.add({ match: deletionOf(volumeId), trickle: { bytes: 1, everyMs: 5_000 } });
        await people.bob.press('approvals:approve', card);
        await vi.waitUntil(() => isDeleted(volumeId), { timeout: 60_000, interval: 2 });
        await killAndRestart();
      },
      async 'answered, while it is told'({ volumeId }, card) {
        // Carried out before the process ends: one that came after it would undo what the next process tells.
        const updates = [
          slack.script.hold('chat.update', 'after'),
          slack.script.hold('chat.update', 'after'),
        ];
        await people.bob.press('approvals:approve', card);
        await vi.waitUntil(() => isDeleted(volumeId), { timeout: 60_000, interval: 2 });
        await killAndRestart();
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

    test('at most one DELETE is sent for each request, and its message is true', async () => {
      const moments = Object.keys(kill) as Moment[];
      for (const [index, moment] of moments.entries()) {
        const one = volume(`v${index}`);
        const card = await ask(one);
        await kill[moment](one, { ts: card.ts });
      }
      for (const [index, moment] of moments.entries()) {
        const { reads } = await people.alice.waitForMessage(ending(`v${index}`), 150_000);
        expect({ moment, count: countSent(`v${index}`) <= 1 }).toEqual({ moment, count: true });
        expected[moment](reads, countSent(`v${index}`), isDeleted(`v${index}`));
      }
      expect(running.output()).not.toContain(cdn.key);
    }, 400_000);
  });
});
