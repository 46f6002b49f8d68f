import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Schema } from '../../store/schema.ts';

export type CheckpointRow = Selectable<Schema['audit_checkpoints']>;

/** One of a row's: what was noted of the chain, signed. */
export interface StoredCheckpoint {
  readonly tenant: string;
  readonly seq: number;
  readonly head: string;
  readonly at: Date;
  readonly kid: string;
  readonly signature: string;
}

/** Whether a tenant's checkpoint of a day was claimed. One that Slack refused may be claimed again. */
export async function isCheckpointClaimed(
  db: Kysely<Schema>,
  { tenant, day }: { readonly tenant: string; readonly day: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('audit_checkpoints')
    .select('state')
    .where('tenant', '=', tenant)
    .where('day', '=', day)
    .executeTakeFirst();
  return row !== undefined && row.state !== 'failed';
}

/**
 * Takes a tenant's checkpoint of a day, for one caller among all processes: false = it is taken. One that Slack refused
 * may be taken again.
 */
export async function claimCheckpoint(
  db: Kysely<Schema>,
  row: Insertable<Schema['audit_checkpoints']>,
): Promise<boolean> {
  const { tenant: _tenant, day: _day, ...columns } = row;
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('audit_checkpoints')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'day'])
        .doUpdateSet({ ...columns, code: null })
        .where('audit_checkpoints.state', '=', 'failed'),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

export async function updateCheckpoint(
  db: Kysely<Schema>,
  { tenant, day }: { readonly tenant: string; readonly day: string },
  change: Partial<Pick<CheckpointRow, 'state' | 'code' | 'seq' | 'head' | 'at' | 'kid' | 'signature'>>,
): Promise<void> {
  await db
    .updateTable('audit_checkpoints')
    .set(change)
    .where('tenant', '=', tenant)
    .where('day', '=', day)
    .execute();
}

/** The newest day's, whatever became of it. */
export function findLastCheckpointDay(
  db: Kysely<Schema>,
  tenant: string,
): Promise<CheckpointRow | undefined> {
  return db
    .selectFrom('audit_checkpoints')
    .selectAll()
    .where('tenant', '=', tenant)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The newest that is in a channel. */
export async function findLastCheckpoint(
  db: Kysely<Schema>,
  tenant: string,
): Promise<(StoredCheckpoint & Pick<CheckpointRow, 'channel'>) | undefined> {
  const row = await signed(db)
    .where('tenant', '=', tenant)
    .orderBy('day', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { ...storedOf(row), channel: row.channel };
}

/** All that are in a channel, oldest first: one a day. */
export async function findCheckpoints(db: Kysely<Schema>, tenant: string): Promise<StoredCheckpoint[]> {
  return (await signed(db).where('tenant', '=', tenant).orderBy('day').execute()).map(storedOf);
}

// `unknown`: nobody knows whether Slack took it, so it may be there.
function signed(db: Kysely<Schema>) {
  return db.selectFrom('audit_checkpoints').selectAll().where('state', 'in', ['posted', 'unknown']);
}

function storedOf({ tenant, seq, head, at, kid, signature }: CheckpointRow): StoredCheckpoint {
  return { tenant, seq: seq ?? 0, head: head ?? '', at, kid: kid ?? '', signature: signature ?? '' };
}

export const auditKeyKind = 'audit-signing-key';

type KeyRow = Selectable<Schema['audit_signing_keys']>;

/** The key that signs checkpoints, sealed. There is one, in the tenant of what concerns the whole deployment. */
export function findSigningKey(db: Kysely<Schema>, tenant: string): Promise<KeyRow | undefined> {
  return db.selectFrom('audit_signing_keys').selectAll().where('tenant', '=', tenant).executeTakeFirst();
}

/** Waits until no other transaction makes one. */
export async function lockSigningKey(trx: Transaction<Schema>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('cdn-chatops/audit-signing-key', 0))`.execute(trx);
}

export async function addSigningKey(trx: Transaction<Schema>, row: KeyRow): Promise<void> {
  await trx.insertInto('audit_signing_keys').values(row).execute();
}
