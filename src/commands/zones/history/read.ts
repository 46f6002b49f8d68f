import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { CdnClient } from '../../../api/cdn.ts';
import type { DigestKeys, ZoneSettings } from '../../../api/zones/settings.ts';
import { UserError } from '../../../errors.ts';
import { canonicalJson, type Json } from '../../../lib/canonical-json.ts';

/** More zones are compared for chosen ones only: an answer is 6 kB a zone, and each is parsed whole. */
export const mostZones = 5_000;

/** Zones by id, with the hash of what was stored of each. */
export type KnownZones = ReadonlyMap<string, string>;

/** A zone that is not as it was stored, packed: an unchanged one takes no room. */
export interface PackedZone {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly body: string;
}

export interface ReadSettings {
  readonly changed: readonly PackedZone[];
  /** The zones that were compared. */
  readonly seen: ReadonlySet<string>;
  /** Known zones that the key does not see any more. */
  readonly gone: readonly string[];
  /** All zones of the account were compared. */
  readonly isAll: boolean;
  /** There are zones, and none is known: the key is of another account. */
  readonly isOtherAccount: boolean;
}

/** The part of a client that reads settings. */
export type SettingsReader = { readonly pullZones: Pick<CdnClient['pullZones'], 'settings'> };

/**
 * Reads the settings of the wanted zones (undefined = all) and keeps those that differ from what is known.
 *
 * @throws ApiError; UserError for all of more than `mostZones`.
 */
export async function readSettings(
  cdn: SettingsReader,
  options: {
    readonly digestKeys: DigestKeys;
    readonly known: KnownZones;
    readonly wanted: ReadonlySet<string> | undefined;
    readonly search?: string | undefined;
  },
): Promise<ReadSettings> {
  const { digestKeys, known, wanted, search } = options;
  const seen = new Set<string>();
  let zones = 0;
  let knownZones = 0;
  const { kept, skipped, isWhole } = await cdn.pullZones.settings({
    search,
    digestKeys,
    wants(id) {
      zones += 1;
      if (known.has(id)) knownZones += 1;
      return wanted?.has(id) ?? true;
    },
    project(settings) {
      seen.add(settings.id);
      return packChanged(settings, known);
    },
    enough() {
      if (!wanted) return seen.size > mostZones;
      // Until a known zone is met the key may be of another account.
      return seen.size >= wanted.size && (known.size === 0 || knownZones > 0);
    },
  });
  if (!wanted && seen.size > mostZones)
    throw new UserError(
      `Your key sees more than ${mostZones.toLocaleString('en-US')} zones: settings are compared for chosen ones.`,
      'Choose zones: `/cdn changes shop` looks at one.',
    );
  const isComplete = isWhole && skipped === 0 && search === undefined;
  const isOtherAccount = isComplete && known.size > 0 && zones > 0 && knownZones === 0;
  const isGone = (id: string) => known.has(id) && !seen.has(id);
  return {
    changed: kept,
    seen,
    gone: isComplete && !isOtherAccount ? [...(wanted ?? known.keys())].filter(isGone) : [],
    isAll: isComplete && !wanted,
    isOtherAccount,
  };
}

/** Of another version than the stored one, settings are stored anew, and nothing is said to have changed. */
const version = 2;

function packChanged(settings: ZoneSettings, known: KnownZones): PackedZone | undefined {
  const { id, name } = settings;
  const hash = hashSettings(settings);
  return known.get(id) === hash ? undefined : { id, name, hash, body: packSettings(settings) };
}

function hashSettings(settings: ZoneSettings): string {
  return createHash('sha256')
    .update(canonicalJson([version, settings as unknown as Json]))
    .digest('base64url');
}

/** Some 6 kB become one. */
export function packSettings(settings: ZoneSettings): string {
  return deflateRawSync(JSON.stringify({ version, settings })).toString('base64');
}

/** Undefined where they are of another version. */
export function unpackSettings(body: string): ZoneSettings | undefined {
  const text = inflateRawSync(Buffer.from(body, 'base64')).toString();
  const stored = JSON.parse(text) as { readonly version: number; readonly settings: ZoneSettings };
  return stored.version === version ? stored.settings : undefined;
}
