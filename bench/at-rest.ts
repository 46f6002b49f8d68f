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
    await new Promise((resolve) => setTimeout(resolve, settledMs));
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
  const words = ['help', 'whoami', 'zones'] as const;
  for (const word of words) await costOf(slack, bot, word);
  const cost = await inTurns(words, 5, async (word) => {
    const reading = await costOf(slack, bot, word);
    progress(`processor, ${word}: ${ms(reading)}`);
    return reading;
  });
  for (const word of ['whoami', 'zones'] as const) {
    found({
      what: `processor time of \`/cdn ${word}\`${word === 'zones' ? ', the list in memory' : ''}`,
      bot: ms(cost[word]),
      beside: `\`/cdn help\` ${ms(cost.help)}`,
      ratio: `${times(cost[word] / cost.help)} help`,
      goal: '≤ 1.25 ×',
      met: cost[word] <= 1.25 * cost.help,
    });
  }
  await bot.stop();
  await cdn.stop();
  await slack.close();
});

/** Processor time a command takes in all, acknowledgement and answer, ms: the mean of 300 at 100 a second. */
async function costOf(slack: BenchSlack, bot: Subject, words: string): Promise<number> {
  const count = 300;
  const before = { answered: slack.answered(), time: await processorTime(bot.pid) };
  await pace(bot.port, () => slack.slash(words), { perSecond: 100, until: (sent) => sent >= count });
  while (slack.answered() - before.answered < count) await new Promise((resolve) => setTimeout(resolve, 5));
  return ((await processorTime(bot.pid)) - before.time) / count;
}
