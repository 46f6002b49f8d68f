import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, expect } from 'vitest';
import type { VisibleMessage } from '../../../simulator/slack/messages.ts';
import type { BotOptions } from '../../support/bot.ts';
import { channels, findFileMessages, openForm, startExportBot, submitForm, users } from './bot.ts';

const { alice, bob } = users;

/**
 * A bot for the exports of one file of tests, and what each of them looks at: only what came since it began. To be called at
 * the top of the file.
 */
export async function useExportHarness(options?: BotOptions) {
  // Edits of a workspace are shown one a second, after some at once: between two tests time passes by the bot's clock.
  let behindMs = 9 * 60_000;
  const bot = await startExportBot({ now: () => new Date(Date.now() - behindMs), ...options });
  afterAll(() => bot.stop());
  let before: Set<string>;
  const everything = (): VisibleMessage[] => [alice, bob].flatMap((who) => bot.slack.as(who).messages());
  const isNew = ({ ts }: VisibleMessage): boolean => !before.has(ts);

  beforeEach(() => {
    behindMs = Math.max(0, behindMs - 20_000);
    bot.slack.calls.length = 0;
    bot.cdn.requests.length = 0;
    bot.cdn.faults.clear();
    Object.assign(bot.cdn.data.eventLogs, {
      rows: 200,
      bytes: undefined,
      announceLength: false,
      windowRefusal: 400,
    });
    before = new Set(everything().map(({ ts }) => ts));
  });

  async function spoolIsEmpty(): Promise<void> {
    const spool = join(bot.env['DATA_DIR'] ?? '', 'spool');
    expect(await readdir(spool).catch(() => [])).toEqual([]);
  }

  return {
    bot,
    isNew,
    /** Files that came in this test. */
    newFiles: (channel: string, who: string = alice) =>
      findFileMessages(bot.slack, channel, who).filter(isNew),
    /** Waits for a message that is there for everybody. */
    waitForPost: (channel: string, words: RegExp, who: string = alice) =>
      bot.slack
        .as(who, channel)
        .waitForMessage(
          (message) => isNew(message) && !message.ephemeral && words.test(message.reads),
          20_000,
        ),
    /** Nothing was posted, nothing is left. */
    expectNothingLeft: async () => {
      expect(everything().filter((message) => isNew(message) && message.files.length > 0)).toEqual([]);
      await spoolIsEmpty();
    },
    expectEmptySpool: spoolIsEmpty,
    /** Lets time pass by the bot's clock. */
    pass: (ms: number) => {
      behindMs -= ms;
    },
    /** What the CDN was asked for. */
    exportRequests: () => bot.cdn.requests.filter(({ path }) => path.endsWith('/export')),
    callsTo: (method: string) => bot.slack.calls.filter((call) => call.method === method),
    /** Alice fills in the form; gives what it ended with. */
    exportTo: async (channel: string | undefined, values: object = {}, words?: string) => {
      const person = bot.slack.as(alice, channels.ops);
      await openForm(person, words);
      return submitForm(person, { ...(channel ? { channel } : {}), ...values });
    },
    /** The answer of the service stops after its beginning, until it is let go on. */
    holdExport: (afterBytes = 1000) => {
      const reached = Promise.withResolvers<void>();
      const until = Promise.withResolvers<void>();
      bot.cdn.faults.add({
        match: { path: /export$/ },
        hold: { afterBytes, until: until.promise, reached: reached.resolve },
      });
      return { reached: reached.promise, release: () => until.resolve() };
    },
  };
}
