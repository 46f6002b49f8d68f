import { linkKey } from './measure/commands.ts';
import { measureThroughput, sendAtOnce } from './measure/load.ts';
import { measureInTurns, median } from './measure/numbers.ts';
import { startCdn, startSubject, withEachEngine } from './measure/processes.ts';
import { formatMs, formatRatio, reportFinding } from './measure/report.ts';
import { startSlack, waitUntilQuiet } from './measure/slack.ts';

// `/cdn help` over signed HTTP, then presses of a button. Only the acknowledgement is timed; a round begins when the
// answers of the round before have all been sent.
const rounds = 3;
/** How many are under way at once, and the goal against a minimal Bolt app that only acknowledges. */
const throughputs = [
  { atOnce: 1, least: 1.0 },
  { atOnce: 16, least: 1.3 },
  { atOnce: 64, least: 1.3 },
] as const;
const presses = 300;
const people = Array.from({ length: 30 }, (_, n) => `U0PRESS${n}`);
const longestPress = { embedded: 2_000, PostgreSQL: 1_000 };

const [slack, cdn] = [await startSlack(), await startCdn(100, 'few')];
const env = { ...slack.environment('http'), CDN_API_URL: cdn.url };
const bolt = await startSubject(['bench/minimal-bolt.ts', 'http'], env);
/** Shows what the answers cost: the bot's are worked on while the next command is acknowledged. */
const answering = await startSubject(['bench/minimal-bolt.ts', 'http', 'answer'], env);
await withEachEngine(env, async (engine, bot) => {
  const help = (): Buffer => slack.slash('help');
  for (const { port } of [bolt, answering, bot])
    await measureThroughput(port, help, { atOnce: 16, forMs: 500 });
  await waitUntilQuiet(slack);
  for (const { atOnce, least } of throughputs) {
    const perSecond = await measureInTurns(['bolt', 'answering', 'bot'], rounds, async (name) => {
      const { port } = { bolt, answering, bot }[name];
      const reading = await measureThroughput(port, help, { atOnce, forMs: 1_000 });
      await waitUntilQuiet(slack);
      return reading;
    });
    reportFinding({
      what: `acknowledgement over HTTP, ${atOnce} at once, ${engine}`,
      bot: `${perSecond.bot.toFixed(0)} a second`,
      beside: `minimal Bolt that only acknowledges ${perSecond.bolt.toFixed(0)}, that also answers ${perSecond.answering.toFixed(0)}`,
      ratio: formatRatio(perSecond.bot / perSecond.bolt),
      goal: `≥ ${least} ×`,
      met: perSecond.bot >= least * perSecond.bolt,
    });
  }
  // People who have linked a key turn a page of the list of zones, all at the same moment.
  for (const user of people) await linkKey(slack, bot.port, cdn.key, user);
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const requests = Array.from({ length: presses }, (_, n) =>
      slack.press('zones:page', 'zones', { user: people[n % people.length] ?? '' }),
    );
    taken.push(...(await sendAtOnce(bot.port, requests)));
    await waitUntilQuiet(slack);
  }
  const worst = Math.max(...taken);
  reportFinding({
    what: `acknowledgement of ${presses} presses at once, ${engine}`,
    bot: `worst ${formatMs(worst)}, p50 ${formatMs(median(taken))}`,
    beside: 'Slack waits 3 s',
    ratio: '',
    goal: `worst ≤ ${longestPress[engine] / 1_000} s`,
    met: worst <= longestPress[engine],
  });
});
for (const one of [bolt, answering, cdn]) await one.stop();
await slack.close();
