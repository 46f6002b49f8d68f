import { createCache } from '../../lib/cache.ts';
import type { Db } from '../../store/schema.ts';
import type { Audit } from '../audit/audit.ts';
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

/** The settings of each organisation or workspace, with every older version. */
export type Policies = ReturnType<typeof createPolicies>;

export function createPolicies({ db, audit, now }: { db: Db; audit: Audit; now: () => Date }) {
  // A change by another process is seen this much later. Everything that does more than read asks afresh.
  const cache = createCache<Policy>({ now, maxEntries: 1_000, ttlMs: 5_000 });

  return {
    /** At most seconds old; `fresh` reads now. */
    current: (tenant: string, options?: { readonly fresh?: boolean }): Promise<Policy> =>
      cache.load(tenant, async () => (await findVersion(db, tenant))?.policy ?? initialPolicy, options),
    version: async (tenant: string, version: number): Promise<PolicyVersion | undefined> =>
      Number.isSafeInteger(version) ? findVersion(db, tenant, version) : undefined,
    /**
     * Saves the version after `base`, with its audit record in the same transaction. Of two admins who save at once the
     * second receives the version of the first, or undefined where the base version never existed.
     */
    async save({ tenant, base, policy, by, difference }: PolicyChange) {
      const next = { ...policy, version: base + 1 };
      const { version, ...body } = next;
      const saved = await db.transaction().execute(async (trx) => {
        const last = await findVersion(trx, tenant);
        if ((last?.policy.version ?? 0) !== base) return false;
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('policies')
          .values({ tenant, version, body: JSON.stringify(body), changed_by: by, changed_at: now() })
          .onConflict((conflict) => conflict.columns(['tenant', 'version']).doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows !== 1n) return false;
        const detail = Object.fromEntries(difference.map((line, index) => [`change${index + 1}`, line]));
        const subject = `policy v${version}`;
        await audit.record({ tenant, actor: by, event: 'policy-changed', subject, detail }, trx);
        return true;
      });
      // Also a read that is under way is not kept: it may have begun before.
      cache.drop(tenant);
      if (saved) return { saved, policy: next } as const;
      return { saved, meanwhile: await findVersion(db, tenant) } as const;
    },
  };
}

/** One version, or the current one; undefined where no admin has saved it. Throws where it cannot be read: deny all. */
async function findVersion(db: Db, tenant: string, version?: number): Promise<PolicyVersion | undefined> {
  let rows = db.selectFrom('policies').selectAll().where('tenant', '=', tenant);
  if (version !== undefined) rows = rows.where('version', '=', version);
  const row = await rows.orderBy('version', 'desc').limit(1).executeTakeFirst();
  if (!row) return undefined;
  const policy = { ...policyBody.parse(JSON.parse(row.body)), version: row.version };
  return { policy, by: row.changed_by, at: row.changed_at };
}

/** Every tenant whose admins have saved settings. */
export async function findPolicyTenants(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('policies').select('tenant').distinct().orderBy('tenant').execute();
  return rows.map(({ tenant }) => tenant);
}
