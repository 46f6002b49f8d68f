import { hourMs, minuteMs } from '../../../lib/time.ts';

/** Rows are counted by so much: a log of an hour has a chart too. */
export const slotMs = 10 * minuteMs;

const zero = 0x30;

/** Bytes of `2026-11-20T10:1`: all times that begin so are in the same ten minutes. */
const slotLength = 15;

/**
 * Nearly all times are in the same ten minutes as the one before: of `2026-11-20T10:15:30.123Z` only the rest is read. Also
 * reads times without `Z` (as UTC), in seconds, milliseconds or microseconds since the epoch, and anything else that
 * `Date.parse` reads.
 */
export function createTimeReader() {
  const before = Buffer.alloc(slotLength);
  let slot = Number.NaN;

  return {
    /** The ten minutes (UTC) of a time, epoch ms; NaN if the text is no time. */
    readSlot(bytes: Buffer, from: number, to: number): number {
      if (endsAsTime(bytes, from, to)) {
        if (startsWith(bytes, from, before)) return slot;
        if (startsAsTime(bytes, from)) {
          bytes.copy(before, 0, from, from + slotLength);
          const midnight = Date.parse(bytes.toString('latin1', from, from + 10));
          slot = midnight + digits(bytes, from + 11, 2) * hourMs + digits(bytes, from + 14, 1) * slotMs;
          return slot;
        }
      }
      const at = to - from > 64 ? Number.NaN : parseTime(bytes.toString('latin1', from, to).trim());
      return Math.floor(at / slotMs) * slotMs;
    },
  };
}

function startsWith(bytes: Buffer, from: number, beginning: Buffer): boolean {
  for (let nth = 0; nth < slotLength; nth += 1) if (bytes[from + nth] !== beginning[nth]) return false;
  return true;
}

/** Whether the first fifteen bytes may be those of 2026-11-20T10:1; the day is not read. */
function startsAsTime(bytes: Buffer, from: number): boolean {
  const divider = bytes[from + 10];
  return (
    bytes[from + 4] === 0x2d &&
    bytes[from + 7] === 0x2d &&
    (divider === 0x54 || divider === 0x20) &&
    digits(bytes, from + 11, 2) < 24 &&
    bytes[from + 13] === 0x3a &&
    digits(bytes, from + 14, 1) < 6
  );
}

/** Whether the bytes behind the fifteenth are those of 2026-11-20T10:15:30, and of what may follow: .123, Z. */
function endsAsTime(bytes: Buffer, from: number, to: number): boolean {
  const length = to - from;
  if (length < 19 || length > 31) return false;
  const end = fractionEnd(bytes, from + 19, to);
  return (
    (end === to || (end === to - 1 && bytes[end] === 0x5a)) &&
    digits(bytes, from + 15, 1) < 10 &&
    bytes[from + 16] === 0x3a &&
    digits(bytes, from + 17, 2) < 61
  );
}

// 1973 in milliseconds, 5138 in seconds: no time of a log is both.
const leastMilliseconds = 1e11;

function parseTime(text: string): number {
  if (/^\d{9,16}(?:\.\d+)?$/u.test(text)) {
    const number = Number(text);
    // Microseconds have sixteen digits.
    if (number >= leastMilliseconds * 1000) return Math.floor(number / 1000);
    return number >= leastMilliseconds ? number : number * 1000;
  }
  // `Date.parse` accepts bare numbers and words with a number: require a separator between digits.
  return /\d[-/: ]\d/u.test(text) ? Date.parse(text) : Number.NaN;
}

/** NaN if one of them is no digit. */
function digits(bytes: Buffer, from: number, count: number): number {
  let number = 0;
  for (let at = from; at < from + count; at += 1) {
    const digit = (bytes[at] as number) - zero;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

/** The position after the digits behind a dot; `from` without a dot. */
function fractionEnd(bytes: Buffer, from: number, to: number): number {
  if (from >= to || bytes[from] !== 0x2e) return from;
  let at = from + 1;
  while (at < to && (bytes[at] as number) >= zero && (bytes[at] as number) <= zero + 9) at += 1;
  return at;
}
