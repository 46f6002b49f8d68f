import { found, progress } from './measure/findings.ts';
import { inTurns, ms, times } from './measure/numbers.ts';
import { startPostgres } from './measure/postgres.ts';
import { startSubject, startTheBot, withDirectory } from './measure/processes.ts';
import { startSlack } from './measure/slack.ts';

// From the start of the process to the line that says `ready`.
const rounds = 5;

await withDirectory(async (kept) => {
  const slack = await startSlack();
  const env = slack.environment('http');
  const postgres = await startPostgres();
  const onPostgres = typeof postgres === 'string' ? undefined : { ...env, ...postgres.environment };

  const bolt = async (): Promise<number> => once(await startSubject(['bench/minimal-bolt.ts', 'http'], env));
  const later = async (): Promise<number> => once(await startTheBot({ ...env, DATA_DIR: kept }));
  const first = (): Promise<number> =>
    withDirectory(async (empty) => once(await startTheBot({ ...env, DATA_DIR: empty })));
  const shared = async (): Promise<number> => once(await startTheBot(onPostgres ?? env));

  // Files are in the page cache and the databases are made before anything counts.
  await bolt();
  await later();
  if (onPostgres) await shared();
  const read = { bolt, later, first, ...(onPostgres ? { shared } : {}) };
  const taken = await inTurns(Object.keys(read) as (keyof typeof read)[], rounds, async (name) => {
    const reading = await (read[name] ?? bolt)();
    progress(`${name}: ${ms(reading)}`);
    return reading;
  });

  const beside = `minimal Bolt with ofetch and zod ${ms(taken.bolt)}`;
  const row = (what: string, reading: number, goal: number | undefined): void =>
    found({
      what,
      bot: ms(reading),
      beside,
      ratio: `${times(reading / taken.bolt)} minimal Bolt`,
      goal: goal ? `≤ ${goal} ×` : '',
      met: goal ? reading <= goal * taken.bolt : undefined,
    });
  row('start to ready, embedded database', taken.later, 4);
  row('start to ready, embedded, the very first start', taken.first, undefined);
  if (typeof postgres === 'string') progress(`PostgreSQL left out: ${postgres}`);
  else {
    row('start to ready, PostgreSQL', taken.shared, 2);
    await postgres.stop();
  }
  await slack.close();
});

async function once(subject: { readyMs: number; stop: () => Promise<void> }): Promise<number> {
  await subject.stop();
  return subject.readyMs;
}
