import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import { prepareEngines } from '../support/engines.ts';
import type { CrashSettings } from './outbox-process.ts';

const engines = await prepareEngines();
const channels = Array.from({ length: 8 }, (_, n) => `C0CRASH${n.toString().padStart(2, '0')}`);
const people = ['U0ALICE00', 'U0BOB0000', 'U0CAROL00', 'U0DAVE000'];

/** Slack with channels to post in, that answers 429, fails, and loses answers now and then. */
async function startUnreliableSlack(): Promise<{ slack: SlackSimulator; settle: () => void }> {
  const slack = await startSlack();
  const ops = slack.world.channels.get('C0OPS0000');
  for (const id of channels) if (ops) slack.world.channels.set(id, { ...ops, id, name: id.toLowerCase() });
  // The first post is in doubt in every run, whatever the dice say.
  slack.script.drop('chat.postMessage');
  let calls = 0;
  const timer = setInterval(() => {
    // One call in about ten: faults that no call meets would wait for the end.
    if (slack.calls.length - calls < 10) return;
    calls = slack.calls.length;
    const fault = Math.floor(Math.random() * 5);
    if (fault === 0) slack.script.rateLimit('chat.postMessage', 1);
    if (fault === 1) slack.script.drop('chat.postMessage');
    if (fault === 2) slack.script.fail('chat.postMessage', 'internal_error', 1, 503);
    if (fault === 3) slack.script.drop('chat.update');
    if (fault === 4) slack.script.rateLimit('conversations.history', 1);
  }, 200);
  return { slack, settle: () => clearInterval(timer) };
}

async function stop(child: ChildProcess | undefined): Promise<void> {
  const ended = child && once(child, 'exit');
  child?.kill('SIGKILL');
  await ended;
}

// At the same time: each of these mostly waits until Slack has been quiet.
describe.concurrent.each(engines.both)('the outbox of processes that are killed, on $name', (engine) => {
  test.skipIf(engine.skip)(
    'loses nothing, doubles nothing, keeps threads, shows the newest body, and tells what is unknown',
    async () => {
      const { slack, settle } = await startUnreliableSlack();
      const { dataDir, databaseUrl, open } = await engine.createLocation();
      const settings: CrashSettings = {
        dataDir,
        databaseUrl: databaseUrl?.reveal(),
        slackUrl: slack.url,
        botToken: slack.botToken,
        places: [...channels, ...people],
        messages: 60,
      };
      const start = async (): Promise<ChildProcess> => {
        const path = new URL('outbox-process.ts', import.meta.url).pathname;
        const child = spawn(process.execPath, [path, JSON.stringify(settings)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const [code] = await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')]);
        if (typeof code === 'number') throw new Error(`the process ended with ${code}`);
        return child;
      };
      const running = await Promise.all(Array.from({ length: engine.name === 'embedded' ? 1 : 2 }, start));
      for (let kill = 0; kill < 4; kill += 1) {
        await sleep(500 + Math.random() * 4_000);
        const victim = Math.floor(Math.random() * running.length);
        await stop(running[victim]);
        running[victim] = await start();
      }
      settle();
      // Until Slack has been quiet for longer than a lost answer is waited for.
      for (let [calls, quiet] = [0, 0]; quiet < 23; quiet += 1) {
        if (calls !== slack.calls.length) quiet = 0;
        calls = slack.calls.length;
        await sleep(1_000);
      }
      await Promise.all(running.map(stop));

      const { db } = await open();
      const rows = await db.selectFrom('outbox').selectAll().execute();
      const byId = new Map(rows.map((row) => [row.id, row]));
      expect(rows.length).toBeGreaterThanOrEqual(60);
      // Each end was told once.
      expect(await db.selectFrom('deliveries').select('id').execute()).toHaveLength(rows.length);
      const isInChannel = ({ parent, places }: (typeof rows)[number]): boolean =>
        (byId.get(parent ?? '')?.places ?? places).includes('C0CRASH');

      const inChannels = rows.filter(isInChannel);
      const messages = readAll(slack, channels);
      const texts = new Map(messages.map(({ ts, text }) => [ts, text]));
      const read = messages.map(({ text, threadTs }) => ({
        text,
        under: threadTs && texts.get(threadTs)?.split(' ')[0],
      }));
      const wanted = inChannels.map(({ id, wanted, parent }) => ({
        text: `${id} v${wanted}`,
        under: parent ?? undefined,
      }));
      expect(new Set(inChannels.map(({ state }) => state))).toEqual(new Set(['sent']));
      expect(read.toSorted(byText)).toEqual(wanted.toSorted(byText));

      // Nobody may look into direct messages.
      const direct = people.flatMap((user) => slack.as(user, `D${user}`).messages());
      const arrived = new Set(direct.map(({ text }) => text.split(' ')[0]));
      expect(arrived.size).toBe(direct.length);
      const isWrong = ({ id, state }: (typeof rows)[number]): boolean =>
        state === 'sent' ? !arrived.has(id) : state === 'dead' ? arrived.has(id) : state !== 'unknown';
      expect(rows.filter((row) => !isInChannel(row) && isWrong(row))).toEqual([]);
      await slack.close();
    },
    300_000,
  );
});

function byText(a: { text: string }, b: { text: string }): number {
  return a.text.localeCompare(b.text);
}

function readAll(slack: SlackSimulator, places: readonly string[]) {
  return places.flatMap((place) => slack.as('U0ALICE00', place).messages());
}
