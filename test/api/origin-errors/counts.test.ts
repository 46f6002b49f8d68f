import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createOriginErrorCounter,
  createSeenIds,
  findPathPrefix,
} from '../../../src/api/origin-errors/counts.ts';

const newCounter = () => createOriginErrorCounter({ start: 0, hours: 48 });

test.each([
  ['/', '/'],
  ['/cart', '/cart'],
  ['/img/a.png', '/img/…'],
  ['/api/orders/17/items', '/api/orders/…'],
  ['https://shop.example.com/img/a.png', 'shop.example.com/img/…'],
  ['', '/'],
  ['//', '//…'],
])('%s lies at %s', (path, prefix) => {
  expect(findPathPrefix(path)).toBe(prefix);
});

test('an id is new once, and beyond the bound nothing more is remembered', () => {
  const ids = createSeenIds(2);
  expect(['a', 'b', 'c', 'c', 'a'].map((id) => ids.isNew(id))).toEqual([true, true, true, true, false]);
});

test('counting in parts and merging gives what counting at once gives', () => {
  const entry = fc.record({
    id: fc.uuid(),
    at: fc.option(fc.integer({ min: 0, max: 2 * 86_400_000 - 1 }), { nil: undefined }),
    errorCode: fc.constantFrom('dns_lookup', 'http_timeout', undefined),
    statusCode: fc.constantFrom(502, 504, undefined),
    serverZone: fc.constantFrom('DE', 'SG'),
    url: fc.constantFrom('/img/a.png', '/cart', undefined),
  });
  fc.assert(
    fc.property(fc.array(entry), fc.array(entry), (first, second) => {
      const [one, other, whole] = [newCounter(), newCounter(), newCounter()];
      const createEntry = ({ url, ...rest }: (typeof first)[number]) =>
        ({ ...rest, path: () => url, details: () => undefined }) as Parameters<typeof one.add>[0];
      for (const raw of first) for (const counter of [one, whole]) counter.add(createEntry(raw));
      for (const raw of second) for (const counter of [other, whole]) counter.add(createEntry(raw));
      one.merge(other);
      const { samples: _, ...merged } = one.result();
      const { samples: __, ...atOnce } = whole.result();
      expect(merged).toEqual(atOnce);
    }),
  );
});

test('kinds and paths beyond the bounds are counted together', () => {
  const counter = newCounter();
  for (let nth = 0; nth < 10_100; nth += 1)
    counter.add({
      id: String(nth),
      at: 0,
      errorCode: `code_${nth}`,
      statusCode: 502,
      serverZone: 'DE',
      path: () => `/folder-${nth}`,
      details: () => undefined,
    });
  const { total, kinds, prefixes, prefixCount } = counter.result();
  expect([total, kinds.length, prefixes.length, prefixCount]).toEqual([10_100, 501, 100, 10_001]);
  expect(kinds[0]).toMatchObject({ errorCode: 'other errors', count: 9_600 });
  expect(prefixes[0]).toEqual(['other paths', 100]);
});
