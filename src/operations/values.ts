import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { z } from 'zod';
import { selectNewestVersion } from '../auth/keyring/sealed-versions.ts';
import { readKeyId, type SealContext, SealError, type Sealer } from '../auth/keys/sealing.ts';
import { advanceVersion, checkVersion } from '../auth/keys/versions.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import { Secret } from '../secrets/secret.ts';
import type { Schema } from '../store/schema.ts';
import type { OperationRow } from './queries.ts';
import { toJson } from './request.ts';
import {
  deleteOperationValue,
  findIdleOperationValues,
  findOperationValue,
  findOperationValuesOf,
  putOperationValue,
  variableValueKind,
} from './value-queries.ts';

/** Whose value: as it is stored, so that what is opened is what belongs to that row. */
export type ValueOwner = Pick<OperationRow, 'id' | 'tenant' | 'enterprise_id' | 'user_id'>;

type Found =
  | { readonly value: Secret }
  | { readonly missing: 'value' | 'key' }
  | { readonly missing: 'other' };

/** The values of variables, sealed for the person and the operation. */
export interface OperationValues {
  /** Stores what `commit` made ready. */
  put(trx: Transaction<Schema>, owner: ValueOwner, committed: Committed): Promise<void>;
  /** `other`: what is kept is not what was committed to. */
  open(db: Kysely<Schema>, owner: ValueOwner & Pick<OperationRow, 'value_mac'>): Promise<Found>;
  destroy(trx: Transaction<Schema>, owner: ValueOwner): Promise<void>;
  /** Destroys those of one person, or of a tenant. */
  destroyOf(tenant: string, userId: string | undefined): Promise<void>;
  destroyIdle(): Promise<number>;
}

/** A value with what stands for it in the seal. */
export interface Committed {
  readonly mac: string;
  readonly packed: Secret;
}

// Tried again within a day, undone within half an hour; the newest value of a variable is what the next undo needs.
const kept = { ended: dayMs, overtaken: 30 * minuteMs, newest: 90 * dayMs };

/**
 * An HMAC stands for the value in the seal. Its key is random and sealed with the value: whoever has the database
 * cannot try values against it, and a change of the keyring leaves it as it is.
 */
export function commit(value: Secret): Committed {
  const salt = randomBytes(32).toString('base64url');
  const mac = macOf(salt, value.reveal());
  return { mac, packed: new Secret(JSON.stringify({ salt, value: value.reveal() }), variableValueKind) };
}

export function createOperationValues(options: {
  readonly db: Kysely<Schema>;
  readonly sealer: Sealer;
  readonly now: () => Date;
}): OperationValues {
  const { db, sealer, now } = options;

  const remove = async (trx: Transaction<Schema>, tenant: string, ownerId: string): Promise<void> => {
    // The version first, as everywhere: an older copy that is put back does not open.
    await advanceVersion(trx, sealer, { tenant, userId: ownerId, kind: variableValueKind }, now());
    await deleteOperationValue(trx, tenant, ownerId);
  };
  const removeAll = async (rows: readonly { tenant: string; owner_id: string }[]): Promise<void> => {
    for (const row of rows) await db.transaction().execute((trx) => remove(trx, row.tenant, row.owner_id));
  };

  return {
    async put(trx, owner, { packed }) {
      const ownerId = ownerIdOf(owner);
      const slot = { tenant: owner.tenant, userId: ownerId, kind: variableValueKind };
      const version = await advanceVersion(trx, sealer, slot, now());
      const sealed = await sealer.seal(packed, { ...contextOf(owner), version });
      await putOperationValue(trx, {
        tenant: owner.tenant,
        owner_id: ownerId,
        operation_id: owner.id,
        sealed,
        key_id: readKeyId(sealed),
        version,
      });
    },
    async open(from, owner) {
      const ownerId = ownerIdOf(owner);
      const row = await findOperationValue(from, owner.tenant, ownerId);
      if (!row || owner.value_mac === null) return { missing: 'value' };
      try {
        const slot = { tenant: owner.tenant, userId: ownerId, kind: variableValueKind };
        checkVersion(sealer, slot, row.version, selectNewestVersion(row));
        const packed = await sealer.open(row.sealed, { ...contextOf(owner), version: row.version });
        const { salt, value } = packing.parse(toJson(packed.reveal()));
        return same(macOf(salt, value), owner.value_mac)
          ? { value: new Secret(value, variableValueKind) }
          : { missing: 'other' };
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        return { missing: error.code === 'unknown_key' ? 'key' : 'other' };
      }
    },
    async destroy(trx, owner) {
      const ownerId = ownerIdOf(owner);
      if (await findOperationValue(trx, owner.tenant, ownerId)) await remove(trx, owner.tenant, ownerId);
    },
    async destroyOf(tenant, userId) {
      await removeAll(await findOperationValuesOf(db, tenant, userId));
    },
    async destroyIdle() {
      const at = now().getTime();
      const rows = await findIdleOperationValues(db, {
        ended: new Date(at - kept.ended),
        newest: new Date(at - kept.newest),
        overtaken: new Date(at - kept.overtaken),
      });
      await removeAll(rows);
      return rows.length;
    },
  };
}

const packing = z.object({ salt: z.string(), value: z.string() });

function ownerIdOf({ user_id: userId, id }: ValueOwner): string {
  return `${userId}/${id}`;
}

function contextOf(owner: ValueOwner): SealContext {
  const place = { user: ownerIdOf(owner), kind: variableValueKind };
  return owner.enterprise_id === null
    ? { ...place, enterprise: '', team: owner.tenant }
    : { ...place, enterprise: owner.enterprise_id, team: '' };
}

function macOf(salt: string, value: string): string {
  return createHmac('sha256', salt).update(JSON.stringify(value)).digest('hex');
}

function same(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
