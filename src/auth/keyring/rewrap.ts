import { type RawBuilder, sql } from 'kysely';
import { UserError } from '../../errors.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Db } from '../../store/schema.ts';
import type { Audit } from '../audit/audit.ts';
import {
  createSealer,
  newestVersion,
  type Owner,
  ownerColumn,
  readKeyId,
  SealError,
  type SealedTable,
  type Sealer,
  type Slot,
  type VersionedRow,
} from '../keys/sealing.ts';
import type { Keyring } from './keyring.ts';

export interface KeyUse {
  readonly table: string;
  readonly keyId: string;
  readonly rows: number;
  readonly words: string;
}

export async function countKeyUse(db: Db, tables: readonly SealedTable[]): Promise<KeyUse[]> {
  const counts = tables.map(
    ({ name }) =>
      sql`select ${sql.lit(name)} as table, key_id as "keyId", count(*) as rows from ${sql.table(name)} group by 2`,
  );
  const { rows: found } = await sql<Omit<KeyUse, 'words'>>`
    ${sql.join(counts, sql` union all `)} order by 2, 1`.execute(db);
  return found.map((use) => {
    const [one, many] = tables.find(({ name }) => name === use.table)?.noun ?? ['row', 'rows'];
    return { ...use, words: `${use.rows.toLocaleString('en-US')} ${use.rows === 1 ? one : many}` };
  });
}

/** `12 linked keys, 1 installation`; undefined = none. */
export function describeUse(use: readonly KeyUse[], keyId: string): string | undefined {
  const words = use.filter((one) => one.keyId === keyId).map((one) => one.words);
  return words.length === 0 ? undefined : words.join(', ');
}

export function findMissingKeys(use: readonly KeyUse[], keyring: Keyring): string[] {
  return [...new Set(use.map(({ keyId }) => keyId))].filter((id) => !keyring.find(id));
}

const guide = 'docs/operating.md, “Lost keyring”, says what to do where it is gone for good.';

/** Call before anything is sealed. @throws UserError where a key of sealed rows is missing, or is another one. */
export async function checkKeyring(db: Db, keyring: Keyring, tables: readonly SealedTable[]): Promise<void> {
  const use = await countKeyUse(db, tables);
  const missing = findMissingKeys(use, keyring);
  if (missing.length > 0) {
    const lines = missing.map((id) => `  - ${id}: ${describeUse(use, id)}`);
    throw new UserError(
      `The keyring lacks keys that the database was sealed with:\n${lines.join('\n')}`,
      `Put ${missing.length === 1 ? 'that key' : 'those keys'} back into the keyring, from your backup. Nothing was changed. ${guide}`,
    );
  }
  for (const id of keyring.ids) {
    if (await opensItsRows(db, keyring, id, tables)) continue;
    throw new UserError(
      `The keyring’s key ${id} is not the key that this database was sealed with as ${id}.`,
      `Put the right key back under that ID, from your backup; give a new key its own ID. Nothing was changed. ${guide}`,
    );
  }
}

// One altered row must not stop a start, and one that opens proves the key.
const mostProbes = 20;

async function opensItsRows(db: Db, keyring: Keyring, id: string, tables: readonly SealedTable[]) {
  const sealer = createSealer(keyring);
  let tried = 0;
  for await (const rows of readRows(db, tables, sql`key_id = ${id}`))
    for (const { sealed, slot, version } of rows) {
      if (await ifOpens(sealer.open(sealed, { ...slot, version }))) return true;
      tried += 1;
      if (tried === mostProbes) return false;
    }
  return tried === 0;
}

function ifOpens<T>(opening: Promise<T>): Promise<T | undefined> {
  return opening.catch((error: unknown) => {
    if (error instanceof SealError) return undefined;
    throw error;
  });
}

interface SealedRow extends VersionedRow {
  readonly table: SealedTable;
  readonly slot: Slot;
}

const batchSize = 100;

/** The sealed rows that a condition selects, in the order of their slots, in batches. */
async function* readRows(
  db: Db,
  tables: readonly SealedTable[],
  condition: RawBuilder<unknown> = sql`true`,
): AsyncGenerator<SealedRow[], void> {
  for (const table of tables) {
    const owner = ownerColumn(table);
    for (let last: Omit<Slot, 'kind'> | undefined = { tenant: '', userId: '' }; last; ) {
      const { rows }: { rows: (VersionedRow & Omit<Slot, 'kind'>)[] } = await sql<
        VersionedRow & Omit<Slot, 'kind'>
      >`select tenant, ${owner} as "userId", sealed, version, ${newestVersion(table)} from ${sql.table(table.name)}
         where (tenant, ${owner}) > (${last.tenant}, ${last.userId}) and ${condition}
         order by 1, 2 limit ${batchSize}`.execute(db);
      yield rows.map(({ tenant, userId, ...row }) => {
        return { ...row, table, slot: { tenant, userId, kind: table.kind } };
      });
      last = rows.at(-1);
      await yieldToEventLoop();
    }
  }
}

/** Puts every row under the first key while people work, by compare-and-set. Rows that do not open are left. */
export async function rewrap(options: {
  db: Db;
  sealer: Sealer;
  tables: readonly SealedTable[];
  signal?: AbortSignal;
}): Promise<{ readonly moved: number; readonly unopened: number }> {
  const { db, sealer, tables, signal } = options;
  const count = { moved: 0, unopened: 0 };
  for await (const rows of readRows(db, tables, sql`key_id <> ${sealer.keyId}`)) {
    if (signal?.aborted) break;
    for (const row of rows) {
      const moved = await ifOpens(rewrapRow(db, sealer, row));
      if (moved === undefined) count.unopened += 1;
      else count.moved += moved;
    }
  }
  return count;
}

async function rewrapRow(db: Db, sealer: Sealer, { table, slot, sealed, version }: SealedRow) {
  const context = { ...slot, version };
  const next = await sealer.seal(await sealer.open(sealed, context), context);
  const { numAffectedRows = 0n } = await sql`
    update ${sql.table(table.name)} set sealed = ${next}, key_id = ${readKeyId(next)}
     where tenant = ${slot.tenant} and ${ownerColumn(table)} = ${slot.userId} and sealed = ${sealed}`.execute(
    db,
  );
  return Number(numAffectedRows);
}

/** Destroys every row under a lost key, and answers how many. */
export async function destroyRowsByKey(options: {
  db: Db;
  tables: readonly SealedTable[];
  audit: Audit;
  keyId: string;
}): Promise<number> {
  const { db, tables, audit, keyId } = options;
  return db.transaction().execute(async (trx) => {
    let destroyed = 0;
    for (const table of tables) {
      const { rows } = await sql<Owner>`
        delete from ${sql.table(table.name)} where key_id = ${keyId}
        returning tenant, ${ownerColumn(table)} as "userId"`.execute(trx);
      destroyed += rows.length;
      if (table.name !== 'linked_keys') continue;
      const detail = { cause: 'encryption-key-lost' };
      for (const { tenant, userId: subject } of rows)
        await audit.record({ tenant, actor: 'system', event: 'key-destroyed', subject, detail }, trx);
    }
    return destroyed;
  });
}
