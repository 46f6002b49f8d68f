import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { migrationProvider, type Schema } from '../../src/store/schema.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';

const { embedded } = await prepareEngines();

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

// Before the first release there was no older version.
const unreleased = ['0001-auth', '0002-slack', '0003-engines', '0004-settings'];
/** The version before stops at this one: its queries fail, so that nothing is posted by two versions. */
const stops = ['0019-reports'];

/** Statements that take rows, columns or tables away, or change what is in them. */
const destructive = /^\s*(?:update|delete|truncate|drop)\b|\b(?:drop|rename)\b/iu;

test('a migration takes nothing from the version that runs beside it', async () => {
  const { dataDir } = await embedded.createLocation({ empty: true });
  const database = await openDatabase({ databaseUrl: undefined, dataDir, log: createMemoryLog() });
  const { db } = database;
  let statements: string[] = [];
  const listening = db.withPlugin({
    transformQuery({ node }) {
      if (node.kind === 'RawNode') statements.push(node.sqlFragments.join('?'));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const found: string[] = [];
  let before = new Map<string, string>();
  for (const name of Object.keys(await migrationProvider.getMigrations()).sort()) {
    statements = [];
    const { error } = await new Migrator({ db: listening, provider: migrationProvider }).migrateTo(name);
    expect(error).toBeUndefined();
    expect(statements).not.toEqual([]);
    const after = await describeTables(db);
    if (!unreleased.includes(name) && !stops.includes(name)) {
      found.push(...statements.filter((text) => destructive.test(text)), ...compare(before, after));
    }
    before = after;
  }
  expect(found).toEqual([]);
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

test('what the comparison finds', () => {
  const old = new Map([
    ['a: column x', 'text'],
    ['a: column y', `text${mustBeGiven}`],
    ['a: column z', 'text'],
  ]);
  const next = new Map([
    ['a: column x', 'integer'],
    ['a: column y', 'text'],
    ['a: column optional', 'text'],
    ['a: column v', `text${mustBeGiven}`],
    ['a: rule unique', '(x)'],
    ['b: column w', `text${mustBeGiven}`],
    ['b: rule unique', '(w)'],
  ]);
  expect(compare(old, next)).toEqual([
    'a: column x (text) is now integer',
    'a: column z (text) is now undefined',
    `a: column v (text${mustBeGiven}) is now text${mustBeGiven}`,
    'a: rule unique ((x)) is now (x)',
  ]);
  for (const text of ['alter table a drop column x', 'alter table a rename x to y', 'update a set x = 1'])
    expect(text).toMatch(destructive);
  expect('alter table a add column deleted_at timestamptz').not.toMatch(destructive);
});
