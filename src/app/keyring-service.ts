import { createAudit, deployment } from '../auth/audit/audit.ts';
import { installationsTable } from '../auth/installations.ts';
import { type Keyring, type KeyringSource, type ReadKeyring, readKeyring } from '../auth/keyring/keyring.ts';
import { checkKeyring, countKeyUse, describeUse, findMissingKeys, rewrap } from '../auth/keyring/rewrap.ts';
import { linkedKeysTable } from '../auth/keys/key-store.ts';
import { createSealer, type SealedTable } from '../auth/keys/sealing.ts';
import { operationValuesTable } from '../commands/operations/values.ts';
import { minuteMs } from '../lib/time.ts';
import { registerSecrets } from '../secrets/secret.ts';
import type { Database } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';
import type { StoreConfig } from './config.ts';

/** Every table with sealed rows. Rotation, the check at start and the status know a new one by its line here. */
export const sealedTables: readonly SealedTable[] = [
  linkedKeysTable,
  installationsTable,
  operationValuesTable,
];

const checkFileMs = 10_000;
const rewrapMs = 10 * minuteMs;

/**
 * Reads a changed key file again, and rewraps in the background. @throws UserError where the keyring does not open the database.
 */
export async function openKeyringService(
  config: StoreConfig,
  { db, backgroundDb }: Pick<Database, 'db' | 'backgroundDb'>,
  log: Log,
) {
  const source = keyringSource(config);
  let current = await readKeyring({ ...source, inUse: (await countKeyUse(db, sealedTables)).length > 0 });
  if (current.created)
    log.warn(
      { file: current.created },
      'made a new encryption key: back this file up, without it no linked key opens',
    );
  if (current.warning) log.warn({ file: current.path }, current.warning);
  await checkKeyring(db, current.keyring, sealedTables);

  const keyring: Keyring = {
    get primary() {
      return current.keyring.primary;
    },
    get ids() {
      return current.keyring.ids;
    },
    find: (keyId) => current.keyring.find(keyId),
  };
  const sealer = createSealer(keyring);
  const audit = createAudit({ db, now: () => new Date() });
  const stopping = new AbortController();
  let release = registerKeys(current);
  let isUnusable = false;
  let toldUnopened = 0;
  let rewrappedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  const readFile = async (): Promise<void> => {
    const next = await readKeyring({ ...source, inUse: true });
    if (listEntries(next) === listEntries(current)) return;
    await checkKeyring(db, next.keyring, sealedTables);
    const releaseOld = release;
    release = registerKeys(next);
    releaseOld();
    current = next;
    rewrappedAt = Number.NEGATIVE_INFINITY;
    log.info({ keyIds: keyring.ids }, 'using the changed key file');
  };

  const rewrapRows = async (): Promise<void> => {
    if (keyring.ids.length === 1) return;
    const { moved, unopened } = await rewrap({ db, sealer, tables: sealedTables, signal: stopping.signal });
    const subject = keyring.primary.id;
    if (unopened > toldUnopened)
      log.warn(
        { key: subject, unopened },
        'rows do not open with any encryption key: npm run keys -- status',
      );
    toldUnopened = unopened;
    if (moved === 0) return;
    const detail = { step: 'rewrapped', rows: moved };
    await audit.record({ tenant: deployment, actor: 'system', event: 'keyring-changed', subject, detail });
    const use = await countKeyUse(db, sealedTables);
    const unused = keyring.ids.filter((id) => id !== subject && !describeUse(use, id));
    log.info({ first: subject, moved, unused }, 'sealed everything under the first encryption key');
  };

  const round = async (): Promise<void> => {
    try {
      if (current.path !== undefined) await readFile();
      isUnusable = false;
    } catch (error) {
      if (!isUnusable) log.error({ error }, 'cannot use the changed key file; keeping the earlier keys');
      isUnusable = true;
    }
    // It reads every table of sealed rows: at once under new keys, then now and then, for what other processes sealed.
    if (performance.now() - rewrappedAt < rewrapMs) return;
    rewrappedAt = performance.now();
    await rewrapRows().catch((error: unknown) =>
      log.warn({ error }, 'cannot rewrap sealed rows; trying again later'),
    );
  };
  const refresh = (): Promise<void> => (running = running.then(round));

  /** Why this process does not open what others seal, in words. Rejects if the database does not answer. */
  const findProblem = async (): Promise<string | undefined> => {
    const missing = findMissingKeys(await countKeyUse(backgroundDb, sealedTables), keyring);
    if (missing.length === 0) return undefined;
    return `the keyring lacks ${missing.join(', ')}, under which another process seals: add it here (docs/operating.md, “Rotation”)`;
  };

  return {
    keyring,
    refresh,
    findProblem,
    start(): void {
      void refresh();
      timer = setInterval(() => void refresh(), checkFileMs).unref();
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      await running;
      release();
    },
  };
}

export function keyringSource({ keyring, store }: StoreConfig): KeyringSource {
  return { ...keyring, createIn: store.databaseUrl ? undefined : store.dataDir };
}

function listEntries({ keys }: ReadKeyring): string {
  return keys.map(({ entry }) => entry.reveal()).join();
}

/** Has everything that is sent searched for these keys (`kid:base64key`), until the returned function is called. */
function registerKeys({ keys: entries }: ReadKeyring): () => void {
  const keys = entries.map(({ entry }) => entry.reveal().replace(/^[^:]*:/u, ''));
  return registerSecrets({
    'encryption-key': keys.flatMap((key) => [key, Buffer.from(key, 'base64').toString('hex')]),
  });
}
