import { type Kysely, sql } from 'kysely';
import type { Schema } from '../../store/schema.ts';

/** A running process, as it last said which keys it knows. */
export interface KeyringMember {
  readonly id: string;
  /** For people: host and process number. */
  readonly label: string;
  readonly keyIds: readonly string[];
  readonly primaryId: string;
  /** Seconds since it said so, by the database's clock: the machines' own may disagree. */
  readonly seenSecondsAgo: number;
}

/** After this long without a word a process counts as gone. */
const memberLifeSeconds = 120;

/** Says, or says again, which keys a process knows. */
export async function reportMember(
  db: Kysely<Schema>,
  member: Omit<KeyringMember, 'seenSecondsAgo'>,
): Promise<void> {
  const said = {
    label: member.label,
    key_ids: member.keyIds.join(','),
    primary_id: member.primaryId,
    seen_at: sql<Date>`now()`,
  };
  await db
    .insertInto('keyring_members')
    .values({ id: member.id, ...said })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(said))
    .execute();
}

/** The processes that are not gone, in order of their labels. */
export async function findLiveMembers(db: Kysely<Schema>): Promise<KeyringMember[]> {
  const rows = await db
    .selectFrom('keyring_members')
    .selectAll()
    .select(sql<string>`extract(epoch from now() - seen_at)`.as('age'))
    .where(sql<boolean>`seen_at > now() - make_interval(secs => ${memberLifeSeconds})`)
    .orderBy('label')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    label: row.label,
    keyIds: row.key_ids.split(','),
    primaryId: row.primary_id,
    seenSecondsAgo: Math.max(0, Math.round(Number(row.age))),
  }));
}

/** A process that ended says so. */
export async function removeMember(db: Kysely<Schema>, id: string): Promise<void> {
  await db.deleteFrom('keyring_members').where('id', '=', id).execute();
}

/** Forgets the processes that are gone; `all` where nobody else can be there. */
export async function removeGoneMembers(db: Kysely<Schema>, which: 'gone' | 'all'): Promise<void> {
  const query = db.deleteFrom('keyring_members');
  const gone = sql<boolean>`seen_at < now() - make_interval(secs => ${memberLifeSeconds})`;
  await (which === 'all' ? query : query.where(gone)).execute();
}

/** For each key id that was ever used here the value that only the same key gives. */
export async function findCheckValues(db: Kysely<Schema>): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom('keyring_keys').select(['key_id', 'check_value']).execute();
  return new Map(rows.map((row) => [row.key_id, row.check_value]));
}

/** Remembers a key's check value, unless there is one; gives the one that is remembered. */
export async function rememberCheckValue(db: Kysely<Schema>, keyId: string, value: string): Promise<string> {
  await db
    .insertInto('keyring_keys')
    .values({ key_id: keyId, check_value: value })
    .onConflict((conflict) => conflict.column('key_id').doNothing())
    .execute();
  const row = await db
    .selectFrom('keyring_keys')
    .select('check_value')
    .where('key_id', '=', keyId)
    .executeTakeFirst();
  return row?.check_value ?? value;
}

/** Forgets a key that is no longer used, with its check value. */
export async function forgetCheckValue(db: Kysely<Schema>, keyId: string): Promise<void> {
  await db.deleteFrom('keyring_keys').where('key_id', '=', keyId).execute();
}
