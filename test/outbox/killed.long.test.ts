import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import type { Database } from '../../src/store/database.ts';
import { prepareEngines } from '../support/engines.ts';
import type { CrashSettings } from './outbox-process.ts';

const engines = await prepareEngines();
const channels = Array.from({ length: 12 }, (_, n) => `C0CRASH${n.toString().padStart(2, '0')}`);

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

interface Run {
  readonly slack: SlackSimulator;
  readonly database: Database;
}

async function stop(child: ChildProcess | undefined): Promise<void> {
  const ended = child && once(child, 'exit');
  child?.kill('SIGKILL');
  await ended;
}

/** Kills processes at random moments until every message has ended. */
async function runAndKill(
  engine: (typeof engines.both)[number],
  {
    places,
    messages,
    processes,
    kills,
  }: { places: readonly string[]; messages: number; processes: number; kills: number },
): Promise<Run> {
  const { slack, settle } = await startUnreliableSlack();
  const { dataDir, databaseUrl, open } = await engine.createLocation();
  const settings: CrashSettings = {
    dataDir,
    databaseUrl: databaseUrl?.reveal(),
    slackUrl: slack.url,
    botToken: slack.botToken,
    places,
    messages,
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
  const running = await Promise.all(Array.from({ length: processes }, start));
  for (let kill = 0; kill < kills; kill += 1) {
    await sleep(500 + Math.random() * 5_000);
    const victim = Math.floor(Math.random() * running.length);
    await stop(running[victim]);
    running[victim] = await start();
  }
  settle();
  // Until Slack has been quiet for longer than a lost answer is waited for.
  for (let calls = -1; calls !== slack.calls.length; ) {
    calls = slack.calls.length;
    await sleep(25_000);
  }
  await Promise.all(running.map(stop));
  return { slack, database: await open() };
}

function byText(a: { text: string }, b: { text: string }): number {
  return a.text.localeCompare(b.text);
}

function readAll(slack: SlackSimulator, places: readonly string[]) {
  return places.flatMap((place) => slack.as('U0ALICE00', place).messages());
}

// At the same time: each of these mostly waits until Slack has been quiet.
describe.concurrent.each(engines.both)('the outbox of processes that are killed, on $name', (engine) => {
  test.skipIf(engine.skip)(
    'loses nothing, doubles nothing, keeps threads and shows the newest body',
    async () => {
      const processes = engine.name === 'embedded' ? 1 : 2;
      const { slack, database } = await runAndKill(engine, {
        places: channels,
        messages: 60,
        processes,
        kills: 4,
      });
      const rows = await database.db.selectFrom('outbox').selectAll().execute();
      const texts = new Map(readAll(slack, channels).map(({ ts, text }) => [ts, text]));
      const read = readAll(slack, channels).map(({ text, threadTs }) => ({
        text,
        under: threadTs && texts.get(threadTs)?.split(' ')[0],
      }));
      const wanted = rows.map(({ id, wanted, parent }) => ({
        text: `${id} v${wanted}`,
        under: parent ?? undefined,
      }));
      expect(rows.length).toBeGreaterThanOrEqual(60);
      expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['sent']));
      expect(read.toSorted(byText)).toEqual(wanted.toSorted(byText));
      // Each end was told once.
      const ends = await database.db.selectFrom('deliveries').select('id').execute();
      expect(ends).toHaveLength(rows.length);
      await slack.close();
    },
    300_000,
  );

  test.skipIf(engine.skip)(
    'where it may not look doubles nothing, and tells what is unknown',
    async () => {
      const places = ['U0ALICE00', 'U0BOB0000', 'U0CAROL00', 'U0DAVE000'];
      const processes = engine.name === 'embedded' ? 1 : 2;
      const { slack, database } = await runAndKill(engine, { places, messages: 40, processes, kills: 6 });
      const rows = await database.db.selectFrom('outbox').selectAll().execute();
      const read = places.flatMap((user) =>
        slack
          .as(user, `D${user}`)
          .messages()
          .map(({ text }) => text.split(' ')[0] ?? ''),
      );
      const states = new Map(rows.map(({ id, state }) => [id, state]));
      expect(new Set(read).size).toBe(read.length);
      const isWrong = ([id, state]: [string, string]): boolean =>
        state === 'sent' ? !read.includes(id) : state === 'dead' ? read.includes(id) : state !== 'unknown';
      expect([...states].filter(isWrong)).toEqual([]);
      expect(
        rows.filter(({ state, parent }) => state === 'unknown' && parent === null).length,
      ).toBeGreaterThan(0);
      await slack.close();
    },
    300_000,
  );
});
