import { createSecretKey } from 'node:crypto';
import { sql } from 'kysely';
import type { SettingChange } from '../../../api/zones/settings.ts';
import { type Person, tenantId } from '../../../auth/identity.ts';
import type { Sealer } from '../../../auth/keys/sealing.ts';
import type { Json } from '../../../lib/canonical-json.ts';
import type { Db } from '../../../store/schema.ts';
import { readSettings, type SettingsReader, type WantedZone } from './read.ts';
import { type Owner, type StoredLook, storeLook } from './store-look.ts';

export interface StoredChange extends SettingChange {
  /** Rises with every change of a person: readers keep it as a cursor. */
  readonly id: number;
  /** When a look found it: it happened between that look and the one before. */
  readonly at: Date;
  readonly zoneId: string;
  readonly zoneName: string;
}

/** Which changes: behind a cursor, of a time, of some zones. */
interface ChangeQuery {
  readonly after?: number | undefined;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** Ids; undefined = all. */
  readonly zones?: readonly string[] | undefined;
  /** The newest so many; 500 by default. */
  readonly most?: number;
}

export interface Look extends StoredLook {
  /** Zones that were compared. */
  readonly zones: number;
  /** Chosen zones that the key does not see. */
  readonly missing: readonly string[];
  /** From when on changes are recorded, of the first zone and of all; undefined where there is none. */
  readonly since: Date | undefined;
  readonly allSince: Date | undefined;
}

/** The settings of one person's zones. */
export interface SettingsReads {
  /** Compares these zones (undefined = all) with the last look, and records what changed. */
  readonly look: (zones?: readonly WantedZone[]) => Promise<Look>;
  /** What looks found, the newest first, and how many there are in all. */
  readonly list: (
    query: ChangeQuery,
  ) => Promise<{ readonly changes: readonly StoredChange[]; readonly total: number }>;
}

export type SettingsHistory = ReturnType<typeof createSettingsHistory>;

/**
 * What changed in the settings of zones. A look compares them with the last look of the same person, whoever asks for it
 * (a command, a digest, an alert), and appends what differs, once; readers list it with a cursor of their own or by time.
 */
export function createSettingsHistory({
  db,
  sealer,
  now,
}: {
  readonly db: Db;
  readonly sealer: Pick<Sealer, 'macs'>;
  readonly now: () => Date;
}) {
  /** For digests of hidden values, of this person alone. */
  function deriveDigestKey(person: Person) {
    const [mac = ''] = sealer.macs(['cdn-chatops setting digests v1', tenantId(person), person.userId]);
    return { key: createSecretKey(Buffer.from(mac, 'hex')) };
  }

  const history = {
    /**
     * Reads the settings of these zones (undefined = all) and records what changed. @throws ApiError; UserError where all are
     * more than `mostZones`.
     */
    async look(person: Person, cdn: SettingsReader, zones?: readonly WantedZone[]): Promise<Look> {
      const owner = ownerOf(person);
      const stored = await db
        .selectFrom('zone_settings')
        .select(['zone_id', 'hash'])
        .where((is) => is.and(owner))
        .execute();
      const known = new Map(stored.map(({ zone_id, hash }) => [zone_id, hash]));
      const found = await readSettings(cdn, { digestKey: deriveDigestKey(person), known, zones });
      const look = await storeLook(db, owner, { ...found, known, at: now() });
      const missing = (zones ?? []).map(({ id }) => id).filter((id) => !found.seen.has(id));
      const baseline = await readBaseline(db, owner, zones?.length === 1 ? zones[0]?.id : undefined);
      return { zones: found.seen.size, missing, ...baseline, ...look };
    },

    /** What looks found, the newest first, and how many there are in all. */
    async list(
      person: Person,
      { after, from, until, zones, most = 500 }: ChangeQuery,
    ): Promise<{ readonly changes: StoredChange[]; readonly total: number }> {
      if (zones?.length === 0) return { changes: [], total: 0 };
      let rows = db
        .selectFrom('zone_changes')
        .select(['id', 'at', 'zone_id', 'zone_name', 'path', 'before', 'after'])
        .select(sql<number>`count(*) over ()`.as('total'))
        .where((is) => is.and(ownerOf(person)));
      if (after !== undefined) rows = rows.where('id', '>', after);
      if (from) rows = rows.where('at', '>=', from);
      if (until) rows = rows.where('at', '<', until);
      if (zones) rows = rows.where('zone_id', 'in', zones);
      const found = await rows.orderBy('id', 'desc').limit(most).execute();
      const changes = found.map(({ zone_id: zoneId, zone_name: zoneName, ...row }) => ({
        id: row.id,
        at: row.at,
        zoneId,
        zoneName,
        path: row.path,
        before: JSON.parse(row.before) as Json,
        after: JSON.parse(row.after) as Json,
      }));
      return { changes, total: found[0]?.total ?? 0 };
    },

    /** Deletes what was kept of a person or of a whole tenant whose access ended. */
    async forget({ person, tenant }: { person: Person | undefined; tenant: string }): Promise<void> {
      const looks = db.deleteFrom('zone_looks').where('tenant', '=', tenant);
      await (person ? looks.where('user_id', '=', person.userId) : looks).execute();
    },
  };
  return {
    ...history,
    /** Of one person, read with this client. */
    of: (person: Person, cdn: SettingsReader): SettingsReads => ({
      look: (zones) => history.look(person, cdn, zones),
      list: (query) => history.list(person, query),
    }),
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

function ownerOf(person: Person): Owner {
  return { tenant: tenantId(person), user_id: person.userId };
}
