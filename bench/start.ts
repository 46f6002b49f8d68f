import { measureInTurns } from './measure/numbers.ts';
import { startBot, startPostgres, startSubject, withTempDirectory } from './measure/processes.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// From the start of the process to the line that says `ready`.
const rounds = 5;

await withTempDirectory(async (kept) => {
  const slack = await startSlack();
  const env = slack.environment('http');
  const postgres = await startPostgres();
  const onPostgres = typeof postgres === 'string' ? undefined : { ...env, ...postgres.environment };

  const bolt = async (): Promise<number> =>
    readyTimeOf(await startSubject(['bench/minimal-bolt.ts', 'http'], env));
  const later = async (): Promise<number> => readyTimeOf(await startBot({ ...env, DATA_DIR: kept }));
  const first = (): Promise<number> =>
    withTempDirectory(async (empty) => readyTimeOf(await startBot({ ...env, DATA_DIR: empty })));
  const startInUse = async (): Promise<number> => readyTimeOf(await startBot(onPostgres ?? env));

  // Files are in the page cache and the databases are made before anything counts.
  await bolt();
  await later();
  if (onPostgres) await startInUse();
  const read = { bolt, later, first, ...(onPostgres ? { shared: startInUse } : {}) };
  const taken = await measureInTurns(Object.keys(read) as (keyof typeof read)[], rounds, async (name) => {
    const reading = await (read[name] ?? bolt)();
    logProgress(`${name}: ${formatMs(reading)}`);
    return reading;
  });

  const beside = `minimal Bolt with ofetch and zod ${formatMs(taken.bolt)}`;
  const row = (what: string, reading: number, goal: number): void =>
    reportFinding({
      what,
      bot: formatMs(reading),
      beside,
      ratio: `${formatRatio(reading / taken.bolt)} minimal Bolt`,
      goal: `≤ ${goal} ×`,
      met: reading <= goal * taken.bolt,
    });
  row('start to ready, embedded database', taken.later, 3);
  row('start to ready, embedded, the very first start', taken.first, 6);
  if (typeof postgres === 'string') logProgress(`PostgreSQL left out: ${postgres}`);
  else {
    row('start to ready, PostgreSQL', taken.shared, 3);
    await postgres.stop();
  }
  await slack.close();
});

async function readyTimeOf(subject: { readyMs: number; stop: () => Promise<void> }): Promise<number> {
  await subject.stop();
  return subject.readyMs;
}
