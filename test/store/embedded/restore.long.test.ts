import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readStoreConfig } from '../../../src/app/config.ts';
import { keyringSource } from '../../../src/app/keyring-service.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { readKeyring } from '../../../src/auth/keyring/keyring.ts';
import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { runMaintenance } from '../../../src/store/embedded/embedded.ts';
import { defineJob } from '../../../src/store/queue/define-job.ts';
import { createQueue } from '../../../src/store/queue/queue.ts';
import { insertRecords } from '../../auth/audit/tampering.ts';
import { generateKeys } from '../../auth/keyring/keyrings.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { startBotProcess } from '../../support/process.ts';

const now = (): Date => new Date();
const log = createMemoryLog();
const person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
const ran: number[] = [];
const job = defineJob({
  name: 'restored',
  data: z.object({ n: z.number() }),
  run: async ({ n }) => void ran.push(n),
});

test('the daily copy is restored as docs/operating.md says, with keys, jobs and the audit record', async () => {
  const root = await mkdtemp(join(tmpdir(), 'chatops-restore-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const keys = generateKeys('k1');
  const openIn = (dataDir: string): Promise<Database> =>
    openDatabase({ databaseUrl: undefined, dataDir, log });
  const storeOf = async ({ db }: Database) => {
    const config = readStoreConfig({ ENCRYPTION_KEYS: keys });
    const sealer = createSealer((await readKeyring(keyringSource(config))).keyring);
    return createKeyStore({ db, sealer, now, audit: createAudit({ db, now }) });
  };
  const queueOf = async (database: Database, work: boolean) => {
    const queue = createQueue({ database, log, now });
    await queue.start({ jobs: [job], ports: {}, work });
    return queue;
  };

  const dataDir = join(root, 'data');
  const database = await openIn(dataDir);
  await database.migrate();
  await (await storeOf(database)).link(person, new Secret('11111111-2222-3333-4444-555555555555'));
  await insertRecords(database, 50);
  const queue = await queueOf(database, false);
  await queue.enqueue(job, { n: 7 });
  await queue.stop();
  const { pool, dump } = database;
  if (!dump) throw new Error('not the embedded engine');
  await runMaintenance({ pool, dump, directory: join(dataDir, 'backups'), log, now });
  // What came after the copy is not in it.
  await insertRecords(database, 5);
  await database.close();

  // Step 2 of “Restore”, word by word.
  const [copy = ''] = await readdir(join(dataDir, 'backups'));
  await rm(join(dataDir, 'database'), { recursive: true });
  await mkdir(join(dataDir, 'database'));
  await promisify(execFile)('tar', ['-xzf', join(dataDir, 'backups', copy), '-C', join(dataDir, 'database')]);

  await writeFile(join(root, 'keys'), keys, { mode: 0o600 });
  const env = { DATA_DIR: dataDir, ENCRYPTION_KEYS_FILE: join(root, 'keys') };
  const verify = startBotProcess(env, 'audit', ['verify']);
  expect(await verify.exited).toBe(0);
  const status = startBotProcess(env, 'keys', ['status']);
  expect(await status.exited).toBe(0);

  const restored = await openIn(dataDir);
  expect(await (await storeOf(restored)).reveal(person)).toMatchObject({ fingerprint: expect.any(String) });
  const records = restored.db.selectFrom('audit_records').select((is) => is.fn.countAll().as('count'));
  expect(await records.executeTakeFirst()).toEqual({ count: 51 });
  const working = await queueOf(restored, true);
  await expect.poll(() => ran).toEqual([7]);
  await working.stop();
  await restored.close();
});
