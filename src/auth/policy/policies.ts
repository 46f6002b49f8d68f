import { takeLock } from '../../store/database.ts';
import type { Db } from '../../store/schema.ts';
import type { Audit } from '../audit/audit.ts';
import { initialPolicy, type Policy, policyBody } from './policy.ts';

interface PolicyVersion {
  readonly policy: Policy;
  readonly by: string;
  readonly at: Date;
}

interface PolicyChange {
  readonly tenant: string;
  readonly base: number;
  readonly policy: Policy;
  readonly by: string;
  readonly difference: readonly string[];
  readonly confirmedBy?: string | undefined;
}

const mostRecords = 1_000;

export type Policies = ReturnType<typeof createPolicies>;

export function createPolicies({ db, audit, now }: { db: Db; audit: Audit; now: () => Date }) {
  return {
    current: async (tenant: string): Promise<Policy> =>
      (await findVersion(db, tenant))?.policy ?? initialPolicy,
    version: (tenant: string, version: number) => findVersion(db, tenant, version),
    /** User ids that the bot has met. Admins come first. */
    async knownPeople(tenant: string): Promise<string[]> {
      const saved = db.selectFrom('policies').select('changed_by as id').where('tenant', '=', tenant);
      const linked = db.selectFrom('linked_keys').select('user_id as id').where('tenant', '=', tenant);
      const records = db.selectFrom('audit_records').select('actor as id').where('tenant', '=', tenant);
      const found = [];
      for (const query of [saved, linked, records.orderBy('seq', 'desc').limit(mostRecords)])
        found.push(...(await query.execute()));
      return [...new Set(found.map(({ id }) => id))].filter((id) => /^[UW]/u.test(id));
    },
    /** Saves the version after `base`; if two admins save at once, the second receives that of the first. */
    async save({ tenant, base, policy, by, difference, confirmedBy }: PolicyChange) {
      const { version: _, ...body } = policy;
      const saved = await db.transaction().execute(async (trx) => {
        await takeLock(trx, `policies/${tenant}`);
        if (((await findVersion(trx, tenant))?.policy.version ?? 0) !== base) return false;
        const changed = { changed_by: by, changed_at: now() };
        const row = { tenant, version: base + 1, body: JSON.stringify(body), ...changed };
        await trx.insertInto('policies').values(row).execute();
        const changes = Object.fromEntries(difference.map((line, index) => [`change${index + 1}`, line]));
        const confirmed = confirmedBy === undefined ? {} : { confirmed: `confirmed by ${confirmedBy}` };
        const record = { event: 'policy-changed', subject: `policy v${base + 1}` } as const;
        await audit.record({ ...record, tenant, actor: by, detail: { ...changes, ...confirmed } }, trx);
        return true;
      });
      if (saved) return { saved, policy: { ...policy, version: base + 1 } } as const;
      return { saved, meanwhile: await findVersion(db, tenant) } as const;
    },
  };
}

/** One version, or the current one; undefined where no admin has saved it. @throws where it cannot be read: deny all */
async function findVersion(db: Db, tenant: string, version?: number): Promise<PolicyVersion | undefined> {
  let rows = db.selectFrom('policies').selectAll().where('tenant', '=', tenant);
  if (version !== undefined) rows = rows.where('version', '=', version);
  const row = await rows.orderBy('version', 'desc').limit(1).executeTakeFirst();
  if (!row) return undefined;
  const policy = { ...policyBody.parse(JSON.parse(row.body)), version: row.version };
  return { policy, by: row.changed_by, at: row.changed_at };
}
