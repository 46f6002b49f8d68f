import { readFile } from 'node:fs/promises';
import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { describe, expect, test } from 'vitest';
import { findOpenIncidents, findReport, readReport } from '../../src/commands/reports/store.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { migrationProvider, type Schema } from '../../src/store/schema.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';

const { embedded, both } = await prepareEngines();

const mustBeGiven = ', must be given';

/** What the version before relies on: each column with what may be written to it, each rule that rows must pass. */
async function describeTables(db: Kysely<Schema>): Promise<Map<string, string>> {
  const { rows } = await sql<{ table: string; part: string; says: string }>`
    select c.relname as table, 'column ' || a.attname as part,
      format_type(a.atttypid, a.atttypmod)
        || case when a.attnotnull and not a.atthasdef and a.attidentity = '' then ${mustBeGiven}::text else '' end as says
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.relname not like 'kysely%'
    union all
    select conrelid::regclass::text, 'rule ' || conname, pg_get_constraintdef(oid)
      from pg_constraint where connamespace = 'public'::regnamespace and contype in ('c', 'f', 'u', 'x')
    union all
    select indrelid::regclass::text, 'rule ' || indexrelid::regclass, pg_get_indexdef(indexrelid)
      from pg_index where indisunique and indrelid::regclass::text not like 'pg_%'
       and indrelid::regclass::text not like '%.%' and indrelid::regclass::text not like 'kysely%'
    union all
    select tgrelid::regclass::text, 'rule ' || tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal`.execute(
    db,
  );
  return new Map(rows.map(({ table, part, says }) => [`${table}: ${part}`, says]));
}

/** The version before stops at this one, and at all earlier ones: its queries fail, so that nothing is posted by two versions. */
const lastStop = '0021-one-schema';

/** Statements that take rows, columns or tables away, or change what is in them. */
const destructive = /^\s*(?:update|delete|truncate|drop)\b|\b(?:drop|rename)\b/iu;

async function openEmpty(engine: typeof embedded): Promise<Database> {
  const { dataDir, databaseUrl } = await engine.createLocation({ empty: true });
  return openDatabase({ databaseUrl, dataDir, log: createMemoryLog() });
}

test('a migration takes nothing from the version that runs beside it', async () => {
  const database = await openEmpty(embedded);
  const { db } = database;
  let statements: string[] = [];
  const listening = db.withPlugin({
    transformQuery({ node }) {
      if (node.kind === 'RawNode') statements.push(node.sqlFragments.join('?'));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const migrator = new Migrator({ db: listening, provider: migrationProvider });
  expect((await migrator.migrateTo(lastStop)).error).toBeUndefined();
  const found: string[] = [];
  let before = await describeTables(db);
  for (const name of Object.keys(await migrationProvider.getMigrations()).sort()) {
    if (name <= lastStop) continue;
    statements = [];
    expect((await migrator.migrateTo(name)).error).toBeUndefined();
    const after = await describeTables(db);
    found.push(...statements.filter((text) => destructive.test(text)), ...compare(before, after));
    before = after;
  }
  expect(found).toEqual([]);
  await database.close();
});

test('a column that the last version left behind needs no value', async () => {
  const database = await openEmpty(embedded);
  const { db } = database;
  const migrator = new Migrator({ db, provider: migrationProvider });
  expect((await migrator.migrateTo(lastStop)).error).toBeUndefined();
  await sql`alter table report_baselines add column revision integer not null`.execute(db);
  await sql`alter table report_baselines drop constraint if exists report_baselines_report_id_fkey`.execute(
    db,
  );
  await database.migrate();
  await sql`insert into report_baselines (report_id, body) values ('dgst1', '{}')`.execute(db);
  await database.close();
});

/** What the older version would miss, and what would refuse the rows that it writes. */
function compare(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const tables = new Set([...before.keys()].map(tableOf));
  const changed = [...before].filter(([part, says]) => {
    const now = after.get(part);
    return now !== says && says !== `${now}${mustBeGiven}`;
  });
  const added = [...after].filter(
    ([part, says]) =>
      tables.has(tableOf(part)) &&
      !before.has(part) &&
      (part.includes(': rule ') || says.endsWith(mustBeGiven)),
  );
  return [...changed, ...added].map(([part, says]) => `${part} (${says}) is now ${after.get(part)}`);
}

const tableOf = (part: string): string => part.split(':')[0] ?? '';

const shared = `'T1', 'T1', 'U1', 'C1'`;
/** What the version before stored: the same id in both tables, a paused digest, an open incident and one that was never told. */
const stored = [
  `insert into digests (id, tenant, team_id, owner, channel, body, revision, failures, created_at, next_due) values
    ('same1', ${shared}, '{"subject":{"kinds":["zones"],"targets":{"zones":["1"],"shieldZones":[],"apps":[]},"only":"always","timeZone":"UTC"},"schedule":{"time":"09:00","zone":"UTC","weekdays":[1],"monthDays":[]}}', 1, 0, now(), now())`,
  `insert into digests (id, tenant, team_id, owner, channel, body, revision, failures, created_at, paused, pause_notice) values
    ('dgst2', ${shared}, '{"subject":{"kinds":["apps"],"targets":{"zones":[],"shieldZones":[],"apps":[]},"only":"new","timeZone":"UTC"},"schedule":{"time":"09:00","zone":"UTC","weekdays":[1],"monthDays":[]}}', 4, 0, now(), 'key-missing', 'told')`,
  `insert into digest_runs (digest_id, due, state, run_at, missed, attempts, figures) values ('same1', now(), 'sent', now(), 0, 1, '{"version":1}')`,
  `insert into digest_baselines (digest_id, revision, body) values ('same1', 1, '{}')`,
  `insert into watches (id, tenant, team_id, owner, channel, body, revision, failures, created_at, looks, looked_at, state, next_due) values
    ('same1', ${shared}, '{"condition":"zone-state","targets":["1"],"every":5,"timeZone":"UTC","names":[],"lifeSign":false}', 1, 0, now(), 3, now(), '{"recent":[true]}', now()),
    ('bcdfg', ${shared}, '{"condition":"errors","targets":[],"threshold":5,"window":10,"every":5,"timeZone":"UTC","names":["U2"],"lifeSign":true}', 2, 0, now(), 1, now(), null, now())`,
  `insert into watch_incidents (id, watch_id, kind, opened_at, closed_at, figures, replies, told) values
    ('same1-wrong-x', 'same1', 'wrong', now(), null, '{"parts":[]}', 2, true),
    ('bcdfg-blind-y', 'bcdfg', 'blind', now(), null, '{"parts":[]}', 0, false),
    ('bcdfg-blind-z', 'bcdfg', 'blind', now(), now(), '{"parts":[]}', 0, true)`,
];

/** A database as a version before 0.2.0 left it, at this migration. */
async function openOld(engine: typeof embedded, last: string): Promise<Database> {
  const database = await openEmpty(engine);
  const { db } = database;
  await sql`create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(
    db,
  );
  const [, ...migrations] = (await readFile(new URL('before-0.2.0.sql', import.meta.url), 'utf8')).split(
    /^-- /mu,
  );
  for (const migration of migrations) {
    const [name = '', ...lines] = migration.split('\n');
    if (!/^\d{4}-/u.test(name) || name > last) continue;
    await sql.raw(`do $migration$ begin\n${lines.join('\n')}\nend $migration$`).execute(db);
    await sql`insert into kysely_migration values (${name}, ${`2026-11-22T00:00:00.${name.slice(1, 4)}Z`})`.execute(
      db,
    );
  }
  return database;
}

/** Tables that were renamed keep the names of their keys. */
function listParts(tables: ReadonlyMap<string, string>): string[] {
  return [...tables].flatMap(([part, says]) => (/_(?:fkey|pkey)\d*$/u.test(part) ? [] : [`${part} ${says}`]));
}

describe.each(both)('a database of a version before 0.2.0, on $name', (engine) => {
  // Each engine from another one: what follows is the same.
  const last = engine === embedded ? '0004-settings' : '0018-error-days';
  test.skipIf(engine.skip)(`has the tables of a new one after an upgrade from ${last}`, async () => {
    const [old, made] = [await openOld(engine, last), await openEmpty(engine)];
    for (const database of [old, made]) await database.migrate();
    const [upgraded, fresh] = [await describeTables(old.db), await describeTables(made.db)];
    expect(listParts(upgraded).sort()).toEqual(listParts(fresh).sort());
    for (const database of [old, made]) await database.close();
  });

  test.skipIf(engine.skip)('keeps its digests and watches as reports', async () => {
    const database = await openOld(engine, '0018-error-days');
    const { db } = database;
    for (const statement of stored) await sql.raw(statement).execute(db);
    await database.migrate();

    const reports = (await db.selectFrom('reports').selectAll().execute()).map(readReport);
    const alerts = reports.filter(({ kind }) => kind === 'alert');
    expect(new Set(reports.map(({ id }) => id)).size).toBe(4);
    expect(alerts).toHaveLength(2);
    // Runs and baselines stay with the digest; of two with one id the alert has another.
    expect(await findReport(db, 'same1')).toMatchObject({ subject: { kinds: [{ name: 'zones' }] } });
    expect(await findReport(db, 'dgst2')).toMatchObject({ paused: { reason: 'key-missing' }, revision: 4 });
    expect(await db.selectFrom('report_runs').select('report_id').execute()).toEqual([
      { report_id: 'same1' },
    ]);
    expect(await db.selectFrom('report_baselines').select('report_id').execute()).toEqual([
      { report_id: 'same1' },
    ]);
    const [first, second] = alerts.toSorted((a, b) => b.id.length - a.id.length);
    expect(first).toMatchObject({
      state: { recent: [true] },
      subject: { condition: { name: 'zone-state' } },
    });
    expect(await findOpenIncidents(db, first?.id ?? '')).toMatchObject({
      firing: { id: 'same1-wrong-x', message: 'watch:same1-wrong-x' },
    });
    expect(await findOpenIncidents(db, second?.id ?? '')).toMatchObject({
      unreadable: { id: 'bcdfg-blind-y', message: undefined },
    });
    await sql`delete from reports where kind = 'digest'`.execute(db);
    expect(await db.selectFrom('report_runs').select('report_id').execute()).toEqual([]);
    await database.close();
  });
});
