import { safeUrl } from '../api/hidden.ts';

/**
 * A URL of a log as a channel may read it: tokens and passwords travel in what visitors ask for. Without its query and
 * fragment, without user and password, and without values that stand in the path (`/bcdn_token=…/1.ts`).
 */
export function shownUrl(url: string): string {
  return (safeUrl(url).split(/[?#]/u, 1)[0] ?? '').replaceAll(/=[^/&;]+/gu, '=…');
}

const at = 0x40;
const equals = 0x3d;
const hash = 0x23;
const questionMark = 0x3f;

/** Where what `shownUrl` leaves ends, for the bytes of a URL; -1 where it leaves something else than a beginning. */
export function shownUrlEnd(bytes: Uint8Array, from: number, to: number): number {
  let end = to;
  for (let place = from; place < to; place += 1) {
    const byte = bytes[place];
    // User and password may hold any sign, a question mark too.
    if (byte === at) return -1;
    if (end < to) continue;
    if (byte === equals) return -1;
    if (byte === questionMark || byte === hash) end = place;
  }
  return end;
}
