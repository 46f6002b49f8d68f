import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Trx } from '../schema.ts';
import { type Table, tableRef } from './tables.ts';

// How much of a table is in memory at a time, in characters; one row may be larger.
const pieceLength = 1_000_000;
const mostRows = 1_000;

/**
 * Values as text come out the same from both engines and every session, and no query has a time limit. Until the end of
 * the transaction.
 */
export async function prepareSession(trx: Trx): Promise<void> {
  for (const setting of [
    `timezone = 'UTC'`,
    `datestyle = 'ISO, YMD'`,
    `intervalstyle = 'postgres'`,
    `bytea_output = 'hex'`,
    'extra_float_digits = 1',
    'statement_timeout = 0',
    'idle_in_transaction_session_timeout = 0',
  ])
    await sql.raw(`set local ${setting}`).execute(trx);
}

export interface TableSum {
  readonly rows: number;
  /** SHA-256 of its lines, each with a line break. */
  readonly sha256: string;
}

/**
 * The rows of a table in the order of its key, each as a line: a JSON array with the text of every column, or null.
 * Otherwise as `readCursor`.
 */
export function readRows(trx: Trx, table: Table): AsyncGenerator<string, TableSum> {
  const values = table.columns.map(([name]) => sql`${sql.ref(name)}::text`);
  return readCursor(trx, table, sql`json_build_array(${sql.join(values)})::text`, sql`true`);
}

/**
 * A line of text for each row of a table that meets a condition, in the order of its key and in pieces of a bounded size.
 * Returns their count and checksum.
 */
export async function* readCursor(
  trx: Trx,
  table: Table,
  line: RawBuilder<unknown>,
  condition: RawBuilder<unknown>,
): AsyncGenerator<string, TableSum> {
  // The same order on both engines, whose own collations differ.
  const order = table.key.map(({ name, hasCollation }) =>
    hasCollation ? sql`${sql.ref(name)} collate "C"` : sql.ref(name),
  );
  await sql`declare moved no scroll cursor for
    select ${line} as line from ${tableRef(table)} where ${condition} order by ${sql.join(order)}`.execute(
    trx,
  );
  const hash = createHash('sha256');
  let rows = 0;
  let length = 0;
  for (;;) {
    const count = rows === 0 ? 10 : Math.ceil(Math.min(mostRows, (pieceLength * rows) / length));
    const found = await sql<{ line: string }>`fetch forward ${sql.lit(count)} from moved`.execute(trx);
    if (found.rows.length === 0) break;
    const piece = found.rows.map((row) => `${row.line}\n`).join('');
    hash.update(piece);
    rows += found.rows.length;
    length += piece.length;
    yield piece;
  }
  await sql`close moved`.execute(trx);
  return { rows, sha256: hash.digest('hex') };
}

/** Writes lines of `readRows` into a table. */
export function createRowWriter(trx: Trx, table: Table) {
  const names = table.columns.map(([name]) => sql.ref(name));
  const values = table.columns.map(
    ([, type], index): RawBuilder<unknown> => sql`(line ->> ${sql.lit(index)})::${sql.raw(type)}`,
  );
  let lines: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    if (lines.length === 0) return;
    // Generated identities come along, as do the texts of all types.
    await sql`insert into ${tableRef(table)} (${sql.join(names)}) overriding system value
      select ${sql.join(values)} from jsonb_array_elements(${`[${lines.join(',')}]`}::jsonb) line`.execute(
      trx,
    );
    lines = [];
    length = 0;
  };
  return {
    async add(line: string): Promise<void> {
      lines.push(line);
      length += line.length;
      if (lines.length >= mostRows || length >= pieceLength) await flush();
    },
    flush,
  };
}

/** The next values of its identity columns, by sequence. */
export async function readSequences(trx: Trx, { sequences }: Table): Promise<Record<string, Sequence>> {
  const found: Record<string, Sequence> = {};
  for (const name of sequences) {
    const { rows } = await sql<{ last: string; called: boolean }>`
      select last_value::text as last, is_called as called from ${sql.raw(name)}`.execute(trx);
    if (rows[0]) found[name] = rows[0];
  }
  return found;
}

export interface Sequence {
  readonly last: string;
  readonly called: boolean;
}

export async function setSequence(trx: Trx, name: string, { last, called }: Sequence): Promise<void> {
  await sql`select setval(${name}::regclass, ${last}::bigint, ${called})`.execute(trx);
}
