import { createHmac, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import {
  destroySlot,
  openSlot,
  SealError,
  type SealedTable,
  type Sealer,
  type Slot,
  sealRow,
} from '../../auth/keys/sealing.ts';
import { dayMs, minuteMs } from '../../lib/time.ts';
import { Secret } from '../../secrets/secret.ts';
import type { Db, Trx } from '../../store/schema.ts';
import type { OperationRow } from './kinds/kind.ts';
import type { Operation } from './model.ts';

export const operationValuesTable: SealedTable = {
  name: 'operation_values',
  kind: 'variable-value',
  owner: 'owner_id',
  noun: ['value of a variable', 'values of variables'],
};

export interface ValueStore {
  readonly db: Db;
  readonly sealer: Sealer;
  readonly now: () => Date;
}

type ValueTransaction = ValueStore & { readonly db: Trx };

type Owner = Pick<OperationRow, 'id' | 'tenant' | 'user_id'>;

export type ValueCommitment = { readonly mac: string; readonly packed: Secret };

/** The HMAC that stands for a value in the seal, under a random key that is sealed with it. */
export function commitToValue(value: Secret): ValueCommitment {
  const salt = randomBytes(32).toString('base64url');
  const packed = JSON.stringify({ salt, value: value.reveal() });
  return { mac: macOf(salt, value.reveal()), packed: new Secret(packed, operationValuesTable.kind) };
}

export async function storeValue(
  { db, sealer, now }: ValueTransaction,
  owner: Owner,
  { packed }: ValueCommitment,
): Promise<void> {
  const slot = slotOf(owner);
  const sealed = await sealRow(db, sealer, packed, slot, now());
  const row = { tenant: slot.tenant, owner_id: slot.userId, operation_id: owner.id, ...sealed };
  await db.insertInto('operation_values').values(row).execute();
}

/** `changed`: not the value that was committed to. `key-gone`: it went with its key. */
export async function openValue(
  { db, sealer }: Pick<ValueStore, 'db' | 'sealer'>,
  owner: Owner & Pick<OperationRow, 'value_mac'>,
): Promise<{ readonly value: Secret | undefined } | { readonly problem: 'changed' | 'key-gone' }> {
  if (owner.value_mac === null) return { value: undefined };
  try {
    const packed = await openSlot(db, sealer, operationValuesTable, slotOf(owner));
    if (!packed) return { problem: 'key-gone' };
    const { salt, value } = JSON.parse(packed.reveal()) as { readonly salt: string; readonly value: string };
    if (macOf(salt, value) !== owner.value_mac) return { problem: 'changed' };
    return { value: new Secret(value, operationValuesTable.kind) };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return { problem: error.code === 'unknown_key' ? 'key-gone' : 'changed' };
  }
}

const undoMs = 30 * minuteMs;

/** The value before a change. `late`: it is not the newest, or too long ago. `unknown`: no value is kept. */
export async function findUndo(
  store: ValueStore,
  { id, row, tenant, state, movedAt }: Operation,
): Promise<{ readonly value: Secret } | 'late' | 'unknown'> {
  const isLate = store.now().getTime() - movedAt.getTime() >= undoMs;
  if (state !== 'succeeded' || row.value_mac === null || isLate) return 'late';
  const [last, earlier] = await findLastSettings(store.db, tenant, row.path);
  if (last?.id !== id) return 'late';
  return (await openKept(store, earlier)) ?? 'unknown';
}

/** Whether a change of this variable could be undone. */
export async function isValueKept(store: ValueStore, tenant: string, path: string): Promise<boolean> {
  const [last] = await findLastSettings(store.db, tenant, path);
  return (await openKept(store, last)) !== undefined;
}

/** The last two operations that set, or may have set, the value of a variable. */
function findLastSettings(db: Db, tenant: string, path: string): Promise<OperationRow[]> {
  return db
    .selectFrom('operations')
    .selectAll()
    .where((is) => is.and({ tenant, path }))
    .where('value_mac', 'is not', null)
    .where('state', 'in', ['executing', 'unknown', 'succeeded'])
    .orderBy('moved_at', 'desc')
    .orderBy('id')
    .limit(2)
    .execute();
}

async function openKept(store: ValueStore, row: OperationRow | undefined) {
  if (row?.state !== 'succeeded') return undefined;
  const opened = await openValue(store, row);
  return 'value' in opened && opened.value ? { value: opened.value } : undefined;
}

export async function destroyValuesOf(store: ValueStore, tenant: string, userId?: string): Promise<void> {
  const isTheirs = userId === undefined ? sql`true` : sql`split_part(owner_id, '/', 1) = ${userId}`;
  const { rows } = await sql<Pick<Slot, 'tenant' | 'userId'>>`
    select tenant, owner_id as "userId" from operation_values where tenant = ${tenant} and ${isTheirs}`.execute(
    store.db,
  );
  await destroyEach(store, rows);
}

// `ended`: the outcome is unknown, or an earlier version kept it. The newest value of a variable is what the next undo restores.
const retention = { ended: dayMs, overtaken: undoMs, newest: 90 * dayMs };

export async function destroyIdleValues(store: ValueStore): Promise<number> {
  const at = store.now().getTime();
  const before = (ms: number): Date => new Date(at - ms);
  const { rows } = await sql<Pick<Slot, 'tenant' | 'userId'>>`
    select v.tenant, v.owner_id as "userId" from operation_values v join operations o on o.id = v.operation_id
     where (o.state not in ('proposed', 'approved', 'executing', 'succeeded')
            and o.moved_at < ${before(retention.ended)})
        or (o.state = 'succeeded' and (o.moved_at < ${before(retention.newest)} or exists (
             select 1 from operations later
              where later.tenant = o.tenant and later.path = o.path and later.value_mac is not null
                and later.state = 'succeeded' and later.moved_at > o.moved_at
                and later.moved_at < ${before(retention.overtaken)})))
     order by v.tenant, v.owner_id limit 1000`.execute(store.db);
  await destroyEach(store, rows);
  return rows.length;
}

async function destroyEach(store: ValueStore, owners: readonly Pick<Slot, 'tenant' | 'userId'>[]) {
  for (const owner of owners)
    await store.db.transaction().execute((trx) => destroySlot(trx, operationValuesTable, owner, store.now()));
}

export async function destroyValue({ db, now }: ValueTransaction, owner: Owner): Promise<void> {
  await destroySlot(db, operationValuesTable, slotOf(owner), now());
}

function slotOf({ tenant, user_id: userId, id }: Owner): Slot {
  return { tenant, userId: `${userId}/${id}`, kind: operationValuesTable.kind };
}

function macOf(salt: string, value: string): string {
  return createHmac('sha256', salt).update(JSON.stringify(value)).digest('hex');
}
