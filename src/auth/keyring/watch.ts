import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import { UserError } from '../../errors.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Db } from '../../store/schema.ts';
import type { Log } from '../../telemetry/log.ts';
import type { SealedTable } from '../keys/sealed-rows.ts';
import { storeCanary } from './canary.ts';
import { checkKeyring } from './check.ts';
import { type Keyring, type KeyringSource, type ReadKeyring, readKeyring } from './keyring.ts';

export type KeyringWatch = ReturnType<typeof createKeyringWatch>;

const checkFileMs = 5_000;
const reportMs = 30_000;

/** The keyring of a running process. Reads its file again when it changes, and reports to other processes which keys it knows. */
export function createKeyringWatch(options: {
  db: Db;
  tables: readonly SealedTable[];
  source: KeyringSource;
  first: ReadKeyring;
  /** True where no other process can use the same database. */
  alone: boolean;
  log: Log;
  /** Called with the new entries when the file has changed. */
  onChange?: (entries: readonly Secret[]) => void;
}) {
  const { db, tables, source, first, alone, log, onChange } = options;
  const id = randomUUID();
  let current = first;
  let isUnusable = false;
  let reportedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  // Always the newest; a holder of it sees every change.
  const keyring: Keyring = {
    get primary() {
      return current.keyring.primary;
    },
    get ids() {
      return current.keyring.ids;
    },
    find: (keyId) => current.keyring.find(keyId),
  };

  const report = async (): Promise<void> => {
    const label = `${hostname()} process ${process.pid}`;
    await reportMember(db, { id, label, keyIds: keyring.ids, primaryId: keyring.primary.id });
    reportedAt = performance.now();
  };

  /** Uses the keys of the file where they changed; true = they did. */
  const readFile = async (): Promise<boolean> => {
    if (first.path === undefined) return false;
    const next = await readKeyring({ ...source, inUse: true });
    if (hasSameKeys(next, current)) return false;
    await checkKeyring(db, next.keyring, tables);
    current = next;
    await storeCanary(db, keyring);
    onChange?.(next.keys.map(({ entry }) => entry));
    log.info({ keyIds: keyring.ids, primary: keyring.primary.id }, 'using the changed key file');
    return true;
  };

  const round = async (): Promise<void> => {
    let changed = false;
    try {
      changed = await readFile();
      isUnusable = false;
    } catch (error) {
      if (!isUnusable) log.error({ error }, 'cannot use the changed key file; keeping the earlier keys');
      isUnusable = true;
    }
    try {
      if (changed || performance.now() - reportedAt >= reportMs) await report();
    } catch (error) {
      log.warn({ error }, 'cannot report to other processes which keys this one knows');
    }
  };
  /** Reads the file and reports now. Never throws: a failure is logged, and the keyring stays. */
  const refresh = (): Promise<void> => (running = running.then(round));

  return {
    keyring,
    refresh,
    /** Reports this process, and goes on reporting on a timer that does not hold the process. */
    async start(): Promise<void> {
      await removeGoneMembers(db, alone ? 'all' : 'gone');
      const behind = (await findLiveMembers(db)).filter(({ keyIds }) => !keyIds.includes(keyring.primary.id));
      if (behind.length > 0) {
        log.warn(
          { primary: keyring.primary.id, processes: behind.map(({ label }) => label) },
          'running processes do not know the primary key: what is sealed now does not open there; ' +
            'add a key everywhere before it becomes the primary one',
        );
      }
      await report();
      timer = setInterval(() => void refresh(), checkFileMs).unref();
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      await running;
      const leave = db.deleteFrom('keyring_members').where('id', '=', id).execute();
      await leave.catch(() => undefined);
    },
  };
}

function hasSameKeys({ keys }: ReadKeyring, other: ReadKeyring): boolean {
  return (
    keys.length === other.keys.length &&
    keys.every(({ id, key }, nth) => other.keys[nth]?.id === id && other.keys[nth].key.equals(key))
  );
}

/** A running process, with the keys it knew at its last report. */
interface KeyringMember {
  /** For people: host and process number. */
  readonly label: string;
  /** Its label and the keys it knows. */
  readonly words: string;
  readonly keyIds: readonly string[];
  readonly primaryId: string;
  /** Age of the report by the database's clock: the clocks of the machines may disagree. */
  readonly seenSecondsAgo: number;
}

/** A process that has not reported for this long counts as gone. */
const memberLifeSeconds = 120;

export async function reportMember(
  db: Db,
  member: Pick<KeyringMember, 'label' | 'keyIds' | 'primaryId'> & { readonly id: string },
): Promise<void> {
  const { id, label, keyIds, primaryId } = member;
  const report = { label, key_ids: keyIds.join(','), primary_id: primaryId, seen_at: sql<Date>`now()` };
  await db
    .insertInto('keyring_members')
    .values({ id, ...report })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(report))
    .execute();
}

/** The processes that are not gone, in order of their labels. */
export async function findLiveMembers(db: Db): Promise<KeyringMember[]> {
  const rows = await db
    .selectFrom('keyring_members')
    .select(['label', 'key_ids', 'primary_id as primaryId'])
    .select(sql<number>`greatest(0, round(extract(epoch from now() - seen_at)))::int`.as('seenSecondsAgo'))
    .where(sql<boolean>`seen_at > now() - make_interval(secs => ${memberLifeSeconds})`)
    .orderBy('label')
    .execute();
  return rows.map(({ key_ids, ...member }) => {
    const keyIds = key_ids.split(',');
    const keys = keyIds.map((id) => (id === member.primaryId ? `${id} (primary)` : id));
    return { ...member, keyIds, words: `${member.label}: ${keys.join(', ')}` };
  });
}

/** Forgets the processes that are gone; `all` where no other process can be there. */
export async function removeGoneMembers(db: Db, which: 'gone' | 'all'): Promise<void> {
  const gone = sql<boolean>`seen_at < now() - make_interval(secs => ${memberLifeSeconds})`;
  await db
    .deleteFrom('keyring_members')
    .where(which === 'all' ? sql<boolean>`true` : gone)
    .execute();
}

/** @throws UserError with the processes that do not know this key. */
export function refuseUnlessKnown(members: readonly KeyringMember[], id: string, problem: string): void {
  const unaware = members.filter(({ keyIds }) => !keyIds.includes(id));
  if (unaware.length === 0) return;
  throw new UserError(
    `${problem}: these processes do not know it, and could not open what is sealed under it:\n${listMembers(unaware)}`,
    'A key file that changed is taken over within seconds; with ENCRYPTION_KEYS a process has to be restarted. ' +
      'One that was killed leaves this list after two minutes.',
  );
}

export function listMembers(members: readonly KeyringMember[]): string {
  return members.map(({ words }) => `  - ${words}`).join('\n');
}
