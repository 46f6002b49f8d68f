import { linkKey } from './measure/commands.ts';
import { measureThroughput, sendAtOnce, sendAtRate } from './measure/load.ts';
import { measureInTurns, median, percentile } from './measure/numbers.ts';
import {
  type Cdn,
  type Subject,
  startBot,
  startCdn,
  startPostgres,
  startSubject,
  withTempDirectory,
} from './measure/processes.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { type BenchSlack, startSlack } from './measure/slack.ts';

// `/cdn help` over signed HTTP, then presses of a button. Only the acknowledgement is timed; the answers go on as in
// life, and a round begins when those of the round before have all been sent.
const peers = ['bare', 'bolt', 'answering'] as const;
const rounds = 3;
/** Kept under way at once, and the least that the bot acknowledges beside the minimal Bolt app that does nothing else. */
const throughputs = [
  { atOnce: 1, least: 0.5 },
  { atOnce: 16, least: 1.4 },
  { atOnce: 64, least: 1.4 },
] as const;
const presses = 300;
const people = 30;

await withTempDirectory(async (dataDir) => {
  const [slack, cdn] = [await startSlack(), await startCdn(100, 'few')];
  const env = { ...slack.environment('http'), CDN_API_URL: cdn.url };
  const postgres = await startPostgres();
  if (typeof postgres === 'string') logProgress(`PostgreSQL left out: ${postgres}`);
  const stores = {
    embedded: { DATA_DIR: dataDir },
    ...(typeof postgres === 'string' ? {} : { PostgreSQL: postgres.environment }),
  };
  const beside = {
    bare: await startSubject(['bench/bare-http.ts'], env),
    bolt: await startSubject(['bench/minimal-bolt.ts', 'http'], env),
    answering: await startSubject(['bench/minimal-bolt.ts', 'http', 'answer'], env),
  };
  for (const [engine, store] of Object.entries(stores)) {
    const bot = await startBot({ ...env, ...store });
    await measure(engine, { slack, cdn, subjects: { ...beside, bot } });
    await bot.stop();
  }
  for (const one of [...Object.values(beside), cdn]) await one.stop();
  await slack.close();
  if (typeof postgres !== 'string') await postgres.stop();
});

interface Bench {
  readonly slack: BenchSlack;
  readonly cdn: Cdn;
  readonly subjects: Readonly<Record<(typeof peers)[number] | 'bot', Subject>>;
}

async function measure(engine: string, bench: Bench): Promise<void> {
  const { slack, subjects } = bench;
  const help = (): Buffer => slack.slash('help');
  for (const name of [...peers, 'bot'] as const)
    await measureThroughput(subjects[name].port, help, { atOnce: 16, forMs: 500 });
  await quiet(slack);
  for (const throughput of throughputs) await compareThroughput(engine, throughput, bench);
  await compareAtRate(engine, bench);
  await reportPresses(engine, bench);
}

async function compareThroughput(
  engine: string,
  { atOnce, least }: (typeof throughputs)[number],
  { slack, subjects }: Bench,
): Promise<void> {
  const drains: number[] = [];
  const perSecond = await measureInTurns([...peers, 'bot'], rounds, async (name) => {
    const reading = await measureThroughput(subjects[name].port, () => slack.slash('help'), {
      atOnce,
      forMs: 1_000,
    });
    const drained = await quiet(slack);
    if (name === 'bot') drains.push(drained);
    logProgress(
      `${engine}, ${atOnce} at once, ${name}: ${reading.toFixed(0)} a second, answers complete ${formatMs(drained)} later`,
    );
    return reading;
  });
  const share = (name: keyof typeof perSecond): string =>
    `${perSecond[name].toFixed(0)} (${formatRatio(perSecond[name] / perSecond.bare)})`;
  reportFinding({
    what: `acknowledgement over HTTP, ${atOnce} at once, everything on, ${engine}`,
    bot: `${share('bot')} a second, the last answer ${formatMs(median(drains))} after the last command`,
    beside: `minimal Bolt that only acknowledges ${share('bolt')}, that also answers ${share('answering')}, bare node:http ${perSecond.bare.toFixed(0)}`,
    ratio: `${formatRatio(perSecond.bot / perSecond.bolt)} minimal Bolt that only acknowledges, ${formatRatio(perSecond.bot / perSecond.answering)} one that answers`,
    goal: `≥ ${least} × one that only acknowledges`,
    met: perSecond.bot >= least * perSecond.bolt,
  });
}

async function compareAtRate(engine: string, { slack, subjects }: Bench): Promise<void> {
  const taken: number[] = [];
  const middles = await measureInTurns([...peers, 'bot'], rounds, async (name) => {
    const reading = await sendAtRate(subjects[name].port, () => slack.slash('help'), {
      perSecond: 200,
      until: (sent) => sent >= 500,
    });
    await quiet(slack);
    if (name === 'bot') taken.push(...reading);
    logProgress(
      `${engine}, 200 a second, ${name}: p50 ${formatMs(median(reading))}, worst ${formatMs(Math.max(...reading))}`,
    );
    return median(reading);
  });
  const worst = Math.max(...taken);
  reportFinding({
    what: `acknowledgement over HTTP, 200 a second, p50, ${engine}`,
    bot: `${formatMs(middles.bot)} (p99 ${formatMs(percentile(taken, 99))}, worst of ${taken.length} ${formatMs(worst)})`,
    beside: `bare ${formatMs(middles.bare)}, minimal Bolt that also answers ${formatMs(middles.answering)}, that only acknowledges ${formatMs(middles.bolt)}`,
    ratio: `${formatRatio(middles.bot / middles.bare)} bare`,
    goal: '≤ 2.5 × bare, worst ≤ 100 ms',
    met: middles.bot <= 2.5 * middles.bare && worst <= 100,
  });
}

/** People who have linked a key turn a page of the list of zones, all at the same moment. */
async function reportPresses(engine: string, { slack, cdn, subjects: { bot } }: Bench): Promise<void> {
  for (let n = 0; n < people; n += 1) await linkKey(slack, bot.port, cdn.key, personOf(n));
  const worst: number[] = [];
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const requests = Array.from({ length: presses }, (_, n) =>
      slack.press('zones:page', 'page=2', { user: personOf(n) }),
    );
    const reading = await sendAtOnce(bot.port, requests);
    await quiet(slack);
    worst.push(Math.max(...reading));
    taken.push(...reading);
  }
  logProgress(`${engine}, ${presses} presses at once: worst ${worst.map(formatMs).join(', ')}`);
  reportFinding({
    what: `acknowledgement of ${presses} presses at once, worst, ${engine}`,
    bot: `${formatMs(Math.max(...worst))} of ${rounds} times (p50 ${formatMs(median(taken))})`,
    beside: 'Slack waits 3 s',
    ratio: '',
    goal: '≤ 1 s',
    met: Math.max(...worst) <= 1_000,
  });
}

function personOf(n: number): string {
  return `U0PRESS${n % people}`;
}

/** Waits until no answer has come for a moment; gives ms until the last one. */
async function quiet(slack: BenchSlack): Promise<number> {
  const began = performance.now();
  let last = began;
  let seen = slack.answered();
  while (performance.now() - last < 250) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (slack.answered() === seen) continue;
    seen = slack.answered();
    last = performance.now();
  }
  return last - began;
}
