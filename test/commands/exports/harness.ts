import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { RecordedRequest } from '../../../simulator/cdn/requests.ts';
import type { VisibleMessage } from '../../../simulator/slack/messages.ts';
import type { VisibleView } from '../../../simulator/slack/views.ts';
import type { Bot, BotOptions } from '../../support/bot.ts';
import { channels, findFileMessages, openForm, startExportBot, submitForm, users } from './bot.ts';

const { alice, bob } = users;

/** A bot for the exports of one file of tests, and what each of them looks at: only what came since it began. */
export interface ExportHarness {
  readonly bot: () => Bot;
  /** Files that came in this test. */
  readonly newFiles: (channel: string, who?: string) => VisibleMessage[];
  /** Waits for a message that is there for everybody. */
  readonly waitForPost: (channel: string, words: RegExp, who?: string) => Promise<VisibleMessage>;
  readonly isNew: (message: VisibleMessage) => boolean;
  /** Nothing was posted, nothing is left. */
  readonly expectNothingLeft: () => Promise<void>;
  readonly expectEmptySpool: () => Promise<void>;
  /** What the CDN was asked for. */
  readonly exportRequests: () => RecordedRequest[];
  readonly callsTo: (method: string) => Bot['slack']['calls'];
  /** Alice fills in the form; gives what it ended with. */
  readonly exportTo: (channel: string | undefined, values?: object, words?: string) => Promise<VisibleView>;
  /** The answer of the service stops after its beginning, until it is let go on. */
  readonly holdExport: (afterBytes?: number) => { reached: Promise<void>; release: () => void };
}

/** To be called at the top of a file of tests. */
export function useExportHarness(options?: BotOptions): ExportHarness {
  let bot: Bot;
  let before: Set<string>;
  const everything = (): VisibleMessage[] => [alice, bob].flatMap((who) => bot.slack.as(who).messages());
  const isNew = ({ ts }: VisibleMessage): boolean => !before.has(ts);

  beforeAll(async () => {
    bot = await startExportBot(options);
  });
  afterAll(() => bot.stop());
  beforeEach(() => {
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
    bot: () => bot,
    isNew,
    newFiles: (channel, who = alice) => findFileMessages(bot.slack, channel, who).filter(isNew),
    waitForPost: (channel, words, who = alice) =>
      bot.slack
        .as(who, channel)
        .waitForMessage(
          (message) => isNew(message) && !message.ephemeral && words.test(message.reads),
          20_000,
        ),
    async expectNothingLeft() {
      expect(everything().filter((message) => isNew(message) && message.files.length > 0)).toEqual([]);
      await spoolIsEmpty();
    },
    expectEmptySpool: spoolIsEmpty,
    exportRequests: () => bot.cdn.requests.filter(({ path }) => path.endsWith('/export')),
    callsTo: (method) => bot.slack.calls.filter((call) => call.method === method),
    async exportTo(channel, values = {}, words) {
      const person = bot.slack.as(alice, channels.ops);
      await openForm(person, words);
      return submitForm(person, { ...(channel ? { channel } : {}), ...values });
    },
    holdExport(afterBytes = 1000) {
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
