import { type RawBuilder, sql } from 'kysely';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Db } from '../../store/schema.ts';
import type { Audit } from '../audit/audit.ts';
import {
  advanceVersion,
  destroySlot,
  isAuthentic,
  ownerColumn,
  type SealedTable,
  versionParts,
} from '../keys/sealed-rows.ts';
import { readKeyId, SealError, type Sealer, type Slot } from '../keys/sealing.ts';

/** The records of versions, signed with a key of the keyring: counted and rewrapped beside the sealed tables. */
const versionRecords = {
  name: 'sealed_versions',
  kind: undefined,
  owner: 'user_id',
  noun: ['version record', 'version records'],
} as const;

type KeyedTable = SealedTable | typeof versionRecords;

/** A sealed row, or the record of a version. */
export interface KeyedRow extends Slot {
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

const batchSize = 100;

/** Rows that are under this key, or that are not, in the order of their slots, after the given one. */
export async function findRows(
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

export interface Rewrapped {
  /** Now under the primary key. */
  readonly moved: number;
  /** Changed by people meanwhile, who sealed them anew. */
  readonly overtaken: number;
  /** Rows that do not open, as `tenant/user`; they were left as they are. */
  readonly broken: readonly string[];
}

/**
 * Puts everything under the primary key while people work. Each row changes by compare-and-set on the value that was
 * read, so a key that a person links at the same moment stays. An interrupted run continues where it was, since only
 * rows that are not under the primary key are read.
 */
export async function rewrap(options: {
  db: Db;
  sealer: Sealer;
  tables: readonly SealedTable[];
  progress: (line: string) => void;
}): Promise<Rewrapped> {
  const { db, sealer, tables, progress } = options;
  const total = { moved: 0, overtaken: 0 };
  const broken = new Set<string>();
  for (const table of [...tables, versionRecords]) {
    let done = 0;
    let rows = await findRows(db, table, 'not under', sealer.keyId);
    while (rows.length > 0) {
      for (const row of rows) {
        const outcome = await rewrapRow(db, sealer, table, row);
        if (outcome === 'broken') broken.add(`${row.tenant}/${row.userId}`);
        else total[outcome] += 1;
      }
      done += rows.length;
      progress(`${countRows(table.noun, done)} looked at`);
      // In the embedded database nothing else runs between queries otherwise.
      await yieldToEventLoop();
      rows = await findRows(db, table, 'not under', sealer.keyId, { after: rows.at(-1) });
    }
  }
  return { ...total, broken: [...broken] };
}

async function rewrapRow(
  db: Db,
  sealer: Sealer,
  table: KeyedTable,
  row: KeyedRow,
): Promise<'moved' | 'overtaken' | 'broken'> {
  try {
    const next = table.kind === undefined ? signAgain(sealer, row) : await sealAgain(sealer, row);
    const { name, kind, value } = columnsOf(table);
    const { numAffectedRows } = await sql`
      update ${name} set ${value} = ${next.value}, key_id = ${next.keyId}
       where tenant = ${row.tenant} and ${ownerColumn(table)} = ${row.userId} and ${kind} = ${row.kind}
         and ${value} = ${row.value}`.execute(db);
    return numAffectedRows === 1n ? 'moved' : 'overtaken';
  } catch (error) {
    if (error instanceof SealError) return 'broken';
    throw error;
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
