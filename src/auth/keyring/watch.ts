import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Kysely } from 'kysely';
import type { Secret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import type { Log } from '../../telemetry/log.ts';
import { checkKeyring } from './check.ts';
import { readKeyFile } from './key-file.ts';
import { type Keyring, type KeyringSource, type ReadKeyring, readKeyring } from './keyring.ts';
import { findLiveMembers, removeGoneMembers, removeMember, reportMember } from './queries.ts';

/** The keyring of a running process: its file is read again when it changes, and other processes are told what it knows. */
export interface KeyringWatch {
  /** Always the newest; what holds on to it sees every change. */
  readonly keyring: Keyring;
  /** Tells the others, and goes on telling them on a timer that does not hold the process. */
  start(): Promise<void>;
  /** Looks at the file and tells the others now. Never throws: what fails is logged, and the keyring stays. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

const fileLookMs = 5_000;
const reportEveryMs = 30_000;

export function createKeyringWatch(options: {
  db: Kysely<Schema>;
  source: KeyringSource;
  first: ReadKeyring;
  /** True where no other process can use the same database. */
  alone: boolean;
  log: Log;
  /** Told the new entries when the file has changed. */
  changed?: (entries: readonly Secret[]) => void;
}): KeyringWatch {
  const { db, source, first, alone, log, changed: tell } = options;
  const id = randomUUID();
  let current = first.keyring;
  let stamp = first.stamp;
  let reportedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  const keyring: Keyring = {
    get primary() {
      return current.primary;
    },
    get ids() {
      return current.ids;
    },
    find: (keyId) => current.find(keyId),
  };

  const report = async (): Promise<void> => {
    await reportMember(db, {
      id,
      label: `${hostname()} process ${process.pid}`,
      keyIds: current.ids,
      primaryId: current.primary.id,
    });
    reportedAt = performance.now();
  };

  const look = async (): Promise<boolean> => {
    if (first.path === undefined) return false;
    const seen = (await readKeyFile(first.path)).stamp;
    if (seen === stamp) return false;
    // Whatever is wrong with it, it is said once and not every few seconds.
    stamp = seen;
    const next = await readKeyring({ ...source, inUse: true });
    await checkKeyring(db, next.keyring);
    current = next.keyring;
    tell?.(next.entries);
    log.info({ keyIds: current.ids, primary: current.primary.id }, 'took over the changed key file');
    return true;
  };

  let unreadable = false;
  const round = async (): Promise<void> => {
    let changed = false;
    try {
      changed = await look();
      unreadable = false;
    } catch (error) {
      if (!unreadable) log.error({ error }, 'the changed key file is not used; the keys from before stay');
      unreadable = true;
    }
    try {
      if (changed || performance.now() - reportedAt >= reportEveryMs) await report();
    } catch (error) {
      log.warn({ error }, 'could not tell the other processes which keys this one knows');
    }
  };
  const refresh = (): Promise<void> => (running = running.then(round));

  return {
    keyring,
    refresh,
    async start() {
      await removeGoneMembers(db, alone ? 'all' : 'gone');
      const behind = (await findLiveMembers(db)).filter(({ keyIds }) => !keyIds.includes(current.primary.id));
      if (behind.length > 0) {
        log.warn(
          { primary: current.primary.id, processes: behind.map(({ label }) => label) },
          'running processes do not know the primary key: what is sealed now does not open there; ' +
            'add a key everywhere before it becomes the primary one',
        );
      }
      await report();
      timer = setInterval(() => void refresh(), fileLookMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
      await removeMember(db, id).catch(() => undefined);
    },
  };
}
