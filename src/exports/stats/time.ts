import { hourMs, minuteMs } from '../../lib/time.ts';

/** Rows are counted by so much: a log of an hour has a chart too. */
export const slotMs = 10 * minuteMs;

const zero = 0x30;

/**
 * Nearly all times are on the same day as the one before: `2026-11-20T10:15:30.123Z` is read digit by digit, and
 * midnight is computed once. Also reads times without `Z` (as UTC), in seconds, milliseconds or microseconds since the
 * epoch, and anything else that `Date.parse` reads.
 */
export function createTimeReader() {
  let dayKey = -1;
  let midnight = Number.NaN;

  /** Midnight of the day in ten bytes. */
  const dayAt = (bytes: Buffer, from: number): number => {
    const year = digits(bytes, from, 4);
    const month = digits(bytes, from + 5, 2);
    const day = digits(bytes, from + 8, 2);
    const key = (year * 100 + month) * 100 + day;
    if (key === dayKey) return midnight;
    dayKey = key;
    midnight = Date.parse(bytes.toString('latin1', from, from + 10));
    return midnight;
  };

  return {
    /** The ten minutes (UTC) of a time, epoch ms; NaN if the text is no time. */
    readSlot(bytes: Buffer, from: number, to: number): number {
      const length = to - from;
      // 2026-11-20T10:15:30, and what may follow: .123, Z
      if (length >= 19 && length <= 31 && bytes[from + 4] === 0x2d && bytes[from + 7] === 0x2d) {
        const divider = bytes[from + 10];
        const ends = fractionEnd(bytes, from + 19, to);
        const isUtc = ends === to || (ends === to - 1 && bytes[ends] === 0x5a);
        if (
          isUtc &&
          (divider === 0x54 || divider === 0x20) &&
          bytes[from + 13] === 0x3a &&
          bytes[from + 16] === 0x3a
        ) {
          const hours = digits(bytes, from + 11, 2);
          const minutes = digits(bytes, from + 14, 2);
          const seconds = digits(bytes, from + 17, 2);
          if (hours < 24 && minutes < 60 && seconds < 61)
            return dayAt(bytes, from) + hours * hourMs + Math.floor(minutes / 10) * slotMs;
        }
      }
      const at = length > 64 ? Number.NaN : parseTime(bytes.toString('latin1', from, to).trim());
      return Math.floor(at / slotMs) * slotMs;
    },
  };
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
