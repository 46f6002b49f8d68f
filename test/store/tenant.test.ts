import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAudit, deployment, findRecentAudit, verifyChains } from '../../src/auth/audit/audit.ts';
import { endAccessJob } from '../../src/auth/offboarding.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { type Database, findExistingTables, openDatabase } from '../../src/store/database.ts';
import { exportDatabase } from '../../src/store/move.ts';
import { createQueue, defineJob } from '../../src/store/queue.ts';
import type { Db, Trx } from '../../src/store/schema.ts';
import { eraseTenant, exportTenant, findTenants, findTenantTables } from '../../src/store/tenant.ts';
import { acme, beta, insertRecords } from '../auth/audit/tampering.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';
import { fillTables } from '../support/fill-tables.ts';
import { createTempDirectory } from '../support/temp-directory.ts';

const engines = await prepareEngines();
/** Tables whose rows are of no tenant, with the reason. Every other one has a tenant or refers to one that has. */
const tablesOfNoTenant: Readonly<Record<string, string>> = {
  deliveries: 'ids of events that Slack gave, without names, for a day',
};
const job = defineJob({
  name: 'of-a-row',
  data: z.record(z.string(), z.string()),
  run: async () => undefined,
});

/** Two workspaces with a row in every table, a record of their own and jobs. */
async function fill(database: Database): Promise<void> {
  const queue = createQueue({ database, log: createMemoryLog(), now: () => new Date() });
  await queue.start({ jobs: [job, endAccessJob], ports: {} as never, work: false });
  for (const tenant of [acme, beta]) {
    await fillTables(database, tenant);
    await insertRecords(database, 5, tenant);
    await queue.enqueue(job, { other: 'x' }, { tenant });
    await queue.enqueue(endAccessJob, { cause: 'app-uninstalled', at: 1, teamId: tenant }, { tenant });
  }
  // The same workspace within an organization that installed the app for all of its workspaces.
  const within = { enterpriseId: 'E0ORG0000', teamId: acme };
  const tenant = 'E0ORG0000';
  await queue.enqueue(endAccessJob, { cause: 'team-access-revoked', at: 1, ...within }, { tenant });
  await queue.stop();
}

const findLast = async (trx: Trx) => (await findRecentAudit(trx, acme, 1))[0];

/** The lines of everything in the database, by table. */
async function readTables(database: Database): Promise<Map<string, string[]>> {
  const path = join(await createTempDirectory(), 'all.ndjson');
  await exportDatabase(database, path);
  const tables = new Map<string, string[]>();
  let lines: string[] = [];
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    const table = /^\{"table":"([^"]+)","rows":\d+\}$/.exec(line)?.[1];
    if (table !== undefined) tables.set(table, (lines = []));
    else if (line.startsWith('{') && !line.startsWith('{"sha256"')) lines.push(line);
  }
  return tables;
}

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)(
    'erasing a tenant leaves nothing of it but one record, and all of the others',
    async () => {
      const database = await emptyDatabase();
      await fill(database);
      const { db } = database;
      const existing = await findExistingTables(db);
      const tables = [...findTenantTables().keys()].filter((name) => existing.includes(name));
      expect(await findTenants(db)).toEqual([acme, beta]);
      const before = await readTables(database);
      const audit = createAudit({ db, now: () => new Date('2026-11-21T08:00:00.000Z') });
      const about = { tenant: deployment, actor: 'system', subject: acme };
      const erased = await eraseTenant(db, acme, findLast, (trx, all, last) =>
        audit.record({ ...about, event: 'tenant-erased', detail: { rows: all.size, head: last?.hash } }, trx),
      );
      const head = before
        .get('audit_records')
        ?.filter((line) => line.includes(acme))
        .at(-1);
      const record = db.selectFrom('audit_records').select('detail').where('tenant', '=', deployment);
      expect(head).toContain(String((await record.executeTakeFirst())?.detail['head']));
      // A row of each table, but five records and two jobs.
      expect(erased).toEqual(
        new Map(
          tables.map((name) => [name, { audit_records: 5, 'pgboss.job': 2 }[name] ?? 1] as const).reverse(),
        ),
      );
      const after = await readTables(database);
      for (const [name, lines] of after) {
        const kept = (before.get(name) ?? []).filter(
          (line) => name in tablesOfNoTenant || !line.includes(acme) || line.includes('E0ORG0000'),
        );
        const added = lines.filter((line) => !kept.includes(line));
        expect([name, kept.filter((line) => !lines.includes(line)), added.length]).toEqual([
          name,
          [],
          name === 'audit_records' ? 1 : 0,
        ]);
      }
      expect([...(await verifyChains(db, {}))]).toMatchObject([
        [beta, { ok: true, records: 5 }],
        [deployment, { ok: true, records: 1 }],
      ]);
      // The triggers are back.
      await expect(sql`delete from audit_records`.execute(db)).rejects.toThrow('append-only');
      await expect(sql`delete from sealed_versions`.execute(db)).rejects.toThrow('append-only');
      expect((await eraseTenant(db, acme, findLast, async () => undefined)).size).toBe(0);
    },
  );
});

test('every table is of tenants, or says why not', async () => {
  const { db } = await engines.embedded.emptyDatabase();
  const all = await findExistingTables(db);
  const covered = [...findTenantTables().keys()];
  const queue = ['pgboss.queue', 'pgboss.schedule'];
  // A table that is missing here: give it a column `tenant`, a foreign key to a table that has one, or its reason.
  const left = all.filter((name) => !covered.includes(name) && !queue.includes(name));
  expect(left.sort()).toEqual(Object.keys(tablesOfNoTenant).sort());
  expect(covered).toContain('operation_events');
  expect(covered).toContain('pgboss.job');
});

test('what fails in the middle keeps everything but what is secret', async () => {
  const database = await engines.embedded.emptyDatabase();
  await fill(database);
  const { db } = database;
  const failing = eraseTenant(db, acme, findLast, () => Promise.reject(new Error('no more')));
  await expect(failing).rejects.toThrow('no more');
  const after = await readTables(database);
  const gone = [...after].filter(([, lines]) => !lines.some((line) => line.includes(acme)));
  expect(
    gone
      .map(([name]) => name)
      .filter((name) => !name.startsWith('pgboss.'))
      .sort(),
  ).toEqual(['client_tokens', 'installations', 'key_links', 'linked_keys', 'operation_values']);
  await expect(sql`delete from audit_records`.execute(db)).rejects.toThrow('append-only');
});

test('an export of a tenant has a line for each of its rows, and no secret', async () => {
  const database = await engines.embedded.emptyDatabase();
  await fill(database);
  const path = join(await createTempDirectory(), 'acme.ndjson');
  const counts = await exportTenant(database, acme, path);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const text = await readFile(path, 'utf8');
  const [header, ...lines] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(header).toMatchObject({ tenant: acme, rows: Object.fromEntries(counts) });
  const byTable = Map.groupBy(lines, (line) => line['table']);
  for (const [name, count] of counts) expect([name, byTable.get(name)?.length]).toEqual([name, count]);
  expect(text).not.toContain(beta);
  expect(text).not.toMatch(/"(?:sealed|mac|value_mac|token_hash) of /);
  expect(byTable.get('linked_keys')).toEqual([
    {
      table: 'linked_keys',
      row: expect.objectContaining({ tenant: acme, linked_at: '2026-11-21T02:30:00.123457+00:00' }),
      secret: 'a sealed value is stored; it is not in this file',
    },
  ]);
});

test.skipIf(engines.postgres.skip)(
  'a user who does not own the tables is told so; keys are gone',
  async () => {
    const { databaseUrl, open } = await engines.postgres.createLocation();
    const database = await open();
    await fillTables(database, acme);
    const url = new URL(databaseUrl?.reveal() ?? '');
    const role = `limited_${url.pathname.slice(1)}`;
    await sql`create role ${sql.id(role)} login`.execute(database.db);
    for (const schema of ['public', 'pgboss']) {
      await sql`grant usage on schema ${sql.id(schema)} to ${sql.id(role)}`.execute(database.db);
      await sql`grant select, delete on all tables in schema ${sql.id(schema)} to ${sql.id(role)}`.execute(
        database.db,
      );
    }
    url.username = role;
    const databaseOfRole = new Secret(url.href);
    const limited = await openDatabase({ databaseUrl: databaseOfRole, dataDir: '', log: createMemoryLog() });
    const erasing = eraseTenant(limited.db, acme, findLast, async () => undefined);
    await expect(erasing).rejects.toThrowErrorMatchingSnapshot();
    await limited.close();
    expect(await database.db.selectFrom('linked_keys').select('tenant').execute()).toEqual([]);
    expect(await database.db.selectFrom('reports').select('tenant').execute()).toEqual([{ tenant: acme }]);
    await sql`drop owned by ${sql.id(role)}`.execute(database.db);
    await sql`drop role ${sql.id(role)}`.execute(database.db);
  },
);

async function countWaiting(db: Db): Promise<number> {
  const { rows } = await sql`select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
  return rows.length;
}

test.skipIf(engines.postgres.skip)(
  'rows that the bot holds meanwhile: it is said, and what is erased',
  async () => {
    const { open, databaseUrl } = await engines.postgres.createLocation();
    const bot = await open();
    const database = sql.id(new URL(databaseUrl?.reveal() ?? '').pathname.slice(1));
    await sql`alter database ${database} set deadlock_timeout = '3s'`.execute(bot.db);
    const { db } = await open();
    await fillTables(bot, acme);
    const erase = () => eraseTenant(db, acme, findLast, async () => undefined);
    await bot.db.transaction().execute(async (trx) => {
      await trx.selectFrom('reports').select('id').forUpdate().execute();
      const erasing = erase();
      erasing.catch(() => undefined);
      await expect.poll(() => countWaiting(bot.db)).toBeGreaterThan(0);
      // Each waits for the other now, and PostgreSQL ends the one that began to wait first.
      await sql`set local deadlock_timeout = '1min'`.execute(trx);
      await trx.selectFrom('report_runs').select('report_id').forUpdate().execute();
      await expect(erasing).rejects.toThrowErrorMatchingSnapshot();
    });
    expect(await db.selectFrom('linked_keys').select('tenant').execute()).toEqual([]);
    expect((await erase()).get('reports')).toBe(1);
  },
);
