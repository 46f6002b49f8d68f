import * as fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  type Audit,
  type AuditFilter,
  type AuditInput,
  type Broken,
  createAudit,
  findHeads,
  findRecentAudit,
  hashRecord,
  logAuditHeads,
  verifyChain,
  verifyChains,
} from '../../../src/auth/audit/audit.ts';
import { registerSecret, withSecrets } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { createMemoryLog, prepareEngines } from '../../support/engines.ts';
import { acme, beta, insertRecords, looksSecret, runWithoutTriggers } from './tampering.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const at = new Date('2026-11-21T08:00:00.123Z');

const auditOn = ({ db }: Database): Audit => createAudit({ db, now: () => at });
const createLinkedRecord = (subject: string, tenant = acme): AuditInput => ({
  tenant,
  actor: subject,
  event: 'key-linked',
  subject,
});

test('says who, what, about whom, with which facts, when and for which request', async () => {
  const audit = auditOn(await embedded.emptyDatabase());
  const entry = {
    tenant: acme,
    actor: 'U0ALICE00',
    event: 'export-made',
    subject: '4711',
    detail: { rows: 12, whole: true, channel: 'C0OPS0000' },
    requestId: 'ABCD2345',
  } as const;
  expect((await audit.check(acme, 10)).head).toBeUndefined();
  await audit.record({ ...entry, detail: { ...entry.detail, unknown: undefined } });
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(await audit.recent(acme, 10)).toEqual([{ ...entry, seq: 1, at, prevHash: '0'.repeat(64), hash }]);
  await audit.record({ tenant: acme, actor: 'system', event: 'keyring-changed' });
  expect(await audit.recent(acme, 1)).toMatchObject([{ subject: null, requestId: null, detail: {} }]);
});

test('the newest come first, and no other tenant sees them', async () => {
  const audit = auditOn(await embedded.emptyDatabase());
  for (const subject of ['U1', 'U2', 'U3']) await audit.record(createLinkedRecord(subject));
  await audit.record(createLinkedRecord('U9', beta));
  await audit.record({ tenant: acme, actor: 'U9', event: 'denied', subject: 'U1' });
  const find = async (filter: AuditFilter): Promise<number[]> =>
    (await audit.recent(acme, 10, filter)).map(({ seq }) => seq);
  expect(await Promise.all([{ who: 'U1' }, { events: ['denied'] }, { upTo: 2 }].map(find))).toEqual([
    [4, 1],
    [4],
    [2, 1],
  ]);
  expect((await audit.recent(acme, 2, { upTo: 3 })).map(({ subject, seq }) => [subject, seq])).toEqual([
    ['U3', 3],
    ['U2', 2],
  ]);
  expect((await audit.recent(beta, 10)).map(({ subject, seq }) => [subject, seq])).toEqual([['U9', 1]]);
});

test.each([
  `update audit_records set actor = 'U0NOBODY0'`,
  'delete from audit_records',
  'truncate audit_records',
])('refuses %s', async (statement) => {
  const database = await embedded.emptyDatabase();
  const audit = auditOn(database);
  await audit.record(createLinkedRecord('U1'));
  await expect(sql.raw(statement).execute(database.db)).rejects.toMatchObject({ code: '23000' });
  expect(await audit.recent(acme, 10)).toHaveLength(1);
});

test('a record in a transaction that fails is gone with it', async () => {
  const database = await embedded.emptyDatabase();
  const audit = auditOn(database);
  const failing = database.db.transaction().execute(async (trx) => {
    await audit.record(createLinkedRecord('U1'), trx);
    throw new Error('changed my mind');
  });
  await expect(failing).rejects.toThrow('changed my mind');
  await audit.record(createLinkedRecord('U2'));
  expect((await audit.recent(acme, 10)).map(({ subject }) => subject)).toEqual(['U2']);
  expect(await verifyChain(database.db, acme)).toMatchObject({ ok: true, records: 1 });
});

test('whatever text and numbers are recorded, the chain stays whole', async () => {
  const database = await embedded.emptyDatabase();
  const audit = auditOn(database);
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.dictionary(
        fc.string({ unit: 'binary', maxLength: 8 }),
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 30 }),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.boolean(),
        ),
      ),
      async (subject, detail) => {
        await audit.record({ tenant: acme, actor: 'system', event: 'denied', subject, detail });
        expect(await verifyChain(database.db, acme)).toMatchObject({ ok: true });
      },
    ),
    { numRuns: 25 },
  );
});

test.each([
  ['a bot token', 'xoxb-1-2-abc'],
  ['a rotated token', 'xoxe.xoxb-1-abc'],
  ['an app token', 'xapp-1-A-2-abc'],
  ['a CDN key', '01234567-89ab-cdef-0123-456789abcdef01234567-89ab-cdef-0123-456789abcdef'],
  ['a keyring entry', `k1:${Buffer.alloc(32, 7).toString('base64')}`],
  ['a web token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x'],
  ['a key file', '-----BEGIN PRIVATE KEY-----'],
])('%s is refused wherever it stands, and not repeated', async (_name, secret) => {
  const audit = auditOn(await embedded.emptyDatabase());
  for (const entry of [
    { ...createLinkedRecord('U1'), actor: secret },
    { ...createLinkedRecord('U1'), subject: `for ${secret}` },
    { ...createLinkedRecord('U1'), detail: { zone: secret } },
    { ...createLinkedRecord('U1'), detail: { [secret]: true } },
    { ...createLinkedRecord('U1'), requestId: secret },
  ]) {
    const refused: unknown = await audit.record(entry).catch((error: unknown) => error);
    expect(String(refused)).toMatch(looksSecret);
    expect(String(refused)).not.toContain(secret);
  }
  expect(await audit.recent(acme, 10)).toEqual([]);
});

test('a long text is cut where one sees it, without delay where it nearly is a web token again and again', async () => {
  const audit = auditOn(await embedded.emptyDatabase());
  for (const piece of ['eyJ-', 'eyJhbGciOiJ', '-'])
    await audit.record({ ...createLinkedRecord('U1'), detail: { zone: piece.repeat(200_000) } });
  expect(await audit.recent(acme, 10)).toHaveLength(3);
  // What PostgreSQL refuses in a text.
  await audit.record({ ...createLinkedRecord('a\0b'), detail: { fact: '\ud800' } });
  expect(await audit.recent(acme, 1)).toMatchObject([{ subject: 'a\ufffdb', detail: { fact: '\ufffd' } }]);
  const detail = { fact: 'x'.repeat(3_000), pair: `${'x'.repeat(999)}😀` };
  await audit.record({ ...createLinkedRecord('s'.repeat(3_000)), detail });
  const facts = { fact: `${'x'.repeat(1_000)}…`, pair: `${'x'.repeat(999)}\ufffd…` };
  const cut = { subject: `${'s'.repeat(1_000)}…`, detail: facts };
  expect(await audit.recent(acme, 1)).toMatchObject([cut]);
});

test('a known secret of no usual form is refused; a doubtful value, such as that of a variable, is masked', async () => {
  const audit = auditOn(await embedded.emptyDatabase());
  await withSecrets(async () => {
    registerSecret('variable-value', 'https://v2.example.com/api');
    registerSecret('cdn-key', 'our_shop_key_2024');
    const known = { ...createLinkedRecord('U1'), detail: { zone: 'our_shop_key_2024' } };
    await expect(audit.record(known)).rejects.toThrow(looksSecret);
    const detail = { reason: 'switch to https://v2.example.com/api today' };
    await audit.record({ ...createLinkedRecord('U1'), detail });
  });
  const [entry] = await audit.recent(acme, 1);
  expect(entry?.detail).toEqual({ reason: 'switch to [secret] today' });
  expect(await audit.check(acme, 10)).toMatchObject({ verdict: { ok: true } });
});

test('seals and ids that only look random are taken', async () => {
  const audit = auditOn(await embedded.emptyDatabase());
  const seal = 'ab'.repeat(32);
  await audit.record({
    ...createLinkedRecord(seal),
    detail: { app: '01234567-89ab-cdef-0123-456789abcdef' },
  });
  expect(await audit.recent(acme, 1)).toMatchObject([{ subject: seal }]);
});

describe.each(engines.both)('on $name', ({ skip, createLocation }) => {
  test.skipIf(skip)('forty writers at once make one chain without gaps', async () => {
    const there = await createLocation();
    const first = await there.open();
    const databases = there.databaseUrl ? [first, await there.open(), await there.open()] : [first];
    const audits = databases.map(auditOn);
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) =>
        audits[n % audits.length]?.record(createLinkedRecord(`U${n}`, n % 4 === 0 ? beta : acme)),
      ),
    );
    expect(await verifyChain(first.db, acme)).toMatchObject({ ok: true, records: 30 });
    expect(await verifyChain(first.db, beta)).toMatchObject({ ok: true, records: 10 });
    for (const database of databases) await database.close();
  });
});

test.each<[string, string, number]>([
  ['who did it', `actor = 'U9'`, 2],
  ['what was done', `event = 'denied'`, 4],
  ['whom it concerned', 'subject = null', 1],
  ['when', `at = at + interval '1 second'`, 3],
  ['a time that is none', `at = 'infinity'`, 3],
  ['a time far away', `at = '294276-01-01'`, 3],
  ['a fact', `detail = '{"rows": 1}'`, 1],
  ['one more fact', `detail = detail || '{"x": 1}'`, 1],
  ['facts that are a list', `detail = '[]'`, 1],
  ['facts that are nothing', `detail = 'null'`, 1],
  ['facts that are a text', `detail = '"x"'`, 1],
  ['a fact that is a list', `detail = '{"x": [1]}'`, 1],
  ['the request id', `request_id = 'A'`, 2],
  ['a hash', `hash = repeat('a', 64)`, 2],
])('%s is noticed in the record that was altered', async (_name, change, seq) => {
  const database = await embedded.emptyDatabase();
  await insertRecords(database, 5);
  const where = `where tenant = '${acme}' and seq = ${seq}`;
  await runWithoutTriggers(database, `update audit_records set ${change} ${where}`);
  const broken = { tenant: acme, seq, problem: 'altered' };
  expect(await verifyChain(database.db, acme)).toEqual({ ok: false, broken });
  const audit = auditOn(database);
  expect((await audit.check(acme, 5)).verdict).toEqual({ ok: false, broken });
  // It is shown all the same.
  for (const shown of await audit.recent(acme, 5)) {
    expect(shown.at.toISOString()).toMatch(/^\d{4}-/u);
    expect(Object.keys(shown.detail)).toBeDefined();
  }
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
