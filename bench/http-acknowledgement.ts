import { measureThroughput, sendAtRate } from './measure/load.ts';
import { measureInTurns, median, percentile } from './measure/numbers.ts';
import { startBot, startSubject, withTempDirectory } from './measure/processes.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { type BenchSlack, startSlack } from './measure/slack.ts';

// `/cdn help` over signed HTTP. Only the acknowledgement is timed; the answers go on as in life, and a round begins
// when those of the round before have all been sent.
const names = ['bare', 'bolt', 'answering', 'bot'] as const;
const rounds = 3;

await withTempDirectory(async (dataDir) => {
  const slack = await startSlack();
  const env = slack.environment('http');
  const subjects = {
    bare: await startSubject(['bench/bare-http.ts'], env),
    bolt: await startSubject(['bench/minimal-bolt.ts', 'http'], env),
    answering: await startSubject(['bench/minimal-bolt.ts', 'http', 'answer'], env),
    bot: await startBot({ ...env, DATA_DIR: dataDir }),
  };
  const help = (): Buffer => slack.slash('help');

  for (const name of names) await measureThroughput(subjects[name].port, help, { atOnce: 16, forMs: 500 });
  await quiet(slack);

  const drains: number[] = [];
  const perSecond = await measureInTurns(names, rounds, async (name) => {
    const reading = await measureThroughput(subjects[name].port, help, { atOnce: 16, forMs: 1_000 });
    const drained = await quiet(slack);
    if (name === 'bot') drains.push(drained);
    logProgress(
      `16 at once, ${name}: ${reading.toFixed(0)} a second, answers complete ${formatMs(drained)} later`,
    );
    return reading;
  });
  const share = (name: (typeof names)[number]): string => formatRatio(perSecond[name] / perSecond.bare);
  reportFinding({
    what: 'acknowledgement over HTTP, 16 at once, everything on',
    bot: `${perSecond.bot.toFixed(0)} a second (${share('bot')} bare)`,
    beside:
      `minimal Bolt ${perSecond.bolt.toFixed(0)} (${share('bolt')}), that also answers ` +
      `${perSecond.answering.toFixed(0)} (${share('answering')}), bare node:http ${perSecond.bare.toFixed(0)}`,
    ratio: `${formatRatio(perSecond.bot / perSecond.bolt)} minimal Bolt, ${formatRatio(perSecond.bot / perSecond.answering)} one that answers`,
    goal: '≥ 1.4 × minimal Bolt',
    met: perSecond.bot >= 1.4 * perSecond.bolt,
  });
  reportFinding({
    what: 'after 1 s of that: until the last answer is out',
    bot: formatMs(median(drains)),
    beside: '',
    ratio: '',
    goal: '',
    met: undefined,
  });

  const worst: number[] = [];
  const middles = await measureInTurns(names, rounds, async (name) => {
    const taken = await sendAtRate(subjects[name].port, help, {
      perSecond: 200,
      until: (sent) => sent >= 500,
    });
    await quiet(slack);
    if (name === 'bot') worst.push(percentile(taken, 99));
    logProgress(
      `200 a second, ${name}: p50 ${formatMs(median(taken))}, p99 ${formatMs(percentile(taken, 99))}`,
    );
    return median(taken);
  });
  reportFinding({
    what: 'acknowledgement over HTTP, 200 a second, p50',
    bot: `${formatMs(middles.bot)} (p99 ${formatMs(median(worst))})`,
    beside: `bare ${formatMs(middles.bare)}, minimal Bolt ${formatMs(middles.bolt)}, that also answers ${formatMs(middles.answering)}`,
    ratio: `${formatRatio(middles.bot / middles.bare)} bare`,
    goal: '≤ 1.75 × bare',
    met: middles.bot <= 1.75 * middles.bare,
  });

  for (const name of names) await subjects[name].stop();
  await slack.close();
});

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
