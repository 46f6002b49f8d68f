import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import { z } from 'zod';
import type { Installation, Person } from '../../auth/identity.ts';
import type { Posted } from '../../outbox/slack-port.ts';
import type { Schema } from '../../store/schema.ts';
import { type ExportRequest, type ExportSummary, exportStates } from '../model.ts';

export type ExportRow = Selectable<Schema['exports']>;

/** A database or a transaction in it. */
export type Db = Kysely<Schema> | Transaction<Schema>;

type NewExport = Pick<
  ExportRow,
  'id' | 'tenant' | 'enterprise_id' | 'team_id' | 'user_id' | 'channel' | 'request' | 'asked_at'
>;

/** Serializes the start of a person's exports until the transaction ends. */
export async function lockExportsOf(
  trx: Transaction<Schema>,
  { tenant, userId }: { readonly tenant: string; readonly userId: string },
): Promise<void> {
  const name = `cdn-chatops/exports/${tenant}/${userId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(trx);
}

/** Adds an export in the state `asked`. */
export async function addExport(db: Db, row: NewExport): Promise<ExportRow> {
  return db
    .insertInto('exports')
    .values({ ...row, state: 'asked', attempt: 0, row_count: 0, byte_count: 0, files: '[]' })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Deletes an export that never began. */
export async function dropExport(db: Db, id: string): Promise<void> {
  await db.deleteFrom('exports').where('id', '=', id).where('state', '=', 'asked').execute();
}

export async function findExport(db: Db, id: string): Promise<ExportRow | undefined> {
  return db.selectFrom('exports').selectAll().where('id', '=', id).executeTakeFirst();
}

/** A person's exports, newest first. */
export async function findExportsOf(
  db: Db,
  person: { readonly tenant: string; readonly userId: string },
  most: number,
): Promise<ExportRow[]> {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('tenant', '=', person.tenant)
    .where('user_id', '=', person.userId)
    .where('request', 'is not', null)
    .orderBy('asked_at', 'desc')
    .limit(most)
    .execute();
}

/** Exports that have not ended: a person's, a tenant's, or all. */
export async function findUnfinishedExports(
  db: Db,
  of: { readonly tenant?: string; readonly userId?: string | undefined } = {},
): Promise<ExportRow[]> {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('ended_at', 'is', null)
    .$if(of.tenant !== undefined, (query) => query.where('tenant', '=', of.tenant ?? ''))
    .$if(of.userId !== undefined, (query) => query.where('user_id', '=', of.userId ?? ''))
    .execute();
}

const stored = z.object({
  shieldZoneId: z.string(),
  from: z.number(),
  to: z.number(),
  query: z.string(),
  filters: z.array(z.object({ field: z.string(), op: z.string(), value: z.array(z.string()) })),
  spreadsheetSafe: z.boolean(),
  pseudonyms: z.boolean(),
  split: z.boolean(),
});

export function writeRequest({ from, to, ...rest }: ExportRequest): string {
  return JSON.stringify({ ...rest, from: from.getTime(), to: to.getTime() });
}

function readRequest(text: string): ExportRequest {
  const { from, to, ...rest } = stored.parse(JSON.parse(text));
  return { ...rest, from: new Date(from), to: new Date(to) };
}

const forgotten: ExportRequest = {
  shieldZoneId: '0',
  from: new Date(0),
  to: new Date(0),
  query: '',
  filters: [],
  spreadsheetSafe: false,
  pseudonyms: false,
  split: false,
};

export function toExportSummary(row: ExportRow): ExportSummary {
  return {
    id: row.id,
    userId: row.user_id,
    channel: row.channel ?? undefined,
    request: row.request === null ? forgotten : readRequest(row.request),
    state: z.enum(exportStates).parse(row.state),
    rows: row.row_count,
    bytes: row.byte_count,
    askedAt: row.asked_at,
    endedAt: row.ended_at ?? undefined,
    filesDeletedAt: row.files_deleted_at ?? undefined,
  };
}

export function requesterOf(row: ExportRow): Person {
  return { ...installationOf(row), userId: row.user_id };
}

export function installationOf(row: ExportRow): Installation {
  return { teamId: row.team_id, enterpriseId: row.enterprise_id ?? undefined };
}

export function firstMessageOf(row: ExportRow): Posted | undefined {
  return row.message_channel === null || row.message_ts === null
    ? undefined
    : { channel: row.message_channel, ts: row.message_ts };
}

export function fileIdsOf(row: ExportRow): string[] {
  return z.array(z.string()).parse(JSON.parse(row.files));
}
