export interface Span {
  bytes: Buffer;
  from: number;
  to: number;
}

const at = 0x40;
const colon = 0x3a;
const equals = 0x3d;
const hash = 0x23;
const questionMark = 0x3f;
const slash = 0x2f;
const ampersand = 0x26;
const semicolon = 0x3b;
const bracket = 0x5b;
const ellipsis = Buffer.from('…');

/**
 * Narrows a span to what a channel may read of a URL, since visitors' URLs hold tokens and passwords: no query, no
 * fragment, no user and password (as `safeUrl` finds them), and no values in the path (`/bcdn_token=…/1.ts`). It reads
 * bytes and makes no strings: a million URLs pass. A result that is no part of the URL is written to `room`, as much as
 * fits.
 */
export function redactUrl(url: Span, room: Buffer): void {
  const { bytes, from, to } = url;
  let hasValue = false;
  let lastAt = -1;
  let end = to;
  for (let place = from; place < to; place += 1) {
    const byte = bytes[place] as number;
    // Letters, which most bytes are, lie above all four.
    if (byte > at) continue;
    if (byte === at) lastAt = place;
    else if (end < to) continue;
    else if (byte === equals) hasValue = true;
    else if (byte === questionMark || byte === hash) end = place;
  }
  // Nearly every URL ends here.
  if (lastAt < 0 && !hasValue) {
    url.to = end;
    return;
  }
  const host = schemeEnd(bytes, from, to);
  const rest = lastAt < 0 ? host : userinfoEnd(bytes, host, to, lastAt);
  if (rest > host) {
    for (end = rest; end < to; end += 1) if (bytes[end] === questionMark || bytes[end] === hash) break;
  }
  const length =
    rest > host
      ? withoutValues(bytes, rest, end, room, withoutValues(bytes, from, host, room, 0))
      : withoutValues(bytes, from, end, room, 0);
  url.bytes = room;
  url.from = 0;
  url.to = length;
}

/** The position after `https://` or `//`; else the beginning. */
function schemeEnd(bytes: Uint8Array, from: number, to: number): number {
  let place = from;
  if (isLetter(bytes[place] as number)) {
    do place += 1;
    while (place < to && isOfScheme(bytes[place] as number));
    if (bytes[place] !== colon) return from;
    place += 1;
  }
  const isThere = place + 1 < to && bytes[place] === slash && bytes[place + 1] === slash;
  return isThere ? place + 2 : from;
}

/** The position after user and password; `host` without them. `lastAt`: position of the last @ in the URL. */
function userinfoEnd(bytes: Uint8Array, host: number, to: number, lastAt: number): number {
  let own = -1;
  let firstColon = -1;
  let hasPort = true;
  for (let place = host; place < to; place += 1) {
    const byte = bytes[place] as number;
    if (byte === slash || byte === questionMark || byte === hash) break;
    if (byte === at) own = place;
    if (firstColon >= 0) hasPort &&= isDigit(byte);
    else if (byte === colon) firstColon = place;
  }
  if (own >= 0) return own + 1;
  // `user:pa/ss@host`: the part before the slash is no host with a port, so it is a user with half a password.
  const isBroken = firstColon >= 0 && !hasPort && bytes[host] !== bracket;
  return isBroken && lastAt >= host ? lastAt + 1 : host;
}

/** Copies a path with `…` for each value after `=`. Returns the length in `room`. */
function withoutValues(bytes: Uint8Array, from: number, to: number, room: Buffer, start: number): number {
  let length = start;
  // Leaves room for the ellipsis.
  const most = room.length - ellipsis.length;
  for (let place = from; place < to && length < most; ) {
    const byte = bytes[place++] as number;
    room[length++] = byte;
    if (byte !== equals) continue;
    const value = place;
    while (place < to && !endsValue(bytes[place] as number)) place += 1;
    if (place > value) for (const part of ellipsis) room[length++] = part;
  }
  return length;
}

function endsValue(byte: number): boolean {
  return byte === slash || byte === ampersand || byte === semicolon;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isLetter(byte: number): boolean {
  return (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
}

/** RFC 3986, 3.1. */
function isOfScheme(byte: number): boolean {
  return isLetter(byte) || isDigit(byte) || byte === 0x2b || byte === 0x2e || byte === 0x2d;
}
