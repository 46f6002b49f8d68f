import type { Transaction } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import { type NewestVersion, type Slot, signVersion, takeVersion } from '../keyring/sealed-versions.ts';
import { SealError, type Sealer } from './sealing.ts';

/**
 * Makes every version of a place but a new one void, and gives the new one: what is sealed for it is the newest, and
 * where nothing is, the place is empty for good. Versions begin at the clock's milliseconds, so that one is never given
 * twice even where somebody turned a record back.
 */
export async function advanceVersion(
  trx: Transaction<Schema>,
  sealer: Sealer,
  slot: Slot,
  now: Date,
): Promise<number> {
  const version = await takeVersion(trx, slot, now.getTime());
  await signVersion(trx, slot, signVersionOf(sealer, slot, version));
  return version;
}

/** The record of a version under the keyring's primary key. */
export function signVersionOf(sealer: Sealer, slot: Slot, version: number): NewestVersion {
  return { version, ...sealer.sign(partsOf(slot, version)) };
}

/** Whether a record is what the bot wrote. @throws SealError `unknown_key` */
export function isAuthentic(sealer: Sealer, slot: Slot, newest: NewestVersion): boolean {
  return sealer.verify(partsOf(slot, newest.version), newest);
}

/**
 * Compares a row with the independent record of its newest version. A row from before there were versions has neither.
 *
 * @throws SealError `replayed` where they differ or the record is not authentic.
 */
export function checkVersion(
  sealer: Sealer,
  slot: Slot,
  version: number,
  newest: NewestVersion | undefined,
): void {
  if (newest === undefined && version === 0) return;
  if (newest && newest.version === version && isAuthentic(sealer, slot, newest)) return;
  throw new SealError(
    'replayed',
    'A stored value does not match the record of its newest version: an older copy was put back.',
  );
}

function partsOf({ tenant, userId, kind }: Slot, version: number): (string | number)[] {
  return ['cdn-chatops version v1', kind, tenant, userId, version];
}
