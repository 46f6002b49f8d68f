import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { createClaims } from '../../../src/auth/claims.ts';
import { runMaintenance } from '../../../src/store/embedded/embedded.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';
import { createTempDirectory } from '../../support/temp-directory.ts';

const { embedded } = await prepareEngines();
const at = new Date('2026-11-21T08:00:00.000Z');
const hours = (count: number): Date => new Date(at.getTime() + count * 3_600_000);

async function openParts() {
  const database = await embedded.emptyDatabase();
  const { pool, dump } = database;
  if (!dump) throw new Error('not the embedded engine');
  return { database, engine: { pool, dump }, directory: join(await createTempDirectory(), 'backups') };
}

test('a round gives back the room of deleted rows, so a busy table stays small', async () => {
  const { database, engine, directory } = await openParts();
  const round = async (): Promise<number> => {
    await sql`insert into deliveries select 'id' || n, ${at} from generate_series(1, 5000) n`.execute(
      database.db,
    );
    await database.db.deleteFrom('deliveries').execute();
    await runMaintenance({ ...engine, directory, log: createMemoryLog(), now: () => at });
    const { rows } = await sql<{ size: number }>`select pg_total_relation_size('deliveries') as size`.execute(
      database.db,
    );
    return rows[0]?.size ?? Number.NaN;
  };
  await round();
  const settled = await round();
  for (let index = 0; index < 4; index += 1) await round();
  expect(await round()).toBe(settled);
});

test('a daily copy opens as a database with everything in it', async () => {
  const { database, engine, directory } = await openParts();
  await createClaims(database.db, () => at)('Ev1');
  await runMaintenance({ ...engine, directory, log: createMemoryLog(), now: () => at });
  const names = await readdir(directory);
  expect(names).toEqual(['database-2026-11-21T08-00-00.000Z.tar.gz']);
  const path = join(directory, names[0] ?? '');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const copy = await PGlite.create({
    loadDataDir: new Blob([await readFile(path)], { type: 'application/gzip' }),
  });
  expect((await copy.query('select id from deliveries')).rows).toEqual([{ id: 'Ev1' }]);
  await copy.close();
});

test('a copy that fails leaves nothing behind', async () => {
  const { engine, directory } = await openParts();
  // Nothing can take its place, and it looks like a copy of last year.
  const taken = join(directory, `database-${at.toISOString().replaceAll(':', '-')}.tar.gz`);
  await mkdir(taken, { recursive: true });
  await utimes(taken, 0, 0);
  const log = createMemoryLog();
  await runMaintenance({ ...engine, directory, log, now: () => at });
  expect(log.entries).toMatchObject([{ level: 'error', fields: { error: { code: 'EISDIR' } } }]);
  expect(await readdir(directory)).toEqual([basename(taken)]);
});

test('a copy is made once a day, two are kept, and what was never finished is swept', async () => {
  const { engine, directory } = await openParts();
  const log = createMemoryLog();
  await mkdir(directory, { mode: 0o700 });
  await writeFile(join(directory, 'database-2027-01-01T00-00-00.000Z.tar.gz.tmp'), 'half');
  const made: string[][] = [];
  for (const hour of [0, 1, 23, 25, 49, 50, 75]) {
    await runMaintenance({ ...engine, directory, log, now: () => hours(hour) });
    const names = (await readdir(directory)).filter((name) => name.endsWith('.gz')).sort();
    const newest = join(directory, names.at(-1) ?? '');
    // The files carry the clock of this machine; the rounds are told another.
    const day = new Date(/\d{4}-\d\d-\d\dT\d\d/.exec(newest)?.[0].concat(':00:00Z') ?? '');
    await utimes(newest, day, day);
    made.push(names.map((name) => name.slice(9, 22)));
  }
  expect(log.entries).toEqual([]);
  expect((await readdir(directory)).filter((name) => !name.endsWith('.gz'))).toEqual([]);
  expect(made.map((names) => names.length)).toEqual([1, 1, 1, 2, 2, 2, 2]);
  expect(made.at(-1)).toEqual(['2026-11-23T09', '2026-11-24T11']);
});
