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

/** From when on changes of a zone, or of all, are recorded: the oldest of the baselines, and the youngest. */
export async function readBaseline(
  db: Db,
  person: Person,
  zone: string | undefined,
): Promise<{ readonly since: Date | undefined; readonly allSince: Date | undefined }> {
  let rows = db
    .selectFrom('zone_settings')
    .select((is) => [is.fn.min('baseline_at').as('since'), is.fn.max('baseline_at').as('allSince')])
    .where((is) => is.and(ownerOf(person)));
  if (zone !== undefined) rows = rows.where('zone_id', '=', zone);
  const { since, allSince } = await rows.executeTakeFirstOrThrow();
  return { since: since ?? undefined, allSince: allSince ?? undefined };
}

/** How much a look found. */
export interface StoredLook {
  /** Zones that were stored the first time. */
  readonly first: number;
  /** The id of the person's newest change; 0 = none yet. */
  readonly cursor: number;
}

/**
 * Compares what was read with what is stored and stores it, in one transaction. A zone that another look stored meanwhile
 * is left to it, so that a change is recorded once; looks of a person are stored one after the other.
 */
export async function storeLook(
  db: Db,
  person: Person,
  look: ReadSettings & { readonly known: KnownZones; readonly at: Date },
): Promise<StoredLook> {
  const owner = ownerOf(person);
  const { known, at, isAll, isOtherAccount } = look;
  return db.transaction().execute(async (trx) => {
    const knowsAll = await lockLooks(trx, owner, at);
    if (knowsAll === undefined) return { first: 0, cursor: 0 };
    if (isOtherAccount) await deleteHistory(trx, owner);
    const areNew = knowsAll && isAll && !isOtherAccount;
    let first = 0;
    for (const batch of inBatches(look.changed)) {
      const stored = await readStored(trx, owner, batch);
      const zones = batch.filter(
        ({ id }) => stored.get(id)?.hash === (isOtherAccount ? undefined : known.get(id)),
      );
      const compared: ComparedZone[] = [];
      for (const zone of zones) {
        compared.push(compareZone(zone, stored.get(zone.id)?.body, areNew));
        await yieldToEventLoop();
      }
      first += compared.filter(({ id }) => !stored.has(id)).length;
      await storeZones(trx, owner, at, compared);
      await insertChanges(trx, owner, at, compared);
    }
    await insertChanges(trx, owner, at, await deleteZones(trx, owner, look.gone, known));
    const looks = trx.updateTable('zone_looks').where((is) => is.and(owner));
    if (isAll || isOtherAccount) await looks.set({ whole_at: isAll ? at : null }).execute();
    const newest = trx.selectFrom('zone_changes').select((is) => is.fn.max('id').as('id'));
    const { id } = await newest.where((is) => is.and(owner)).executeTakeFirstOrThrow();
    return { first, cursor: id ?? 0 };
  });
}

interface Stored {
  readonly hash: string;
  readonly body: string;
}

async function readStored(
  trx: Trx,
  owner: Owner,
  zones: readonly PackedZone[],
): Promise<Map<string, Stored>> {
  const rows = await trx
    .selectFrom('zone_settings')
    .select(['zone_id', 'hash', 'body'])
    .where((is) => is.and(owner))
    .where(
      'zone_id',
      'in',
      zones.map(({ id }) => id),
    )
    .execute();
  return new Map(rows.map(({ zone_id, ...stored }) => [zone_id, stored]));
}

/** `isNew`: where it was not stored, it is a new zone. */
function compareZone(zone: PackedZone, body: string | undefined, isNew: boolean): ComparedZone {
  if (body === undefined)
    return { ...zone, changes: isNew ? [{ path: wholeZone, before: null, after: zone.name }] : [] };
  const before = unpackSettings(body);
  const after = unpackSettings(zone.body);
  if (!before || !after) return { ...zone, changes: [] };
  const merged = packSettings(mergeSettings(before, after));
  return { ...zone, body: merged, changes: diffSettings(before, after) };
}

async function storeZones(trx: Trx, owner: Owner, at: Date, zones: readonly PackedZone[]): Promise<void> {
  if (zones.length === 0) return;
  await trx
    .insertInto('zone_settings')
    .values(
      zones.map(({ id, name, hash, body }) => ({
        ...owner,
        zone_id: id,
        zone_name: name,
        hash,
        body,
        baseline_at: at,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['tenant', 'user_id', 'zone_id']).doUpdateSet((set) => ({
        zone_name: set.ref('excluded.zone_name'),
        hash: set.ref('excluded.hash'),
        body: set.ref('excluded.body'),
      })),
    )
    .execute();
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
