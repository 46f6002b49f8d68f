import { diffSettings, mergeSettings, type SettingChange, wholeZone } from '../../../api/zones/settings.ts';
import { yieldToEventLoop } from '../../../lib/time.ts';
import type { Db, Trx } from '../../../store/schema.ts';
import {
  type ChangedZone,
  type KnownZones,
  packSettings,
  type ReadSettings,
  unpackSettings,
} from './read.ts';

/** Rows of one statement. */
const batchSize = 200;

export type Owner = { readonly tenant: string; readonly user_id: string };

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
  owner: Owner,
  { changed, gone, isAll, isOtherAccount, at, ...look }: ReadSettings & { known: KnownZones; at: Date },
): Promise<StoredLook> {
  return db.transaction().execute(async (trx) => {
    // A key that is being destroyed waits, and its rows are deleted afterwards.
    const key = trx
      .selectFrom('linked_keys')
      .select('version')
      .where((is) => is.and(owner))
      .forShare();
    if (!(await key.executeTakeFirst())) return { first: 0, cursor: 0 };
    if (isOtherAccount)
      await trx
        .deleteFrom('zone_looks')
        .where((is) => is.and(owner))
        .execute();
    const known: KnownZones = isOtherAccount ? new Map() : look.known;
    const { whole_at } = await trx
      .insertInto('zone_looks')
      .values({ ...owner, looked_at: at })
      .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet({ looked_at: at }))
      .returning('whole_at')
      .executeTakeFirstOrThrow();
    let first = 0;
    for (const batch of inBatches(changed)) {
      const stored = await readStored(trx, owner, batch);
      const zones: ComparedZone[] = [];
      for (const zone of batch) {
        const before = stored.get(zone.id);
        if (before?.hash !== known.get(zone.id)) continue;
        if (!before) first += 1;
        zones.push(compareZone(zone, before?.body, whole_at !== null && isAll));
        await yieldToEventLoop();
      }
      await storeZones(trx, owner, at, zones);
      await insertChanges(trx, owner, at, zones);
    }
    for (const batch of inBatches(gone))
      await insertChanges(trx, owner, at, await deleteZones(trx, owner, batch, known));
    if (isAll)
      await trx
        .updateTable('zone_looks')
        .where((is) => is.and(owner))
        .set({ whole_at: at })
        .execute();
    const newest = trx.selectFrom('zone_changes').select((is) => is.fn.max('id').as('id'));
    const { id } = await newest.where((is) => is.and(owner)).executeTakeFirstOrThrow();
    return { first, cursor: id ?? 0 };
  });
}

interface ComparedZone extends ChangedZone {
  readonly changes: readonly SettingChange[];
}

/** `isNew`: where it was not stored, it is a new zone. */
function compareZone(zone: ChangedZone, body: string | undefined, isNew: boolean): ComparedZone {
  const after = unpackSettings(zone.body);
  const before = body === undefined ? undefined : unpackSettings(body);
  if (before && after)
    return {
      ...zone,
      body: packSettings(mergeSettings(before, after)),
      changes: diffSettings(before, after),
    };
  const isFirst = body === undefined && isNew;
  return { ...zone, changes: isFirst ? [{ path: wholeZone, before: null, after: zone.name }] : [] };
}

async function readStored(trx: Trx, owner: Owner, zones: readonly ChangedZone[]) {
  const ids = zones.map(({ id }) => id);
  const rows = await trx
    .selectFrom('zone_settings')
    .select(['zone_id', 'hash', 'body'])
    .where((is) => is.and(owner))
    .where('zone_id', 'in', ids)
    .execute();
  return new Map(rows.map(({ zone_id, ...stored }) => [zone_id, stored]));
}

async function storeZones(trx: Trx, owner: Owner, at: Date, zones: readonly ChangedZone[]): Promise<void> {
  if (zones.length === 0) return;
  const rows = zones.map(({ id, name, hash, body }) => ({
    ...owner,
    zone_id: id,
    zone_name: name,
    hash,
    body,
    baseline_at: at,
  }));
  await trx
    .insertInto('zone_settings')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['tenant', 'user_id', 'zone_id']).doUpdateSet((set) => ({
        zone_name: set.ref('excluded.zone_name'),
        hash: set.ref('excluded.hash'),
        body: set.ref('excluded.body'),
      })),
    )
    .execute();
}

type ZoneChanges = Pick<ComparedZone, 'id' | 'name' | 'changes'>;

/** Deletes what is stored of zones that are gone, and returns that as their change. */
async function deleteZones(trx: Trx, owner: Owner, gone: readonly string[], known: KnownZones) {
  const hashes = gone.map((id) => known.get(id) ?? '');
  const rows = await trx
    .deleteFrom('zone_settings')
    .where((is) => is.and(owner))
    .where('zone_id', 'in', gone)
    .where('hash', 'in', hashes)
    .returning(['zone_id as id', 'zone_name as name'])
    .execute();
  return rows.map(
    ({ id, name }): ZoneChanges => ({ id, name, changes: [{ path: wholeZone, before: name, after: null }] }),
  );
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
