import { checkKeyring } from '../auth/keyring/check.ts';
import { type Keyring, readKeyring } from '../auth/keyring/keyring.ts';
import { countKeyUse } from '../auth/keyring/sealed-tables.ts';
import { createKeyringWatch } from '../auth/keyring/watch.ts';
import { keyringSource, runKeysOn } from '../cli/keys.ts';
import type { Database } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';
import type { StoreConfig } from './config.ts';
import { controlPath, serveControl } from './control-socket.ts';
import { registerKeyringSecrets } from './register-config-secrets.ts';

export interface KeyringService {
  /** Always the newest: a key file that changes is taken over. */
  readonly keyring: Keyring;
  /** Tells other processes which keys this one knows, and takes what operators type. */
  start(): Promise<void>;
  /** To be called before the database is closed. */
  stop(): Promise<void>;
  /** Ends guarding the keys against being sent anywhere; last of all. */
  release(): void;
}

/**
 * The keyring that opens this database, for as long as the process runs.
 *
 * @throws UserError where it is missing, wrong, or does not open what is stored.
 */
export async function openKeyringService(options: {
  config: StoreConfig;
  database: Database;
  log: Log;
}): Promise<KeyringService> {
  const { config, database, log } = options;
  const { db, engine } = database;
  const source = keyringSource(config);
  const first = await readKeyring({ ...source, inUse: (await countKeyUse(db)).length > 0 });
  if (first.created)
    log.warn(
      { file: first.created },
      'made a new encryption key: back this file up, without it no linked key opens',
    );
  if (first.warning) log.warn({ file: first.path }, first.warning);
  await checkKeyring(db, first.keyring);

  let release = registerKeyringSecrets(first.entries);
  const watch = createKeyringWatch({
    db,
    source,
    first,
    alone: engine === 'embedded',
    log,
    changed(entries) {
      const releaseOld = release;
      release = registerKeyringSecrets(entries);
      releaseOld();
    },
  });
  // An embedded database is this process's alone, so it does for operators what they type elsewhere.
  const control = engine === 'embedded' ? controlPath(config.store.dataDir) : undefined;
  let close: (() => Promise<void>) | undefined;
  return {
    keyring: watch.keyring,
    async start() {
      await watch.start();
      if (control === undefined) return;
      const run: Parameters<typeof serveControl>[1] = async (words, print) => {
        await runKeysOn(database, source, words, print);
        await watch.refresh();
      };
      close = await serveControl(control, run, log).catch((error: unknown) => {
        // Some file systems have no sockets: `npm run keys` then wants the bot stopped, and says so.
        log.warn({ error }, 'operators cannot reach this process: stop it for “npm run keys”');
        return undefined;
      });
    },
    async stop() {
      await close?.();
      await watch.stop();
    },
    release: () => release(),
  };
}
