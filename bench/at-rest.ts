import { setTimeout as pause } from 'node:timers/promises';
import { found, progress } from './measure/findings.ts';
import { pace } from './measure/load.ts';
import { inTurns, megabytes, ms, times } from './measure/numbers.ts';
import { ask, linkKey } from './measure/people.ts';
import { startPostgres } from './measure/postgres.ts';
import {
  processorTime,
  residentMemory,
  type Subject,
  startCdn,
  startSubject,
  startTheBot,
  withDirectory,
} from './measure/processes.ts';
import { type BenchSlack, startSlack } from './measure/slack.ts';

// Memory after the start and a few commands, and what a command costs the processor.
const starts = 3;
const commands = 20;
const settledMs = 2_000;

await withDirectory(async (dataDir) => {
  const slack = await startSlack();
  const cdn = await startCdn(100, 'all');
  const env = { ...slack.environment('http'), CDN_API_URL: cdn.url };
  const postgres = await startPostgres();
  const onPostgres = typeof postgres === 'string' ? undefined : postgres.environment;

  const begin = {
    bolt: () => startSubject(['bench/minimal-bolt.ts', 'http', 'answer'], env),
    embedded: () => startTheBot({ ...env, DATA_DIR: dataDir }),
    ...(onPostgres ? { postgres: () => startTheBot({ ...env, ...onPostgres }) } : {}),
  };
  const memory = await inTurns(Object.keys(begin) as (keyof typeof begin)[], starts, async (name) => {
    const subject = await (begin[name] ?? begin.bolt)();
    for (let n = 0; n < commands; n += 1) await ask(slack, subject.port, 'help');
    await pause(settledMs);
    const reading = await residentMemory(subject.pid);
    progress(`memory, ${name}: ${megabytes(reading)}`);
    await subject.stop();
    return reading;
  });
  const beside = `minimal Bolt ${megabytes(memory.bolt)}`;
  found({
    what: `memory after the start and ${commands} commands, embedded database`,
    bot: megabytes(memory.embedded),
    beside,
    ratio: `${times(memory.embedded / memory.bolt)} minimal Bolt`,
    goal: '≤ 300 MB',
    met: memory.embedded <= 300e6,
  });
  if (typeof postgres !== 'string') {
    found({
      what: `memory after the start and ${commands} commands, PostgreSQL`,
      bot: megabytes(memory.postgres),
      beside,
      ratio: `${times(memory.postgres / memory.bolt)} minimal Bolt`,
      goal: '≤ 1.5 ×',
      met: memory.postgres <= 1.5 * memory.bolt,
    });
    await postgres.stop();
  }

  const bot = await begin.embedded();
  await linkKey(slack, bot.port, cdn.key);
  await ask(slack, bot.port, 'zones', 2);
  const kinds = {
    help: () => slack.slash('help'),
    whoami: () => slack.slash('whoami'),
    // Typed, `zones` asks the CDN each time; its buttons answer from the list in memory.
    page: () => slack.press('zones:page', 'page=2'),
  };
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  for (const name of names) await costOf(slack, bot, kinds[name]);
  const cost = await inTurns(names, 5, async (name) => {
    const reading = await costOf(slack, bot, kinds[name]);
    progress(`processor, ${name}: ${ms(reading)}`);
    return reading;
  });
  const row = (what: string, reading: number): void =>
    found({
      what: `processor time of ${what}`,
      bot: ms(reading),
      beside: `\`/cdn help\` ${ms(cost.help)}`,
      ratio: `${times(reading / cost.help)} help`,
      goal: '≤ 1.25 ×',
      met: reading <= 1.25 * cost.help,
    });
  row('`/cdn whoami` (reads who has linked a key)', cost.whoami);
  row('another page of zones (opens the key, decides, draws 10 zones of 100 in memory)', cost.page);
  await bot.stop();
  await cdn.stop();
  await slack.close();
});

/** Processor time a command takes in all, acknowledgement and answer, ms: the mean of 300 at 100 a second. */
async function costOf(slack: BenchSlack, bot: Subject, request: () => Buffer): Promise<number> {
  const count = 300;
  const before = { answered: slack.answered(), time: await processorTime(bot.pid) };
  await pace(bot.port, request, { perSecond: 100, until: (sent) => sent >= count });
  while (slack.answered() - before.answered < count) await pause(5);
  return ((await processorTime(bot.pid)) - before.time) / count;
}
