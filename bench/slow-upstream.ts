import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  acknowledgementTimes,
  type Delivery,
  deliverAtRate,
  findAnswer,
  formatSpread,
  personOf,
  slackPatienceMs,
  waitForAnswers,
} from './measure/deliveries.ts';
import { post } from './measure/load.ts';
import { readMetrics, sampleMetrics } from './measure/metrics.ts';
import { percentile } from './measure/numbers.ts';
import {
  readPeakMemory,
  resetPeakMemory,
  residentMemory,
  startBot,
  startCdn,
  withTempDirectory,
} from './measure/processes.ts';
import { formatMegabytes, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { type BenchSlack, startSlack } from './measure/slack.ts';

// `/cdn zones` of many people at a steady rate while each request to the CDN takes five seconds, and the same load with
// a CDN that answers at once.
//   node bench/slow-upstream.ts --seconds 60 --rate 200 --people 100 --delay 5000 --drain 60
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '200' },
    people: { type: 'string', default: '100' },
    delay: { type: 'string', default: '5000' },
    drain: { type: 'string', default: '60' },
  },
});
const [seconds, perSecond, people] = [Number(values.seconds), Number(values.rate), Number(values.people)];
const drainSeconds = Number(values.drain);

interface Reading {
  readonly deliveries: readonly Delivery[];
  readonly acks: readonly number[];
  /** Not within Slack's three seconds, or never. */
  readonly late: number;
  readonly answeredInTime: number;
  readonly unanswered: number;
  /** Ms from the command to its answer. */
  readonly waits: readonly number[];
  readonly rested: number;
  readonly peak: number;
  readonly inFlight: number;
}

const fast = await measure('fast CDN', 0);
const slow = await measure(`CDN takes ${values.delay} ms`, Number(values.delay));
const load = `/cdn zones ${perSecond} a second for ${seconds} s, each request to the CDN ${values.delay} ms`;
reportFinding({
  what: `${load}: acknowledgement`,
  bot: `${formatSpread(slow.acks)}; ${slow.late} of ${slow.deliveries.length} not within 3 s`,
  beside: `fast CDN ${formatSpread(fast.acks)}; ${fast.late} not within 3 s`,
  ratio: `${formatRatio(percentile(slow.acks, 50) / percentile(fast.acks, 50))} p50`,
  goal: 'all within 3 s',
  met: slow.late === 0,
});
reportFinding({
  what: `answered during the load, and ${drainSeconds} s later`,
  bot: formatAnswered(slow),
  beside: `fast CDN ${formatAnswered(fast)}`,
  ratio: `${formatRatio(slow.answeredInTime / fast.answeredInTime)} as many`,
  goal: '',
  met: undefined,
});
reportFinding({
  what: 'memory before and at its peak; most deliveries in flight',
  bot: formatMemory(slow),
  beside: `fast CDN ${formatMemory(fast)}`,
  ratio: `${formatRatio((slow.peak - slow.rested) / (fast.peak - fast.rested))} the growth`,
  goal: '',
  met: undefined,
});
reportFinding({
  what: 'texts that people read first and last',
  bot: formatTexts(slow),
  beside: `fast CDN ${formatTexts(fast)}`,
  ratio: '',
  goal: '',
  met: undefined,
});

async function measure(name: string, delayMs: number): Promise<Reading> {
  return withTempDirectory(async (dataDir) => {
    const slack = await startSlack();
    const cdn = await startCdn(20, 'few', ['--delay-ms', String(delayMs)]);
    const bot = await startBot({ ...slack.environment('http'), DATA_DIR: dataDir, CDN_API_URL: cdn.url });
    await linkKeys(slack, bot.port, cdn.key);
    const rested = await residentMemory(bot.pid);
    await resetPeakMemory(bot.pid);

    const sampler = sampleMetrics(bot.port, 500);
    const deliveries = await deliverAtRate(slack, bot.port, { words: 'zones', perSecond, seconds, people });
    const answeredInTime = deliveries.filter((one) => findAnswer(one)).length;
    const end = performance.now() + drainSeconds * 1000;
    await waitForAnswers(deliveries, drainSeconds * 1000);
    // An answer goes on growing after its first message.
    do await pause(1_000);
    while (sampler.scrapes.at(-1)?.read('chatops_in_flight') !== 0 && performance.now() < end);
    await sampler.stop();
    const inFlight = Math.max(...sampler.scrapes.map(({ read }) => read('chatops_in_flight')));
    const peak = await readPeakMemory(bot.pid);
    await bot.stop();
    await cdn.stop();
    await slack.close();

    const acks = acknowledgementTimes(deliveries);
    const waits = deliveries.flatMap((one) => {
      const answer = findAnswer(one);
      return answer ? [answer.at - one.sentAt] : [];
    });
    const late = deliveries.length - acks.filter((ms) => ms <= slackPatienceMs).length;
    const unanswered = deliveries.length - waits.length;
    logProgress(`${name}: ${formatSpread(acks)}; ${answeredInTime} answered, ${unanswered} never`);
    return { deliveries, acks, late, answeredInTime, unanswered, waits, rested, peak, inFlight };
  });
}

/** Links the key for each person, all at once: a slow CDN would take minutes one after the other. */
async function linkKeys(slack: BenchSlack, port: number, accessKey: string): Promise<void> {
  const before = slack.called('views.update');
  for (let n = 0; n < people; n += 1)
    await post(port, slack.submit('connect:submit', { accessKey }, personOf(n)));
  const isLinked = async (): Promise<boolean> =>
    slack.called('views.update') - before >= people && (await readMetrics(port))('chatops_in_flight') === 0;
  while (!(await isLinked())) await pause(200);
}

function formatAnswered({ deliveries, answeredInTime, unanswered, waits }: Reading): string {
  const later = deliveries.length - unanswered - answeredInTime;
  return `${answeredInTime} of ${deliveries.length}, ${later} more, ${unanswered} never; waited ${formatSpread(waits)}`;
}

function formatMemory({ rested, peak, inFlight }: Reading): string {
  return `${formatMegabytes(rested)}, ${formatMegabytes(peak)}; ${inFlight}`;
}

/** The most frequent first and last texts, with numbers taken out. */
function formatTexts({ deliveries }: Reading): string {
  const firsts = deliveries.map(({ answers }) => answers[0]?.text);
  const lasts = deliveries.map(({ answers }) => answers.at(-1)?.text);
  return `first ${countTexts(firsts)}; last ${countTexts(lasts)}`;
}

function countTexts(texts: readonly (string | undefined)[]): string {
  const counts = Map.groupBy(texts, (text) => text?.split('\n', 1)[0]?.replaceAll(/\d+/g, '#') ?? 'nothing');
  return [...counts]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, 3)
    .map(([text, { length }]) => `“${text.replaceAll('|', '/').slice(0, 80)}” ${length}`)
    .join(', ');
}
