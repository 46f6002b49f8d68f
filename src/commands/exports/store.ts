import type { Selectable, UpdateObject } from 'kysely';
import { z } from 'zod';
import type { Installation, Person } from '../../auth/identity.ts';
import type { Db, Schema, Trx } from '../../store/schema.ts';
import type { ExportRequest, ExportState, ExportSummary } from '../../views/exports/exports.ts';

export type ExportRow = Selectable<Schema['exports']>;

/**
 * `asked`: its first message is being posted. `sharing`: Slack was asked to show the files and has not answered.
 * `unknown`: Slack may have shown them.
 */
const states = [
  'asked',
  'waiting',
  'running',
  'sharing',
  'done',
  'failed',
  'cancelled',
  'unknown',
] as const satisfies readonly ExportState[];

/** The states in which an export can be cancelled. */
export const cancellable: readonly ExportState[] = ['asked', 'waiting', 'running'];

const storedRequest = z.object({
  shieldZoneId: z.string(),
  from: z.coerce.date(),
  to: z.coerce.date(),
  query: z.string(),
  filters: z.array(z.object({ field: z.string(), op: z.string(), value: z.array(z.string()) })),
  spreadsheetSafe: z.boolean(),
  pseudonyms: z.boolean(),
});

/** As JSON; the same request is always the same text. */
export function writeRequest(request: ExportRequest): string {
  return JSON.stringify(storedRequest.parse(request));
}

/** Of an export whose request was not erased. */
export function toExportSummary(row: ExportRow): ExportSummary {
  const state = z.enum(states).parse(row.state);
  return {
    id: row.id,
    userId: row.user_id,
    channel: row.channel ?? undefined,
    request: storedRequest.parse(JSON.parse(row.request ?? 'null')),
    state,
    canCancel: cancellable.includes(state),
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

export function installationOf(row: Pick<ExportRow, 'team_id' | 'enterprise_id'>): Installation {
  return { teamId: row.team_id, enterpriseId: row.enterprise_id ?? undefined };
}

/** Adds an export in the state `asked`. */
export async function addExport(
  trx: Trx,
  row: Pick<
    ExportRow,
    'id' | 'tenant' | 'enterprise_id' | 'team_id' | 'user_id' | 'channel' | 'request' | 'asked_at'
  >,
): Promise<void> {
  const nothing = { state: 'asked', attempt: 0, row_count: 0, byte_count: 0, files: '[]' };
  await trx
    .insertInto('exports')
    .values({ ...row, ...nothing })
    .execute();
}

/** Deletes an export that never began. */
export async function dropExport(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('exports').where('id', '=', id).execute();
}

export async function findExport(db: Db, id: string): Promise<ExportRow | undefined> {
  return db.selectFrom('exports').selectAll().where('id', '=', id).executeTakeFirst();
}

/** A person's exports, newest first. */
export async function findExportsOf(
  db: Db,
  { tenant, userId }: { readonly tenant: string; readonly userId: string },
  most: number,
): Promise<ExportRow[]> {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('user_id', '=', userId)
    .where('request', 'is not', null)
    .orderBy('asked_at', 'desc')
    .limit(most)
    .execute();
}

/** Exports of a person or of a whole tenant that have not ended. */
export async function findUnfinishedExports(
  db: Db,
  { tenant, userId }: { readonly tenant: string; readonly userId: string | undefined },
): Promise<ExportRow[]> {
  return db
    .selectFrom('exports')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('tenant', '=', tenant)
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
    .execute();
}

/** Which export moves, from which states, and which attempt has to have it. */
export interface ExportMove {
  readonly id: string;
  readonly from: readonly ExportState[];
  /** Fencing token: a process that was frozen while another attempt began can change nothing. */
  readonly run?: string;
}

/** Every change of an export is a compare-and-set. Undefined where it has moved on: another attempt, cancelled, ended. */
export async function moveExport(
  db: Db,
  { id, from, run }: ExportMove,
  change: Omit<UpdateObject<Schema, 'exports'>, 'state'> & { readonly state?: ExportState },
): Promise<ExportRow | undefined> {
  return db
    .updateTable('exports')
    .set(change)
    .where('id', '=', id)
    .where('state', 'in', from)
    .$if(run !== undefined, (query) => query.where('run', '=', run ?? ''))
    .returningAll()
    .executeTakeFirst();
}
