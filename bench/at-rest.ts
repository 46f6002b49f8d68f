import { setTimeout as pause } from 'node:timers/promises';
import { linkKey, measureProcessorTime, runCommand } from './measure/commands.ts';
import { ignoreEventLoop } from './measure/metrics.ts';
import { measureInTurns } from './measure/numbers.ts';
import {
  residentMemory,
  startBot,
  startCdn,
  startPostgres,
  startSubject,
  withTempDirectory,
} from './measure/processes.ts';
import { formatMegabytes, formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// Memory after the start and a few commands, and what a command costs the processor.
const starts = 3;
const commands = 20;
const settledMs = 2_000;

await withTempDirectory(async (dataDir) => {
  const slack = await startSlack();
  const cdn = await startCdn(100, 'all');
  const env = { ...slack.environment('http'), CDN_API_URL: cdn.url };
  const postgres = await startPostgres();
  const onPostgres = typeof postgres === 'string' ? undefined : postgres.environment;

  const begin = {
    bolt: () => startSubject(['bench/minimal-bolt.ts', 'http', 'answer'], env),
    embedded: () => startBot({ ...env, DATA_DIR: dataDir }),
    ...(onPostgres ? { postgres: () => startBot({ ...env, ...onPostgres }) } : {}),
  };
  const memory = await measureInTurns(Object.keys(begin) as (keyof typeof begin)[], starts, async (name) => {
    const subject = await (begin[name] ?? begin.bolt)();
    // Reading metrics takes memory too.
    await ignoreEventLoop(async () => {
      for (let n = 0; n < commands; n += 1) await runCommand(slack, subject.port, 'help');
    });
    await pause(settledMs);
    const reading = await residentMemory(subject.pid);
    logProgress(`memory, ${name}: ${formatMegabytes(reading)}`);
    await subject.stop();
    return reading;
  });
  const beside = `minimal Bolt ${formatMegabytes(memory.bolt)}`;
  reportFinding({
    what: `memory after the start and ${commands} commands, embedded database`,
    bot: formatMegabytes(memory.embedded),
    beside,
    ratio: `${formatRatio(memory.embedded / memory.bolt)} minimal Bolt`,
    goal: '≤ 300 MB',
    met: memory.embedded <= 300e6,
  });
  if (typeof postgres !== 'string') {
    reportFinding({
      what: `memory after the start and ${commands} commands, PostgreSQL`,
      bot: formatMegabytes(memory.postgres),
      beside,
      ratio: `${formatRatio(memory.postgres / memory.bolt)} minimal Bolt`,
      goal: '≤ 1.5 ×',
      met: memory.postgres <= 1.5 * memory.bolt,
    });
    await postgres.stop();
  }

  const bot = await begin.embedded();
  await linkKey(slack, bot.port, cdn.key);
  await runCommand(slack, bot.port, 'zones', { count: 2 });
  const kinds = {
    help: () => slack.slash('help'),
    whoami: () => slack.slash('whoami'),
    // Typed, `zones` asks the CDN each time; its buttons answer from the list in memory.
    page: () => slack.press('zones:page', 'page=2'),
  };
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  for (const name of names) await measureProcessorTime(slack, bot, kinds[name]);
  const cost = await measureInTurns(names, 5, async (name) => {
    const reading = await measureProcessorTime(slack, bot, kinds[name]);
    logProgress(`processor, ${name}: ${formatMs(reading)}`);
    return reading;
  });
  const row = (what: string, reading: number): void =>
    reportFinding({
      what: `processor time of ${what}`,
      bot: formatMs(reading),
      beside: `\`/cdn help\` ${formatMs(cost.help)}`,
      ratio: `${formatRatio(reading / cost.help)} help`,
      goal: '≤ 1.25 ×',
      met: reading <= 1.25 * cost.help,
    });
  row('`/cdn whoami` (reads who has linked a key)', cost.whoami);
  row('another page of zones (opens the key, decides, draws 10 zones of 100 in memory)', cost.page);
  await bot.stop();
  await cdn.stop();
  await slack.close();
});
