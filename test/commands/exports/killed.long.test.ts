import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../../simulator/cdn/server.ts';
import type { VisibleMessage } from '../../../simulator/slack/messages.ts';
import type { Held } from '../../../simulator/slack/script.ts';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { generateKeys } from '../../auth/keyring/keyrings.ts';
import { environment } from '../../support/bot.ts';
import { prepareEngines } from '../../support/engines.ts';
import { type BotProcess, startBotProcess } from '../../support/process.ts';
import { channels, openForm, saveSettings, users } from './bot.ts';
import { answers, recorded, says } from './words.ts';

const { alice } = users;
const { ops } = channels;
const engines = await prepareEngines();

const posted = [says.posted(), { told: 1, files: 1 }] as const;
const inDoubt = (files: number) => [says.inDoubt, { told: 1, files }] as const;

describe.each(engines.both)('exports of a process that is killed, on $name', (engine) => {
  let slack: SlackSimulator;
  let cdn: CdnSimulator;
  let env: Record<string, string>;
  let running: BotProcess;
  let before = new Set<string>();

  beforeAll(async () => {
    if (engine.skip) return;
    [slack, cdn] = await Promise.all([startSlack(), startCdn({ zones: 5 })]);
    const { dataDir, databaseUrl } = await engine.createLocation();
    env = { ...environment({ slack, cdn, dataDir }), ENCRYPTION_KEYS: generateKeys('k1') };
    if (databaseUrl) env = { ...env, DATABASE_URL: databaseUrl.reveal() };
    await start();
    const person = slack.as(alice, ops);
    await person.slash('connect');
    await person.waitForModal(/key/i);
    await person.submit({ accessKey: cdn.key });
    await person.waitForModal(/connected/i);
    await person.closeModal();
    await saveSettings(slack, { operators: [alice] });
  });
  afterEach(() => cdn?.faults.clear());
  afterAll(async () => {
    await running?.kill('SIGKILL');
    await Promise.all([slack?.close(), cdn?.close()]);
  });

  async function start(): Promise<void> {
    running = startBotProcess(env);
    await running.waitForOutput('"ready"');
    await slack.socket.waitFor(1);
  }

  async function kill(): Promise<void> {
    await running.kill('SIGKILL');
    expect(await readdir(join(env['DATA_DIR'] ?? '', 'spool')).catch(() => [])).toEqual([]);
  }

  /** What came of an export in this test and is there for everybody. */
  function findMessages(query: string): VisibleMessage[] {
    const messages = slack.as(alice, ops).messages();
    return messages.filter(
      ({ ts, ephemeral, reads }) => !before.has(ts) && !ephemeral && reads.includes(`“${query}”`),
    );
  }

  function begin(): void {
    before = new Set(
      slack
        .as(alice, ops)
        .messages()
        .map(({ ts }) => ts),
    );
  }

  /** Alice asks for an export, as far as it comes. */
  async function ask(query: string, held: Held): Promise<Held> {
    const person = slack.as(alice, ops);
    await openForm(person);
    await person.submit({ channel: ops, query });
    await held.reached;
    while (person.modal()) await person.closeModal();
    return held;
  }

  /** Waits for an end: how many messages tell it and nothing else, and how many have files. */
  async function readEnd(query: string, end: RegExp): Promise<{ told: number; files: number }> {
    await slack
      .as(alice, ops)
      .waitForMessage(() => findMessages(query).some(({ reads }) => end.test(reads)), 60_000);
    expect(slack.problems).toEqual([]);
    const messages = findMessages(query);
    const told = messages.filter((message) => message.files.length === 0);
    for (const { reads } of told) expect(reads).toMatch(end);
    return { told: told.length, files: messages.length - told.length };
  }

  function holdService({ until }: { until: 'request' | 'body' }): Held {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const hold = {
      afterBytes: until === 'body' ? 1000 : 0,
      until: released.promise,
      reached: reached.resolve,
    };
    cdn.faults.add({ match: { path: /export$/ }, hold });
    return { reached: reached.promise, release: () => released.resolve() };
  }

  const hold = (method: string, when: 'before' | 'after') => slack.script.hold(method, when);

  test.skipIf(engine.skip).each([
    [
      'before the CDN has sent anything, and while it sends',
      () => holdService({ until: 'request' }),
      () => holdService({ until: 'body' }),
      [posted, posted],
    ],
    [
      'before the file is announced, and while it is on its way',
      () => hold('files.getUploadURLExternal', 'before'),
      () => hold('files.upload', 'before'),
      [posted, posted],
    ],
    // The second hung in the air with the process, and is not carried out any more.
    [
      'when Slack has shown the file, and when it is about to',
      () => hold('files.completeUploadExternal', 'after'),
      () => hold('files.completeUploadExternal', 'before'),
      [inDoubt(1), inDoubt(0)],
    ],
  ] as const)('%s', async (_, first, second, [one, two]) => {
    begin();
    const held = [await ask('wp-login', first()), await ask('checkout', second())];
    await kill();
    if (two !== posted) held.pop();
    for (const one of held) one.release();
    await start();
    expect(await readEnd('wp-login', one[0])).toEqual(one[1]);
    expect(await readEnd('checkout', two[0])).toEqual(two[1]);
  });

  test.skipIf(engine.skip)(
    'when its end is written and not told, and around its first message',
    async () => {
      begin();
      const held = [
        // Not an update that shows progress: that one may come while the file is on its way.
        await ask('wp-login', slack.script.hold('chat.update', 'before', says.posted().source)),
        await ask('checkout', slack.script.hold('chat.postMessage', 'after')),
      ];
      await ask('shoes', slack.script.hold('chat.postMessage', 'before'));
      await kill();
      for (const one of held) one.release();
      await start();
      for (const query of ['wp-login', 'checkout', 'shoes'])
        expect(await readEnd(query, says.posted())).toEqual({ told: 1, files: 1 });
    },
    90_000,
  );

  test.skipIf(engine.skip)(
    'cancelled just before: it stays cancelled, and the CDN is not asked again',
    async () => {
      begin();
      const held = await ask('wp-login', holdService({ until: 'body' }));
      const asked = cdn.requests.length;
      const person = slack.as(alice, ops);
      await person.press('event-logs:cancel:0');
      await person.waitForMessage(({ ts, reads }) => !before.has(ts) && answers.cancelled.test(reads));
      await kill();
      held.release();
      await start();
      expect(await readEnd('wp-login', says.cancelledBy('Alice'))).toEqual({ told: 1, files: 0 });
      expect(cdn.requests.slice(asked).filter(({ path }) => path.endsWith('/export'))).toEqual([]);
    },
  );

  test.skipIf(engine.skip)(
    'an export that was running in two deaths is put aside, and the person is told',
    async () => {
      begin();
      const held = await ask('wp-login', holdService({ until: 'body' }));
      await kill();
      held.release();
      const again = holdService({ until: 'body' });
      await start();
      await again.reached;
      await kill();
      again.release();
      const asked = cdn.requests.length;
      await start();
      expect(await readEnd('wp-login', says.failed)).toEqual({ told: 1, files: 0 });
      expect(findMessages('wp-login')[0]?.reads).toMatch(/stopped twice/);
      expect(cdn.requests.slice(asked).filter(({ path }) => path.endsWith('/export'))).toEqual([]);
    },
    90_000,
  );

  test.skipIf(engine.skip)('each of them is in the record, once', async () => {
    const person = slack.as(alice, ops);
    await person.slash('audit 30');
    const { reads } = await person.waitForMessage(/\d+ records/);
    expect(reads.match(recorded.inDoubt)).toHaveLength(2);
    expect(reads.match(recorded.posted)).toHaveLength(7);
    expect(reads.match(recorded.cancelledByAlice)).toHaveLength(1);
  });

  test.skipIf(engine.skip || engine.name !== engines.embedded.name)(
    'stopped in good order it goes on after the start, with the same message',
    async () => {
      begin();
      await ask('wp-login', holdService({ until: 'body' }));
      await running.kill('SIGTERM');
      expect(findMessages('wp-login').map(({ reads }) => reads)).toEqual([
        expect.stringMatching(says.waitsForRestart),
      ]);
      await start();
      expect(await readEnd('wp-login', says.posted())).toEqual({ told: 1, files: 1 });
    },
    60_000,
  );
});
