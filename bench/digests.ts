import { randomBytes } from 'node:crypto';
import { sendAtRate } from './measure/load.ts';
import { ignoreEventLoop } from './measure/metrics.ts';
import { median, percentile } from './measure/numbers.ts';
import { type Cdn, startBot, startCdn, startPostgres, withTempDirectory } from './measure/processes.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { storeScheduled } from './measure/scheduled.ts';
import { startSlack } from './measure/slack.ts';

// A thousand digests due in one minute, a hundred of them in one channel: the time to the last post against the floor
// that Slack's rates allow, and how long the acknowledgement of a command takes meanwhile.
const inOneChannel = 0.1;
/** What `src/outbox/pace.ts` allows: one message a second in a channel, 400 a minute in a workspace. */
const channelIntervalMs = 1_000;
const methodIntervalMs = 150;
/** Without a post for so long, the last one was the last. */
const silenceMs = 8_000;
const entries = `k1:${randomBytes(32).toString('base64')}`;

const digests = Number(process.argv[2] ?? 1_000);

const cdn = await startCdn(20, 'few');
const postgres = await startPostgres();
await withTempDirectory(async (dataDir) => {
  await measure('embedded', { DATA_DIR: dataDir, ENCRYPTION_KEYS: entries }, cdn);
  if (typeof postgres === 'string') {
    logProgress(`PostgreSQL left out: ${postgres}`);
    return;
  }
  const { environment, stop } = postgres;
  await measure('PostgreSQL', { DATA_DIR: dataDir, ...environment, ENCRYPTION_KEYS: entries }, cdn);
  await stop();
});
await cdn.stop();

async function measure(
  engine: string,
  store: Readonly<Record<string, string>>,
  { url, ...more }: Cdn,
): Promise<void> {
  const busy = digests * inOneChannel;
  const due = await storeScheduled(store, more.key, {
    digests,
    channelOf: (n) => (n < busy ? 'C0BUSY000' : `C0BENCH${n}`),
    firstInMs: 30_000,
  });
  const slack = await startSlack();
  const bot = await startBot({
    ...slack.environment('http'),
    ...store,
    CDN_API_URL: url,
    CDN_ORIGIN_LOGGING_URL: more.originLoggingUrl,
  });
  let posts = 0;
  let last = 0;
  const hasEnded = (): boolean => {
    const seen = slack.called('chat.postMessage');
    if (seen > posts) [posts, last] = [seen, Date.now()];
    return posts >= digests && Date.now() - last > silenceMs;
  };
  const help = (): Buffer => slack.slash('help');
  const idle = await ignoreEventLoop(() =>
    sendAtRate(bot.port, help, { perSecond: 50, until: (sent) => sent >= 250 }),
  );
  const taken = await sendAtRate(bot.port, help, { perSecond: 50, until: hasEnded });
  await bot.stop();
  await slack.close();

  const lastMs = last - due.getTime();
  logProgress(
    `${engine}: ${digests} digests, ${posts} posts in ${formatMs(lastMs)}; worst ${formatMs(Math.max(...taken))}`,
  );
  // One message a second in the busy channel; so many a minute in the workspace. Detail goes into threads, so there
  // are more messages than digests.
  const floorMs = Math.max((posts * inOneChannel - 1) * channelIntervalMs, (posts - 1) * methodIntervalMs);
  reportFinding({
    what: `${digests} digests due in one minute, a tenth in one channel, ${engine}: to the last post`,
    bot: `${formatMs(lastMs)} (${posts} posts)`,
    beside: `what Slack’s rates allow ${formatMs(floorMs)}; starts are spread over 50 s`,
    ratio: `${formatRatio(lastMs / floorMs)} the floor`,
    goal: '≤ 1.25 ×',
    met: lastMs <= 1.25 * floorMs,
  });
  reportFinding({
    what: `acknowledgement while they are due, ${engine}, worst`,
    bot: `${formatMs(Math.max(...taken))} of ${taken.length} (p50 ${formatMs(median(taken))}, p99 ${formatMs(percentile(taken, 99))})`,
    beside: `before they were due: p50 ${formatMs(median(idle))}, p99 ${formatMs(percentile(idle, 99))}`,
    ratio: `${formatRatio(median(taken) / median(idle))} p50`,
    goal: 'worst ≤ 50 ms',
    met: Math.max(...taken) <= 50,
  });
}
