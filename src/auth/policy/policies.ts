import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Schema } from '../../store/schema.ts';
import type { Audit } from '../audit/audit.ts';
import { initialPolicy, type Policy, rights } from './policy.ts';
import { addPolicy, findPolicy, findPolicyVersion, type PolicyRow } from './queries.ts';

/** A policy as it was saved. */
export interface PolicyVersion {
  readonly policy: Policy;
  readonly by: string;
  readonly at: Date;
}

type Saved =
  | { readonly saved: true; readonly policy: Policy }
  /** Somebody else saved meanwhile; undefined where the version asked for never was. */
  | { readonly saved: false; readonly meanwhile: PolicyVersion | undefined };

/** What the admins of each organisation or workspace have said, with every older version. */
export interface Policies {
  /** At most seconds old, `fresh` read now. */
  current(tenant: string, options?: { readonly fresh?: boolean }): Promise<Policy>;
  version(tenant: string, version: number): Promise<PolicyVersion | undefined>;
  /**
   * Saves the version after `base`, with its audit record in the same transaction. Of two people who save at once
   * the second gets to know what the first has saved.
   */
  save(change: {
    readonly tenant: string;
    readonly base: number;
    readonly policy: Policy;
    readonly by: string;
    /** The difference in words, for the audit. */
    readonly difference: readonly string[];
  }): Promise<Saved>;
}

// With several processes another one's change is seen this much later; what does more than read asks afresh.
const lifeMs = 5_000;
const mostTenants = 1_000;

export function createPolicies(options: {
  readonly db: Kysely<Schema>;
  readonly audit: Audit;
  readonly now: () => Date;
}): Policies {
  const { db, audit, now } = options;
  const kept = new Map<string, { readonly policy: Policy; readonly at: number }>();

  const keep = (tenant: string, policy: Policy): Policy => {
    // What was read before somebody saved may arrive after it.
    const known = kept.get(tenant)?.policy;
    const newest = known && known.version > policy.version ? known : policy;
    kept.delete(tenant);
    if (kept.size >= mostTenants) kept.delete(kept.keys().next().value ?? tenant);
    kept.set(tenant, { policy: newest, at: now().getTime() });
    return newest;
  };

  return {
    async current(tenant, { fresh = false } = {}) {
      const found = kept.get(tenant);
      if (found && !fresh && now().getTime() - found.at < lifeMs) return found.policy;
      const row = await findPolicy(db, tenant);
      return keep(tenant, row ? versionOf(row).policy : initialPolicy);
    },
    async version(tenant, version) {
      if (!Number.isSafeInteger(version) || version < 1) return undefined;
      const row = await findPolicyVersion(db, tenant, version);
      return row && versionOf(row);
    },
    async save({ tenant, base, policy, by, difference }) {
      const next = { ...policy, version: base + 1 };
      const saved = await db.transaction().execute(async (trx) => {
        const last = await findPolicy(trx, tenant);
        if ((last?.version ?? 0) !== base) return false;
        const row = { tenant, version: next.version, body: write(next), changed_by: by, changed_at: now() };
        if (!(await addPolicy(trx, row))) return false;
        await audit.record(
          {
            tenant,
            actor: by,
            event: 'policy-changed',
            subject: `policy v${next.version}`,
            detail: Object.fromEntries(difference.map((line, index) => [`change${index + 1}`, line])),
          },
          { in: trx },
        );
        return true;
      });
      if (saved) return { saved: true, policy: keep(tenant, next) };
      const row = await findPolicy(db, tenant);
      const meanwhile = row && versionOf(row);
      if (meanwhile) keep(tenant, meanwhile.policy);
      return { saved: false, meanwhile };
    },
  };
}

const ids = z.array(z.string());
const stored = z.object({
  operators: ids,
  operatorGroups: ids,
  approvers: ids,
  approverGroups: ids,
  approvalChannel: z.string().optional(),
  auditChannel: z.string().optional(),
  destroyApprovals: z.number().int().nonnegative(),
  changeApprovals: z.number().int().nonnegative(),
  expiryMinutes: z.number().int().positive(),
  caps: z.record(z.string(), z.enum(rights)),
  exportChannels: ids,
  // Younger than the first policies.
  exportKeepDays: z.number().int().nonnegative().default(0),
  digestChannels: ids,
});

// Throws where a row cannot be read: better nobody may anything than somebody too much.
function versionOf(row: PolicyRow): PolicyVersion {
  const body = stored.parse(JSON.parse(row.body));
  const { approvalChannel, auditChannel } = body;
  const policy = { ...body, approvalChannel, auditChannel, version: row.version };
  return { policy, by: row.changed_by, at: row.changed_at };
}

function write({ version: _version, ...body }: Policy): string {
  return JSON.stringify(body);
}
