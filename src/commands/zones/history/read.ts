import { createHash } from 'node:crypto';
import type { CdnClient } from '../../../api/cdn.ts';
import type { DigestKey, ZoneSettings } from '../../../api/zones/settings.ts';
import { UserError } from '../../../errors.ts';
import { canonicalJson, type Json, parseJson } from '../../../lib/canonical-json.ts';

/** More zones are compared for chosen ones only: an answer is 6 kB a zone, and each is parsed whole. */
export const mostZones = 5_000;

/** Zones by id, with the hash of what was stored of each. */
export type KnownZones = ReadonlyMap<string, string>;

/** A zone whose settings are read; its name narrows the answer of the CDN where it is alone. */
export interface WantedZone {
  readonly id: string;
  readonly name?: string | undefined;
}

/** A zone that is not as it was stored. */
export interface ChangedZone {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  /** Its settings, as `unpackSettings` reads them: text takes less memory than objects. */
  readonly body: string;
}

export interface ReadSettings {
  readonly changed: readonly ChangedZone[];
  /** The zones that were compared. */
  readonly seen: ReadonlySet<string>;
  /** Zones that the answer had, compared or not. */
  readonly listed: number;
  /** Known zones that the key does not see any more. */
  readonly gone: readonly string[];
  /** All zones of the account were compared. */
  readonly isAll: boolean;
  /** There are zones, and none is known: the key is of another account. */
  readonly isOtherAccount: boolean;
}

/** The part of a client that reads settings. */
export type SettingsReader = { readonly pullZones: Pick<CdnClient['pullZones'], 'settings'> };

interface Wanted {
  readonly digestKey: DigestKey;
  /** Undefined = all. */
  readonly zones: readonly WantedZone[] | undefined;
  readonly known?: KnownZones;
}

/**
 * Reads the settings of zones and keeps those that differ from what is known. @throws ApiError; UserError for all of more
 * than `mostZones`.
 */
export async function readSettings(cdn: SettingsReader, wanted: Wanted): Promise<ReadSettings> {
  const { zones, known = new Map() } = wanted;
  const [only] = zones?.length === 1 ? zones : [];
  const name = only && (known.size === 0 || known.has(only.id)) ? only.name : undefined;
  const narrowed = name ? await readList(cdn, wanted, name) : undefined;
  if (narrowed?.seen.size === 1) return narrowed;
  // A renamed zone is found by its id alone.
  const found = await readList(cdn, wanted);
  // An account seldom loses all of its zones: that none is left is believed when it is read twice.
  return found.gone.length > 0 && found.listed === 0 ? readList(cdn, wanted) : found;
}

async function readList(
  cdn: SettingsReader,
  { digestKey, zones, known = new Map() }: Wanted,
  search?: string,
): Promise<ReadSettings> {
  const ids = zones && new Set(zones.map(({ id }) => id));
  const seen = new Set<string>();
  let listed = 0;
  let listedKnown = 0;
  const { kept, skipped, isWhole } = await cdn.pullZones.settings({
    search,
    digestKey,
    wants(id) {
      listed += 1;
      if (known.has(id)) listedKnown += 1;
      return ids?.has(id) ?? true;
    },
    project(settings) {
      const { id, name } = settings;
      seen.add(id);
      const hash = createHash('sha256')
        .update(canonicalJson([version, settings as unknown as Json]))
        .digest('base64url');
      return known.get(id) === hash ? undefined : { id, name, hash, body: packSettings(settings) };
    },
    // Until a known zone is met the key may be of another account.
    enough: () =>
      ids ? seen.size >= ids.size && (known.size === 0 || listedKnown > 0) : seen.size > mostZones,
  });
  if (!ids && seen.size > mostZones)
    throw new UserError(
      `Your key sees more than ${mostZones.toLocaleString('en-US')} zones: settings are compared for chosen ones.`,
      'Choose zones: `/cdn changes shop` looks at one.',
    );
  const isComplete = isWhole && skipped === 0 && search === undefined;
  const isOtherAccount = isComplete && known.size > 0 && listed > 0 && listedKnown === 0;
  const isGone = (id: string) => known.has(id) && !seen.has(id);
  return {
    changed: kept,
    seen,
    listed,
    gone: isComplete && !isOtherAccount ? [...(ids ?? known.keys())].filter(isGone) : [],
    isAll: isComplete && !ids,
    isOtherAccount,
  };
}

/** Settings of another version than the stored one replace it, and nothing is said to have changed. */
const version = 3;

export function packSettings(settings: ZoneSettings): string {
  return JSON.stringify({ version, settings });
}

/** Undefined where they are of another version. */
export function unpackSettings(body: string): ZoneSettings | undefined {
  const stored = parseJson(body) as { version: number; settings: ZoneSettings } | undefined;
  return stored?.version === version ? stored.settings : undefined;
}
