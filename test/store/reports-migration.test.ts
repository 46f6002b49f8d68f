import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { expect, test } from 'vitest';
import { findDigest, findOpenIncidents, listReports } from '../../src/commands/reports/table.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrationProvider } from '../../src/store/schema.ts';
import { createMemoryLog, prepareEngines } from '../support/engines.ts';

const { embedded, postgres } = await prepareEngines();

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

test.each([
  { engine: embedded, name: embedded.name, skip: embedded.skip },
  { engine: postgres, name: postgres.name, skip: postgres.skip },
])('digests and watches of the version before become reports, on $name', async ({ engine, skip }) => {
  if (skip) return;
  const { dataDir, databaseUrl } = await engine.createLocation({ empty: true });
  const database = await openDatabase({ databaseUrl, dataDir, log: createMemoryLog() });
  const { db } = database;
  const migrator = new Migrator({ db, provider: migrationProvider });
  await migrator.migrateTo('0018-error-days');
  for (const statement of stored) await sql.raw(statement).execute(db);
  expect((await migrator.migrateToLatest()).error).toBeUndefined();

  const reports = await listReports(db, 'T1');
  const alerts = reports.filter(({ kind }) => kind === 'alert');
  expect(new Set(reports.map(({ id }) => id)).size).toBe(4);
  expect(alerts).toHaveLength(2);
  // Runs and baselines stay with the digest; of two with one id the alert has another.
  expect(await findDigest(db, 'same1')).toMatchObject({ subject: { kinds: ['zones'] } });
  expect(await findDigest(db, 'dgst2')).toMatchObject({ paused: { reason: 'key-missing' }, revision: 4 });
  expect(await db.selectFrom('report_runs').select('report_id').execute()).toEqual([{ report_id: 'same1' }]);
  expect(await db.selectFrom('report_baselines').select('report_id').execute()).toEqual([
    { report_id: 'same1' },
  ]);
  const [first, second] = alerts.toSorted((a, b) => b.id.length - a.id.length);
  expect(first).toMatchObject({ state: { recent: [true] }, subject: { condition: 'zone-state' } });
  expect(await findOpenIncidents(db, first?.id ?? '')).toMatchObject({
    firing: { id: 'same1-wrong-x', message: 'watch:same1-wrong-x', replies: 2 },
  });
  expect(await findOpenIncidents(db, second?.id ?? '')).toMatchObject({
    unreadable: { id: 'bcdfg-blind-y', message: undefined },
  });
  await sql`delete from reports where kind = 'digest'`.execute(db);
  expect(await db.selectFrom('report_runs').select('report_id').execute()).toEqual([]);
  await database.close();
});
