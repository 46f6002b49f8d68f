import type { Insertable, Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import type { Schema } from '../../store/schema.ts';
import type { Audit } from '../audit/audit.ts';
import { initialPolicy, type Policy, rights } from './policy.ts';

type PolicyRow = Selectable<Schema['policies']>;

/** A policy as it was saved. */
export interface PolicyVersion {
  readonly policy: Policy;
  readonly by: string;
  readonly at: Date;
}

type Saved =
  | { readonly saved: true; readonly policy: Policy }
  /** Another admin saved meanwhile; undefined where the base version never existed. */
  | { readonly saved: false; readonly meanwhile: PolicyVersion | undefined };

/** The settings of each organisation or workspace, with every older version. */
export interface Policies {
  /** At most seconds old; `fresh` reads now. */
  current(tenant: string, options?: { readonly fresh?: boolean }): Promise<Policy>;
  version(tenant: string, version: number): Promise<PolicyVersion | undefined>;
  /**
   * Saves the version after `base`, with its audit record in the same transaction. Of two admins who save at once the
   * second receives the version of the first.
   */
  save(change: {
    readonly tenant: string;
    readonly base: number;
    readonly policy: Policy;
    readonly by: string;
    /** In words, for the audit. */
    readonly difference: readonly string[];
  }): Promise<Saved>;
}

// A change by another process is seen this much later. Everything that does more than read asks afresh.
const cacheMs = 5_000;
const maxTenants = 1_000;

export function createPolicies(options: {
  readonly db: Kysely<Schema>;
  readonly audit: Audit;
  readonly now: () => Date;
}): Policies {
  const { db, audit, now } = options;
  const kept = new Map<string, { readonly policy: Policy; readonly at: number }>();

  const keep = (tenant: string, policy: Policy): Policy => {
    // A read that began before a save may end after it.
    const known = kept.get(tenant)?.policy;
    const newest = known && known.version > policy.version ? known : policy;
    kept.delete(tenant);
    if (kept.size >= maxTenants) kept.delete(kept.keys().next().value ?? tenant);
    kept.set(tenant, { policy: newest, at: now().getTime() });
    return newest;
  };

  return {
    async current(tenant, { fresh = false } = {}) {
      const found = kept.get(tenant);
      if (found && !fresh && now().getTime() - found.at < cacheMs) return found.policy;
      const row = await findPolicy(db, tenant);
      return keep(tenant, row ? readVersion(row).policy : initialPolicy);
    },
    async version(tenant, version) {
      if (!Number.isSafeInteger(version) || version < 1) return undefined;
      const row = await findPolicyVersion(db, tenant, version);
      return row && readVersion(row);
    },
    async save({ tenant, base, policy, by, difference }) {
      const next = { ...policy, version: base + 1 };
      const saved = await db.transaction().execute(async (trx) => {
        const last = await findPolicy(trx, tenant);
        if ((last?.version ?? 0) !== base) return false;
        const row = {
          tenant,
          version: next.version,
          body: writeBody(next),
          changed_by: by,
          changed_at: now(),
        };
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
      const meanwhile = row && readVersion(row);
      if (meanwhile) keep(tenant, meanwhile.policy);
      return { saved: false, meanwhile };
    },
  };
}

const ids = z.array(z.string());
const storedBody = z.object({
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
  exportKeepDays: z.number().int().nonnegative(),
  digestChannels: ids,
});

// Throws where a row cannot be read: deny everything rather than grant too much.
function readVersion(row: PolicyRow): PolicyVersion {
  const body = storedBody.parse(JSON.parse(row.body));
  const { approvalChannel, auditChannel } = body;
  const policy = { ...body, approvalChannel, auditChannel, version: row.version };
  return { policy, by: row.changed_by, at: row.changed_at };
}

function writeBody({ version: _version, ...body }: Policy): string {
  return JSON.stringify(body);
}

/** The current version; undefined where no admin has saved settings. */
function findPolicy(db: Kysely<Schema>, tenant: string): Promise<PolicyRow | undefined> {
  return db
    .selectFrom('policies')
    .selectAll()
    .where('tenant', '=', tenant)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
}

function findPolicyVersion(
  db: Kysely<Schema>,
  tenant: string,
  version: number,
): Promise<PolicyRow | undefined> {
  return db
    .selectFrom('policies')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('version', '=', version)
    .executeTakeFirst();
}

/** Every tenant whose admins have saved settings. */
export async function findPolicyTenants(db: Kysely<Schema>): Promise<string[]> {
  const rows = await db.selectFrom('policies').select('tenant').distinct().orderBy('tenant').execute();
  return rows.map(({ tenant }) => tenant);
}

/** Adds a version; false where it exists already. */
async function addPolicy(db: Kysely<Schema>, row: Insertable<Schema['policies']>): Promise<boolean> {
  const result = await db
    .insertInto('policies')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant', 'version']).doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}
