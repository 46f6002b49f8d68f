import { type RawBuilder, sql } from 'kysely';
import { takeLock } from '../../store/database.ts';
import type { Db, Trx } from '../../store/schema.ts';
import type { Audit, AuditEvent } from '../audit/audit.ts';
import { tenantId } from '../identity.ts';
import { describeChange } from './changes.ts';
import { findKnownPeople } from './known-people.ts';
import {
  endPending,
  findPending,
  insertPending,
  type NewPendingChange,
  type PendingChange,
  type PendingMessages,
} from './pending.ts';
import { initialPolicy, type Policy, policyBody } from './policy.ts';

export interface PolicyVersion {
  readonly policy: Policy;
  readonly by: string;
  readonly at: Date;
}

/** A change of settings, from the version `base`. */
interface PolicyChange {
  readonly tenant: string;
  readonly base: number;
  readonly policy: Policy;
  readonly by: string;
  /** In words, for the audit. */
  readonly difference: readonly string[];
}

interface Options {
  readonly db: Db;
  readonly audit: Audit;
  readonly now: () => Date;
  readonly messages: PendingMessages;
}

/** The settings of each organisation or workspace, with every older version. */
export type Policies = ReturnType<typeof createPolicies>;

export function createPolicies({ db, audit, now, messages }: Options) {
  /** Changes of one tenant's settings run one after the other. */
  const inTurn = <T>(tenant: string, work: (trx: Trx) => Promise<T>): Promise<T> =>
    db.transaction().execute(async (trx) => {
      await takeLock(trx, `policies/${tenant}`);
      return work(trx);
    });

  /** Stores the version after `base` and its record; false where the settings are not at `base`. */
  const store = async (trx: Trx, change: PolicyChange, secondAdmin?: string): Promise<boolean> => {
    const { tenant, base, policy, by } = change;
    if (!(await isCurrent(trx, tenant, base))) return false;
    const { version: _, ...body } = policy;
    await trx
      .insertInto('policies')
      .values({ tenant, version: base + 1, body: JSON.stringify(body), changed_by: by, changed_at: now() })
      .execute();
    const overtaken = await endPending(trx, tenant, { state: 'void', by, at: now() });
    if (overtaken) await messages.ended(trx, overtaken);
    const confirmed = secondAdmin === undefined ? undefined : { confirmed: `confirmed by ${secondAdmin}` };
    await record(trx, 'policy-changed', change, confirmed);
    return true;
  };

  const record = (
    trx: Trx,
    event: AuditEvent,
    { tenant, base, by, difference }: Omit<PolicyChange, 'policy'>,
    more: Record<string, string> | undefined,
  ): Promise<void> => {
    const changes = Object.fromEntries(difference.map((line, index) => [`change${index + 1}`, line]));
    const detail = { ...changes, ...more };
    return audit.record({ tenant, actor: by, event, subject: `policy v${base + 1}`, detail }, trx);
  };

  return {
    current: async (tenant: string): Promise<Policy> =>
      (await findVersion(db, tenant))?.policy ?? initialPolicy,
    version: async (tenant: string, version: number): Promise<PolicyVersion | undefined> =>
      Number.isSafeInteger(version) ? findVersion(db, tenant, version) : undefined,
    /** User ids that the bot has met there, at most some hundred. */
    knownPeople: (tenant: string): Promise<string[]> => findKnownPeople(db, tenant),
    /**
     * Saves the version after `base`, with its audit record in the same transaction. Of two admins who save at once the
     * second receives the version of the first, or undefined where the base version never existed.
     */
    async save(change: PolicyChange) {
      const { tenant, base, policy } = change;
      const saved = await inTurn(tenant, (trx) => store(trx, change));
      if (saved) return { saved, policy: { ...policy, version: base + 1 } } as const;
      return { saved, meanwhile: await findVersion(db, tenant) } as const;
    },
    /** The change with this id, or the one that waits for a second admin. */
    pending: (tenant: string, id?: string): Promise<PendingChange | undefined> =>
      findPending(db, tenant, now(), id),
    /**
     * Stores a change of the version in `policy` for a second admin, in place of one that waits. Undefined where the
     * settings have another version.
     */
    async propose(change: NewPendingChange): Promise<PendingChange | undefined> {
      const tenant = tenantId(change.author);
      const { version: base } = change.policy;
      const by = change.author.userId;
      return inTurn(tenant, async (trx) => {
        if (!(await isCurrent(trx, tenant, base))) return undefined;
        const replaced = await endPending(trx, tenant, { state: 'void', by, at: now() });
        if (replaced) await messages.ended(trx, replaced);
        const pending = await insertPending(trx, change, now());
        await messages.queue(trx, pending);
        const difference = change.changes.map(describeChange);
        await record(trx, 'policy-asked', { tenant, base, by, difference }, undefined);
        return pending;
      });
    },
    /** Makes a change that waits hold, by another admin than its author. False where it no longer waits. */
    async confirm({ id, author, policy, changes }: PendingChange, by: string): Promise<boolean> {
      if (by === author.userId) throw new Error('an author cannot be their own second admin');
      const tenant = tenantId(author);
      const difference = changes.map(describeChange);
      const change = { tenant, base: policy.version, policy, by: author.userId, difference };
      return inTurn(tenant, async (trx) => {
        const ended = await endPending(trx, tenant, { state: 'confirmed', by, at: now() }, id);
        if (!ended) return false;
        await messages.ended(trx, ended);
        // Else its base would have been overtaken, which ends it.
        if (!(await store(trx, change, by))) throw new Error('a waiting change has an old base');
        return true;
      });
    },
    /** Ends a change that waits; its author takes it back with it. False where it no longer waits. */
    async reject({ id, author, policy, changes }: PendingChange, by: string): Promise<boolean> {
      const tenant = tenantId(author);
      return inTurn(tenant, async (trx) => {
        const ended = await endPending(trx, tenant, { state: 'rejected', by, at: now() }, id);
        if (!ended) return false;
        await messages.ended(trx, ended);
        const difference = changes.map(describeChange);
        const rejected = { tenant, base: policy.version, by, difference };
        await record(trx, 'policy-rejected', rejected, { asked: `asked by ${author.userId}` });
        return true;
      });
    },
  };
}

/** One version, or the current one; undefined where no admin has saved it. Throws where it cannot be read: deny all. */
async function findVersion(db: Db, tenant: string, version?: number): Promise<PolicyVersion | undefined> {
  let rows = db.selectFrom('policies').selectAll().where('tenant', '=', tenant);
  if (version !== undefined) rows = rows.where('version', '=', version);
  const row = await rows.orderBy('version', 'desc').limit(1).executeTakeFirst();
  if (!row) return undefined;
  return { policy: readPolicy(row), by: row.changed_by, at: row.changed_at };
}

/** A version of the settings as it is stored; null where no admin has saved any. */
export type StoredPolicy = { readonly version: number; readonly body: string } | null;

/** A column for a query: the current settings of a tenant, for `readPolicy`. */
export function currentPolicyColumn(tenant: RawBuilder<unknown>) {
  return sql<StoredPolicy>`(
    select json_build_object('version', version, 'body', body) from policies
     where policies.tenant = ${tenant} order by version desc limit 1)`;
}

/** Throws where they cannot be read: deny all. */
export function readPolicy(stored: StoredPolicy): Policy {
  if (!stored) return initialPolicy;
  return { ...policyBody.parse(JSON.parse(stored.body)), version: stored.version };
}

async function isCurrent(trx: Trx, tenant: string, version: number): Promise<boolean> {
  return ((await findVersion(trx, tenant))?.policy.version ?? 0) === version;
}

/** Every tenant whose admins have saved settings. */
export async function findPolicyTenants(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('policies').select('tenant').distinct().orderBy('tenant').execute();
  return rows.map(({ tenant }) => tenant);
}
