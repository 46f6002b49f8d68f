import * as fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type Audit, type AuditInput, createAudit, verifyChain } from '../../src/auth/audit.ts';
import type { Database } from '../../src/store/database.ts';
import { enginesUnderTest } from '../store/engines.ts';

const engines = await enginesUnderTest();
const at = new Date('2026-11-21T08:00:00.123Z');
const acme = 'T0ACME000';
const beta = 'T0BETA000';

const auditOn = ({ db }: Database): Audit => createAudit({ db, now: () => at });
const linked = (subject: string, tenant = acme): AuditInput => ({
  tenant,
  actor: subject,
  what: 'key-linked',
  subject,
});

/** What only somebody can do who owns the table: past its triggers. */
async function pastTheTriggers({ db }: Database, statement: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`alter table audit_records disable trigger user`.execute(trx);
    await sql.raw(statement).execute(trx);
    await sql`alter table audit_records enable trigger user`.execute(trx);
  });
}

describe.each(engines.both)('on $name', ({ skip, empty, place }) => {
  describe.skipIf(skip)('the audit record', () => {
    test('says who, what, about whom, with which facts, when and for which request', async () => {
      const audit = auditOn(await empty());
      await audit.record({
        tenant: acme,
        actor: 'U0ALICE00',
        what: 'export-made',
        subject: '4711',
        detail: { rows: 12, whole: true, channel: 'C0OPS0000' },
        requestId: 'ABCD2345',
      });
      expect(await audit.recent(acme, 10)).toEqual([
        {
          tenant: acme,
          seq: 1,
          at,
          actor: 'U0ALICE00',
          what: 'export-made',
          subject: '4711',
          detail: { rows: 12, whole: true, channel: 'C0OPS0000' },
          requestId: 'ABCD2345',
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ]);
    });

    test('the newest come first, and no other tenant sees them', async () => {
      const audit = auditOn(await empty());
      for (const subject of ['U1', 'U2', 'U3']) await audit.record(linked(subject));
      await audit.record(linked('U9', beta));
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
      const database = await empty();
      const audit = auditOn(database);
      await audit.record(linked('U1'));
      await expect(sql.raw(statement).execute(database.db)).rejects.toThrow('audit_records is append-only');
      expect(await audit.recent(acme, 10)).toHaveLength(1);
    });

    test('forty writers at once make one chain without gaps', async () => {
      const there = await place();
      const first = await there.open();
      const databases = there.databaseUrl ? [first, await there.open(), await there.open()] : [first];
      const audits = databases.map(auditOn);
      await Promise.all(
        Array.from({ length: 40 }, async (_, n) =>
          audits[n % audits.length]?.record(linked(`U${n}`, n % 4 === 0 ? beta : acme)),
        ),
      );
      expect(await verifyChain(first.db, acme)).toMatchObject({ ok: true, records: 30 });
      expect(await verifyChain(first.db, beta)).toMatchObject({ ok: true, records: 10 });
      for (const database of databases) await database.close();
    });

    test('a record in a transaction that fails is gone with it', async () => {
      const database = await empty();
      const audit = auditOn(database);
      const failing = database.db.transaction().execute(async (trx) => {
        await audit.record(linked('U1'), { in: trx });
        throw new Error('changed my mind');
      });
      await expect(failing).rejects.toThrow('changed my mind');
      await audit.record(linked('U2'));
      expect((await audit.recent(acme, 10)).map(({ subject }) => subject)).toEqual(['U2']);
      expect(await verifyChain(database.db, acme)).toMatchObject({ ok: true, records: 1 });
    });

    test('an empty chain is whole; a longer one than is read at once too', async () => {
      const database = await empty();
      expect(await verifyChain(database.db, acme)).toEqual({ ok: true, records: 0, head: undefined });
      const audit = auditOn(database);
      await database.db.transaction().execute(async (trx) => {
        for (let n = 1; n <= 501; n += 1) await audit.record(linked(`U${n}`), { in: trx });
      });
      const [newest] = await audit.recent(acme, 1);
      expect(await verifyChain(database.db, acme)).toEqual({ ok: true, records: 501, head: newest?.hash });
    });

    test.each([
      [`update audit_records set actor = 'U0NOBODY0' where seq = 2`, 2, 'altered'],
      [`update audit_records set at = at + interval '1 second' where seq = 3`, 3, 'altered'],
      [`update audit_records set detail = '{"rows": 1}' where seq = 1`, 1, 'altered'],
      [`update audit_records set hash = repeat('a', 64) where seq = 2`, 2, 'altered'],
      [`delete from audit_records where seq = 2`, 2, 'missing'],
      [`delete from audit_records where seq = 1`, 1, 'missing'],
      [
        `delete from audit_records where seq = 2;update audit_records set seq = seq - 1 where seq > 2`,
        2,
        'unlinked',
      ],
      [`update audit_records set tenant = '${beta}'`, 1, 'altered'],
    ] as const)('%s is noticed at record %i as %s', async (statement, seq, problem) => {
      const database = await empty();
      const audit = auditOn(database);
      for (const subject of ['U1', 'U2', 'U3', 'U4']) await audit.record(linked(subject));
      for (const one of statement.split(';')) await pastTheTriggers(database, one);
      const tenant = statement.includes(beta) ? beta : acme;
      expect(await verifyChain(database.db, tenant)).toEqual({ ok: false, seq, problem });
    });

    test('whatever text and numbers are recorded, the chain stays whole', async () => {
      const database = await empty();
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
            await audit.record({ tenant: acme, actor: 'system', what: 'denied', subject, detail });
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
      const audit = auditOn(await empty());
      for (const entry of [
        { ...linked('U1'), actor: secret },
        { ...linked('U1'), subject: `for ${secret}` },
        { ...linked('U1'), detail: { zone: secret } },
        { ...linked('U1'), detail: { [secret]: true } },
        { ...linked('U1'), requestId: secret },
      ]) {
        const refused: unknown = await audit.record(entry).catch((error: unknown) => error);
        expect(String(refused)).toContain('looks like a key or token');
        expect(String(refused)).not.toContain(secret);
      }
      expect(await audit.recent(acme, 10)).toEqual([]);
    });

    test('seals and ids that only look random are taken', async () => {
      const audit = auditOn(await empty());
      const seal = 'ab'.repeat(32);
      await audit.record({ ...linked(seal), detail: { app: '01234567-89ab-cdef-0123-456789abcdef' } });
      expect(await audit.recent(acme, 1)).toMatchObject([{ subject: seal }]);
    });
  });
});
