import type { Db } from '../../store/schema.ts';

/** Audit records in which people are looked for, from the newest. */
const mostRecords = 1_000;

/** User ids that the bot has met in a tenant: who saved settings, has a key, or stands in the audit. Admins come first. */
export async function findKnownPeople(db: Db, tenant: string): Promise<string[]> {
  const saved = db.selectFrom('policies').select('changed_by as id').where('tenant', '=', tenant);
  const linked = db.selectFrom('linked_keys').select('user_id as id').where('tenant', '=', tenant);
  const acted = db
    .selectFrom('audit_records')
    .select('actor as id')
    .where('tenant', '=', tenant)
    .orderBy('seq', 'desc')
    .limit(mostRecords);
  const found = [];
  for (const query of [saved, linked, acted]) found.push(...(await query.execute()));
  return [...new Set(found.map(({ id }) => id))].filter((id) => /^[UW]/u.test(id));
}
