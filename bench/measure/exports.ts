import { setTimeout as pause } from 'node:timers/promises';
import { linkKey } from './commands.ts';
import { post } from './load.ts';
import { watchEventLoop } from './metrics.ts';
import { median } from './numbers.ts';
import {
  type Cdn,
  processorTimeOfAll,
  readPeakMemory,
  resetPeakMemory,
  residentMemory,
  type Subject,
  startBot,
  withTempDirectory,
} from './processes.ts';
import { formatMegabytes, formatMs } from './report.ts';
import { type BenchSlack, startSlack } from './slack.ts';

export const shieldZone = '501';
const person = 'U0BENCH00';
/** The threads of an export stay ten seconds for the next one, and V8 keeps the pages of a heap that ended for eight. */
export const exportEndedMs = 20_000;

/** One export, or the middle of several. */
export interface ExportReading {
  readonly ms: number;
  /** Time on a processor, all threads together. */
  readonly busyMs?: number;
  /** Peak of resident memory above what it was before, bytes. */
  readonly grown: number;
}

interface ExportBotOptions {
  readonly cdn: Cdn;
  readonly sinkUrl: string;
  readonly checkout?: string;
  /** Of a database; without it the embedded one, which it starts for the first time. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly start?: (environment: Readonly<Record<string, string>>) => Promise<Subject>;
}

/** Runs with a bot that may export and has a key of `cdn`; its uploads go to `sinkUrl`. */
export async function withExportBot(
  { cdn, sinkUrl, checkout, environment: more, start = (env) => startBot(env, checkout) }: ExportBotOptions,
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
      const bot = await start({ ...slack.environment('http'), ...environment, ...more });
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
export function measureExport(slack: BenchSlack, bot: Subject, cdn: Cdn): Promise<ExportReading> {
  return watchEventLoop(bot.port, async () => {
    const before = await residentMemory(bot.pid);
    await resetPeakMemory(bot.pid);
    const { from, to } = windowNow();
    const shared = slack.nextCall('files.completeUploadExternal');
    const busyBefore = await processorTimeOfAll(bot.pid);
    const began = performance.now();
    const fields = { shieldZoneId: shieldZone, from: String(from), to: String(to) };
    await post(bot.port, slack.submit('event-logs:submit', fields));
    const isThere = await Promise.race([shared.then(() => true), pause(120_000, false, { ref: false })]);
    if (!isThere) throw new Error(`no file of ${cdn.url} was shared`);
    const taken = performance.now() - began;
    const peak = await readPeakMemory(bot.pid);
    const busyMs = (await processorTimeOfAll(bot.pid)) - busyBefore;
    // Its last words and its record come after the file, and the next one's message a second after this one's.
    await pause(1_000);
    return { ms: taken, busyMs, grown: peak - before };
  });
}

export function medianOf(readings: readonly ExportReading[]): ExportReading {
  const busy = readings.flatMap(({ busyMs }) => (busyMs === undefined ? [] : [busyMs]));
  return {
    ms: median(readings.map((one) => one.ms)),
    ...(busy.length > 0 ? { busyMs: median(busy) } : {}),
    grown: median(readings.map((one) => one.grown)),
  };
}

export function formatExport(reading: ExportReading): string {
  const busy = reading.busyMs === undefined ? '' : ` (${formatMs(reading.busyMs)} of a processor)`;
  return `${formatMs(reading.ms)}${busy}, peak +${formatMegabytes(reading.grown)}`;
}
