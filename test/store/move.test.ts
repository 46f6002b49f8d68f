import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { verifyChains } from '../../src/auth/audit/audit.ts';
import { UserError } from '../../src/errors.ts';
import { version } from '../../src/lib/version.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { exportDatabase, importDatabase, writeSnapshot } from '../../src/store/move.ts';
import { createQueue, defineJob } from '../../src/store/queue.ts';
import { acme, beta, insertRecords } from '../auth/audit/tampering.ts';
import { createMemoryLog, deleteRows, prepareEngines } from '../support/engines.ts';
import { fillTables } from '../support/fill-tables.ts';
import { createTempDirectory } from '../support/temp-directory.ts';
import { readStable } from '../support/words.ts';

const { embedded, postgres } = await prepareEngines();
const log = createMemoryLog();
const job = defineJob({
  name: 'moved',
  cron: '1 2 3 4 *',
  data: z.object({ n: z.number() }),
  run: async () => {},
});

async function openQueue(database: Database) {
  const queue = createQueue({ database, log, now: () => new Date() });
  await queue.start({ jobs: [job], ports: {}, work: false });
  return queue;
}

/** A database with a row in every table, two chains, and jobs: waiting, deferred and on a schedule. */
async function fill(database: Database): Promise<void> {
  await fillTables(database, acme);
  await fillTables(database, beta);
  await insertRecords(database, 501);
  await insertRecords(database, 3, beta);
  const queue = await openQueue(database);
  await queue.enqueue(job, { n: 1 });
  await queue.enqueue(job, { n: 2 }, { at: new Date('2030-01-01T00:00:00.123Z') });
  await queue.stop();
  await sql`insert into pgboss.schedule (name, cron) values (${job.name}, '1 2 3 4 *')`.execute(database.db);
  await sql`update outbox set seq = default`.execute(database.db);
}

/** Without tables; `prepared`: with those of this version, and no rows. */
async function openEmpty({ createLocation }: typeof embedded, prepared?: 'prepared'): Promise<Database> {
  if (prepared) {
    const database = await (await createLocation()).open();
    await deleteRows(database);
    return database;
  }
  const { dataDir, databaseUrl } = await createLocation({ empty: true });
  return openDatabase({ dataDir, databaseUrl, log });
}

/** The lines of the file in order, without those that tell when and where it was made. */
async function readBody(path: string): Promise<string> {
  const [, ...lines] = (await readFile(path, 'utf8')).trimEnd().split('\n');
  return lines.slice(0, -1).sort().join('\n');
}

async function newFile(): Promise<string> {
  return join(await createTempDirectory(), 'moved.ndjson');
}

/** The words of a refusal, without what differs from run to run, or changes with every table. */
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'not refused',
    (error: unknown) => {
      if (!(error instanceof UserError)) throw error;
      return readStable(`${error.message} ${error.hint}`, { version })
        .replaceAll(/\/\S+\//g, '<directory>/')
        .replaceAll(/line \d+/g, 'line <n>')
        .replaceAll(/chatops_test_\w+/g, '<database>');
    },
  );

test.skipIf(postgres.skip)(
  'a database moved to the other engine and back is the same in every byte, jobs and audit included',
  async () => {
    const source = await embedded.emptyDatabase();
    await fill(source);
    const paths = [await newFile(), await newFile(), await newFile()] as const;
    await exportDatabase(source, paths[0]);
    expect((await stat(paths[0])).mode & 0o777).toBe(0o600);

    const there = await openEmpty(postgres);
    await importDatabase(there, paths[0], log);
    await exportDatabase(there, paths[1]);
    const back = await openEmpty(embedded, 'prepared');
    await importDatabase(back, paths[1], log);
    await exportDatabase(back, paths[2]);

    const body = await readBody(paths[0]);
    expect(body).toContain('2026-11-21T02:30:00.123457+00:00');
    expect(body).toContain('9007199254740993');
    expect(await readBody(paths[1])).toBe(body);
    expect(await readBody(paths[2])).toBe(body);
    for (const { db } of [there, back]) {
      expect([...(await verifyChains(db, {}))]).toMatchObject([
        [acme, { ok: true, records: 501 }],
        [beta, { ok: true, records: 3 }],
      ]);
      await expect(sql`delete from audit_records`.execute(db)).rejects.toThrow('append-only');
      // The identity goes on behind the rows that came.
      const { rows } = await sql<{ seq: number }>`
      insert into outbox (id, tenant, team_id, kind, about, places, doubt, state, expires_at, changed_at)
      values ('next', 'T1', 'T1', 'k', '{}', '[]', 'look', 'due', now(), now()) returning seq`.execute(db);
      const newest = await sql<{
        seq: number;
      }>`select max(seq) as seq from outbox where id <> 'next'`.execute(db);
      expect(rows[0]?.seq).toBeGreaterThan(newest.rows[0]?.seq ?? Number.NaN);
    }
    // The bot's queue starts on it, and its jobs are the ones that were waiting.
    const queue = await openQueue(there);
    await queue.stop();
    const jobs = sql`select data, start_after from pgboss.job where name = ${job.name} order by start_after`;
    expect((await jobs.execute(there.db)).rows).toMatchObject([
      { data: { n: 1 } },
      { data: { n: 2 }, start_after: new Date('2030-01-01T00:00:00.123Z') },
    ]);
    await there.close();
    await back.close();
  },
);

test('what is not whole, or goes onto rows, is refused, and changes nothing', async () => {
  const source = await embedded.emptyDatabase();
  await insertRecords(source, 30);
  const path = await newFile();
  await exportDatabase(source, path);
  const target = await openEmpty(embedded, 'prepared');
  const whole = await readFile(path, 'utf8');
  const importSpoilt = async (text: string): Promise<string> => {
    const other = join(await createTempDirectory(), 'spoilt.ndjson');
    await writeFile(other, text);
    return refusal(importDatabase(target, other, log));
  };
  const lines = whole.split('\n');
  const row = lines.findIndex((line) => line.startsWith('{"tenant":"T0ACME000"'));
  const damaged = [
    lines.slice(0, -2).join('\n'),
    whole.slice(0, whole.length / 2),
    whole.replace('"U7"', '"U8"'),
    lines.toSpliced(row, 1).join('\n'),
    lines.toSpliced(row, 0, lines[row] ?? '').join('\n'),
  ];
  expect({
    damaged: [...new Set(await Promise.all(damaged.map(importSpoilt)))],
    'onto rows': await refusal(importDatabase(source, path, log)),
    'another file': await importSpoilt('{}\n'),
    'another form': await importSpoilt(whole.replace('"version":2', '"version":1')),
    'no file': await refusal(importDatabase(target, `${path}.none`, log)),
    'onto a file': await refusal(exportDatabase(source, path)),
  }).toMatchSnapshot();
  expect(await target.db.selectFrom('audit_records').select('seq').execute()).toEqual([]);
  await target.close();
});

test('a database or file of another version is refused', async () => {
  const source = await (await embedded.createLocation()).open();
  const path = await newFile();
  await exportDatabase(source, path);
  await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '')`.execute(source.db);
  const refusals = [await refusal(exportDatabase(source, await newFile()))];
  await source.close();

  const target = await openEmpty(embedded, 'prepared');
  await writeFile(path, replaceIn(await readFile(path, 'utf8'), `"bot":"${version}"`, '"bot":"9.9.9"'));
  refusals.push(await refusal(importDatabase(target, path, log)));
  expect(refusals).toMatchSnapshot();
  expect((await sql`select 1 from pgboss.queue`.execute(target.db)).rows).toEqual([]);
  await target.close();
});

test('of a file that fails half-way nothing is left; a place that does not exist is named', async () => {
  const { db } = await embedded.emptyDatabase();
  const path = await newFile();
  const failing = writeSnapshot(db, path, async (_trx, append) => {
    await append('half');
    throw new Error('cut off');
  });
  await expect(failing).rejects.toThrow('cut off');
  expect(await readdir(dirname(path))).toEqual([]);
  const nowhere = writeSnapshot(db, join(path, 'file'), async () => undefined);
  await expect(nowhere).rejects.toThrow('cannot be written (ENOENT)');
});

test('a file cannot name what is no table of the bot', async () => {
  const source = await embedded.emptyDatabase();
  await insertRecords(source, 1);
  const path = await newFile();
  await exportDatabase(source, path);
  const other = 'audit_records; drop table names; --';
  await writeFile(
    path,
    replaceIn(await readFile(path, 'utf8'), '"table":"audit_records"', `"table":"${other}"`),
  );
  await deleteRows(source);
  await expect(importDatabase(source, path, log)).rejects.toThrow('There is no table');
  expect(await source.db.selectFrom('names').selectAll().execute()).toEqual([]);
});

test.skipIf(postgres.skip)('a user who may make no schema is told so, and nothing is imported', async () => {
  const source = await embedded.emptyDatabase();
  const path = await newFile();
  await exportDatabase(source, path);
  const { databaseUrl } = await postgres.createLocation({ empty: true });
  const owner = await openDatabase({ databaseUrl, dataDir: '', log });
  const url = new URL(databaseUrl?.reveal() ?? '');
  const role = `limited_${url.pathname.slice(1)}`;
  await sql`create role ${sql.id(role)} login`.execute(owner.db);
  url.username = role;
  const target = await openDatabase({ databaseUrl: new Secret(url.href), dataDir: '', log });
  expect(await refusal(importDatabase(target, path, log))).toMatchSnapshot('refusal');
  expect(await refusal(exportDatabase(target, await newFile()))).toMatchSnapshot('nothing to export');
  await target.close();
  await sql`drop role ${sql.id(role)}`.execute(owner.db);
  await owner.close();
});

/** Another file that is whole in itself. */
function replaceIn(text: string, old: string, other: string): string {
  const lines = text.replace(old, other).split('\n').slice(0, -2);
  const body = lines.map((line) => `${line}\n`).join('');
  const sha256 = createHash('sha256').update(body).digest('hex');
  return `${body}${JSON.stringify({ sha256 })}\n`;
}
