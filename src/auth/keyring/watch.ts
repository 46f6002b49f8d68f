import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Kysely, sql } from 'kysely';
import type { Secret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import type { Log } from '../../telemetry/log.ts';
import type { SealedTable } from '../keys/sealed-rows.ts';
import { checkKeyring } from './check.ts';
import { readKeyFile } from './key-file.ts';
import { type Keyring, type KeyringSource, type ReadKeyring, readKeyring } from './keyring.ts';

/** The keyring of a running process. Reads its file again when it changes, and reports to other processes which keys it knows. */
export interface KeyringWatch {
  /** Always the newest; a holder of it sees every change. */
  readonly keyring: Keyring;
  /** Reports this process, and goes on reporting on a timer that does not hold the process. */
  start(): Promise<void>;
  /** Reads the file and reports now. Never throws: a failure is logged, and the keyring stays. */
  refresh(): Promise<void>;
  stop(): Promise<void>;
}

const checkFileMs = 5_000;
const reportMs = 30_000;

export function createKeyringWatch(options: {
  db: Kysely<Schema>;
  tables: readonly SealedTable[];
  source: KeyringSource;
  first: ReadKeyring;
  /** True where no other process can use the same database. */
  alone: boolean;
  log: Log;
  /** Called with the new entries when the file has changed. */
  onChange?: (entries: readonly Secret[]) => void;
}): KeyringWatch {
  const { db, tables, source, first, alone, log, onChange } = options;
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
    const label = `${hostname()} process ${process.pid}`;
    await reportMember(db, { id, label, keyIds: current.ids, primaryId: current.primary.id });
    reportedAt = performance.now();
  };

  const readChangedFile = async (): Promise<boolean> => {
    if (first.path === undefined) return false;
    const found = (await readKeyFile(first.path)).stamp;
    if (found === stamp) return false;
    // Before the file is read, so that a wrong one is logged once and not every few seconds.
    stamp = found;
    const next = await readKeyring({ ...source, inUse: true });
    await checkKeyring(db, next.keyring, tables);
    current = next.keyring;
    onChange?.(next.entries);
    log.info({ keyIds: current.ids, primary: current.primary.id }, 'using the changed key file');
    return true;
  };

  let unreadable = false;
  const round = async (): Promise<void> => {
    let changed = false;
    try {
      changed = await readChangedFile();
      unreadable = false;
    } catch (error) {
      if (!unreadable) log.error({ error }, 'cannot use the changed key file; keeping the earlier keys');
      unreadable = true;
    }
    try {
      if (changed || performance.now() - reportedAt >= reportMs) await report();
    } catch (error) {
      log.warn({ error }, 'cannot report to other processes which keys this one knows');
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
      timer = setInterval(() => void refresh(), checkFileMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
      await db
        .deleteFrom('keyring_members')
        .where('id', '=', id)
        .execute()
        .catch(() => undefined);
    },
  };
}

/** A running process, with the keys it knew at its last report. */
export interface KeyringMember {
  readonly id: string;
  /** For people: host and process number. */
  readonly label: string;
  readonly keyIds: readonly string[];
  readonly primaryId: string;
  /** Age of the report by the database's clock: the clocks of the machines may disagree. */
  readonly seenSecondsAgo: number;
}

/** A process that has not reported for this long counts as gone. */
const memberLifeSeconds = 120;

export async function reportMember(
  db: Kysely<Schema>,
  member: Omit<KeyringMember, 'seenSecondsAgo'>,
): Promise<void> {
  const report = {
    label: member.label,
    key_ids: member.keyIds.join(','),
    primary_id: member.primaryId,
    seen_at: sql<Date>`now()`,
  };
  await db
    .insertInto('keyring_members')
    .values({ id: member.id, ...report })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(report))
    .execute();
}

/** The processes that are not gone, in order of their labels. */
export async function findLiveMembers(db: Kysely<Schema>): Promise<KeyringMember[]> {
  const rows = await db
    .selectFrom('keyring_members')
    .selectAll()
    .select(sql<string>`extract(epoch from now() - seen_at)`.as('age'))
    .where(sql<boolean>`seen_at > now() - make_interval(secs => ${memberLifeSeconds})`)
    .orderBy('label')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    label: row.label,
    keyIds: row.key_ids.split(','),
    primaryId: row.primary_id,
    seenSecondsAgo: Math.max(0, Math.round(Number(row.age))),
  }));
}

/** Forgets the processes that are gone; `all` where no other process can be there. */
export async function removeGoneMembers(db: Kysely<Schema>, which: 'gone' | 'all'): Promise<void> {
  const query = db.deleteFrom('keyring_members');
  const gone = sql<boolean>`seen_at < now() - make_interval(secs => ${memberLifeSeconds})`;
  await (which === 'all' ? query : query.where(gone)).execute();
}
