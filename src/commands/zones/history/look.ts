import { sql } from 'kysely';
import { type SettingChange, wholeZone } from '../../../api/zones/settings.ts';
import { type Person, tenantId } from '../../../auth/identity.ts';
import { yieldToEventLoop } from '../../../lib/time.ts';
import type { Db, Trx } from '../../../store/schema.ts';
import { diffSettings, mergeSettings } from './differences.ts';
import { type KnownZones, type PackedZone, packSettings, type ReadSettings, unpackSettings } from './read.ts';

/** Rows of one statement. */
const batchSize = 200;

/** A zone to be stored: in place of the state with that hash, or the first time. */
interface ComparedZone extends PackedZone {
  readonly changes: readonly SettingChange[];
}

type Owner = { readonly tenant: string; readonly user_id: string };

/** The zones that are stored of a person, by id, with the hash of each. */
export async function readKnownZones(db: Db, person: Person): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('zone_settings')
    .select(['zone_id', 'hash'])
    .where((is) => is.and(ownerOf(person)))
    .execute();
  return new Map(rows.map(({ zone_id, hash }) => [zone_id, hash]));
}

/** Compares what was read with what is stored, some zones at a time. */
export async function compareSettings(
  db: Db,
  person: Person,
  { changed, isOtherAccount }: ReadSettings,
  known: KnownZones,
): Promise<ComparedZone[]> {
  const compared: ComparedZone[] = [];
  for (const zones of inBatches(changed)) {
    const ids = zones.map(({ id }) => id).filter((id) => known.has(id) && !isOtherAccount);
    const bodies = ids.length === 0 ? new Map<string, string>() : await readBodies(db, person, ids);
    for (const zone of zones) {
      compared.push(compareZone(zone, bodies.get(zone.id)));
      await yieldToEventLoop();
    }
  }
  return compared;
}

async function readBodies(db: Db, person: Person, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('zone_settings')
    .select(['zone_id', 'body'])
    .where((is) => is.and(ownerOf(person)))
    .where('zone_id', 'in', ids)
    .execute();
  return new Map(rows.map(({ zone_id, body }) => [zone_id, body]));
}

function compareZone(zone: PackedZone, body: string | undefined): ComparedZone {
  const before = body === undefined ? undefined : unpackSettings(body);
  const after = unpackSettings(zone.body);
  if (!before || !after) return { ...zone, changes: [] };
  return {
    ...zone,
    body: packSettings(mergeSettings(before, after)),
    changes: diffSettings(before, after),
  };
}

/** How much a look found. */
export interface StoredLook {
  /** Zones that were stored the first time. */
  readonly first: number;
  /** The id of the person's newest change; 0 = none yet. */
  readonly cursor: number;
}

/**
 * Stores a look in one transaction. A zone that another look stored meanwhile is left to it, so that a change is recorded
 * once; looks of a person are stored one after the other.
 */
export async function storeLook(
  db: Db,
  person: Person,
  look: ReadSettings & {
    readonly compared: readonly ComparedZone[];
    readonly known: KnownZones;
    readonly at: Date;
  },
): Promise<StoredLook> {
  const owner = ownerOf(person);
  const { compared, known, at, isAll, isOtherAccount } = look;
  return db.transaction().execute(async (trx) => {
    const knowsAll = await lockLooks(trx, owner, at);
    if (knowsAll === undefined) return { first: 0, cursor: 0 };
    if (isOtherAccount) await deleteHistory(trx, owner);
    const isKnown = ({ id }: PackedZone) => known.has(id) && !isOtherAccount;
    const { changed, added } = Object.groupBy(compared, (zone) => (isKnown(zone) ? 'changed' : 'added'));
    const stored = await replaceZones(trx, owner, changed ?? [], known);
    const first = await insertZones(trx, owner, added ?? []);
    const gone = await deleteZones(trx, owner, look.gone, known);
    const areNew = knowsAll && isAll && !isOtherAccount;
    await insertChanges(trx, owner, at, [
      ...(changed ?? []).filter(({ id }) => stored.has(id)),
      ...(areNew ? (added ?? []).filter(({ id }) => first.has(id)).map(toAdded) : []),
      ...gone,
    ]);
    const looks = trx.updateTable('zone_looks').where((is) => is.and(owner));
    if (isAll || isOtherAccount) await looks.set({ whole_at: isAll ? at : null }).execute();
    const newest = trx.selectFrom('zone_changes').select((is) => is.fn.max('id').as('id'));
    const { id } = await newest.where((is) => is.and(owner)).executeTakeFirstOrThrow();
    return { first: first.size, cursor: id ?? 0 };
  });
}

/**
 * Until the end of the transaction. Returns whether all zones were looked at before; undefined where the key is gone. A key
 * that is being destroyed waits, and its rows are deleted afterwards.
 */
async function lockLooks(trx: Trx, owner: Owner, at: Date): Promise<boolean | undefined> {
  const key = trx
    .selectFrom('linked_keys')
    .select('version')
    .where((is) => is.and(owner));
  if (!(await key.forShare().executeTakeFirst())) return undefined;
  const { whole_at } = await trx
    .insertInto('zone_looks')
    .values({ ...owner, looked_at: at })
    .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet({ looked_at: at }))
    .returning('whole_at')
    .executeTakeFirstOrThrow();
  return whole_at !== null;
}

async function deleteHistory(trx: Trx, owner: Owner): Promise<void> {
  for (const table of ['zone_settings', 'zone_changes'] as const)
    await trx
      .deleteFrom(table)
      .where((is) => is.and(owner))
      .execute();
}

/** The ids of those that were as they were known. */
async function replaceZones(
  trx: Trx,
  { tenant, user_id }: Owner,
  zones: readonly PackedZone[],
  known: KnownZones,
): Promise<Set<string>> {
  const stored = new Set<string>();
  for (const batch of inBatches(zones)) {
    const values = batch.map(
      ({ id, name, hash, body }) => sql`(${id}, ${known.get(id)}, ${name}, ${hash}, ${body})`,
    );
    const { rows } = await sql<{ readonly id: string }>`
      update zone_settings as zone set zone_name = new.name, hash = new.hash, body = new.body
        from (values ${sql.join(values)}) as new (id, known, name, hash, body)
       where zone.tenant = ${tenant} and zone.user_id = ${user_id}
         and zone.zone_id = new.id and zone.hash = new.known
      returning new.id as id`.execute(trx);
    for (const { id } of rows) stored.add(id);
  }
  return stored;
}

/** The ids of those that were not stored yet. */
async function insertZones(trx: Trx, owner: Owner, zones: readonly PackedZone[]): Promise<Set<string>> {
  const stored = new Set<string>();
  for (const batch of inBatches(zones)) {
    const rows = await trx
      .insertInto('zone_settings')
      .values(
        batch.map(({ id, name, hash, body }) => ({ ...owner, zone_id: id, zone_name: name, hash, body })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning('zone_id')
      .execute();
    for (const { zone_id } of rows) stored.add(zone_id);
  }
  return stored;
}

type ZoneChanges = Pick<ComparedZone, 'id' | 'name' | 'changes'>;

/** Deletes what is stored of zones that are gone, and returns that as their change. */
async function deleteZones(
  trx: Trx,
  owner: Owner,
  gone: readonly string[],
  known: KnownZones,
): Promise<ZoneChanges[]> {
  const deleted: ZoneChanges[] = [];
  for (const batch of inBatches(gone)) {
    const rows = await trx
      .deleteFrom('zone_settings')
      .where((is) => is.and(owner))
      .where('zone_id', 'in', batch)
      .where(
        'hash',
        'in',
        batch.map((id) => known.get(id) ?? ''),
      )
      .returning(['zone_id as id', 'zone_name as name'])
      .execute();
    for (const { id, name } of rows)
      deleted.push({ id, name, changes: [{ path: wholeZone, before: name, after: null }] });
  }
  return deleted;
}

function toAdded({ id, name }: ComparedZone): ZoneChanges {
  return { id, name, changes: [{ path: wholeZone, before: null, after: name }] };
}

async function insertChanges(trx: Trx, owner: Owner, at: Date, zones: readonly ZoneChanges[]): Promise<void> {
  const rows = zones.flatMap(({ id, name, changes }) =>
    changes.map(({ path, before, after }) => ({
      ...owner,
      at,
      zone_id: id,
      zone_name: name,
      path,
      before: JSON.stringify(before),
      after: JSON.stringify(after),
    })),
  );
  for (const batch of inBatches(rows)) await trx.insertInto('zone_changes').values(batch).execute();
}

function inBatches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / batchSize) }, (_, nth) =>
    all.slice(nth * batchSize, (nth + 1) * batchSize),
  );
}

function ownerOf(person: Person): Owner {
  return { tenant: tenantId(person), user_id: person.userId };
}
