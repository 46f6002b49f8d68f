import { createHash } from 'node:crypto';
import { type Insertable, type Kysely, sql, type Transaction } from 'kysely';
import type { Secret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import { type Audit, type AuditInput, createAudit } from '../audit/audit.ts';
import { type Person, tenantId } from '../identity.ts';
import {
  advanceVersion,
  newestVersion,
  openRow,
  type SealedTable,
  type Slot,
  sealRow,
} from './sealed-rows.ts';
import { type SealContext, SealError, type Sealer } from './sealing.ts';

export interface LinkedKey {
  /** 8 hexadecimal characters: tells two keys apart and says nothing else about them. */
  readonly fingerprint: string;
  readonly linkedAt: Date;
}

/** A person's own key does not open, as opposed to another sealed value. */
export class LinkedKeyError extends SealError {}

/** For the audit: the actor, the cause and the request. The actor is the person themselves where it is left out. */
export interface KeyChangeReason {
  readonly actor?: string | undefined;
  /** A stable word: `disconnect`, `app-uninstalled`, `user-deleted` … */
  readonly cause?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Keeps each person's CDN key, sealed for that person. Every change is audited in the transaction that makes it. */
export interface KeyStore {
  /** Stores a key in place of an older one. */
  link(person: Person, key: Secret, reason?: KeyChangeReason): Promise<LinkedKey>;
  /** @throws LinkedKeyError when the stored row does not open for this person, or is not the newest; that is audited. */
  reveal(person: Person): Promise<(LinkedKey & { readonly key: Secret }) | undefined>;
  describe(person: Person): Promise<LinkedKey | undefined>;
  /** Destroys the key; false = there was none. */
  forget(person: Person, reason?: KeyChangeReason): Promise<boolean>;
  /** Destroys every key of a tenant whose app was removed; returns how many. */
  forgetTenant(tenant: string, reason?: KeyChangeReason): Promise<number>;
  /** The people who linked a key from one workspace of an organisation. */
  usersOfTeam(tenant: string, teamId: string): Promise<string[]>;
}

export const linkedKeysTable: SealedTable = {
  name: 'linked_keys',
  kind: 'cdn-key',
  owner: 'user_id',
  noun: ['linked key', 'linked keys'],
};

export function createKeyStore(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  now: () => Date;
  audit?: Audit;
}): KeyStore {
  const { db, sealer, now, audit = createAudit({ db, now }) } = options;

  const find = (person: Person) =>
    db
      .selectFrom('linked_keys')
      .selectAll()
      .select(newestVersion(linkedKeysTable))
      .where('tenant', '=', tenantId(person))
      .where('user_id', '=', person.userId)
      .executeTakeFirst();

  const revoke = (trx: Transaction<Schema>, tenant: string, userId: string): Promise<number> => {
    const slot: Slot = { tenant, userId, kind: linkedKeysTable.kind };
    return advanceVersion(trx, sealer, slot, now());
  };

  return {
    async link(person, key, reason = {}) {
      const tenant = tenantId(person);
      const { userId, teamId } = person;
      const linked = { fingerprint: fingerprintOf(key), linkedAt: now() };
      await db.transaction().execute(async (trx) => {
        await lockLinking(trx, tenant, 'shared');
        const replaced = await putLinkedKey(trx, {
          tenant,
          user_id: userId,
          team_id: teamId,
          fingerprint: linked.fingerprint,
          linked_at: linked.linkedAt,
          ...(await sealRow(trx, sealer, key, contextOf(person), now())),
        });
        const detail = { fingerprint: linked.fingerprint, replaced };
        await audit.record(keyEvent('key-linked', tenant, userId, reason, detail), { in: trx });
      });
      return linked;
    },
    async reveal(person) {
      const row = await find(person);
      if (!row) return undefined;
      try {
        const key = await openRow(sealer, row, contextOf(person));
        return { fingerprint: row.fingerprint, linkedAt: row.linked_at, key };
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        const { code } = error;
        await audit.record(
          keyEvent('key-mismatch', tenantId(person), person.userId, { actor: 'system' }, { code }),
        );
        throw new LinkedKeyError(code, error.message, error.keyId);
      }
    },
    async describe(person) {
      const row = await find(person);
      return row && { fingerprint: row.fingerprint, linkedAt: row.linked_at };
    },
    async forget(person, reason = {}) {
      const tenant = tenantId(person);
      const { userId } = person;
      if (!(await find(person))) return false;
      return db.transaction().execute(async (trx) => {
        // The version first and the audit last, as everywhere, so that no two transactions wait for each other.
        await revoke(trx, tenant, userId);
        const { numDeletedRows } = await trx
          .deleteFrom('linked_keys')
          .where('tenant', '=', tenant)
          .where('user_id', '=', userId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await audit.record(keyEvent('key-destroyed', tenant, userId, reason), { in: trx });
        return true;
      });
    },
    async forgetTenant(tenant, reason = {}) {
      return db.transaction().execute(async (trx) => {
        await lockLinking(trx, tenant, 'exclusive');
        const rows = await trx
          .selectFrom('linked_keys')
          .select('user_id')
          .where('tenant', '=', tenant)
          .orderBy('user_id')
          .execute();
        for (const { user_id: userId } of rows) await revoke(trx, tenant, userId);
        const destroyed = await trx
          .deleteFrom('linked_keys')
          .where('tenant', '=', tenant)
          .returning('user_id')
          .execute();
        for (const userId of destroyed.map((row) => row.user_id).toSorted()) {
          const event = keyEvent('key-destroyed', tenant, userId, { actor: 'system', ...reason });
          await audit.record(event, { in: trx });
        }
        return destroyed.length;
      });
    },
    async usersOfTeam(tenant, teamId) {
      const rows = await db
        .selectFrom('linked_keys')
        .select('user_id')
        .where('tenant', '=', tenant)
        .where('team_id', '=', teamId)
        .execute();
      return rows.map((row) => row.user_id);
    },
  };
}

/** Until the end of the transaction. Linking shares the lock; destroying the keys of a tenant waits for all of it. */
async function lockLinking(
  trx: Transaction<Schema>,
  tenant: string,
  mode: 'shared' | 'exclusive',
): Promise<void> {
  const lock = mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  await sql`select ${sql.raw(lock)}(hashtextextended(${`cdn-chatops/link/${tenant}`}, 0))`.execute(trx);
}

/** Stores a person's row; true = it replaced an older one. The caller holds the person's version, so no other inserts. */
async function putLinkedKey(
  trx: Transaction<Schema>,
  row: Insertable<Schema['linked_keys']>,
): Promise<boolean> {
  const { tenant, user_id, ...rest } = row;
  const { numUpdatedRows } = await trx
    .updateTable('linked_keys')
    .set(rest)
    .where('tenant', '=', tenant)
    .where('user_id', '=', user_id)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return true;
  await trx.insertInto('linked_keys').values(row).execute();
  return false;
}

function keyEvent(
  event: 'key-linked' | 'key-destroyed' | 'key-mismatch',
  tenant: string,
  userId: string,
  { actor = userId, cause, requestId }: KeyChangeReason,
  detail: Record<string, string | boolean> = {},
): AuditInput {
  return {
    tenant,
    actor,
    event,
    subject: userId,
    detail: cause === undefined ? detail : { ...detail, cause },
    requestId,
  };
}

// Within an organisation a person is the same in every workspace, so the workspace is not part of the binding.
function contextOf({ enterpriseId, teamId, userId }: Person): SealContext {
  const { kind } = linkedKeysTable;
  return enterpriseId === undefined
    ? { enterprise: '', team: teamId, user: userId, kind }
    : { enterprise: enterpriseId, team: '', user: userId, kind };
}

// A hash domain of its own: the same eight characters must not appear where another program prints a plain hash of a key.
function fingerprintOf(key: Secret): string {
  return createHash('sha256')
    .update(`cdn-chatops key fingerprint\0${key.reveal()}`)
    .digest('hex')
    .slice(0, 8);
}
