import { parseArgs } from 'node:util';
import {
  acknowledgementTimes,
  type Delivery,
  deliverAtRate,
  findAnswer,
  formatSpread,
  listAnswers,
  waitForAnswers,
} from './measure/deliveries.ts';
import { ignoreEventLoop, watchEventLoop } from './measure/metrics.ts';
import { percentile } from './measure/numbers.ts';
import { type Postgres, type Subject, startBot, startPostgres } from './measure/processes.ts';
import { startRelay } from './measure/relay.ts';
import { describeEventLoop, formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { type BenchSlack, startSlack } from './measure/slack.ts';

// One, two and four `web` processes and a `worker` on one PostgreSQL, behind a balancer that gives each connection to the
// next process; `/cdn help` of a hundred people. The rate rises until acknowledgements or answers fall behind. Then one
// process of two is killed under load.
//   node bench/replicas.ts --seconds 5 --start 50 --most 4000
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    start: { type: 'string', default: '50' },
    most: { type: 'string', default: '4000' },
  },
});
const [seconds, startRate, mostRate] = [Number(values.seconds), Number(values.start), Number(values.most)];
const riseBy = 1.25;
const people = 100;
/** Answers that take longer than this after the last command have fallen behind. */
const behindMs = 1_000;
const worstP99Ms = 1_000;
/** How often Slack sends an event again that was not acknowledged. */
const slackRepeats = 3;

const postgres = await startPostgres();
if (typeof postgres === 'string') logProgress(`replicas left out: ${postgres}`);
else await measureAll(postgres);

async function measureAll({ environment, stop }: Postgres): Promise<void> {
  const slack = await startSlack();
  const env = { ...slack.environment('http'), ...environment };
  const worker = await startBot(env, '.', 'worker');
  const throughput = new Map<number, Reading>();
  for (const count of [1, 2, 4]) {
    const reading = await withReplicas(env, count, (port, replicas) => findThroughput(slack, port, replicas));
    throughput.set(count, reading);
    reportThroughput(count, reading, throughput.get(1) ?? reading);
  }
  const one = throughput.get(1)?.perSecond || startRate;
  await withReplicas(env, 2, (port, replicas) => measureKill(slack, port, replicas, one / 2));
  await worker.stop();
  await slack.close();
  await stop();
}

async function withReplicas<T>(
  env: Readonly<Record<string, string>>,
  count: number,
  run: (port: number, replicas: readonly Subject[]) => Promise<T>,
): Promise<T> {
  const replicas: Subject[] = [];
  while (replicas.length < count) replicas.push(await startBot(env, '.', 'web'));
  const balancer = await startRelay(...replicas.map(({ port }) => `http://127.0.0.1:${port}`));
  const result = await run(balancer.port, replicas);
  balancer.close();
  for (const replica of replicas) await replica.stop();
  return result;
}

interface Reading {
  /** The highest rate that was kept up; 0 where none was. */
  readonly perSecond: number;
  /** Of that rate. */
  readonly acks: readonly number[];
  readonly ended: string;
  readonly sent: number;
  readonly duplicates: number;
  /** Processors that the load itself used at that rate. */
  readonly driver: number;
  /** The worst of all replicas at that rate. */
  readonly eventLoop?: string | undefined;
}

/** Each of them is under the load that a balancer puts on all. */
function watchAll<T>(replicas: readonly Subject[], run: () => Promise<T>): Promise<T> {
  return replicas.reduce(
    (inner, { port }) =>
      () =>
        watchEventLoop(port, inner),
    run,
  )();
}

async function findThroughput(
  slack: BenchSlack,
  port: number,
  replicas: readonly Subject[],
): Promise<Reading> {
  const count = replicas.length;
  const load = (perSecond: number) =>
    watchAll(replicas, () => deliverAtRate(slack, port, { words: 'help', perSecond, seconds, people }));
  await ignoreEventLoop(async () => waitForAnswers(await load(startRate), 10_000));
  const all: Delivery[] = [];
  let best: Omit<Reading, 'ended' | 'sent' | 'duplicates'> = { perSecond: 0, acks: [], driver: 0 };
  /** Undefined where the rate was kept up. */
  const tryRate = async (perSecond: number): Promise<string | undefined> => {
    const [began, used] = [performance.now(), process.cpuUsage()];
    const deliveries = await load(perSecond);
    const tookMs = performance.now() - began;
    const driver = sumOf(process.cpuUsage(used)) / 1000 / tookMs;
    const behind = await waitForAnswers(deliveries, 60_000);
    all.push(...deliveries);
    const acks = acknowledgementTimes(deliveries);
    const eventLoop = describeEventLoop();
    logProgress(
      `${count} web, ${perSecond.toFixed(0)} a second: ${formatSpread(acks)}, last answer ${formatMs(behind)} later`,
    );
    const p99 = percentile(acks, 99);
    if (acks.length < deliveries.length) return `${deliveries.length - acks.length} were not acknowledged`;
    if (p99 > worstP99Ms) return `p99 ${formatMs(p99)}`;
    if (behind > behindMs) return `answers ${formatMs(behind)} behind`;
    if (tookMs > seconds * 1000 + worstP99Ms) return 'the load itself could not go faster';
    best = { perSecond, acks, driver, eventLoop };
    return undefined;
  };
  let ended = 'the highest rate of this benchmark was reached';
  for (let perSecond = startRate; perSecond <= mostRate; perSecond *= riseBy) {
    // A single failure may be the machine's.
    const failure = (await tryRate(perSecond)) && (await tryRate(perSecond));
    if (failure === undefined) continue;
    ended = `${failure} at ${perSecond.toFixed(0)}`;
    break;
  }
  const duplicates = all.filter((one) => listAnswers(one).length > 1).length;
  return { ...best, ended, sent: all.length, duplicates };
}

function reportThroughput(count: number, reading: Reading, one: Reading): void {
  const { perSecond, acks, ended, sent, duplicates, driver, eventLoop } = reading;
  reportFinding({
    what: `${count} web and 1 worker on PostgreSQL: \`/cdn help\` a second that is kept up, each answered once`,
    bot: `${perSecond.toFixed(0)} (${formatSpread(acks)}; then ${ended}); ${duplicates} of ${sent} answered twice`,
    beside: `1 web ${one.perSecond.toFixed(0)}; the load itself used ${driver.toFixed(2)} processors`,
    ratio: `${formatRatio(perSecond / one.perSecond)} 1 web`,
    goal: 'none answered twice',
    met: duplicates === 0,
    eventLoop,
  });
}

async function measureKill(
  slack: BenchSlack,
  port: number,
  replicas: readonly Subject[],
  perSecond: number,
): Promise<void> {
  const [victim, ...others] = replicas;
  const began = performance.now();
  let killedAt = Number.POSITIVE_INFINITY;
  setTimeout(() => {
    killedAt = performance.now();
    victim?.kill();
  }, seconds * 1000);
  const deliveries = await watchAll(others, () =>
    deliverAtRate(slack, port, {
      words: 'help',
      perSecond,
      seconds: 2 * seconds,
      people,
      repeats: slackRepeats,
    }),
  );
  await waitForAnswers(deliveries, 10_000);
  const repeated = deliveries.filter(({ repeats }) => repeats > 0);
  const unacknowledged = deliveries.filter(({ acknowledgedAt }) => acknowledgedAt === undefined);
  const silent = deliveries.filter((one) => one.acknowledgedAt !== undefined && !findAnswer(one));
  const twice = deliveries.filter((one) => listAnswers(one).length > 1);
  const before = deliveries.filter(({ sentAt }) => sentAt < killedAt);
  const after = deliveries.filter(({ sentAt }) => sentAt >= killedAt);
  logProgress(`killed after ${formatMs(killedAt - began)}: ${silent.length} acknowledged and not answered`);
  reportFinding({
    what: `1 of 2 web killed (SIGKILL) at ${perSecond.toFixed(0)} a second, unacknowledged commands sent again`,
    bot:
      `${silent.length} of ${deliveries.length} acknowledged and never answered, ${unacknowledged.length} never ` +
      `acknowledged, ${twice.length} answered twice; ${repeated.length} were sent again`,
    beside: `acknowledgement before ${formatSpread(acknowledgementTimes(before))}, after ${formatSpread(acknowledgementTimes(after))}`,
    ratio: '',
    goal: '0 unacknowledged, none twice',
    met: unacknowledged.length === 0 && twice.length === 0,
  });
}

function sumOf({ user, system }: NodeJS.CpuUsage): number {
  return user + system;
}
