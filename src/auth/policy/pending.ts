import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { dayMs } from '../../lib/time.ts';
import type { Db, Schema, Trx } from '../../store/schema.ts';
import { type Person, tenantId } from '../identity.ts';
import { type Change, diffPolicies } from './changes.ts';
import type { Lowering } from './lowering.ts';
import { initialPolicy, type Policy, policyBody } from './policy.ts';

/** A change of settings that waits, or waited, for a second admin. */
export interface PendingChange {
  readonly id: string;
  /** The admin who asked. */
  readonly author: Person;
  /** The settings as they would be; `version` is the one that they change. */
  readonly policy: Policy;
  readonly changes: readonly Change[];
  readonly lowers: Lowering;
  readonly expiresAt: Date;
  /** User ids of the admins who were told. */
  readonly told: readonly string[];
  /** `void`: the settings changed meanwhile, or its author asked for another change. */
  readonly state: Selectable<Schema['pending_policies']>['state'] | 'expired';
  readonly decidedBy: string | undefined;
}

export type NewPendingChange = Pick<PendingChange, 'author' | 'policy' | 'changes' | 'lowers' | 'told'>;

/** Tells people of a pending change, in the transaction that stores it or its end. */
export interface PendingMessages {
  queue(trx: Trx, change: PendingChange): Promise<void>;
  ended(trx: Trx, change: PendingChange): Promise<void>;
}

/** After this a pending change expires. */
export const pendingMs = dayMs;

/** A pending change by its id, or the one that waits. */
export async function findPending(
  db: Db,
  tenant: string,
  now: Date,
  id?: string,
): Promise<PendingChange | undefined> {
  const query = db
    .selectFrom('pending_policies as pending')
    .leftJoin('policies', (join) =>
      join.onRef('policies.tenant', '=', 'pending.tenant').onRef('policies.version', '=', 'pending.base'),
    )
    .selectAll('pending')
    .select('policies.body as before')
    .where('pending.tenant', '=', tenant);
  const row = await (id === undefined
    ? query.where('pending.state', '=', 'waiting').where('pending.expires_at', '>', now)
    : query.where('pending.id', '=', id)
  ).executeTakeFirst();
  if (!row) return undefined;
  const policy = { ...policyBody.parse(JSON.parse(row.body)), version: row.base };
  const before = row.before === null ? initialPolicy : policyBody.parse(JSON.parse(row.before));
  return {
    id: row.id,
    author: { enterpriseId: row.enterprise_id ?? undefined, teamId: row.team_id, userId: row.asked_by },
    policy,
    changes: diffPolicies({ ...before, version: row.base }, policy),
    lowers: JSON.parse(row.lowers) as Lowering,
    expiresAt: row.expires_at,
    told: JSON.parse(row.told) as string[],
    state: row.state === 'waiting' && row.expires_at <= now ? 'expired' : row.state,
    decidedBy: row.decided_by ?? undefined,
  };
}

export async function insertPending(
  trx: Trx,
  { author, policy, changes, lowers, told }: NewPendingChange,
  now: Date,
): Promise<PendingChange> {
  const id = randomUUID();
  const expiresAt = new Date(now.getTime() + pendingMs);
  const { version, ...body } = policy;
  await trx
    .insertInto('pending_policies')
    .values({
      id,
      tenant: tenantId(author),
      enterprise_id: author.enterpriseId ?? null,
      team_id: author.teamId,
      base: version,
      body: JSON.stringify(body),
      lowers: JSON.stringify(lowers),
      asked_by: author.userId,
      asked_at: now,
      expires_at: expiresAt,
      told: JSON.stringify(told),
      state: 'waiting',
    })
    .execute();
  return { id, author, policy, changes, lowers, told, expiresAt, state: 'waiting', decidedBy: undefined };
}

/** Ends the change with this id, or whichever waits. Undefined where it has ended before. */
export async function endPending(
  trx: Trx,
  tenant: string,
  end: { readonly state: 'confirmed' | 'rejected' | 'void'; readonly by: string; readonly at: Date },
  id?: string,
): Promise<PendingChange | undefined> {
  let query = trx
    .updateTable('pending_policies')
    .set({ state: end.state, decided_by: end.by, decided_at: end.at })
    .where('tenant', '=', tenant)
    .where('state', '=', 'waiting');
  // A decision comes in time; a change of the settings ends an expired one as well.
  if (id !== undefined) query = query.where('id', '=', id).where('expires_at', '>', end.at);
  const ended = await query.returning('id').executeTakeFirst();
  return ended && findPending(trx, tenant, end.at, ended.id);
}
