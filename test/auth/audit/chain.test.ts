import { expect, test } from 'vitest';
import {
  type Broken,
  findHeads,
  findRecentAudit,
  hashRecord,
  logAuditHeads,
  verifyChain,
  verifyChains,
} from '../../../src/auth/audit/audit.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';
import { acme, beta, insertRecords, runWithoutTriggers } from './tampering.ts';

const { embedded } = await prepareEngines();
test.each<[string, string, number]>([
  ['who did it', `actor = 'U9'`, 2],
  ['what was done', `event = 'denied'`, 4],
  ['whom it concerned', 'subject = null', 1],
  ['when', `at = at + interval '1 second'`, 3],
  ['a time that is none', `at = 'infinity'`, 3],
  ['a fact', `detail = '{"rows": 1}'`, 1],
  ['one more fact', `detail = detail || '{"x": 1}'`, 1],
  ['facts that are a list', `detail = '[]'`, 1],
  ['facts that are nothing', `detail = 'null'`, 1],
  ['the request id', `request_id = 'A'`, 2],
  ['a hash', `hash = repeat('a', 64)`, 2],
])('%s is noticed in the record that was altered', async (_name, change, seq) => {
  const database = await embedded.emptyDatabase();
  await insertRecords(database, 5);
  const where = `where tenant = '${acme}' and seq = ${seq}`;
  await runWithoutTriggers(database, `update audit_records set ${change} ${where}`);
  const broken = { tenant: acme, seq, problem: 'altered' };
  expect(await verifyChain(database.db, acme)).toEqual({ ok: false, broken });
});

test.each<[string, string, Omit<Broken, 'tenant'>]>([
  [
    'a previous hash',
    `update audit_records set prev_hash = repeat('a', 64) where seq = 2`,
    { seq: 2, problem: 'unlinked' },
  ],
  ['one taken out', 'delete from audit_records where seq = 2', { seq: 2, problem: 'missing', found: 3 }],
  [
    'the first taken out',
    'delete from audit_records where seq = 1',
    { seq: 1, problem: 'missing', found: 2 },
  ],
  [
    'one taken out, the rest moved up',
    'delete from audit_records where seq = 2;update audit_records set seq = seq - 1 where seq > 2',
    { seq: 2, problem: 'unlinked' },
  ],
  [
    'two swapped',
    'update audit_records set seq = 9 where seq = 2;update audit_records set seq = 2 where seq = 3;update audit_records set seq = 3 where seq = 9',
    { seq: 2, problem: 'unlinked' },
  ],
  [
    'one put in between',
    `update audit_records set seq = -seq where seq > 2;update audit_records set seq = 1 - seq where seq < 0;
     insert into audit_records select tenant, 3, at, actor, event, subject, detail, request_id, hash, repeat('b', 64)
       from audit_records where seq = 2`.replaceAll('\n', ' '),
    { seq: 3, problem: 'altered' },
  ],
])('%s is noticed at the first wrong record', async (_name, statements, broken) => {
  const database = await embedded.emptyDatabase();
  await insertRecords(database, 5);
  await insertRecords(database, 2, beta);
  await runWithoutTriggers(database, statements.replaceAll(/where /g, `where tenant = '${acme}' and `));
  expect(await verifyChain(database.db, acme)).toEqual({
    ok: false,
    broken: { tenant: acme, ...broken },
  });
  // The other tenant's chain is another one.
  expect(await verifyChain(database.db, beta)).toMatchObject({ ok: true, records: 2 });
});

test('records of another tenant that are passed for this one’s are noticed', async () => {
  const database = await embedded.emptyDatabase();
  await insertRecords(database, 3, beta);
  await runWithoutTriggers(database, `update audit_records set tenant = '${acme}'`);
  expect(await verifyChain(database.db, acme)).toMatchObject({ broken: { seq: 1, problem: 'altered' } });
});

test('a record that was changed with its own hash made anew is noticed at the next one', async () => {
  const database = await embedded.emptyDatabase();
  await insertRecords(database, 4);
  const row = (await findRecentAudit(database.db, acme, 4)).at(-2);
  if (!row) throw new Error('no second record');
  const hash = hashRecord({ ...row, actor: 'U9' });
  await runWithoutTriggers(database, `update audit_records set actor = 'U9', hash = '${hash}' where seq = 2`);
  expect(await verifyChain(database.db, acme)).toMatchObject({ broken: { seq: 3, problem: 'unlinked' } });
});

test('what was cut off or written anew to the end is seen only by what was noted elsewhere', async () => {
  const database = await embedded.emptyDatabase();
  await insertRecords(database, 6);
  const whole = await verifyChain(database.db, acme);
  if (!whole.ok || whole.head === undefined) throw new Error('not whole');
  const noted = [{ seq: 6, hash: whole.head }];
  expect(await verifyChain(database.db, acme, { noted })).toMatchObject({ ok: true, records: 6 });

  await runWithoutTriggers(database, 'delete from audit_records where seq > 4');
  expect(await verifyChain(database.db, acme)).toMatchObject({ ok: true, records: 4 });
  expect(await verifyChain(database.db, acme, { noted })).toMatchObject({
    broken: { seq: 5, problem: 'cut-off', noted: noted[0] },
  });
  await insertRecords(database, 6);
  expect(await verifyChain(database.db, acme)).toMatchObject({ ok: true, records: 10 });
  expect(await verifyChain(database.db, acme, { noted })).toMatchObject({
    broken: { seq: 6, problem: 'rewritten', noted: noted[0] },
  });
  await runWithoutTriggers(database, 'delete from audit_records');
  expect(await verifyChain(database.db, acme, { noted })).toMatchObject({
    broken: { seq: 1, problem: 'cut-off' },
  });
  expect(await verifyChain(database.db, acme, { since: 6, noted })).toMatchObject({
    broken: { seq: 6, problem: 'cut-off' },
  });
});

test('from a known record on the rest is read, and that record itself', async () => {
  const database = await embedded.emptyDatabase();
  await insertRecords(database, 6);
  await runWithoutTriggers(database, `update audit_records set actor = 'U9' where seq = 2`);
  expect(await verifyChain(database.db, acme, { since: 3 })).toMatchObject({ ok: true, records: 6 });
  expect(await verifyChain(database.db, acme, { since: 2 })).toMatchObject({ broken: { seq: 2 } });
});

test('an empty chain is whole; a longer one than is read at once too', async () => {
  const database = await embedded.emptyDatabase();
  expect(await verifyChain(database.db, acme)).toEqual({ ok: true, records: 0, head: undefined });
  await insertRecords(database, 501);
  expect(await verifyChain(database.db, acme)).toMatchObject({ ok: true, records: 501 });
});

test('the newest link of each chain is logged every hour while it grows, and for a day after', async () => {
  const { db, ...database } = await embedded.emptyDatabase();
  await insertRecords({ db, ...database }, 3);
  await insertRecords({ db, ...database }, 2, beta);
  const log = createMemoryLog();
  const run = (at: string) =>
    logAuditHeads.run(
      {},
      { db, log, now: () => new Date(at), signal: AbortSignal.any([]), attempt: 1, ports: undefined },
    );
  await run('2026-11-22T07:07:00Z');
  const heads = log.entries.map(({ fields }) => fields);
  expect(heads).toEqual([
    { tenant: acme, seq: 3, head: (await findRecentAudit(db, acme, 1))[0]?.hash },
    { tenant: beta, seq: 2, head: (await findRecentAudit(db, beta, 1))[0]?.hash },
  ]);
  await run('2026-11-22T09:07:00Z');
  expect(log.entries).toHaveLength(2);
});

test('a chain that is gone as a whole is noticed by its logged head, and the others are intact', async () => {
  const database = await embedded.emptyDatabase();
  await insertRecords(database, 3);
  await insertRecords(database, 2, beta);
  const { db } = database;
  const heads = await findHeads(db);
  expect([...(await verifyChains(db, { heads })).values()].map(({ ok }) => ok)).toEqual([true, true]);
  await runWithoutTriggers(database, `delete from audit_records where tenant = '${beta}'`);
  const verdicts = await verifyChains(db, { heads });
  expect(verdicts.get(acme)).toMatchObject({ ok: true, records: 3 });
  expect(verdicts.get(beta)).toMatchObject({ ok: false, broken: { seq: 1, problem: 'cut-off' } });
  expect([...(await verifyChains(db, { tenant: acme, heads })).keys()]).toEqual([acme]);
});
