import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { deleteOldRows, jobs, type Ports } from '../src/app/jobs.ts';
import { readKeyring } from '../src/auth/keyring/keyring.ts';
import { digestDueJob, reconcileDigestsJob } from '../src/commands/reports/digests/jobs.ts';
import { reconcileWatchesJob } from '../src/commands/reports/watches/jobs.ts';
import { dayMs } from '../src/lib/time.ts';
import { Secret } from '../src/secrets/secret.ts';
import { createBacklogReader } from '../src/store/backlog.ts';
import { type Database, openDatabase } from '../src/store/database.ts';
import type { JobContext } from '../src/store/queue/define-job.ts';
import { createQueue } from '../src/store/queue/queue.ts';
import { createLogger } from '../src/telemetry/log.ts';
import { runCommand } from './measure/commands.ts';
import { addDays, fillDatabase } from './measure/fill-database.ts';
import type { Sizes } from './measure/filled-rows.ts';
import { forgetEventLoop, ignoreEventLoop } from './measure/metrics.ts';
import { median } from './measure/numbers.ts';
import { type Subject, startBot, startPostgres, withTempDirectory } from './measure/processes.ts';
import { formatMegabytes, formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { type BenchSlack, startSlack } from './measure/slack.ts';

// Ten thousand workspaces with a hundred thousand linked keys, ten thousand digests and as many watches: what planning,
// repairs, a scrape and a command cost in that database, beside an empty one; and how large it is after a year.
const [share = '1'] = process.argv.slice(2);
const sizesOf = (part: number): Sizes => ({
  workspaces: Math.ceil(10_000 * part),
  keys: Math.ceil(100_000 * part),
  digests: Math.ceil(10_000 * part),
  watches: Math.ceil(10_000 * part),
});
const large = sizesOf(Number(share));
/** The embedded database is for one team, which is less than this. */
const small = sizesOf(Number(share) / 50);
const log = createLogger('silent');
const now = (): Date => new Date();

const [filled, empty] = [await startPostgres(), await startPostgres()];
await withTempDirectory(async (dataDir) => {
  if (typeof filled === 'string' || typeof empty === 'string')
    return logProgress('PostgreSQL left out: there is none here');
  const url = filled.environment['DATABASE_URL'] ?? '';
  const database = await openDatabase({ databaseUrl: new Secret(url), dataDir, log });
  await measure('PostgreSQL', database, large, filled.environment['ENCRYPTION_KEYS'] ?? '', () =>
    compareCommand(filled.environment, empty.environment),
  );
  await filled.stop();
  await empty.stop();
});
await withTempDirectory(async (dataDir) => {
  const keys = `k1:${randomBytes(32).toString('base64')}`;
  await measure('embedded', await openDatabase({ dataDir, log }), small, keys);
});

async function measure(
  engine: string,
  database: Database,
  sizes: Sizes,
  keys: string,
  more: () => Promise<void> = async () => undefined,
): Promise<void> {
  await database.migrate();
  const { db } = database;
  const queue = createQueue({ database, log, now });
  // All of them: pg-boss looks for one that it does not know, and the embedded engine's one session is in a transaction then.
  await queue.start({ jobs, ports: {} as Ports, work: false });
  const { keyring } = await readKeyring({ keys: new Secret(keys) });
  const scrape = async (): Promise<number> => {
    const times: number[] = [];
    for (let n = 0; n < 5; n += 1) times.push(await time(() => createBacklogReader(db, now)()));
    return median(times);
  };
  const emptyScrape = await scrape();
  const fillMs = await time(() => fillDatabase(db, sizes, { now: now(), keyring }));
  logProgress(`${engine}: filled in ${formatMs(fillMs)}`);
  const what = `${sizes.workspaces} workspaces, ${sizes.keys} keys, ${sizes.digests} digests and watches, ${engine}`;
  const report = (line: string, bot: string, beside = '', ratio = ''): void =>
    reportFinding({ what: `${what}: ${line}`, bot, beside, ratio, goal: '', met: undefined });

  const filledScrape = await scrape();
  const ratio = `${formatRatio(filledScrape / emptyScrape)} empty`;
  report('reading the backlog for a scrape', formatMs(filledScrape), `empty ${formatMs(emptyScrape)}`, ratio);
  await more();

  const ports = { enqueue: queue.enqueue } as Ports;
  const { signal } = new AbortController();
  const context: JobContext<Ports> = { db, ports, log, now, signal, attempt: 1 };
  const planned = Math.min(500, sizes.digests);
  const due = Array.from({ length: planned }, (_, n) => `f${n}`);
  await db
    .updateTable('digests')
    .set({ next_due: new Date(Date.now() - 60_000) })
    .where('id', 'in', due)
    .execute();
  const planMs = await time(async () => {
    for (const digestId of due) await digestDueJob.run({ digestId }, context);
  });
  report(`storing a due run, its job and the next, mean of ${planned}`, formatMs(planMs / planned));
  const soon = sql`now() + interval '65 minutes'`;
  const { rows } = await sql<{ digests: number; watches: number }>`select
    (select count(*)::int from digests where next_due < ${soon}) as digests,
    (select count(*)::int from watches where next_due < ${soon}) as watches`.execute(db);
  const { digests = 0, watches = 0 } = rows[0] ?? {};
  report(
    `hourly repair of ${digests} digests’ jobs`,
    formatMs(await time(() => reconcileDigestsJob.run({}, context))),
  );
  report(
    `hourly repair of ${watches} watches’ jobs`,
    formatMs(await time(() => reconcileWatchesJob.run({}, context))),
  );
  await queue.stop();

  const before = await readSizes(database);
  report('size of the database', describeSizes(before));
  await liveAYear(database, sizes, report);
  await database.close();
}

/** A year in steps of ten days, with the retention of every quarter of an hour once each. */
async function liveAYear(
  database: Database,
  sizes: Sizes,
  report: (line: string, bot: string, beside?: string) => void,
): Promise<void> {
  const { db } = database;
  // A tenth of the rows: the times are of that, the sizes grow with the number.
  const { workspaces, keys, digests, watches } = sizes;
  const part = {
    workspaces,
    keys: Math.ceil(keys / 10),
    digests: Math.ceil(digests / 10),
    watches: Math.ceil(watches / 10),
  };
  const days = 10;
  const retention: number[] = [];
  for (let step = 1; step * days <= 370; step += 1) {
    const until = new Date(Date.now() + step * days * dayMs);
    await addDays(db, part, { days, until, first: step * 1_000_000 });
    retention.push(await time(() => deleteOldRows(db, until)));
  }
  // A connection counts what it deleted when it has been idle for ten seconds: counted after the vacuum, rows that it has
  // taken away would be told as dead.
  await pause(12_000);
  await sql`vacuum (analyze)`.execute(db);
  const dead = await sql<{ dead: number }>`
    select sum(n_dead_tup)::int as dead from pg_stat_user_tables where schemaname = 'public'`.execute(db);
  report(
    'after a simulated year of a tenth of its traffic, with retention',
    describeSizes(await readSizes(database)),
    `dead rows after vacuum ${dead.rows[0]?.dead ?? 0}; retention of ten days ${formatMs(median(retention))}, longest ${formatMs(Math.max(...retention))}`,
  );
}

async function readSizes({ db }: Database): Promise<[name: string, bytes: number][]> {
  const { rows } = await sql<{ name: string; bytes: number }>`
    select relname as name, pg_total_relation_size(relid)::float8 as bytes from pg_stat_user_tables
     order by 2 desc`.execute(db);
  return rows.map(({ name, bytes }) => [name, bytes]);
}

function describeSizes(sizes: readonly (readonly [name: string, bytes: number])[]): string {
  const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  const largest = sizes.slice(0, 6).map(([name, bytes]) => `${name} ${formatMegabytes(bytes)}`);
  return `${formatMegabytes(total)}: ${largest.join(', ')}`;
}

type Environment = Readonly<Record<string, string>>;

/** A typed command with its answer, in turns on both databases: the web process alone, so that no job is in the way. */
async function compareCommand(filled: Environment, empty: Environment): Promise<void> {
  const slack = await startSlack();
  const start = (env: Environment): Promise<Subject> =>
    startBot({ ...slack.environment('http'), ...env }, '.', 'web');
  const bots = { filled: await start(filled), empty: await start(empty) };
  const times = { filled: [] as number[], empty: [] as number[] };
  for (let n = 0; n < 110; n += 1)
    for (const name of ['filled', 'empty'] as const) {
      // The first ones compile.
      if (n < 10) await ignoreEventLoop(() => whoami(slack, bots[name]));
      else times[name].push(await whoami(slack, bots[name]));
    }
  for (const bot of Object.values(bots)) await bot.stop();
  await slack.close();
  const [inFilled, inEmpty] = [median(times.filled), median(times.empty)];
  reportFinding({
    what: `${large.keys} keys, PostgreSQL: \`/cdn whoami\` from typed to answered`,
    bot: formatMs(inFilled),
    beside: `empty database ${formatMs(inEmpty)}`,
    ratio: `${formatRatio(inFilled / inEmpty)} empty`,
    goal: '≤ 1.25 ×',
    met: inFilled <= 1.25 * inEmpty,
  });
  // What follows runs in this process.
  forgetEventLoop();
}

async function whoami(slack: BenchSlack, { port }: Subject): Promise<number> {
  return (await runCommand(slack, port, 'whoami')).first;
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
