import { parseArgs } from 'node:util';
import { linkKey, measureProcessorTime, runCommand, sendAnswered } from './measure/commands.ts';
import { formatSpread, sendMixed } from './measure/deliveries.ts';
import { measureInTurns, percentile } from './measure/numbers.ts';
import { type Subject, startCdn, startSubject, withEachEngine } from './measure/processes.ts';
import { formatMs, formatRatio, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// What an answer costs the processor, and how long people wait for theirs in a mix of commands, forms, menus and presses.
//   node bench/answers.ts --commands 20000
const { values } = parseArgs({ options: { commands: { type: 'string', default: '20000' } } });
const commands = Number(values.commands);
const perSecond = 50;
const rounds = 5;
/** Before V8 has compiled what runs often, each answer costs half as much again. */
const warmUps = 2_000;
const people = Array.from({ length: 20 }, (_, n) => `U0MIXED${n}`);
const goals = { timesBolt: 1.3, embeddedMs: 2, p99Ms: 200, worstMs: 1_000, acknowledgedMs: 100 };

const [slack, cdn] = [await startSlack(), await startCdn(100, 'few')];
const env = {
  ...slack.environment('http'),
  CDN_API_URL: cdn.url,
  CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl,
};
const help = (): Buffer => slack.slash('help', { user: people[0] ?? '' });

await withEachEngine(env, async (engine, bot, databaseUrl) => {
  for (const user of people) await linkKey(slack, bot.port, cdn.key, user);
  await (databaseUrl === undefined ? reportCost(bot) : compareCost(bot, databaseUrl));
  const { answered, acknowledged, silent } = await sendMixed(slack, bot, {
    count: commands,
    perSecond,
    people,
  });
  const late = slack.expiredTriggers();
  reportFinding({
    what: `${commands.toLocaleString('en')} mixed commands, ${perSecond} a second, ${engine}`,
    bot: `answered ${formatSpread(answered)}; ${silent} not answered, ${late} trigger ids used late`,
    beside: `acknowledged ${formatSpread(acknowledged)}`,
    ratio: '',
    goal: 'p99 ≤ 200 ms, worst ≤ 1 s, all answered, acknowledged ≤ 100 ms',
    met:
      silent === 0 &&
      late === 0 &&
      percentile(answered, 99) <= goals.p99Ms &&
      Math.max(...answered) <= goals.worstMs &&
      Math.max(...acknowledged) <= goals.acknowledgedMs,
  });
});
await cdn.stop();
await slack.close();

async function reportCost(bot: Subject): Promise<void> {
  await sendAnswered(slack, bot, help, warmUps);
  const cost = await measureProcessorTime(slack, bot, help);
  reportFinding({
    what: 'processor time of an answered `/cdn help`, embedded',
    bot: formatMs(cost),
    beside: '',
    ratio: '',
    goal: `≤ ${goals.embeddedMs} ms`,
    met: cost <= goals.embeddedMs,
  });
}

/** Against a Bolt app that reads a row of the same database and answers with the same message. */
async function compareCost(bot: Subject, databaseUrl: string): Promise<void> {
  const { body } = await runCommand(slack, bot.port, 'help', { user: people[0] ?? '' });
  const rowEnv = { ...env, DATABASE_URL: databaseUrl, ANSWER: body };
  const bolt = await startSubject(['bench/minimal-bolt.ts', 'http', 'row'], rowEnv);
  for (const one of [bolt, bot]) await sendAnswered(slack, one, help, warmUps);
  const cost = await measureInTurns(['bolt', 'bot'], rounds, (name) =>
    measureProcessorTime(slack, name === 'bot' ? bot : bolt, help),
  );
  reportFinding({
    what: 'processor time of an answered `/cdn help`, PostgreSQL',
    bot: formatMs(cost.bot),
    beside: `a Bolt app that reads a row and answers the same ${formatMs(cost.bolt)}`,
    ratio: formatRatio(cost.bot / cost.bolt),
    goal: `≤ ${goals.timesBolt} ×`,
    met: cost.bot <= goals.timesBolt * cost.bolt,
  });
  await bolt.stop();
}
