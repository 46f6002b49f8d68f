import { execFile } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { sealedTables } from '../../../src/app/keyring-service.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import {
  isSignedBy,
  publicKeyId,
  readCheckpoints,
  readPublicKey,
  signCheckpoint,
  writeCheckpoint,
  writePublicKey,
} from '../../../src/auth/audit/checkpoint.ts';
import {
  type CheckpointClaim,
  type CheckpointResult,
  type Checkpoints,
  createCheckpoints,
  loadPublicSigningKey,
  loadSigningKey,
} from '../../../src/auth/audit/checkpoints.ts';
import { checkDatabase } from '../../../src/auth/audit/verify.ts';
import { parseKeyring } from '../../../src/auth/keyring/keyring.ts';
import { rewrap } from '../../../src/auth/keyring/rewrap.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { createPolicies } from '../../../src/auth/policy/policies.ts';
import { initialPolicy } from '../../../src/auth/policy/policy.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import { prepareEngines } from '../../support/engines.ts';
import { generateKeys } from '../keyring/keyrings.ts';
import { acme, beta, insertRecords, runWithoutTriggers } from './tampering.ts';

const engines = await prepareEngines();
const pair = (): { privateKey: KeyObject; publicKey: KeyObject } => generateKeyPairSync('ed25519');
const facts = { tenant: acme, seq: 12, head: 'ab'.repeat(32), at: new Date('2026-11-21T00:07:00.000Z') };

describe('a checkpoint', () => {
  test('reads back from its line, wherever that was pasted, and its key signed it', () => {
    const { privateKey, publicKey } = pair();
    const checkpoint = signCheckpoint(facts, privateKey);
    const line = writeCheckpoint(checkpoint);
    expect(readCheckpoints(line)).toEqual([checkpoint]);
    const pasted = `> Audit checkpoint\n> \`\`\`${line.replaceAll(' ', '\n  ')}\`\`\` and more\n${line}`;
    expect(readCheckpoints(pasted)).toEqual([checkpoint, checkpoint]);
    expect(isSignedBy(publicKey, checkpoint)).toBe(true);
    expect(line).not.toContain(privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'));
  });

  test.each([
    { tenant: beta },
    { seq: 11 },
    { head: 'cd'.repeat(32) },
    { at: new Date('2026-11-22T00:07:00.000Z') },
    { kid: '0'.repeat(16) },
    { signature: `${'A'.repeat(86)}==` },
  ])('with %j in it is not what was signed', (change) => {
    const { privateKey, publicKey } = pair();
    expect(isSignedBy(publicKey, { ...signCheckpoint(facts, privateKey), ...change })).toBe(false);
  });

  test('that somebody signed with a key of their own is not genuine, under that key’s name or the right one', () => {
    const [ours, theirs] = [pair(), pair()];
    const forged = signCheckpoint(facts, theirs.privateKey);
    expect(isSignedBy(ours.publicKey, forged)).toBe(false);
    expect(isSignedBy(ours.publicKey, { ...forged, kid: publicKeyId(ours.publicKey) })).toBe(false);
  });

  test.each([
    'nothing',
    'cdn-chatops audit checkpoint v1',
    `cdn-chatops audit checkpoint v1 tenant=T seq=0 head=${'a'.repeat(64)} at=2026-11-21T00:00:00.000Z kid=${'a'.repeat(16)} sig=${'A'.repeat(86)}==`,
    `cdn-chatops audit checkpoint v1 tenant=T seq=1 head=${'a'.repeat(64)} at=2026-13-21T00:00:00.000Z kid=${'a'.repeat(16)} sig=${'A'.repeat(86)}==`,
    `cdn-chatops audit checkpoint v2 tenant=T seq=1 head=${'a'.repeat(64)} at=2026-11-21T00:00:00.000Z kid=${'a'.repeat(16)} sig=${'A'.repeat(86)}==`,
  ])('is not in %s', (text) => {
    expect(readCheckpoints(text)).toEqual([]);
  });

  test('public keys are read as PEM and as 44 characters, and nothing else is one', () => {
    const { publicKey, privateKey } = pair();
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    for (const text of [pem, writePublicKey(publicKey), `  ${writePublicKey(publicKey)}\n`]) {
      const read = readPublicKey(text);
      expect(read && publicKeyId(read)).toBe(publicKeyId(publicKey));
    }
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
    for (const text of ['', 'x', rsa.export({ type: 'spki', format: 'pem' }).toString()])
      expect(readPublicKey(text)).toBeUndefined();
    expect(createPublicKey(privateKey).export({ format: 'jwk' })).toEqual(
      publicKey.export({ format: 'jwk' }),
    );
  });

  test('is checked with openssl alone, as docs/operating.md says', async () => {
    const { privateKey, publicKey } = pair();
    const line = writeCheckpoint(signCheckpoint(facts, privateKey));
    const directory = await mkdtemp(join(tmpdir(), 'chatops-openssl-'));
    await writeFile(join(directory, 'audit.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
    const script = `
      printf %s "\${LINE%% sig=*}" > signed.txt
      printf %s "\${LINE##* sig=}" | base64 -d > signature.bin
      openssl pkeyutl -verify -pubin -inkey audit.pem -rawin -in signed.txt -sigfile signature.bin`;
    const run = (LINE: string): Promise<{ stdout: string }> =>
      promisify(execFile)('sh', ['-c', script], { cwd: directory, env: { PATH: process.env['PATH'], LINE } });
    await run(line);
    await expect(run(line.replace('seq=12', 'seq=11'))).rejects.toMatchObject({ code: 1 });
    await rm(directory, { recursive: true });
  });
});

const sealerOf = (entries: string): ReturnType<typeof createSealer> =>
  createSealer(parseKeyring(new Secret(entries), 'test').keyring);

interface Setup {
  readonly database: Database;
  readonly checkpoints: Checkpoints;
  readonly sealer: ReturnType<typeof createSealer>;
  readonly later: (days: number) => void;
}

/** A tenant whose admins named a channel. */
async function setUp(
  database: Database,
  { channel, entries = generateKeys('k1') }: { channel?: 'none'; entries?: string } = {},
): Promise<Setup> {
  const { db } = database;
  let at = Date.parse('2026-11-21T00:07:00.000Z');
  const now = (): Date => new Date(at);
  const sealer = sealerOf(entries);
  const audit = createAudit({ db, now });
  const policies = createPolicies({ db, audit, now });
  const policy = { ...initialPolicy, auditChannel: channel === 'none' ? undefined : 'C0AUDIT00' };
  await policies.save({ tenant: acme, base: 0, policy, by: 'U1', difference: [] });
  return {
    database,
    sealer,
    checkpoints: createCheckpoints({ db, sealer, audit, policies, now }),
    later: (days) => {
      at += days * 86_400_000;
    },
  };
}

const putNothing = async (): Promise<void> => undefined;

function recordResult(
  checkpoints: Checkpoints,
  { db }: Database,
  { tenant, day, report }: CheckpointClaim,
  end: CheckpointResult,
): Promise<void> {
  return checkpoints.recordResult(db, { tenant, day, kind: report.kind }, end);
}

describe.each(engines.both)('daily checkpoints on $name', ({ skip, emptyDatabase }) => {
  describe.skipIf(skip)('of a tenant', () => {
    test('of twenty who want to make today’s one does', async () => {
      const { checkpoints } = await setUp(await emptyDatabase());
      expect(await checkpoints.tenants()).toEqual([acme]);
      const claimed = await Promise.all(
        Array.from({ length: 20 }, () => checkpoints.claim(acme, putNothing)),
      );
      expect(claimed.filter((one) => one !== undefined)).toHaveLength(1);
    });

    test('without a channel, or without settings, there is none', async () => {
      const { checkpoints } = await setUp(await emptyDatabase(), { channel: 'none' });
      expect(await checkpoints.claim(acme, putNothing)).toBeUndefined();
      expect(await checkpoints.claim(beta, putNothing)).toBeUndefined();
    });

    test('what was posted is contained in the chain it was made of, and in no other', async () => {
      const { checkpoints, database, sealer } = await setUp(await emptyDatabase());
      await insertRecords(database, 3);
      const claimed = await checkpoints.claim(acme, putNothing);
      if (claimed?.report.kind !== 'signed') throw new Error('nothing was signed');
      await recordResult(checkpoints, database, claimed, { state: 'posted' });
      const key = await loadPublicSigningKey(database.db, sealer);
      const options = { checkpoints: [claimed.report.checkpoint], key };
      const [report] = await checkDatabase(database.db, { ...options, tenant: acme });
      expect(report).toMatchObject({ records: 4, checkpoints: [{ genuine: 'yes' }, { genuine: 'yes' }] });
      expect(report).not.toHaveProperty('broken');

      await runWithoutTriggers(database, 'delete from audit_records where seq = 4');
      expect(await checkDatabase(database.db, { ...options, tenant: acme })).toMatchObject([
        { broken: { seq: 4, problem: 'cut-off' } },
      ]);
      await insertRecords(database, 2);
      // Also those that the database itself holds are compared.
      expect(await checkDatabase(database.db, { checkpoints: [], key, tenant: acme })).toMatchObject([
        { broken: { seq: 4, problem: 'rewritten' } },
      ]);
    });

    test('a forged one is said to be forged, and says nothing about the chain', async () => {
      const { database } = await setUp(await emptyDatabase());
      const { publicKey, privateKey } = pair();
      const genuine = signCheckpoint({ ...facts, seq: 9 }, privateKey);
      const check = (checkpoint: typeof genuine): ReturnType<typeof checkDatabase> =>
        checkDatabase(database.db, { checkpoints: [checkpoint], key: publicKey });
      expect(await check(genuine)).toMatchObject([{ broken: { seq: 2, problem: 'cut-off' } }]);
      const [report] = await check({ ...genuine, seq: 1 });
      expect(report).toMatchObject({ records: 1, checkpoints: [{ genuine: 'no' }] });
      expect(report).not.toHaveProperty('broken');
    });

    test('the next day only what is new is signed; a chain that was changed is not', async () => {
      const { checkpoints, database, later } = await setUp(await emptyDatabase());
      const first = await checkpoints.claim(acme, putNothing);
      if (!first) throw new Error('none');
      await recordResult(checkpoints, database, first, { state: 'posted' });
      expect(await checkpoints.claim(acme, putNothing)).toBeUndefined();
      later(1);
      expect(await checkpoints.claim(acme, putNothing)).toBeUndefined();
      await insertRecords(database, 1);
      expect(await checkpoints.claim(acme, putNothing)).toBeUndefined();
      later(1);
      const third = await checkpoints.claim(acme, putNothing);
      expect(third?.report).toMatchObject({ kind: 'signed', checkpoint: { seq: 2 } });
      if (third) await recordResult(checkpoints, database, third, { state: 'unknown', code: 'no_answer' });
      expect(await checkpoints.claim(acme, putNothing)).toBeUndefined();
      later(1);
      await insertRecords(database, 2);
      await runWithoutTriggers(database, `update audit_records set actor = 'U9' where seq = 3`);
      const broken = await checkpoints.claim(acme, putNothing);
      expect(broken?.report).toEqual({
        kind: 'broken',
        broken: { tenant: acme, seq: 3, problem: 'altered' },
      });
    });

    test('what Slack refused is made again the same day', async () => {
      const { checkpoints, database } = await setUp(await emptyDatabase());
      const first = await checkpoints.claim(acme, putNothing);
      if (!first) throw new Error('none');
      await recordResult(checkpoints, database, first, { state: 'failed', code: 'not_in_channel' });
      expect(
        (await createAudit({ db: database.db, now: () => new Date() }).check(acme, 10)).lastDay,
      ).toMatchObject({ state: 'failed', code: 'not_in_channel' });
      const again = await checkpoints.claim(acme, putNothing);
      expect(again?.report.kind).toBe('signed');
    });

    test('the key stays the same when the keyring is rotated', async () => {
      const [k1, k2] = [generateKeys('k1'), generateKeys('k2')];
      const { checkpoints, database } = await setUp(await emptyDatabase(), { entries: k1 });
      const { db } = database;
      const claimed = await checkpoints.claim(acme, putNothing);
      if (claimed?.report.kind !== 'signed') throw new Error('nothing was signed');
      const both = sealerOf(`${k2},${k1}`);
      const moved = await rewrap({ db, sealer: both, tables: sealedTables });
      expect(moved).toMatchObject({ unopened: 0 });
      const key = await loadPublicSigningKey(db, sealerOf(k2));
      expect(key && publicKeyId(key)).toBe(claimed.report.checkpoint.kid);
      await expect(loadPublicSigningKey(db, sealerOf(k1))).rejects.toMatchObject({ code: 'unknown_key' });
    });

    test('however many want the first key, one is made, and that is recorded', async () => {
      const { database, sealer } = await setUp(await emptyDatabase());
      const { db } = database;
      const audit = createAudit({ db, now: () => new Date() });
      const options = { db, sealer, audit, now: () => new Date() };
      const keys = await Promise.all(Array.from({ length: 8 }, () => loadSigningKey(options)));
      const [kid, ...others] = new Set(keys.map((key) => publicKeyId(createPublicKey(key))));
      expect(others).toEqual([]);
      const made = await audit.recent('deployment', 9);
      expect(made.map(({ event, subject }) => [event, subject])).toEqual([['audit-key-made', kid]]);
    });
  });
});
