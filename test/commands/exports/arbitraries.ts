import * as fc from 'fast-check';

/** Where to cut: applied to any bytes. */
export const cuts = fc.array(fc.nat(), { maxLength: 12 });

/** The bytes in pieces, cut wherever the numbers say, also within a character of several bytes. */
export function splitBytes(bytes: Uint8Array, cuts: readonly number[]): Buffer[] {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other);
  const from = [0, ...places];
  const to = [...places, bytes.length];
  return from.map((start, nth) => Buffer.from(bytes.subarray(start, to[nth])));
}

/** Any text of a cell, mostly characters that mean something to a CSV reader or a spreadsheet. */
export const cell = fc.oneof(
  fc.string({
    unit: fc.constantFrom(...Array.from('=+-@＝＋－＠",\'\t \u00a0\u200b\u{feff}\r\nabc;|东🚀01')),
    maxLength: 8,
  }),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('/wp-login.php', '203.0.113.7', '=1+1', '"=1+1"', ' \t=cmd|x', '-5', '\r=1', ''),
);

/** A table: every row as wide as the others, two columns at least, so that no row is an empty line. */
export const table = fc
  .integer({ min: 2, max: 5 })
  .chain((width) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 12 }),
  )
  // At the very beginning it is no text.
  .filter((rows) => !rows[0]?.[0]?.startsWith('\u{feff}'));

/** How a file may be written. */
export const csvFormat = fc.record({
  record_delimiter: fc.constantFrom('\n', '\r\n'),
  quoted: fc.boolean(),
  // It quotes only the line break that it ends rows with.
  quoted_match: fc.constant(/[\r\n]/),
  bom: fc.boolean(),
  eof: fc.boolean(),
});
