import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Broken, verifyChain } from '../../../src/auth/audit/chain.ts';
import { findNextAudit, hashRecord, readRecord, writeRecord } from '../../../src/auth/audit/record.ts';
import { checkFile } from '../../../src/auth/audit/verify.ts';
import { UserError } from '../../../src/errors.ts';
import { prepareEngines } from '../../support/engines.ts';
import { acme, beta, insertRecords, readExportedLines, runWithoutTriggers } from './tampering.ts';

const engines = await prepareEngines();
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chatops-audit-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function fileOf(lines: readonly string[], end = '\n'): Promise<string> {
  const path = join(
    directory,
    `${createHash('sha256').update(lines.join()).digest('hex').slice(0, 12)}.ndjson`,
  );
  await writeFile(path, lines.join('\n') + end);
  return path;
}

const check = async (lines: readonly string[], end?: string): ReturnType<typeof checkFile> =>
  checkFile(await fileOf(lines, end), { checkpoints: [], key: undefined });

describe.each(engines.both)('a chain on $name', ({ skip, emptyDatabase }) => {
  describe.skipIf(skip)('that somebody changed past the triggers', () => {
    test.each<[string, string, Omit<Broken, 'tenant'>]>([
      ['who did it', `update audit_records set actor = 'U9' where seq = 2`, { seq: 2, problem: 'altered' }],
      [
        'what was done',
        `update audit_records set event = 'denied' where seq = 4`,
        { seq: 4, problem: 'altered' },
      ],
      [
        'whom it concerned',
        `update audit_records set subject = null where seq = 1`,
        { seq: 1, problem: 'altered' },
      ],
      [
        'when',
        `update audit_records set at = at + interval '1 second' where seq = 3`,
        { seq: 3, problem: 'altered' },
      ],
      [
        'a time that is none',
        `update audit_records set at = 'infinity' where seq = 3`,
        { seq: 3, problem: 'altered' },
      ],
      [
        'a fact',
        `update audit_records set detail = '{"rows": 1}' where seq = 1`,
        { seq: 1, problem: 'altered' },
      ],
      [
        'one more fact',
        `update audit_records set detail = detail || '{"x": 1}' where seq = 1`,
        { seq: 1, problem: 'altered' },
      ],
      [
        'facts that are a list',
        `update audit_records set detail = '[]' where seq = 1`,
        { seq: 1, problem: 'altered' },
      ],
      [
        'facts that are nothing',
        `update audit_records set detail = 'null' where seq = 1`,
        { seq: 1, problem: 'altered' },
      ],
      [
        'the request id',
        `update audit_records set request_id = 'A' where seq = 2`,
        { seq: 2, problem: 'altered' },
      ],
      [
        'a hash',
        `update audit_records set hash = repeat('a', 64) where seq = 2`,
        { seq: 2, problem: 'altered' },
      ],
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
      const database = await emptyDatabase();
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
      const database = await emptyDatabase();
      await insertRecords(database, 3, beta);
      await runWithoutTriggers(database, `update audit_records set tenant = '${acme}'`);
      expect(await verifyChain(database.db, acme)).toMatchObject({ broken: { seq: 1, problem: 'altered' } });
    });

    test('a record that was changed with its own hash made anew is noticed at the next one', async () => {
      const database = await emptyDatabase();
      await insertRecords(database, 4);
      const row = await findNextAudit(database.db, acme, 1);
      if (!row) throw new Error('no second record');
      const hash = hashRecord({ ...row, actor: 'U9' });
      await runWithoutTriggers(
        database,
        `update audit_records set actor = 'U9', hash = '${hash}' where seq = 2`,
      );
      expect(await verifyChain(database.db, acme)).toMatchObject({ broken: { seq: 3, problem: 'unlinked' } });
    });

    test('what was cut off or written anew to the end is seen only by what was noted elsewhere', async () => {
      const database = await emptyDatabase();
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
      const database = await emptyDatabase();
      await insertRecords(database, 6);
      await runWithoutTriggers(database, `update audit_records set actor = 'U9' where seq = 2`);
      expect(await verifyChain(database.db, acme, { since: 3 })).toMatchObject({ ok: true, records: 6 });
      expect(await verifyChain(database.db, acme, { since: 2 })).toMatchObject({ broken: { seq: 2 } });
    });

    test('an empty chain is whole; a longer one than is read at once too', async () => {
      const database = await emptyDatabase();
      expect(await verifyChain(database.db, acme)).toEqual({ ok: true, records: 0, head: undefined });
      await insertRecords(database, 501);
      expect(await verifyChain(database.db, acme)).toMatchObject({ ok: true, records: 501 });
    });
  });

  describe.skipIf(skip)('as a file', () => {
    test.each<[string, (lines: string[]) => string[], object]>([
      ['one taken out', (l) => l.toSpliced(1, 1), { broken: { seq: 2, problem: 'missing', found: 3 } }],
      ['the first taken out', (l) => l.slice(1), { broken: { seq: 1, problem: 'missing', found: 2 } }],
      [
        'two swapped',
        ([a = '', b = '', c = '', ...l]) => [a, c, b, ...l],
        { broken: { seq: 2, problem: 'missing', found: 3 } },
      ],
      ['one twice', ([a = '', ...l]) => [a, a, ...l], { broken: { seq: 2, problem: 'missing', found: 1 } }],
      [
        'a member changed',
        (l) => l.map((line) => line.replace('"actor":"U3"', '"actor":"U9"')),
        { broken: { seq: 3, problem: 'altered' } },
      ],
      [
        'the tenant changed',
        (l) => l.with(2, l[2]?.replace(acme, beta) ?? ''),
        { broken: { seq: 3, problem: 'foreign' } },
      ],
      [
        'a member twice',
        (l) => l.with(1, l[1]?.replace('{', '{"actor":"U9",') ?? ''),
        { malformed: { seq: 2, line: 2 } },
      ],
      [
        'a fact with a special name',
        (l) => l.with(1, l[1]?.replace('"detail":{', '"detail":{"__proto__":1,') ?? ''),
        { broken: { seq: 2, problem: 'altered' } },
      ],
      [
        'a member taken away',
        (l) => l.with(1, l[1]?.replace('"requestId":null,', '') ?? ''),
        { malformed: { seq: 2, line: 2 } },
      ],
      [
        'another spelling',
        (l) => l.with(1, l[1]?.replace(',', ', ') ?? ''),
        { malformed: { seq: 2, line: 2 } },
      ],
      ['an empty line', (l) => l.toSpliced(1, 0, ''), { malformed: { seq: 2, line: 2 } }],
      ['no JSON', (l) => [...l, 'and so on'], { malformed: { seq: 6, line: 6 } }],
      ['no text', (l) => [...l, '\uD800'], { malformed: { seq: 6, line: 6 } }],
    ])('%s is noticed', async (_name, change, wrong) => {
      const database = await emptyDatabase();
      await insertRecords(database, 5);
      const lines = await readExportedLines(database);
      expect(await check(lines)).toMatchObject({ tenant: acme, records: 5 });
      expect(await check(lines)).not.toHaveProperty('broken');
      expect(await check(change([...lines]))).toMatchObject(wrong);
    });

    test('a file that ends in the middle of a record is not whole, an empty one says nothing', async () => {
      const database = await emptyDatabase();
      await insertRecords(database, 3);
      const lines = await readExportedLines(database);
      const [a = '', b = '', c = ''] = lines;
      expect(await check([a, b, c.slice(0, 40)], '')).toMatchObject({
        records: 2,
        malformed: { seq: 3, line: 3 },
      });
      expect(await check(lines, '')).toMatchObject({ records: 2, malformed: { seq: 3 } });
      await expect(check([], '')).rejects.toBeInstanceOf(UserError);
      await expect(checkFile(join(directory, 'none'), { checkpoints: [], key: undefined })).rejects.toThrow(
        'ENOENT',
      );
    });

    test('a file that is one endless line is not read into memory', async () => {
      const path = join(directory, 'endless');
      await writeFile(path, Buffer.alloc(9 * 1024 * 1024, 'x'));
      expect(await checkFile(path, { checkpoints: [], key: undefined })).toMatchObject({
        malformed: { seq: 1, line: 1 },
      });
    });

    test('whatever one character of it is changed, it is noticed', async () => {
      const database = await emptyDatabase();
      await insertRecords(database, 6);
      const text = (await readExportedLines(database)).join('\n');
      await fc.assert(
        fc.asyncProperty(
          fc.nat(text.length - 1),
          fc.string({ minLength: 0, maxLength: 2, unit: 'grapheme' }),
          async (at, other) => {
            fc.pre(other !== text.charAt(at));
            const changed = text.slice(0, at) + other + text.slice(at + 1);
            const report = await check(changed.split('\n')).catch(() => ({ malformed: true }));
            expect(report).toSatisfy((one: object) => 'broken' in one || 'malformed' in one);
          },
        ),
        { numRuns: 150 },
      );
    });
  });
});

test('whatever was recorded reads back from its line as it was', () => {
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
  );
  fc.assert(
    fc.property(
      fc.record({
        tenant: fc.string(),
        seq: fc.integer({ min: 1 }),
        at: fc.date({ min: new Date('2000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        actor: fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
        event: fc.string(),
        subject: fc.option(fc.string({ unit: 'binary' }).map((text) => text.toWellFormed())),
        detail: fc.dictionary(fc.string(), value),
        requestId: fc.option(fc.string()),
        prevHash: fc.string(),
        hash: fc.string(),
      }),
      (record) => {
        const line = writeRecord(record);
        const back = readRecord(line);
        expect(back && writeRecord(back)).toBe(line);
        expect(back && hashRecord(back)).toBe(hashRecord(record));
      },
    ),
  );
});
