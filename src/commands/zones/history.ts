import { createHash, createSecretKey } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { sql } from 'kysely';
import type { CdnClient } from '../../api/cdn.ts';
import {
  type DigestKey,
  diffSettings,
  mergeSettings,
  type SettingChange,
  wholeZone,
  type ZoneSettings,
} from '../../api/zones/settings.ts';
import { ofPerson, type Person, tenantId } from '../../auth/identity.ts';
import type { Sealer } from '../../auth/keys/sealing.ts';
import { UserError } from '../../errors.ts';
import { type Json, parseJson } from '../../lib/canonical-json.ts';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Db, Trx } from '../../store/schema.ts';
import { formatCount } from '../../views/blocks/format.ts';

export interface StoredChange extends SettingChange {
  /** Rises with every change of a person: readers keep it as a cursor. */
  readonly id: number;
  readonly at: Date;
  readonly zoneId: string;
  readonly zoneName: string;
}

export type Look = Awaited<ReturnType<SettingsHistory['look']>>;

export interface SettingsReads {
  readonly look: (zones?: readonly WantedZone[]) => Promise<Look>;
  /** What looks found, the newest first, at most 500 unless `most` says so, and how many there are in all. */
  readonly list: (query: {
    readonly after?: number | undefined;
    readonly from?: Date | undefined;
    readonly until?: Date | undefined;
    readonly zones?: readonly string[] | undefined;
    readonly most?: number;
  }) => Promise<{ readonly changes: readonly StoredChange[]; readonly total: number }>;
}

export type SettingsHistory = ReturnType<typeof createSettingsHistory>;

/** A look compares settings with the last look of the same person and appends what differs, once. */
export function createSettingsHistory(db: Db, sealer: Pick<Sealer, 'macs'>, now: () => Date) {
  function deriveDigestKey(person: Person) {
    const [mac = ''] = sealer.macs(['cdn-chatops setting digests v1', tenantId(person), person.userId]);
    return { key: createSecretKey(Buffer.from(mac, 'hex')) };
  }

  return {
    /** As `SettingsReads.look`. @throws ApiError; UserError where all are more than `mostZones`. */
    async look(person: Person, cdn: SettingsReader, zones?: readonly WantedZone[]) {
      const owner = ofPerson(person);
      const stored = await db
        .selectFrom('zone_settings')
        .select(['zone_id', 'hash'])
        .where((is) => is.and(owner))
        .execute();
      const known = new Map(stored.map(({ zone_id, hash }) => [zone_id, hash]));
      const found = await readSettings(cdn, deriveDigestKey(person), zones, known);
      const look = await storeLook(db, owner, { ...found, known, at: now() });
      const missing = (zones ?? []).map(({ id }) => id).filter((id) => !found.seen.has(id));
      const baseline = await readBaseline(db, owner, zones?.length === 1 ? zones[0]?.id : undefined);
      const { seen, skipped, partial } = found;
      return { zones: seen.size, skipped, partial, missing, ...baseline, ...look };
    },

    async list(
      person: Person,
      { after, from, until, zones, most = 500 }: Parameters<SettingsReads['list']>[0],
    ): Promise<{ readonly changes: StoredChange[]; readonly total: number }> {
      let rows = db
        .selectFrom('zone_changes')
        .select(['id', 'at', 'zone_id as zoneId', 'zone_name as zoneName', 'path', 'before', 'after'])
        .select(sql<number>`count(*) over ()`.as('total'))
        .where((is) => is.and(ofPerson(person)));
      if (after !== undefined) rows = rows.where('id', '>', after);
      if (from) rows = rows.where('at', '>=', from);
      if (until) rows = rows.where('at', '<', until);
      if (zones) rows = rows.where('zone_id', 'in', zones);
      const found = await rows.orderBy('id', 'desc').limit(most).execute();
      const changes = found.map(({ id, at, zoneId, zoneName, path, ...row }) => {
        const [before, after] = [row.before, row.after].map((json) => JSON.parse(json) as Json);
        return { id, at, zoneId, zoneName, path, before: before ?? null, after: after ?? null };
      });
      return { changes, total: found[0]?.total ?? 0 };
    },

    async forget({ person, tenant }: { person: Person | undefined; tenant: string }): Promise<void> {
      const looks = db.deleteFrom('zone_looks').where('tenant', '=', tenant);
      await (person ? looks.where('user_id', '=', person.userId) : looks).execute();
    },
  };
}

/** From when on changes of a zone, or of all, are recorded: the oldest of the baselines, and the youngest. */
async function readBaseline(db: Db, owner: Owner, zone: string | undefined) {
  let rows = db
    .selectFrom('zone_settings')
    .select((is) => [is.fn.min('baseline_at').as('since'), is.fn.max('baseline_at').as('allSince')])
    .where((is) => is.and(owner));
  if (zone !== undefined) rows = rows.where('zone_id', '=', zone);
  const { since, allSince } = await rows.executeTakeFirstOrThrow();
  return { since: since ?? undefined, allSince: allSince ?? undefined };
}

/** More zones are compared for chosen ones only: an answer is 6 kB a zone, and each is parsed whole. */
export const mostZones = 5_000;

export interface WantedZone {
  readonly id: string;
  readonly name?: string | undefined;
}

interface ChangedZone {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  /** Its settings, as `inflate` reads them: 5,000 zones of ten people at once fit into the heap. */
  readonly deflated: string;
}

/** As text: a buffer, also a small copy of it, holds 20 kB. */
function deflate(body: string): string {
  return deflateRawSync(body, { level: 1, memLevel: 4 }).toString('latin1');
}

/** What `packSettings` wrote of a zone that was read. */
export function inflate({ deflated }: ChangedZone): string {
  return inflateRawSync(Buffer.from(deflated, 'latin1')).toString('utf8');
}

export type SettingsReader = { readonly pullZones: Pick<CdnClient['pullZones'], 'firstPage' | 'settings'> };

/** `changed`: differ from `known` by their hash; `gone`: not seen any more. @throws ApiError; UserError for too many */
export async function readSettings(
  cdn: SettingsReader,
  digestKey: DigestKey,
  zones: readonly WantedZone[] | undefined,
  known: ReadonlyMap<string, string> = new Map(),
) {
  const ids = zones && new Set(zones.map(({ id }) => id));
  const [only] = zones?.length === 1 ? zones : [];
  const name = only && (known.size === 0 || known.has(only.id)) ? only.name : undefined;
  // A list of too many is not read to be refused.
  if (!ids && known.size === 0) assertFew((await cdn.pullZones.firstPage()).total ?? 0);
  const narrowed = name ? await readList(name) : undefined;
  if (narrowed?.seen.size === 1) return narrowed;
  const found = await readList();
  // An account seldom loses all of its zones: that none is left is believed when it is read twice.
  return found.gone.length > 0 && found.listed === 0 ? readList() : found;

  async function readList(search?: string) {
    const seen = new Set<string>();
    let listed = 0;
    let listedKnown = 0;
    let partial = 0;
    const { kept, skipped, isWhole } = await cdn.pullZones.settings({
      search,
      digestKey,
      wants(id) {
        listed += 1;
        if (known.has(id)) listedKnown += 1;
        return ids?.has(id) ?? true;
      },
      project({ isPartial, ...settings }) {
        const { id, name } = settings;
        seen.add(id);
        if (isPartial) partial += 1;
        const body = packSettings(settings);
        const hash = createHash('sha256').update(body).digest('base64url');
        return known.get(id) === hash ? undefined : { id, name, hash, deflated: deflate(body) };
      },
      // Until a known zone is met the key may be of another account.
      enough: () =>
        ids ? seen.size >= ids.size && (known.size === 0 || listedKnown > 0) : seen.size > mostZones,
    });
    if (!ids) assertFew(seen.size);
    const isComplete = isWhole && skipped === 0 && search === undefined;
    const isOtherAccount = isComplete && known.size > 0 && listed > 0 && listedKnown === 0;
    const isGone = (id: string) => known.has(id) && !seen.has(id);
    const gone = isComplete && !isOtherAccount ? [...(ids ?? known.keys())].filter(isGone) : [];
    return { changed: kept, seen, skipped, partial, listed, gone, isAll: isComplete && !ids, isOtherAccount };
  }
}

function assertFew(zones: number): void {
  if (zones <= mostZones) return;
  throw new UserError(
    `Your key sees more than ${formatCount(mostZones, 'zone')}, too many to compare at once.`,
    'Name one: `/cdn changes shop`.',
  );
}

/** Settings of another version than the stored one replace it, and nothing is said to have changed. */
const version = 5;

export function packSettings(settings: ZoneSettings): string {
  return JSON.stringify({ version, settings });
}

export function unpackSettings(body: string): ZoneSettings | undefined {
  const stored = parseJson(body) as { version: number; settings: ZoneSettings } | undefined;
  return stored?.version === version ? stored.settings : undefined;
}

const batchSize = 200;

type Owner = { readonly tenant: string; readonly user_id: string };

interface Reading extends Awaited<ReturnType<typeof readSettings>> {
  readonly known: ReadonlyMap<string, string>;
  readonly at: Date;
}

/**
 * Stores a reading in short transactions: the embedded database answers nobody meanwhile. A zone that another look stored is left
 * to it: a change is recorded once.
 */
async function storeLook(
  db: Db,
  owner: Owner,
  { changed, gone, isAll, isOtherAccount, at, known: readBefore }: Reading,
) {
  let keyVersion: number | undefined;
  /** Undefined without that key: one that is being destroyed waits, and its rows are deleted afterwards. */
  const store = <T>(work: (trx: Trx) => Promise<T>): Promise<T | undefined> =>
    db.transaction().execute(async (trx) => {
      const keys = trx.selectFrom('linked_keys').select('version');
      const key = await keys
        .where((is) => is.and(owner))
        .forShare()
        .executeTakeFirst();
      keyVersion ??= key?.version;
      // Looks of one person take turns: the next sees what this one stored.
      const looks = trx.selectFrom('zone_looks').select('looked_at');
      await looks
        .where((is) => is.and(owner))
        .forUpdate()
        .execute();
      return key && key.version === keyVersion ? work(trx) : undefined;
    });
  const begun = await store(async (trx) => {
    if (isOtherAccount)
      await trx
        .deleteFrom('zone_looks')
        .where((is) => is.and(owner))
        .execute();
    return trx
      .insertInto('zone_looks')
      .values({ ...owner, looked_at: at })
      .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet({ looked_at: at }))
      .returning('whole_at')
      .executeTakeFirstOrThrow();
  });
  if (!begun) return { first: 0, cursor: 0 };
  const known = isOtherAccount ? new Map<string, string>() : readBefore;
  let first = 0;
  for (const batch of inBatches(changed))
    await store(async (trx) => {
      const ids = batch.map(({ id }) => id);
      const rows = trx.selectFrom('zone_settings').select(['zone_id', 'hash', 'body']);
      const own = rows.where((is) => is.and(owner));
      const found = await own.where('zone_id', 'in', ids).execute();
      const stored = new Map(found.map((row) => [row.zone_id, row]));
      const zones: ComparedZone[] = [];
      const taken: string[] = [];
      for (const zone of batch) {
        const before = stored.get(zone.id);
        if (before?.hash !== known.get(zone.id)) continue;
        // Another version wrote it: changes are recorded from now on.
        if (!before || !unpackSettings(before.body)) taken.push(zone.id);
        zones.push(compareZone(zone, before?.body, begun.whole_at !== null && isAll));
        await yieldToEventLoop();
      }
      first += taken.length;
      const outdated = trx.deleteFrom('zone_settings').where((is) => is.and(owner));
      if (taken.length > 0) await outdated.where('zone_id', 'in', taken).execute();
      await storeZones(trx, owner, at, zones);
      await insertChanges(trx, owner, at, zones);
    });
  for (const batch of inBatches(gone))
    await store(async (trx) => {
      const hashes = batch.map((id) => known.get(id) ?? '');
      const deleted = await trx
        .deleteFrom('zone_settings')
        .where((is) => is.and(owner))
        .where('zone_id', 'in', batch)
        .where('hash', 'in', hashes)
        .returning(['zone_id as id', 'zone_name as name'])
        .execute();
      const deletions = deleted.map((zone) => {
        const change = { path: wholeZone, before: zone.name, after: null };
        return { ...zone, changes: [change] };
      });
      await insertChanges(trx, owner, at, deletions);
    });
  if (isAll)
    await store((trx) =>
      trx
        .updateTable('zone_looks')
        .where((is) => is.and(owner))
        .set({ whole_at: at })
        .execute(),
    );
  const newest = db.selectFrom('zone_changes').select((is) => is.fn.max('id').as('id'));
  const { id } = await newest.where((is) => is.and(owner)).executeTakeFirstOrThrow();
  return { first, cursor: id ?? 0 };
}

interface ComparedZone extends Pick<ChangedZone, 'id' | 'name' | 'hash'> {
  readonly body: string;
  readonly changes: readonly SettingChange[];
}

function compareZone(zone: ChangedZone, stored: string | undefined, isNew: boolean): ComparedZone {
  const body = inflate(zone);
  const [before, after] = [stored === undefined ? undefined : unpackSettings(stored), unpackSettings(body)];
  if (before && after) {
    const merged = packSettings(mergeSettings(before, after));
    return { ...zone, body: merged, changes: diffSettings(before, after) };
  }
  const isFirst = stored === undefined && isNew;
  const changes = isFirst ? [{ path: wholeZone, before: null, after: zone.name }] : [];
  return { ...zone, body, changes };
}

async function storeZones(trx: Trx, owner: Owner, at: Date, zones: readonly ComparedZone[]): Promise<void> {
  if (zones.length === 0) return;
  const rows = zones.map(({ id: zone_id, name: zone_name, hash, body }) => ({
    zone_id,
    zone_name,
    hash,
    body,
  }));
  await trx
    .insertInto('zone_settings')
    .values(rows.map((row) => ({ ...owner, ...row, baseline_at: at })))
    .onConflict((conflict) =>
      conflict.columns(['tenant', 'user_id', 'zone_id']).doUpdateSet((set) => ({
        zone_name: set.ref('excluded.zone_name'),
        hash: set.ref('excluded.hash'),
        body: set.ref('excluded.body'),
      })),
    )
    .execute();
}

async function insertChanges(
  trx: Trx,
  owner: Owner,
  at: Date,
  zones: readonly Pick<ComparedZone, 'id' | 'name' | 'changes'>[],
): Promise<void> {
  const rows = zones.flatMap(({ id: zone_id, name: zone_name, changes }) =>
    changes.map(({ path, ...change }) => {
      const [before, after] = [JSON.stringify(change.before), JSON.stringify(change.after)];
      return { ...owner, at, zone_id, zone_name, path, before, after };
    }),
  );
  for (const batch of inBatches(rows)) await trx.insertInto('zone_changes').values(batch).execute();
}

function inBatches<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / batchSize) }, (_, nth) =>
    all.slice(nth * batchSize, (nth + 1) * batchSize),
  );
}
