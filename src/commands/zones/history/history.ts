import { createSecretKey } from 'node:crypto';
import { sql } from 'kysely';
import type { SettingChange } from '../../../api/zones/settings.ts';
import { type Person, tenantId } from '../../../auth/identity.ts';
import type { Sealer } from '../../../auth/keys/sealing.ts';
import type { Json } from '../../../lib/canonical-json.ts';
import type { Db } from '../../../store/schema.ts';
import { readBaseline, readKnownZones, storeLook } from './look.ts';
import { readSettings, type SettingsReader } from './read.ts';

export interface StoredChange extends SettingChange {
  /** Rises with every change of a person: readers keep it as a cursor. */
  readonly id: number;
  /** When a look found it: it happened between that look and the one before. */
  readonly at: Date;
  readonly zoneId: string;
  readonly zoneName: string;
}

/** Which changes: behind a cursor, of a time, of some zones. */
export interface ChangeQuery {
  readonly after?: number | undefined;
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** Ids; undefined = all. */
  readonly zones?: readonly string[] | undefined;
  /** Of so many only, the newest; 500 by default. */
  readonly most?: number;
}

export interface Look {
  /** Zones that were compared. */
  readonly zones: number;
  /** Those of them that were not known before: what they were set to earlier is not known. */
  readonly first: number;
  /** Chosen zones that the key does not see. */
  readonly missing: readonly string[];
  /** From when on changes are recorded, of the first zone and of all; undefined where there is none. */
  readonly since: Date | undefined;
  readonly allSince: Date | undefined;
  /** The person's newest change: to read what comes behind it. 0 = none yet. */
  readonly cursor: number;
}

/** A zone to be looked at. */
export interface LookedZone {
  readonly id: string;
  readonly name?: string | undefined;
}

/** The settings of one person's zones. */
export interface SettingsReads {
  /** Compares these zones (undefined = all) with the last look, and records what changed. */
  readonly look: (zones?: readonly LookedZone[]) => Promise<Look>;
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
  /**
   * Keys for digests of hidden values, of this person alone: one for each key of the keyring, so that a new primary key
   * looks like no change.
   */
  const digestKeysOf = (person: Person) => ({
    keys: sealer
      .macs(['cdn-chatops setting digests v1', tenantId(person), person.userId])
      .map((mac) => createSecretKey(Buffer.from(mac, 'hex'))),
  });

  const history = {
    /**
     * Reads the settings of these zones (undefined = all) and records what changed. The name narrows the answer of the CDN
     * where there is one zone. @throws ApiError; UserError where all are more than `mostZones`.
     */
    async look(person: Person, cdn: SettingsReader, zones?: readonly LookedZone[]): Promise<Look> {
      const known = await readKnownZones(db, person);
      const wanted = zones && new Set(zones.map(({ id }) => id));
      const options = { digestKeys: digestKeysOf(person), known, wanted };
      const [only] = zones?.length === 1 ? zones : [];
      const name = only && (known.size === 0 || known.has(only.id)) ? only.name : undefined;
      const narrowed = name ? await readSettings(cdn, { ...options, search: name }) : undefined;
      const found = narrowed?.seen.size === 1 ? narrowed : await readSettings(cdn, options);
      const stored = await storeLook(db, person, { ...found, known, at: now() });
      const missing = [...(wanted ?? [])].filter((id) => !found.seen.has(id));
      const baseline = await readBaseline(db, person, only?.id);
      return { zones: found.seen.size, missing, ...baseline, ...stored };
    },

    /** What looks found, the newest first, and how many there are in all. */
    async list(
      person: Person,
      query: ChangeQuery,
    ): Promise<{ readonly changes: StoredChange[]; readonly total: number }> {
      const { after, from, until, zones, most = 500 } = query;
      if (zones?.length === 0) return { changes: [], total: 0 };
      let rows = db
        .selectFrom('zone_changes')
        .select(['id', 'at', 'zone_id', 'zone_name', 'path', 'before', 'after'])
        .select(sql<number>`count(*) over ()`.as('total'))
        .where('tenant', '=', tenantId(person))
        .where('user_id', '=', person.userId);
      if (after !== undefined) rows = rows.where('id', '>', after);
      if (from) rows = rows.where('at', '>=', from);
      if (until) rows = rows.where('at', '<', until);
      if (zones) rows = rows.where('zone_id', 'in', zones);
      const found = await rows.orderBy('id', 'desc').limit(most).execute();
      const changes = found.map((row) => ({
        id: row.id,
        at: row.at,
        zoneId: row.zone_id,
        zoneName: row.zone_name,
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
