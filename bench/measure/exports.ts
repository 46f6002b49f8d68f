import { setTimeout as pause } from 'node:timers/promises';
import { linkKey } from './commands.ts';
import { post } from './load.ts';
import {
  type Cdn,
  readPeakMemory,
  resetPeakMemory,
  residentMemory,
  type Subject,
  startBot,
  startSubject,
  withTempDirectory,
} from './processes.ts';
import { type BenchSlack, startSlack } from './slack.ts';

export const shieldZone = '501';
const person = 'U0BENCH00';
/** V8 keeps the pages of a heap that ended for some seconds. */
export const exportEndedMs = 20_000;
/** A busy machine is slow, and a gigabyte large. */
const patienceMs = 600_000;

export interface ExportReading {
  readonly ms: number;
  /** Peak of resident memory above what it was before, bytes. */
  readonly grown: number;
}

interface ExportBotOptions {
  readonly cdn: Cdn;
  readonly sinkUrl: string;
  /** Of a database; without it the embedded one. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs with a bot that may export and has a key of `cdn`; its uploads go to `sinkUrl`. */
export async function withExportBot(
  { cdn, sinkUrl, environment: more }: ExportBotOptions,
  run: (slack: BenchSlack, bot: Subject) => Promise<void>,
): Promise<void> {
  await withTempDirectory(async (dataDir) => {
    const slack = await startSlack({ uploadUrl: sinkUrl });
    const environment = {
      DATA_DIR: dataDir,
      CDN_API_URL: cdn.url,
      CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl,
      ADMIN_USER_IDS: person,
    };
    try {
      const bot = await startBot({ ...slack.environment('http'), ...environment, ...more });
      try {
        await linkKey(slack, bot.port, cdn.key);
        // By default nobody has the right to export: an admin grants it.
        const saved = slack.nextCall('views.update');
        await post(bot.port, slack.submit('settings:submit', { operators: [person] }));
        await saved;
        await run(slack, bot);
      } finally {
        await bot.stop();
      }
    } finally {
      await slack.close();
    }
  });
}

/** The last hour, Unix seconds. */
export function windowNow(): { from: number; to: number } {
  const now = Math.floor(Date.now() / 1000);
  return { from: now - 3_600, to: now - 60 };
}

/** From the sent form to the moment Slack is told to show the file. */
export async function measureExport(slack: BenchSlack, bot: Subject, cdn: Cdn): Promise<ExportReading> {
  const before = await residentMemory(bot.pid);
  await resetPeakMemory(bot.pid);
  const { from, to } = windowNow();
  const shared = slack.nextCall('files.completeUploadExternal');
  const began = performance.now();
  const fields = { shieldZoneId: shieldZone, from: String(from), to: String(to) };
  await post(bot.port, slack.submit('event-logs:submit', fields));
  const isThere = await Promise.race([shared.then(() => true), pause(patienceMs, false, { ref: false })]);
  if (!isThere) throw new Error(`no file of ${cdn.url} was shared`);
  const ms = performance.now() - began;
  const peak = await readPeakMemory(bot.pid);
  // Its last words and its record come after the file, and the next one's message a second after this one's.
  await pause(1_000);
  return { ms, grown: peak - before };
}

/** Where files go: takes the bytes of any request and says how many came. A process, so that it takes nothing from the bot. */
export async function startSink(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const { port, stop } = await startSubject(['bench/export-sink.ts'], {});
  return { url: `http://127.0.0.1:${port}/upload`, stop };
}
