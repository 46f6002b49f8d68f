import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Schema } from './schema.ts';

export type ExportRow = Selectable<Schema['exports']>;

/** A database or a transaction in it. */
type Db = Kysely<Schema> | Transaction<Schema>;

type NewExport = Pick<
  ExportRow,
  'id' | 'tenant' | 'enterprise_id' | 'team_id' | 'user_id' | 'channel' | 'request' | 'asked_at'
>;

/** A new export in the state `asked`. */
export async function addExport(db: Db, row: NewExport): Promise<void> {
  await db
    .insertInto('exports')
    .values({ ...row, state: 'asked', attempt: 0, row_count: 0, byte_count: 0, files: '[]' })
    .execute();
}

/** Forgets an export that never began. */
export async function dropExport(db: Db, id: string): Promise<void> {
  await db.deleteFrom('exports').where('id', '=', id).where('state', '=', 'asked').execute();
}

export async function findExport(db: Db, id: string): Promise<ExportRow | undefined> {
  return db.selectFrom('exports').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Its message is there: it may run. False where it was ended meanwhile. */
export async function announceExport(
  db: Db,
  id: string,
  at: { readonly channel: string; readonly ts: string },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ state: 'waiting', message_channel: at.channel, message_ts: at.ts })
    .where('id', '=', id)
    .where('state', '=', 'asked')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Takes an export that waits, or whose attempt has died, for the attempt `run`. Undefined where there is none to take. */
export async function claimExport(
  db: Db,
  claim: { readonly id: string; readonly run: string; readonly now: Date; readonly leaseUntil: Date },
): Promise<ExportRow | undefined> {
  return db
    .updateTable('exports')
    .set({
      state: 'running',
      run: claim.run,
      lease_until: claim.leaseUntil,
      attempt: sql<number>`attempt + 1`,
    })
    .where('id', '=', claim.id)
    .where((row) =>
      row.or([
        row('state', '=', 'waiting'),
        row.and([row('state', '=', 'running'), row('lease_until', '<', claim.now)]),
      ]),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Says that an attempt lives, and how far it is. Undefined where the export is not its own any more. */
export async function beatExport(
  db: Db,
  beat: {
    readonly id: string;
    readonly run: string;
    readonly leaseUntil: Date;
    readonly rows: number;
    readonly bytes: number;
  },
): Promise<{ readonly cancelledBy: string | undefined } | undefined> {
  const row = await db
    .updateTable('exports')
    .set({ lease_until: beat.leaseUntil, row_count: beat.rows, byte_count: beat.bytes })
    .where('id', '=', beat.id)
    .where('run', '=', beat.run)
    .where('state', 'in', ['running', 'sharing'])
    .returning('cancelled_by')
    .executeTakeFirst();
  return row && { cancelledBy: row.cancelled_by ?? undefined };
}

/** What changes with a state. */
export interface ExportMove {
  readonly rows?: number;
  readonly bytes?: number;
  /** Ids of files in Slack. */
  readonly files?: readonly string[];
  readonly endedAt?: Date;
  readonly leaseUntil?: Date;
  /** It was not this attempt's fault: it does not count. */
  readonly uncounted?: true;
}

/**
 * Moves an export of the attempt `run` from one state to another; false where it is not there (any more). To `sharing`
 * it goes only while nobody has cancelled it.
 */
export async function moveExport(
  db: Db,
  about: { readonly id: string; readonly run: string },
  from: readonly string[],
  to: string,
  { rows, bytes, files, endedAt, leaseUntil, uncounted }: ExportMove = {},
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({
      state: to,
      lease_until: leaseUntil ?? null,
      ...(rows === undefined ? {} : { row_count: rows }),
      ...(bytes === undefined ? {} : { byte_count: bytes }),
      ...(files === undefined ? {} : { files: JSON.stringify(files) }),
      ...(endedAt === undefined ? {} : { ended_at: endedAt }),
      ...(uncounted ? { attempt: sql<number>`attempt - 1` } : {}),
    })
    .where('id', '=', about.id)
    .where('run', '=', about.run)
    .where('state', 'in', from)
    .$if(to === 'sharing', (query) => query.where('cancelled_by', 'is', null))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** An attempt that died while Slack was asked to show the files: the export ends as `unknown`. */
export async function settleUnknown(db: Db, id: string, now: Date): Promise<ExportRow | undefined> {
  return db
    .updateTable('exports')
    .set({ state: 'unknown', ended_at: now, lease_until: null })
    .where('id', '=', id)
    .where('state', '=', 'sharing')
    .where('lease_until', '<', now)
    .returningAll()
    .executeTakeFirst();
}

/** Ends an export nobody works on. */
export async function endIdleExport(
  db: Db,
  id: string,
  to: 'cancelled' | 'failed',
  { by, now }: { readonly by?: string; readonly now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ state: to, ended_at: now, ...(by === undefined ? {} : { cancelled_by: by }) })
    .where('id', '=', id)
    .where('state', 'in', ['asked', 'waiting'])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Tells the attempt that works on an export to end. False where it is too late. */
export async function askToEnd(db: Db, id: string, by: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('exports')
    .set({ cancelled_by: by })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .where('cancelled_by', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Somebody's exports, the newest first. */
export async function exportsOf(
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
export async function unfinishedExports(
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

/** With one process there is nobody else: whatever was worked on is not any more. */
export async function forgetLeases(db: Db, now: Date): Promise<void> {
  await db
    .updateTable('exports')
    .set({ lease_until: new Date(now.getTime() - 1) })
    .where('state', 'in', ['running', 'sharing'])
    .execute();
}

/** Tenants with files that may still be in Slack. */
export async function tenantsWithFiles(db: Db): Promise<string[]> {
  const rows = await remembered(db).select('tenant').distinct().execute();
  return rows.map(({ tenant }) => tenant);
}

/** A tenant's exports whose files may still be in Slack, the oldest first. */
export async function exportsWithFiles(
  db: Db,
  tenant: string,
  { endedBefore, most }: { readonly endedBefore: Date; readonly most: number },
): Promise<ExportRow[]> {
  return remembered(db)
    .selectAll()
    .where('tenant', '=', tenant)
    .where('ended_at', '<=', endedBefore)
    .orderBy('ended_at')
    .limit(most)
    .execute();
}

function remembered(db: Db) {
  return db
    .selectFrom('exports')
    .where('state', 'in', ['done', 'unknown'])
    .where('files', '!=', '[]')
    .where('files_deleted_at', 'is', null);
}

/** One export of a tenant, for whoever it belongs to. */
export async function anyExportOf(db: Db, tenant: string): Promise<ExportRow | undefined> {
  return remembered(db).selectAll().where('tenant', '=', tenant).limit(1).executeTakeFirst();
}

export async function filesDeleted(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('exports').set({ files_deleted_at: now }).where('id', '=', id).execute();
}

/** Forgets what was asked for in exports that ended before: words that people searched for. */
export async function forgetRequests(db: Db, endedBefore: Date): Promise<void> {
  await db
    .updateTable('exports')
    .set({ request: null })
    .where('ended_at', '<', endedBefore)
    .where('request', 'is not', null)
    .execute();
}

/** Forgets exports that ended before and left no files. */
export async function purgeExports(db: Db, endedBefore: Date): Promise<void> {
  await db
    .deleteFrom('exports')
    .where('ended_at', '<', endedBefore)
    .where((row) => row.or([row('files', '=', '[]'), row('files_deleted_at', 'is not', null)]))
    .execute();
}
