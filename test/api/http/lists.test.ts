import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCutter, maxElementBytes, type Outside, tooLarge } from '../../../src/api/http/lists.ts';

/** Cuts `document` where `borders` say, 0 to 1 each, and gives what came out. */
function cut(
  document: string,
  borders: readonly number[] = [],
  elements: unknown[] = [],
): { elements: unknown[]; outside: Outside } {
  const bytes = Buffer.from(document);
  const places = [0, ...borders.map((border) => Math.floor(border * bytes.length)), bytes.length].sort(
    (a, b) => a - b,
  );
  const cutter = createCutter('Items');
  for (const [index, place] of places.entries()) {
    cutter.push(bytes.subarray(places[index - 1] ?? 0, place), (element) => elements.push(element));
  }
  return { elements, outside: cutter.end() };
}

// Names and texts with everything that could mislead it: quotes, backslashes, brackets, commas, other alphabets.
const text = fc.oneof(
  fc.string({
    unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', 'é', '漢', '😀', ' ', 'a', '\n'),
  }),
  fc.string({ unit: 'binary' }),
);
const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 });
const value = fc.oneof(json, text, fc.record({ Items: fc.array(text), [']"']: json }));
const space = fc.constantFrom(0, 1, 2, '\t', '\r\n ');
const borders = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

test('any list, at the top or in a member, cut anywhere, has the elements that JSON.parse finds', () => {
  const members = fc.dictionary(
    text.filter((name) => name !== 'Items' && name !== '__proto__'),
    value,
    { maxKeys: 3 },
  );
  fc.assert(
    fc.property(
      fc.array(value, { maxLength: 6 }),
      fc.option(fc.tuple(members, members), { nil: undefined }),
      space,
      borders,
      (list, around, indent, borders) => {
        const wrap = (Items: unknown[]) => (around ? { ...around[0], Items, ...around[1] } : Items);
        const { elements, outside } = cut(JSON.stringify(wrap(list), undefined, indent), borders);
        expect(elements).toEqual(JSON.parse(JSON.stringify(list)));
        const document: unknown = JSON.parse(JSON.stringify(wrap([])));
        expect(outside).toEqual({ found: around ? 'member' : 'top', document });
      },
    ),
    { numRuns: 600 },
  );
});

test('a byte order mark is passed over', () => {
  expect(cut('\uFEFF[1,2]').elements).toEqual([1, 2]);
  expect(cut('\uFEFF{"Items":[1]}').elements).toEqual([1]);
});

test.each([
  ['the member holds no list', '{"Items":{"0":1},"TotalItems":1}'],
  ['the member is null', '{"Items":null}'],
  ['there is no such member', '{"logs":[1,2],"data":{"Items":[3]}}'],
  ['the name stands as a value', '{"a":"Items","b":[1]}'],
  ['it is a text', '"[1]"'],
])('no list is found where %s', (_, document) => {
  const { elements, outside } = cut(document, [0.5]);
  expect(elements).toEqual([]);
  expect(outside).toEqual({ found: 'nowhere', document: JSON.parse(document) });
});

test.each([
  ['a web page', '<!doctype html><p>[1]</p>'],
  ['a list without an end', '[{"a":1},{"b":'],
  ['a list that ends like an object', '[1,2}'],
  ['a member without an end', '{"Items":[1,2],"TotalItems"'],
  ['a comma too many at the end', '[1,]'],
  ['a comma too many at the start', '[,1]'],
  ['two lists', '[1][2]'],
  ['something behind the list', '[1] 2'],
  ['mismatched brackets in an element', '[{"a":[1}]]'],
  ['an unknown word', '[1,oops]'],
  ['nothing at all', ''],
])('%s is a syntax error, however it is cut', (_, document) => {
  for (const border of [0, 0.3, 0.6, 0.9]) expect(() => cut(document, [border])).toThrow(SyntaxError);
});

test('what is not the list is not gathered without a limit', () => {
  const document = JSON.stringify({ other: 'x'.repeat(3_000_000), Items: [] });
  expect(() => cut(document, [0.1, 0.2, 0.3, 0.4, 0.5])).toThrowErrorMatchingInlineSnapshot(
    `[SyntaxError: Too much text surrounds the list.]`,
  );
});

test.each([
  ['many parts', '[],'],
  ['much text', `"${'x'.repeat(1_000)}",`],
])('an element of %s, which would fill the heap, is refused before it is whole', (_, part) => {
  const cutter = createCutter('Items');
  const piece = Buffer.from(part.repeat(60_000 / part.length));
  cutter.push(Buffer.from('[{"Id":1,"Name":['), () => undefined);
  let bytes = 0;
  expect(() => {
    for (; bytes < 3_000_000; bytes += piece.length) cutter.push(piece, () => undefined);
  }).toThrow(tooLarge);
  expect(bytes).toBeLessThan(maxElementBytes + piece.length);
});
