import { cleanName, looksLikeId, toLook, toNameKey, trimZeros } from '../lib/names.ts';
import { takeLock } from '../store/database.ts';
import type { Db } from '../store/schema.ts';
import type { Audit } from './audit/audit.ts';
import { ofPerson, type Person, tenantId } from './identity.ts';

export const namedKinds = ['app', 'script', 'shield'] as const;
export type NamedKind = (typeof namedKinds)[number];

export interface Named {
  readonly kind: NamedKind;
  readonly id: string;
  readonly name: string;
  readonly by: string;
}

/** `name` is undefined to remove it. `asAdmin`: may change what others gave. `was`: the name that an undo takes back. */
export interface NameChange {
  readonly kind: NamedKind;
  readonly id: string;
  readonly name: string | undefined;
  readonly asAdmin?: boolean;
  readonly was?: string | null | undefined;
}

export interface ChannelZone {
  readonly id: string;
  readonly name: string;
  readonly by: string;
}

export const maxNames = 500;
const maxRecent = 10;

export type Names = ReturnType<typeof createNames>;

/** Names of ids, the ids that people used last, and the zones that channels are about. */
export function createNames({ db, audit, now }: { db: Db; audit: Audit; now: () => Date }) {
  const list = async (tenant: string): Promise<readonly Named[]> => {
    const rows = db.selectFrom('names').select(['kind', 'id', 'name', 'named_by as by']);
    const ofTenant = rows.where('tenant', '=', tenant).orderBy('name').limit(maxNames);
    return (await ofTenant.execute()) as Named[];
  };

  const recent = (person: Person, kind: NamedKind) =>
    db
      .selectFrom('recent_ids')
      .select('id')
      .where((is) => is.and({ ...ofPerson(person), kind }))
      .orderBy('used_at', 'desc')
      .limit(maxRecent);

  const wasUsed = async (tenant: string, kind: NamedKind, id: string): Promise<boolean> => {
    const rows = db.selectFrom('recent_ids').select('id');
    return (await rows.where((is) => is.and({ tenant, kind, id })).executeTakeFirst()) !== undefined;
  };

  return {
    list,
    async find(person: Person, kind: NamedKind, id: string): Promise<Named | undefined> {
      const all = await list(tenantId(person));
      return all.find((one) => one.kind === kind && one.id === id);
    },
    /** The id that a typed word names, else the word itself. */
    async resolve(person: Person, kind: NamedKind, typed: string): Promise<string> {
      // The ID of an app can be any text.
      if (looksLikeId(typed)) return kind === 'app' ? typed : trimZeros(typed);
      const tenant = tenantId(person);
      const wanted = toNameKey(typed);
      const all = (await list(tenant)).filter((one) => one.kind === kind);
      if (all.some(({ id }) => id === typed)) return typed;
      const alike = all.filter(({ name }) => toNameKey(name) === wanted);
      // Earlier versions took two names that only look alike.
      const found =
        alike.find(({ name }) => name.toLowerCase() === cleanName(typed).toLowerCase()) ?? alike[0];
      return found && !(await wasUsed(tenant, kind, typed)) ? found.id : typed;
    },
    async known(person: Person, kind: NamedKind): Promise<{ id: string; name: string | undefined }[]> {
      const [all, used] = await Promise.all([list(tenantId(person)), recent(person, kind).execute()]);
      const names = new Map(all.filter((one) => one.kind === kind).map(({ id, name }) => [id, name]));
      const ids = new Set([...used.map(({ id }) => id), ...names.keys()]);
      return [...ids].map((id) => ({ id, name: names.get(id) }));
    },
    /** Names an id, with its audit record; else why it did not: `taken` is the id that has the name. */
    async give(
      person: Person,
      { kind, id, name, asAdmin = false, was }: NameChange,
    ): Promise<
      | 'done'
      | 'changed'
      | 'full'
      | 'isId'
      | 'isName'
      | { readonly taken: string }
      | { readonly givenBy: string }
    > {
      const tenant = tenantId(person);
      const wanted = name === undefined ? undefined : toLook(name);
      if (name !== undefined && (looksLikeId(name) || (await wasUsed(tenant, kind, name)))) return 'isId';
      return db.transaction().execute(async (trx) => {
        // One at a time, since the database compares names only by their letters.
        await takeLock(trx, `names/${tenant}`);
        const all = await trx.selectFrom('names').selectAll().where('tenant', '=', tenant).execute();
        const present = all.find((one) => one.kind === kind && one.id === id);
        if (present && present.named_by !== person.userId && !asAdmin) return { givenBy: present.named_by };
        if (was !== undefined && (present?.name ?? null) !== was) return 'changed';
        const others = all.filter((one) => one !== present);
        const ofKind = others.filter((one) => one.kind === kind);
        const same = ofKind.find((one) => toLook(one.name) === wanted);
        if (same) return { taken: same.id };
        if (ofKind.some((one) => toLook(one.id) === wanted)) return 'isId';
        if (wanted !== undefined && ofKind.some((one) => toLook(one.name) === toLook(id))) return 'isName';
        if (others.length >= maxNames && name !== undefined) return 'full';
        const key = { tenant, kind, id };
        await trx
          .deleteFrom('names')
          .where((is) => is.and(key))
          .execute();
        if (name !== undefined) {
          const row = { ...key, name, named_by: person.userId, named_at: now() };
          await trx.insertInto('names').values(row).execute();
        }
        const event = name === undefined ? 'name-removed' : 'name-given';
        await audit.record({ tenant, actor: person.userId, event, subject: id, detail: { kind } }, trx);
        return 'done';
      });
    },
    async use(person: Person, kind: NamedKind, id: string): Promise<void> {
      const place = { ...ofPerson(person), kind };
      const used_at = now();
      await db
        .insertInto('recent_ids')
        .values({ ...place, id, used_at })
        .onConflict((conflict) =>
          conflict.columns(['tenant', 'user_id', 'kind', 'id']).doUpdateSet({ used_at }),
        )
        .execute();
      await db
        .deleteFrom('recent_ids')
        .where((is) => is.and(place))
        .where('id', 'not in', recent(person, kind))
        .execute();
    },
    async channelZone(tenant: string, channel: string): Promise<ChannelZone | undefined> {
      return db
        .selectFrom('channel_zones')
        .select(['zone_id as id', 'zone_name as name', 'set_by as by'])
        .where((is) => is.and({ tenant, channel }))
        .executeTakeFirst();
    },
    /** `was`: the zone that an undo takes back, or `none`; false where the channel has another one now. */
    async setChannelZone(
      person: Person,
      channel: string,
      zone: Pick<ChannelZone, 'id' | 'name'> | undefined,
      was?: string,
    ): Promise<boolean> {
      const tenant = tenantId(person);
      return db.transaction().execute(async (trx) => {
        await takeLock(trx, `channel-zone/${tenant}/${channel}`);
        const rows = trx.deleteFrom('channel_zones').where((is) => is.and({ tenant, channel }));
        if (was !== undefined) {
          const present = trx
            .selectFrom('channel_zones')
            .select('zone_id')
            .where((is) => is.and({ tenant, channel }));
          if (((await present.executeTakeFirst())?.zone_id ?? 'none') !== was) return false;
        }
        await rows.execute();
        if (zone) {
          const set = { zone_id: zone.id, zone_name: zone.name, set_by: person.userId, set_at: now() };
          const inserted = trx.insertInto('channel_zones').values({ tenant, channel, ...set });
          await inserted.execute();
        }
        const detail = { channel, zone: zone?.id ?? 'none' };
        await audit.record({ tenant, actor: person.userId, event: 'default-zone-set', detail }, trx);
        return true;
      });
    },
    async forget({ person, tenant }: { person: Person | undefined; tenant: string }): Promise<void> {
      const recents = db.deleteFrom('recent_ids').where('tenant', '=', tenant);
      if (person) return void (await recents.where('user_id', '=', person.userId).execute());
      await recents.execute();
      await db.deleteFrom('names').where('tenant', '=', tenant).execute();
      await db.deleteFrom('channel_zones').where('tenant', '=', tenant).execute();
    },
  };
}
