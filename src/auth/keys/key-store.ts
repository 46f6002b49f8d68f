import { createHash } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Secret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import { type Audit, type AuditInput, createAudit } from '../audit/audit.ts';
import { type Person, tenantId } from '../identity.ts';
import { type Slot, selectNewestVersion } from '../keyring/sealed-versions.ts';
import {
  deleteLinkedKey,
  deleteLinkedKeysOf,
  findLinkedKey,
  findLinkedUsers,
  linkedKeyKind,
  lockLinking,
  type Owner,
  putLinkedKey,
} from './linked-keys.ts';
import { readKeyId, type SealContext, SealError, type Sealer } from './sealing.ts';
import { advanceVersion, checkVersion } from './versions.ts';

export interface LinkedKey {
  /** 8 hexadecimal characters: tells two keys apart and says nothing else about them. */
  readonly fingerprint: string;
  readonly linkedAt: Date;
}

/** A person's own key does not open, as opposed to something else that is sealed. */
export class LinkedKeyError extends SealError {}

/** For the record: who did it, why, and during which request. Left out: the person themselves. */
export interface KeyChangeReason {
  readonly actor?: string | undefined;
  /** A stable word: `disconnect`, `app-uninstalled`, `user-deleted` … */
  readonly cause?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Keeps each person's CDN key, sealed for that person. Every change is audited in the transaction that makes it. */
export interface KeyStore {
  /** Stores a key; an older one is replaced. */
  link(person: Person, key: Secret, because?: KeyChangeReason): Promise<LinkedKey>;
  /** @throws LinkedKeyError when the stored row does not open for this person, or is not the newest; that is audited. */
  reveal(person: Person): Promise<(LinkedKey & { readonly key: Secret }) | undefined>;
  describe(person: Person): Promise<LinkedKey | undefined>;
  /** Destroys the key; false = there was none. */
  forget(person: Person, because?: KeyChangeReason): Promise<boolean>;
  /** Destroys every key of an organisation or workspace, where the app was removed; says how many. */
  forgetTenant(tenant: string, because?: KeyChangeReason): Promise<number>;
}

export function createKeyStore(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  now: () => Date;
  audit?: Audit;
}): KeyStore {
  const { db, sealer, now, audit = createAudit({ db, now }) } = options;
  const supersede = (trx: Transaction<Schema>, owner: Owner): Promise<number> =>
    advanceVersion(trx, sealer, slotOf(owner), now());
  return {
    async link(person, key, because = {}) {
      const owner = ownerOf(person);
      const linked = { fingerprint: fingerprintOf(key), linkedAt: now() };
      await db.transaction().execute(async (trx) => {
        await lockLinking(trx, owner.tenant, 'some');
        const version = await supersede(trx, owner);
        const sealed = await sealer.seal(key, { ...contextOf(person), version });
        const replaced = await putLinkedKey(trx, {
          tenant: owner.tenant,
          user_id: owner.userId,
          team_id: person.teamId,
          sealed,
          key_id: readKeyId(sealed),
          fingerprint: linked.fingerprint,
          linked_at: linked.linkedAt,
          version,
        });
        const detail = { fingerprint: linked.fingerprint, replaced };
        await audit.record(about('key-linked', owner, because, detail), { in: trx });
      });
      return linked;
    },
    async reveal(person) {
      const owner = ownerOf(person);
      const row = await findLinkedKey(db, owner);
      if (!row) return undefined;
      try {
        checkVersion(sealer, slotOf(owner), row.version, selectNewestVersion(row));
        const key = await sealer.open(row.sealed, { ...contextOf(person), version: row.version });
        return { fingerprint: row.fingerprint, linkedAt: row.linked_at, key };
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        await audit.record(about('key-mismatch', owner, { actor: 'system' }, { code: error.code }));
        throw new LinkedKeyError(error.code, error.message, error.keyId);
      }
    },
    async describe(person) {
      const row = await findLinkedKey(db, ownerOf(person));
      return row && { fingerprint: row.fingerprint, linkedAt: row.linked_at };
    },
    async forget(person, because = {}) {
      const owner = ownerOf(person);
      if (!(await findLinkedKey(db, owner))) return false;
      return db.transaction().execute(async (trx) => {
        // The version first, the record last, as everywhere: so that no two wait for each other.
        await supersede(trx, owner);
        if (!(await deleteLinkedKey(trx, owner))) return false;
        await audit.record(about('key-destroyed', owner, because), { in: trx });
        return true;
      });
    },
    async forgetTenant(tenant, because = {}) {
      return db.transaction().execute(async (trx) => {
        await lockLinking(trx, tenant, 'none');
        for (const userId of await findLinkedUsers(trx, tenant)) await supersede(trx, { tenant, userId });
        const destroyed = await deleteLinkedKeysOf(trx, tenant);
        for (const userId of destroyed) {
          const owner = { tenant, userId };
          await audit.record(about('key-destroyed', owner, { actor: 'system', ...because }), { in: trx });
        }
        return destroyed.length;
      });
    },
  };
}

function about(
  event: 'key-linked' | 'key-destroyed' | 'key-mismatch',
  { tenant, userId }: Owner,
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

function slotOf({ tenant, userId }: Owner): Slot {
  return { tenant, userId, kind: linkedKeyKind };
}

function ownerOf(person: Person): Owner {
  return { tenant: tenantId(person), userId: person.userId };
}

// Within an organisation a person is the same in every workspace, so the workspace is not part of what is bound.
function contextOf({ enterpriseId, teamId, userId }: Person): SealContext {
  return enterpriseId === undefined
    ? { enterprise: '', team: teamId, user: userId, kind: linkedKeyKind }
    : { enterprise: enterpriseId, team: '', user: userId, kind: linkedKeyKind };
}

// Its own domain: the same eight characters must not turn up where another program prints a plain hash of a key.
function fingerprintOf(key: Secret): string {
  return createHash('sha256')
    .update(`cdn-chatops key fingerprint\0${key.reveal()}`)
    .digest('hex')
    .slice(0, 8);
}
