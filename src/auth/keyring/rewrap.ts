import { type RawBuilder, sql } from 'kysely';
import { UserError } from '../../errors.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Db } from '../../store/schema.ts';
import type { Audit } from '../audit/audit.ts';
import {
  advanceVersion,
  destroySlot,
  isAuthentic,
  newestVersion,
  openRow,
  ownerColumn,
  type SealedTable,
  type VersionedRow,
  versionParts,
} from '../keys/sealed-rows.ts';
import { createSealer, readKeyId, SealError, type Sealer, type Slot } from '../keys/sealing.ts';
import type { Keyring } from './keyring.ts';

/** The records of versions, signed with a key of the keyring: counted and rewrapped beside the sealed tables. */
const versionRecords = {
  name: 'sealed_versions',
  kind: undefined,
  owner: 'user_id',
  noun: ['version record', 'version records'],
} as const;

type KeyedTable = SealedTable | typeof versionRecords;

/** A sealed row, or the record of a version. */
interface KeyedRow extends Slot {
  readonly version: number;
  readonly keyId: string;
  /** The sealed content, or the signature of the record. */
  readonly value: string;
}

/** How many rows of a table are under one key. */
export interface KeyUse {
  readonly table: string;
  readonly keyId: string;
  readonly rows: number;
  /** `12 linked keys` */
  readonly words: string;
}

export async function countKeyUse(db: Db, tables: readonly SealedTable[]): Promise<KeyUse[]> {
  const nouns = new Map([...tables, versionRecords].map(({ name, noun }) => [name as string, noun]));
  const counts = [...nouns.keys()].map(
    (name) =>
      sql`select ${sql.lit(name)} as table, key_id as "keyId", count(*) as rows from ${sql.table(name)} group by 2`,
  );
  const { rows } = await sql<Omit<KeyUse, 'words'>>`
    ${sql.join(counts, sql` union all `)} order by 2, 1`.execute(db);
  return rows.map((use) => ({ ...use, words: countRows(nouns.get(use.table), use.rows) }));
}

/** `12 linked keys, 1 installation`: the rows under one key; undefined = none. */
export function describeUse(use: readonly KeyUse[], keyId: string): string | undefined {
  const words = use.filter((one) => one.keyId === keyId).map((one) => one.words);
  return words.length === 0 ? undefined : words.join(', ');
}

function countRows([one, many]: SealedTable['noun'] = versionRecords.noun, rows: number): string {
  return `${rows.toLocaleString('en-US')} ${rows === 1 ? one : many}`;
}

/** The ids of keys that rows are sealed under and that the keyring lacks. */
export function findMissingKeys(use: readonly KeyUse[], keyring: Keyring): string[] {
  return [...new Set(use.map(({ keyId }) => keyId))].filter((id) => !keyring.find(id));
}

const guide = 'docs/operating.md, “Lost keyring”, says what to do where it is gone for good.';

/**
 * Checks that this keyring opens what the database holds. Call before anything is served or sealed.
 *
 * @throws UserError with key ids and counts, where rows are sealed under a key that is not there, or where no row opens
 * under the key that it names.
 */
export async function checkKeyring(db: Db, keyring: Keyring, tables: readonly SealedTable[]): Promise<void> {
  const use = await countKeyUse(db, tables);
  const missing = findMissingKeys(use, keyring);
  if (missing.length > 0) {
    const lines = missing.map((id) => `  - ${id}: ${describeUse(use, id)}`);
    throw new UserError(
      `The keyring lacks what the database was sealed with:\n${lines.join('\n')}`,
      `Put ${missing.length === 1 ? 'that key' : 'those keys'} back into the keyring, from your backup. Nothing was changed. ${guide}`,
    );
  }
  for (const id of keyring.ids) {
    if (await opensItsRows(db, keyring, id, tables)) continue;
    throw new UserError(
      `The keyring's key ${id} is not the key that this database was sealed with as ${id}.`,
      `Put the right key back under that id, from your backup; give a new key an id of its own. Nothing was changed. ${guide}`,
    );
  }
}

// Rows tried per table: one altered row must not stop a start, and one that opens proves the key.
const probes = 5;

/** True, too, where there are none. */
async function opensItsRows(db: Db, keyring: Keyring, id: string, tables: readonly SealedTable[]) {
  const sealer = createSealer(keyring);
  let tried = 0;
  for (const table of tables) {
    for (const row of await findRows(db, table, 'under', id, { limit: probes })) {
      tried += 1;
      if (await sealer.open(row.value, row).then(() => true, toFalse)) return true;
    }
  }
  return tried === 0;
}

/** For a rejection. @throws what is no SealError */
function toFalse(error: unknown): false {
  if (error instanceof SealError) return false;
  throw error;
}

const batchSize = 100;

/** Tries every sealed row: how many there are, and whose do not open (`tenant/user`). Changes nothing. */
export async function findUnopened(
  db: Db,
  sealer: Sealer,
  tables: readonly SealedTable[],
): Promise<{ readonly rows: number; readonly unopened: readonly string[] }> {
  let rows = 0;
  const unopened: string[] = [];
  for (const table of tables) {
    const owner = ownerColumn(table);
    let last = { tenant: '', userId: '' };
    for (;;) {
      const found = await sql<VersionedRow & typeof last>`
        select tenant, ${owner} as "userId", sealed, version, ${newestVersion(table)} from ${sql.table(table.name)}
         where (tenant, ${owner}) > (${last.tenant}, ${last.userId}) order by 1, 2 limit ${batchSize}`.execute(
        db,
      );
      for (const row of found.rows) {
        const slot = { tenant: row.tenant, userId: row.userId, kind: table.kind };
        const opens = await openRow(sealer, row, slot).then(() => true, toFalse);
        if (!opens) unopened.push(`${row.tenant}/${row.userId}`);
      }
      rows += found.rows.length;
      const next = found.rows.at(-1);
      if (!next) break;
      last = next;
      // In the embedded database nothing else runs between queries otherwise.
      await yieldToEventLoop();
    }
  }
  return { rows, unopened };
}

/** Rows that are under this key, or that are not, in the order of their slots, after the given one. */
async function findRows(
  db: Db,
  table: KeyedTable,
  which: 'under' | 'not under',
  keyId: string,
  { after, limit = batchSize }: { readonly after?: Slot | undefined; readonly limit?: number } = {},
): Promise<KeyedRow[]> {
  const { name, kind, value } = columnsOf(table);
  const owner = ownerColumn(table);
  const beyond = after
    ? sql`and (tenant, ${owner}, ${kind}) > (${after.tenant}, ${after.userId}, ${after.kind})`
    : sql``;
  const { rows } = await sql<KeyedRow>`
    select tenant, ${owner} as "userId", ${kind} as kind, version, key_id as "keyId", ${value} as value
      from ${name} where key_id ${sql.raw(which === 'under' ? '=' : '<>')} ${keyId} ${beyond}
     order by 1, 2, 3 limit ${limit}`.execute(db);
  return rows;
}

/**
 * Puts everything under the first key while people work. Each row changes by compare-and-set on the value that was read,
 * so a key that a person links at the same moment stays, and several processes may do it at once. One that was killed, or
 * whose signal aborts, leaves the rest to the next: only rows that are not under the first key are read. Rows that do not
 * open are left as they are.
 */
export async function rewrap(options: {
  db: Db;
  sealer: Sealer;
  tables: readonly SealedTable[];
  signal?: AbortSignal;
}): Promise<{ readonly moved: number; readonly unopened: number }> {
  const { db, sealer, tables, signal } = options;
  const count = { moved: 0, overtaken: 0, unopened: 0 };
  for (const table of [...tables, versionRecords]) {
    let rows = await findRows(db, table, 'not under', sealer.keyId);
    while (rows.length > 0) {
      if (signal?.aborted) return count;
      for (const row of rows) count[await rewrapRow(db, sealer, table, row)] += 1;
      // In the embedded database nothing else runs between queries otherwise.
      await yieldToEventLoop();
      rows = await findRows(db, table, 'not under', sealer.keyId, { after: rows.at(-1) });
    }
  }
  return count;
}

async function rewrapRow(
  db: Db,
  sealer: Sealer,
  table: KeyedTable,
  row: KeyedRow,
): Promise<'moved' | 'overtaken' | 'unopened'> {
  try {
    const next = table.kind === undefined ? signAgain(sealer, row) : await sealAgain(sealer, row);
    const { name, kind, value } = columnsOf(table);
    const { numAffectedRows } = await sql`
      update ${name} set ${value} = ${next.value}, key_id = ${next.keyId}
       where tenant = ${row.tenant} and ${ownerColumn(table)} = ${row.userId} and ${kind} = ${row.kind}
         and ${value} = ${row.value}`.execute(db);
    return numAffectedRows === 1n ? 'moved' : 'overtaken';
  } catch (error) {
    return toFalse(error) || 'unopened';
  }
}

type NextValue = Pick<KeyedRow, 'keyId' | 'value'>;

async function sealAgain(sealer: Sealer, row: KeyedRow): Promise<NextValue> {
  const value = await sealer.seal(await sealer.open(row.value, row), row);
  return { keyId: readKeyId(value), value };
}

function signAgain(sealer: Sealer, row: KeyedRow): NextValue {
  if (!isAuthentic(sealer, row, { ...row, mac: row.value }))
    throw new SealError('refused', 'The record of a version is not one that the bot wrote.');
  const { keyId, mac } = sealer.sign(versionParts(row, row.version));
  return { keyId, value: mac };
}

/**
 * Destroys every row under a key that is lost, or that does not open under the one it names; returns how many. The
 * owner of one connects again.
 */
export async function destroyRowsByKey(options: {
  db: Db;
  sealer: Sealer;
  tables: readonly SealedTable[];
  audit: Audit;
  now: () => Date;
  keyId: string;
}): Promise<number> {
  const { db, sealer, tables, audit, now, keyId } = options;
  let destroyed = 0;
  // Tokens of people before their installation, which takes the rest with it. Then the records whose row is gone or under
  // another key: they are signed anew, one higher, so that no older copy passes.
  for (const table of [...tables.toReversed(), versionRecords]) {
    for (;;) {
      const rows = await findRows(db, table, 'under', keyId);
      if (rows.length === 0) break;
      for (const row of rows) {
        const step = db.transaction().execute(async (trx) => {
          if (table.kind === undefined) return void (await advanceVersion(trx, sealer, row, now()));
          if (!(await destroySlot(trx, sealer, table, row, now(), keyId))) throw new Overtaken();
          destroyed += 1;
          if (table.name !== 'linked_keys') return;
          const { tenant, userId: subject } = row;
          const detail = { cause: 'encryption-key-lost' };
          await audit.record({ tenant, actor: 'system', event: 'key-destroyed', subject, detail }, trx);
        });
        // Rolled back where a person changed the row meanwhile: theirs stays.
        await step.catch((error: unknown) => {
          if (!(error instanceof Overtaken)) throw error;
        });
      }
    }
  }
  return destroyed;
}

class Overtaken extends Error {}

function columnsOf(table: KeyedTable): Record<'name' | 'kind' | 'value', RawBuilder<unknown>> {
  return {
    name: sql.table(table.name),
    kind: table.kind === undefined ? sql.ref('kind') : sql`${table.kind}::text`,
    value: sql.ref(table.kind === undefined ? 'mac' : 'sealed'),
  };
}
