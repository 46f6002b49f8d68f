import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { acknowledgementTimes, findAnswer, formatSpread, waitForAnswers } from './measure/deliveries.ts';
import { post, startAtRate } from './measure/load.ts';
import { type Scrape, sampleMetrics, watchEventLoop } from './measure/metrics.ts';
import { deliverMixed, type MixedDelivery } from './measure/mixed.ts';
import { median } from './measure/numbers.ts';
import {
  residentMemory,
  startBot,
  startCdn,
  startPostgres,
  startSubject,
  withTempDirectory,
} from './measure/processes.ts';
import { formatMegabytes, formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { countRows } from './measure/rows.ts';
import { storeScheduled } from './measure/scheduled.ts';
import { startSlack } from './measure/slack.ts';
import { findTrend, type Point, type Trend } from './measure/trend.ts';

// Mixed commands at a steady rate, digests and watches that are due meanwhile, and what grows: memory, handles, rows.
// Ends with exit code 1 where resident memory grows by more than the bound, MB, after the first fifth.
//   node bench/soak.ts --minutes 60 --rate 20 --bound 32
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string', default: '20' },
    bound: { type: 'string', default: '32' },
  },
});
const [minutes, perSecond, bound] = [Number(values.minutes), Number(values.rate), Number(values.bound) * 1e6];
const durationMs = minutes * 60_000;
/** A hundred samples, and never more than one a second. */
const everyMs = Math.max(1_000, durationMs / 100);
const digestEveryMs = 20_000;
const hourMs = 3_600_000;

interface Sample {
  readonly at: number;
  readonly read: Scrape;
}

await withTempDirectory(async (dataDir) => {
  const slack = await startSlack();
  const cdn = await startCdn(100, 'few');
  const postgres = await startPostgres();
  if (typeof postgres === 'string') logProgress(`on the embedded database, rows left out: ${postgres}`);
  const store =
    typeof postgres === 'string'
      ? { DATA_DIR: dataDir, ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` }
      : { DATA_DIR: dataDir, ...postgres.environment };
  const databaseUrl = typeof postgres === 'string' ? undefined : postgres.environment['DATABASE_URL'];
  const digests = Math.ceil(durationMs / digestEveryMs);
  await storeScheduled(store, cdn.key, {
    digests,
    channelOf: (n) => `C0BENCH${n % 10}`,
    firstInMs: 10_000,
    apartMs: digestEveryMs,
    watches: 10,
  });
  const env = { ...slack.environment('http'), CDN_API_URL: cdn.url };
  const bot = await startBot({ ...env, ...store, CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl });
  const bolt = await startSubject(['bench/minimal-bolt.ts', 'http', 'answer'], env);
  const rowsBefore = databaseUrl === undefined ? undefined : await countRows(databaseUrl);

  const began = performance.now();
  const sampler = sampleMetrics(bot.port, everyMs);
  const boltMemory: Point[] = [];
  const watchBolt = setInterval(
    () => void residentMemory(bolt.pid).then((bytes) => boltMemory.push({ x: performance.now(), y: bytes })),
    everyMs,
  );
  const deliveries: MixedDelivery[] = [];
  let turn = 0;
  let broken = 0;
  const tellBroken = (subject: string) => (error: unknown) => {
    broken += 1;
    logProgress(`${subject}: ${String(error)}`);
  };
  const send = async (): Promise<void> => {
    turn += 1;
    const [sent] = await Promise.all([
      deliverMixed(slack, bot.port, turn, tellBroken('the bot')),
      post(bolt.port, slack.slash('help')).catch(tellBroken('minimal Bolt')),
    ]);
    deliveries.push(sent);
  };
  await watchEventLoop(bot.port, () =>
    startAtRate(perSecond, () => performance.now() - began >= durationMs, send),
  );
  await waitForAnswers(deliveries, 10_000);
  clearInterval(watchBolt);
  await sampler.stop();
  const rowsAfter = databaseUrl === undefined ? undefined : await countRows(databaseUrl);
  const posts = slack.called('chat.postMessage');
  for (const subject of [bot, bolt]) await subject.stop();
  await cdn.stop();
  await slack.close();
  if (typeof postgres !== 'string') await postgres.stop();

  const since = began + durationMs / 5;
  const samples = sampler.scrapes.filter(({ at }) => at >= since);
  reportCommands(deliveries, { digests, posts, broken });
  reportMemory(
    samples,
    boltMemory.filter(({ x }) => x >= since),
  );
  reportRest(samples);
  if (rowsBefore && rowsAfter) reportRows(rowsBefore, rowsAfter);
});

function reportCommands(
  deliveries: readonly MixedDelivery[],
  { digests, posts, broken }: { digests: number; posts: number; broken: number },
): void {
  const silent = deliveries.filter((one) => !findAnswer(one));
  const acks = acknowledgementTimes(deliveries);
  if (silent.length > 0)
    logProgress(`no answer to: ${[...new Set(silent.map(({ words }) => words))].join(', ')}`);
  reportFinding({
    what: `${minutes} min of mixed commands, ${perSecond} a second, ${digests} digests due, 10 watches each minute`,
    bot: `${deliveries.length} commands, ${deliveries.length - acks.length} not acknowledged, ${silent.length} not answered, ${broken} other requests failed; ${formatSpread(acks)}`,
    beside: `${posts} messages to channels`,
    ratio: '',
    goal: 'all answered',
    met: silent.length === 0 && acks.length === deliveries.length && broken === 0,
  });
}

function reportMemory(samples: readonly Sample[], floor: readonly Point[]): void {
  const trendOf = (name: string): Trend =>
    findTrend(
      samples.map(({ at, read }) => ({ x: at, y: read(name) })),
      hourMs,
      'an hour',
    );
  const resident = trendOf('process_resident_memory_bytes');
  const isWithin = resident.grown <= bound;
  logProgress(`resident memory: ${resident.words}`);
  reportFinding({
    what: 'resident memory after the first fifth, start → end',
    bot: resident.words,
    beside: `minimal Bolt under \`help\` at the same rate ${findTrend(floor, hourMs, 'an hour').words}`,
    ratio: '',
    goal: `≤ +${formatMegabytes(bound)} in that time`,
    met: isWithin,
  });
  reportFinding({
    what: 'heap used after the first fifth, start → end',
    bot: trendOf('nodejs_heap_size_used_bytes').words,
    beside: '',
    ratio: '',
    goal: '',
    met: undefined,
  });
  if (!isWithin) process.exitCode = 1;
}

/** The last quarter of the samples beside the first. */
function reportRest(samples: readonly Sample[]): void {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const row = (what: string, name: string, format: (value: number) => string): void => {
    const middle = (some: readonly Sample[]): number => median(some.map(({ read }) => read(name)));
    const [before, after] = [middle(samples.slice(0, quarter)), middle(samples.slice(-quarter))];
    reportFinding({
      what: `${what}, last quarter beside the first`,
      bot: format(after),
      beside: format(before),
      ratio: formatRatio(after / before),
      goal: '',
      met: undefined,
    });
  };
  row('event-loop delay, p99 between two samples', 'nodejs_eventloop_lag_p99_seconds', (seconds) =>
    formatMs(seconds * 1000),
  );
  row('open handles', 'nodejs_active_resources_total', String);
  row('open files and sockets', 'process_open_fds', String);
}

function reportRows(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): void {
  const grown = [...after]
    .map(([name, count]) => ({ name, by: count - (before.get(name) ?? 0) }))
    .filter(({ by }) => by > 0)
    .toSorted((a, b) => b.by - a.by);
  reportFinding({
    what: 'rows of the queue and the outbox, start → end',
    bot: `${sumQueue(before)} → ${sumQueue(after)}`,
    beside: `most new rows: ${grown
      .slice(0, 6)
      .map(({ name, by }) => `${name} +${by}`)
      .join(', ')}`,
    ratio: '',
    goal: '',
    met: undefined,
  });
}

function sumQueue(counts: ReadonlyMap<string, number>): number {
  return [...counts].reduce((total, [name, count]) => total + (isQueue(name) ? count : 0), 0);
}

function isQueue(table: string): boolean {
  return table.startsWith('pgboss.') || table.endsWith('.outbox');
}
