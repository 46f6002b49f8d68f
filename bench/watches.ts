import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createAudit } from '../src/auth/audit/audit.ts';
import { readKeyring } from '../src/auth/keyring/keyring.ts';
import { createKeyStore } from '../src/auth/keys/key-store.ts';
import { createSealer } from '../src/auth/keys/sealing.ts';
import type { WatchSubject } from '../src/commands/reports/watches/model.ts';
import { createWatchService } from '../src/commands/reports/watches/service.ts';
import { createOutbox } from '../src/outbox/outbox.ts';
import { Secret } from '../src/secrets/secret.ts';
import { openDatabase } from '../src/store/database.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { sendAtRate } from './measure/load.ts';
import { ignoreEventLoop } from './measure/metrics.ts';
import { median, percentile } from './measure/numbers.ts';
import {
  type Cdn,
  processorTimeOfAll,
  startBot,
  startCdn,
  startPostgres,
  withTempDirectory,
} from './measure/processes.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// A thousand watches on two hundred accounts, all due at one moment: the requests of that first round, which reads two days
// of each log, its processor time beside a bare loop of the same GETs, and how long acknowledgements take meanwhile.
const zones = ['1001', '1002'];
const conditions = ['zone-state', 'zone-limit', 'charges', 'errors', 'errors-new-code'] as const;
/** Requests of each condition alone: the list of zones, and two days of two logs. */
const unshared = 1 + 1 + 1 + 5 + 5;
const perSecond = 10;
const firstInMs = 35_000;
/** Starts are spread over 50 s. */
const roundMs = 65_000;

type Store = Readonly<Record<string, string>>;

const accounts = Number(process.argv[2] ?? 200);
const watches = accounts * conditions.length;
const cdn = await startCdn(20, 'few');
const postgres = await startPostgres();
await withTempDirectory(async (dataDir) => {
  const keys = { DATA_DIR: dataDir, ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}` };
  if (typeof postgres === 'string') logProgress(`PostgreSQL left out: ${postgres}`);
  else {
    await measure('PostgreSQL', { ...postgres.environment, ...keys }, cdn);
    await postgres.stop();
  }
  await measure('embedded', keys, cdn);
});
await cdn.stop();

async function measure(engine: string, store: Store, { url, originLoggingUrl, key }: Cdn): Promise<void> {
  const due = await storeWatches(store, key);
  const slack = await startSlack();
  const bot = await startBot({
    ...slack.environment('http'),
    ...store,
    CDN_API_URL: url,
    CDN_ORIGIN_LOGGING_URL: originLoggingUrl,
  });
  const send = async (untilMs: number) => {
    const used = await processorTimeOfAll(bot.pid);
    const until = (): boolean => Date.now() >= untilMs;
    const taken = await sendAtRate(bot.port, () => slack.slash('help'), { perSecond, until });
    return { taken, processorMs: (await processorTimeOfAll(bot.pid)) - used };
  };
  // What a start has to do is over by then.
  await delay(8_000);
  const idle = await ignoreEventLoop(() => send(due.getTime()));
  const busy = await send(due.getTime() + roundMs);
  await bot.stop();
  await slack.close();

  const round = await readRound(store, due);
  const ofCommands = (idle.processorMs / idle.taken.length) * busy.taken.length;
  const perLook = (busy.processorMs - ofCommands) / round.looked;
  const bare = await readBare(round.requests, { url, originLoggingUrl, key });
  logProgress(`${engine}: ${round.looked} of ${watches} looked, ${round.requests} requests`);
  reportFinding({
    what: `first look of ${watches} watches on ${accounts} accounts, ${engine}: requests to the CDN`,
    bot: `${round.requests}, ${Math.round((round.requests / roundMs) * 60_000)} a minute of it`,
    beside: `unshared ${unshared * accounts}`,
    ratio: `${formatRatio(round.requests / (unshared * accounts))} unshared`,
    goal: '',
    met: undefined,
  });
  reportFinding({
    what: `the same, ${engine}: processor time a look`,
    bot: `${formatMs(perLook)}, all ${round.looked} looked within ${formatMs(round.tookMs)}`,
    beside: `GET and JSON.parse of the same requests ${formatMs(bare / round.looked)}; starts are spread over 50 s`,
    ratio: `${formatRatio(perLook / (bare / round.looked))} the bare loop`,
    goal: '',
    met: undefined,
  });
  reportFinding({
    what: `the same, ${engine}: acknowledgement meanwhile, worst`,
    bot: `${formatMs(Math.max(...busy.taken))} of ${busy.taken.length} (p50 ${formatMs(median(busy.taken))}, p99 ${formatMs(percentile(busy.taken, 99))})`,
    beside: `before: worst ${formatMs(Math.max(...idle.taken))}, p50 ${formatMs(median(idle.taken))}, p99 ${formatMs(percentile(idle.taken, 99))}`,
    ratio: `${formatRatio(median(busy.taken) / median(idle.taken))} p50`,
    goal: 'worst ≤ 50 ms',
    met: Math.max(...busy.taken) <= 50,
  });
}

/** Opens the database of a bot that does not run. */
async function open({ DATA_DIR: dataDir = '', DATABASE_URL: databaseUrl }: Store) {
  const url = databaseUrl === undefined ? {} : { databaseUrl: new Secret(databaseUrl) };
  return openDatabase({ dataDir, log: createLogger('silent'), ...url });
}

/** Fills a database as people would have: each a key and a watch of each condition, all due at the moment it returns. */
async function storeWatches(store: Store, key: string): Promise<Date> {
  const database = await open(store);
  await database.migrate();
  const { db } = database;
  const { keyring } = await readKeyring({ keys: new Secret(store['ENCRYPTION_KEYS'] ?? '') });
  const keyStore = createKeyStore({ db, sealer: createSealer(keyring), now });
  const service = createWatchService({
    db,
    audit: createAudit({ db, now }),
    outbox: createOutbox({ enqueue, now }),
    people: () => {
      throw new Error('nobody is told');
    },
    enqueue,
    now,
  });
  for (let account = 0; account < accounts; account += 1) {
    const owner = { teamId: 'T0BENCH00', userId: `U0BENCH${account}` };
    await keyStore.link(owner, new Secret(key));
    for (const condition of conditions) {
      const subject: WatchSubject = {
        condition,
        targets: zones,
        threshold: condition === 'errors' || condition === 'charges' ? 100_000 : 100,
        every: 5,
        timeZone: 'UTC',
        names: [],
        lifeSign: false,
      };
      const made = await service.create(owner, { channel: 'C0BENCH00', subject });
      await service.begin(made, owner);
    }
  }
  const due = new Date(Date.now() + firstInMs);
  await db.updateTable('watches').set({ next_due: due }).execute();
  await database.close();
  return due;
}

/** What is stored of the round: how many have looked, when the last one did, and how many requests it took. */
async function readRound(store: Store, due: Date) {
  const database = await open(store);
  const { db } = database;
  const { looked, last } = await db
    .selectFrom('watches')
    .select(({ fn }) => [fn.count<bigint>('looked_at').as('looked'), fn.max('looked_at').as('last')])
    .executeTakeFirstOrThrow();
  const { requests } = await db
    .selectFrom('read_budgets')
    .select(({ fn }) => fn.sum<bigint>('requests').as('requests'))
    .executeTakeFirstOrThrow();
  await database.close();
  const tookMs = (last?.getTime() ?? Number.NaN) - due.getTime();
  return { looked: Number(looked), tookMs, requests: Number(requests) };
}

/** Processor time of as many requests of the same kinds, one after the other, in this process. */
async function readBare(
  requests: number,
  { url, originLoggingUrl, key }: Pick<Cdn, 'url' | 'originLoggingUrl' | 'key'>,
): Promise<number> {
  const days = [0, 1].map((ago) => {
    const [year, month, day] = new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10).split('-');
    return `${month}-${day}-${year}`;
  });
  const logs = zones.flatMap((zone) => days.map((day) => `${originLoggingUrl}/${zone}/${day}`));
  const all = [`${url}/pullzone?page=1&perPage=1000`, ...logs];
  const used = process.cpuUsage();
  for (let n = 0; n < requests; n += 1) {
    const response = await fetch(all[n % all.length] ?? '', { headers: { AccessKey: key } });
    if (!response.ok) throw new Error(`the CDN answered ${response.status}`);
    JSON.parse(await response.text());
  }
  const { user, system } = process.cpuUsage(used);
  return (user + system) / 1000;
}

function now(): Date {
  return new Date();
}

/** The bot enqueues what is due when it starts. */
async function enqueue(): Promise<string> {
  return 'none';
}
