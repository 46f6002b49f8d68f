import { createAudit } from '../auth/audit/audit.ts';
import { signingKeysTable } from '../auth/audit/checkpoints.ts';
import { createInstallations, installationsTable, installationUsersTable } from '../auth/installations.ts';
import { findCanaryProblem, storeCanary } from '../auth/keyring/canary.ts';
import { checkKeyring } from '../auth/keyring/check.ts';
import { type KeyringSource, readKeyring } from '../auth/keyring/keyring.ts';
import { runKeys } from '../auth/keyring/rotation.ts';
import { countKeyUse } from '../auth/keyring/sealed-tables.ts';
import { createKeyringWatch } from '../auth/keyring/watch.ts';
import { linkedKeysTable } from '../auth/keys/key-store.ts';
import type { SealedTable } from '../auth/keys/sealed-rows.ts';
import { createSealer } from '../auth/keys/sealing.ts';
import { operationValuesTable } from '../commands/operations/values.ts';
import { registerSecrets, type Secret } from '../secrets/secret.ts';
import type { Database } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';
import type { StoreConfig } from './config.ts';

/** Every table with sealed rows. Rotation, the check at start and the status know a new one by its line here. */
export const sealedTables: readonly SealedTable[] = [
  linkedKeysTable,
  installationsTable,
  installationUsersTable,
  operationValuesTable,
  signingKeysTable,
];

/**
 * The keyring that opens this database, for as long as the process runs.
 *
 * @throws UserError where it is missing, wrong, or does not open what is stored.
 */
export async function openKeyringService(config: StoreConfig, database: Database, log: Log) {
  const { db, engine } = database;
  const source = keyringSource(config);
  const first = await readKeyring({ ...source, inUse: (await countKeyUse(db, sealedTables)).length > 0 });
  if (first.created)
    log.warn(
      { file: first.created },
      'made a new encryption key: back this file up, without it no linked key opens',
    );
  if (first.warning) log.warn({ file: first.path }, first.warning);
  await checkKeyring(db, first.keyring, sealedTables);
  await storeCanary(db, first.keyring);

  let release = registerKeys(first.keys.map(({ entry }) => entry));
  const watch = createKeyringWatch({
    db,
    tables: sealedTables,
    source,
    first,
    alone: engine === 'embedded',
    log,
    onChange(entries) {
      const releaseOld = release;
      release = registerKeys(entries);
      releaseOld();
    },
  });
  return {
    /** Always the newest: a changed key file is read again. */
    keyring: watch.keyring,
    /** Why this process does not open what others seal, in words. Rejects if the database does not answer. */
    findProblem: () => findCanaryProblem(db, watch.keyring),
    /** Reports to other processes which keys this one knows. */
    start: () => watch.start(),
    /** Call before the database is closed. */
    async stop(): Promise<void> {
      await watch.stop();
      release();
    },
  };
}

/** The keyring's place in this configuration. */
export function keyringSource({ keyring, store }: StoreConfig): KeyringSource {
  return { ...keyring, createIn: store.databaseUrl ? undefined : store.dataDir };
}

/**
 * The installations of a database that a command of an operator has opened.
 *
 * @throws UserError where the keyring is missing or wrong.
 */
export async function openInstallations({ db, withLock }: Database, config: StoreConfig, at: () => Date) {
  const { keyring } = await readKeyring({ ...keyringSource(config), inUse: true });
  return createInstallations({ db, sealer: createSealer(keyring), now: at, withLock });
}

const now = (): Date => new Date();

/** Runs `npm run keys -- …` on a database that is open already. */
export function runKeysOn(
  { db, withLock }: Database,
  source: KeyringSource,
  words: readonly string[],
  print: (line: string) => void,
): Promise<void> {
  const audit = createAudit({ db, now });
  return runKeys(words, { db, tables: sealedTables, withLock, source, audit, now, print });
}

/** Has everything that is sent searched for these keys (`kid:base64key`), until the returned function is called. */
function registerKeys(entries: readonly Secret[]): () => void {
  const keys = entries.map((entry) => entry.reveal().replace(/^[^:]*:/u, ''));
  return registerSecrets({
    'encryption-key': keys.flatMap((key) => [key, Buffer.from(key, 'base64').toString('hex')]),
  });
}
