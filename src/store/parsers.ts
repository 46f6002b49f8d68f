/** The types that the two engines would return differently, by their number in every PostgreSQL. */
export const typeIds = { bytea: 17, int8: 20, date: 1082 } as const;

/** Whole numbers: a number while it is exact, beyond that a bigint. */
export function readInteger(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/** Bytes, from PostgreSQL's hexadecimal form `\x00ff`. */
export function readBytes(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}

/** Calendar days stay text: as a moment, a day would begin in the time zone of the machine that reads it. */
export function readDay(text: string): string {
  return text;
}
