import { createCache } from '../lib/cache.ts';
import { hourMs } from '../lib/time.ts';
import type { Db } from '../store/schema.ts';
import type { Audit } from './audit/audit.ts';
import { type Person, personKey, tenantId } from './identity.ts';

/** Things that the CDN gives ids but no names. */
export const namedKinds = ['app', 'script', 'shield'] as const;
export type NamedKind = (typeof namedKinds)[number];

/** The name that a team gave to an id. */
export interface Named {
  readonly kind: NamedKind;
  readonly id: string;
  readonly name: string;
  /** A user id. */
  readonly by: string;
}

/** The zone that a channel is about. */
export interface ChannelZone {
  readonly id: string;
  readonly name: string;
  readonly by: string;
}

/** Names of a tenant; people give a few dozen. */
export const maxNames = 500;
/** Ids of one kind that are remembered of a person. */
const maxRecent = 10;

export type Names = ReturnType<typeof createNames>;

/** The names that teams give to ids, the ids that people used last, and the zones that channels are about. */
export function createNames({ db, audit, now }: { db: Db; audit: Audit; now: () => Date }) {
  // A name that another process stores is seen this much later.
  const lists = createCache<readonly Named[]>({ now, maxEntries: 1_000, ttlMs: 5_000 });
  // A person who looks at the same thing all day is written once an hour.
  const used = createCache<true>({ now, maxEntries: 10_000, ttlMs: hourMs });

  const list = (tenant: string): Promise<readonly Named[]> =>
    lists.load(tenant, async () => {
      const rows = await db
        .selectFrom('names')
        .select(['kind', 'id', 'name', 'named_by as by'])
        .where('tenant', '=', tenant)
        .orderBy('name')
        .limit(maxNames)
        .execute();
      return rows as Named[];
    });

  const recent = async (person: Person, kind: NamedKind): Promise<string[]> => {
    const rows = await db
      .selectFrom('recent_ids')
      .select('id')
      .where('tenant', '=', tenantId(person))
      .where('user_id', '=', person.userId)
      .where('kind', '=', kind)
      .orderBy('used_at', 'desc')
      .limit(maxRecent)
      .execute();
    return rows.map(({ id }) => id);
  };

  return {
    list,
    /** The name of an id; undefined if it has none. */
    async find(person: Person, kind: NamedKind, id: string): Promise<string | undefined> {
      const all = await list(tenantId(person));
      return all.find((one) => one.kind === kind && one.id === id)?.name;
    },
    /** The id that a typed word names, else the word itself. */
    async resolve(person: Person, kind: NamedKind, typed: string): Promise<string> {
      const wanted = typed.toLowerCase();
      const all = await list(tenantId(person));
      return all.find((one) => one.kind === kind && one.name.toLowerCase() === wanted)?.id ?? typed;
    },
    /** Ids with a name, and those that the person used last: the newest first, then by name. */
    async known(person: Person, kind: NamedKind): Promise<{ id: string; name: string | undefined }[]> {
      const [all, ids] = await Promise.all([list(tenantId(person)), recent(person, kind)]);
      const names = new Map(all.filter((one) => one.kind === kind).map(({ id, name }) => [id, name]));
      return [...new Set([...ids, ...names.keys()])].map((id) => ({ id, name: names.get(id) }));
    },
    /**
     * Gives an id a name, or takes it away, with its audit record. `taken`: the id that has this name already; `full`:
     * there are too many.
     */
    async give(
      person: Person,
      {
        kind,
        id,
        name,
      }: { readonly kind: NamedKind; readonly id: string; readonly name: string | undefined },
    ): Promise<'done' | 'full' | { readonly taken: string }> {
      const tenant = tenantId(person);
      const outcome = await db.transaction().execute(async (trx) => {
        const all = await trx.selectFrom('names').selectAll().where('tenant', '=', tenant).execute();
        const others = all.filter((one) => one.kind !== kind || one.id !== id);
        const wanted = name?.toLowerCase();
        const same = others.find((one) => one.kind === kind && one.name.toLowerCase() === wanted);
        if (same) return { taken: same.id };
        if (others.length >= maxNames && name !== undefined) return 'full';
        await trx
          .deleteFrom('names')
          .where('tenant', '=', tenant)
          .where('kind', '=', kind)
          .where('id', '=', id)
          .execute();
        if (name !== undefined) {
          const given = { named_by: person.userId, named_at: now() };
          await trx
            .insertInto('names')
            .values({ tenant, kind, id, name, ...given })
            .execute();
        }
        const event = name === undefined ? 'name-removed' : 'name-given';
        await audit.record({ tenant, actor: person.userId, event, subject: id, detail: { kind } }, trx);
        return 'done';
      });
      lists.drop(tenant);
      return outcome;
    },
    /** Remembers that a person looked at an id. */
    async use(person: Person, kind: NamedKind, id: string): Promise<void> {
      const key = `${personKey(person)} ${kind} ${id}`;
      if (used.get(key)) return;
      const place = { tenant: tenantId(person), user_id: person.userId, kind };
      const used_at = now();
      await db
        .insertInto('recent_ids')
        .values({ ...place, id, used_at })
        .onConflict((conflict) =>
          conflict.columns(['tenant', 'user_id', 'kind', 'id']).doUpdateSet({ used_at }),
        )
        .execute();
      used.set(key, true);
      const kept = await recent(person, kind);
      await db
        .deleteFrom('recent_ids')
        .where('tenant', '=', place.tenant)
        .where('user_id', '=', place.user_id)
        .where('kind', '=', kind)
        .where('id', 'not in', [...kept, id])
        .execute();
    },
    async channelZone(tenant: string, channel: string): Promise<ChannelZone | undefined> {
      return db
        .selectFrom('channel_zones')
        .select(['zone_id as id', 'zone_name as name', 'set_by as by'])
        .where('tenant', '=', tenant)
        .where('channel', '=', channel)
        .executeTakeFirst();
    },
    /** Sets the zone of a channel, or none, with its audit record. */
    async setChannelZone(
      person: Person,
      channel: string,
      zone: Pick<ChannelZone, 'id' | 'name'> | undefined,
    ): Promise<void> {
      const tenant = tenantId(person);
      await db.transaction().execute(async (trx) => {
        if (zone) {
          const change = {
            zone_id: zone.id,
            zone_name: zone.name,
            set_by: person.userId,
            set_at: now(),
          };
          await trx
            .insertInto('channel_zones')
            .values({ tenant, channel, ...change })
            .onConflict((conflict) => conflict.columns(['tenant', 'channel']).doUpdateSet(change))
            .execute();
        } else {
          await trx
            .deleteFrom('channel_zones')
            .where('tenant', '=', tenant)
            .where('channel', '=', channel)
            .execute();
        }
        const detail = { channel, zone: zone?.id ?? 'none' };
        await audit.record({ tenant, actor: person.userId, event: 'default-zone-set', detail }, trx);
      });
    },
    /** Forgets the ids that a person used, or everything of a tenant. */
    async forget({ person, tenant }: { person: Person | undefined; tenant: string }): Promise<void> {
      let recents = db.deleteFrom('recent_ids').where('tenant', '=', tenant);
      if (person) recents = recents.where('user_id', '=', person.userId);
      await recents.execute();
      if (person) return;
      await db.deleteFrom('names').where('tenant', '=', tenant).execute();
      await db.deleteFrom('channel_zones').where('tenant', '=', tenant).execute();
      lists.drop(tenant);
    },
  };
}
