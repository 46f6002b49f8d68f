import * as fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Audit, type AuditInput, createAudit, verifyChain } from '../../../src/auth/audit/audit.ts';
import { registerSecret, withSecrets } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { prepareEngines } from '../../support/engines.ts';
import { acme, beta, looksSecret } from './tampering.ts';

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
  await audit.record(entry);
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(await audit.recent(acme, 10)).toEqual([{ ...entry, seq: 1, at, prevHash: '0'.repeat(64), hash }]);
});

test('the newest come first, and no other tenant sees them', async () => {
  const audit = auditOn(await embedded.emptyDatabase());
  for (const subject of ['U1', 'U2', 'U3']) await audit.record(createLinkedRecord(subject));
  await audit.record(createLinkedRecord('U9', beta));
  expect((await audit.recent(acme, 2)).map(({ subject, seq }) => [subject, seq])).toEqual([
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
    { numRuns: 60 },
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
  const detail = { fact: 'x'.repeat(3_000) };
  await audit.record({ ...createLinkedRecord('s'.repeat(3_000)), detail });
  const cut = { subject: `${'s'.repeat(1_000)}…`, detail: { fact: `${'x'.repeat(1_000)}…` } };
  expect(await audit.recent(acme, 1)).toMatchObject([cut]);
});

test('a doubtful value, such as that of a variable, is masked where it stands', async () => {
  const audit = auditOn(await embedded.emptyDatabase());
  await withSecrets(async () => {
    registerSecret('variable-value', 'https://v2.example.com/api');
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
