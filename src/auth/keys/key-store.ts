import { createHash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import type { Secret } from '../../secrets/secret.ts';
import { takeLock } from '../../store/database.ts';
import type { Db } from '../../store/schema.ts';
import { type Audit, type AuditInput, createAudit } from '../audit/audit.ts';
import { type Person, tenantId } from '../identity.ts';
import {
  destroySlot,
  newestVersion,
  openRow,
  SealError,
  type SealedTable,
  type Sealer,
  type Slot,
  sealRow,
} from './sealing.ts';

export interface LinkedKey {
  /** Tells two keys apart and nothing else: 8 hexadecimal characters. */
  readonly fingerprint: string;
  readonly linkedAt: Date;
}

export interface RevealedKey extends LinkedKey {
  readonly key: Secret;
  readonly version: number;
}

export class LinkedKeyError extends SealError {}

interface KeyChangeReason {
  readonly actor?: string;
  readonly cause?: string;
}

export type KeyStore = ReturnType<typeof createKeyStore>;

export const linkedKeysTable: SealedTable = {
  name: 'linked_keys',
  kind: 'cdn-key',
  owner: 'user_id',
  noun: ['linked key', 'linked keys'],
};

/** Keeps each person's CDN key, sealed for that person. Changes are audited in their transaction. */
export function createKeyStore(options: { db: Db; sealer: Sealer; now: () => Date; audit?: Audit }) {
  const { db, sealer, now, audit = createAudit({ db, now }) } = options;

  const find = (person: Person, on: Db = db) => {
    const rows = on.selectFrom('linked_keys').selectAll().select(newestVersion(linkedKeysTable));
    const key = { tenant: tenantId(person), user_id: person.userId };
    return rows.where((is) => is.and(key)).executeTakeFirst();
  };

  return {
    async link(person: Person, key: Secret, reason: KeyChangeReason = {}): Promise<LinkedKey> {
      const slot = slotOf(person);
      const { tenant, userId } = slot;
      // A separate hash domain: another program may print a plain hash of a key.
      const hash = createHash('sha256').update(`cdn-chatops key fingerprint\0${key.reveal()}`).digest('hex');
      const linked = { fingerprint: hash.slice(0, 8), linkedAt: now() };
      await db.transaction().execute(async (trx) => {
        // Linking shares the lock; destroying the keys of a tenant waits for all of it.
        await takeLock(trx, `link/${tenant}`, '_shared');
        const row = {
          team_id: person.teamId,
          fingerprint: linked.fingerprint,
          linked_at: linked.linkedAt,
          ...(await sealRow(trx, sealer, key, slot, now())),
        };
        // Sealing holds the person's version, so no other changes the row meanwhile.
        const replaced = (await find(person, trx)) !== undefined;
        await trx
          .insertInto('linked_keys')
          .values({ tenant, user_id: userId, ...row })
          .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet(row))
          .execute();
        const detail = { fingerprint: linked.fingerprint, replaced };
        await audit.record(keyEvent('key-linked', slot, reason, detail), trx);
      });
      return linked;
    },
    /** @throws LinkedKeyError when the stored row does not open for this person, or is not the newest; that is audited. */
    async reveal(person: Person): Promise<RevealedKey | undefined> {
      const row = await find(person);
      if (!row) return undefined;
      try {
        const key = await openRow(sealer, row, slotOf(person));
        return { fingerprint: row.fingerprint, linkedAt: row.linked_at, version: row.version, key };
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        const { code } = error;
        await audit.record(keyEvent('key-mismatch', slotOf(person), { actor: 'system' }, { code }));
        throw new LinkedKeyError(code, error.message, error.keyId);
      }
    },
    async describe(person: Person): Promise<LinkedKey | undefined> {
      const row = await find(person);
      return row && { fingerprint: row.fingerprint, linkedAt: row.linked_at };
    },
    async forget(person: Person, reason: KeyChangeReason = {}): Promise<boolean> {
      const slot = slotOf(person);
      if (!(await find(person))) return false;
      return db.transaction().execute(async (trx) => {
        if (!(await destroySlot(trx, linkedKeysTable, slot, now()))) return false;
        await audit.record(keyEvent('key-destroyed', slot, reason), trx);
        return true;
      });
    },
    async forgetTenant(tenant: string, reason: KeyChangeReason = {}): Promise<number> {
      return db.transaction().execute(async (trx) => {
        await takeLock(trx, `link/${tenant}`);
        const rows = trx.selectFrom('linked_keys').select(['tenant', 'user_id as userId']);
        const owners = await rows.where('tenant', '=', tenant).orderBy('user_id').execute();
        for (const owner of owners) await destroySlot(trx, linkedKeysTable, owner, now());
        for (const owner of owners)
          await audit.record(keyEvent('key-destroyed', owner, { actor: 'system', ...reason }), trx);
        return owners.length;
      });
    },
    async usersOfTeam(tenant: string, teamId: string): Promise<string[]> {
      const rows = db.selectFrom('linked_keys').select('user_id');
      const found = await rows.where((is) => is.and({ tenant, team_id: teamId })).execute();
      return found.map((row) => row.user_id);
    },
  };
}

/** The key of a person without whom a job cannot run. @throws UserError if they have no key, and LinkedKeyError. */
export async function requireKey(keyStore: Pick<KeyStore, 'reveal'>, person: Person): Promise<RevealedKey> {
  const linked = await keyStore.reveal(person);
  if (linked) return linked;
  throw new UserError(
    `<@${person.userId}> no longer has a CDN key connected.`,
    'Connect one, then ask again.',
    'connect',
  );
}

function keyEvent(
  event: 'key-linked' | 'key-destroyed' | 'key-mismatch',
  { tenant, userId }: Omit<Slot, 'kind'>,
  { actor = userId, cause }: KeyChangeReason,
  detail: Record<string, string | boolean> = {},
): AuditInput {
  return { tenant, actor, event, subject: userId, detail: { ...detail, cause } };
}

// Within an organization a person is the same in every workspace, so the workspace is not part of the binding.
function slotOf(person: Person): Slot {
  return { tenant: tenantId(person), userId: person.userId, kind: linkedKeysTable.kind };
}
