import { expect, test } from 'vitest';
import { createFilter, type Filters } from '../../../src/api/origin-errors/filters.ts';
import type { OriginError } from '../../../src/api/origin-errors/origin-errors.ts';

const timeout: OriginError = {
  id: 'one',
  at: undefined,
  errorCode: 'http_timeout',
  statusCode: 504,
  serverZone: 'DE',
  path: () => '/img/large/a.png',
  details: () => undefined,
};
const onOrigin: OriginError = { ...timeout, path: () => 'https://origin.example.com/img/a.png' };
const bare: OriginError = {
  ...timeout,
  errorCode: undefined,
  statusCode: undefined,
  serverZone: undefined,
  path: () => undefined,
};

test.each<[Filters, OriginError, boolean]>([
  [{}, bare, true],
  [{ code: ['http_timeout'] }, timeout, true],
  [{ code: ['HTTP_Timeout'] }, timeout, true],
  [{ code: ['http'] }, timeout, false],
  [{ code: ['dns_lookup', 'http_timeout'] }, timeout, true],
  [{ status: ['504'] }, timeout, true],
  [{ status: ['5xx'] }, timeout, true],
  [{ status: ['50X'] }, timeout, true],
  [{ status: ['51x', '4xx'] }, timeout, false],
  [{ status: ['5xx'] }, { ...timeout, statusCode: 5 }, false],
  [{ in: ['de'] }, timeout, true],
  [{ in: ['DE'], status: ['502'] }, timeout, false],
  [{ in: ['NY', 'DE'], status: ['5xx'], code: ['http_timeout'], path: ['/img/'] }, timeout, true],
  [{ path: ['/img'] }, timeout, true],
  [{ path: ['/im'] }, timeout, true],
  [{ path: ['/img/*'] }, timeout, true],
  [{ path: ['/img/*.png'] }, timeout, true],
  [{ path: ['/img/*.jpg'] }, timeout, false],
  [{ path: ['*/a.png'] }, timeout, true],
  [{ path: ['*large*'] }, timeout, true],
  [{ path: ['/img/large/a.png*a.png'] }, timeout, false],
  [{ path: ['/img/*/*/a.png'] }, timeout, false],
  [{ path: ['/video/', '/img/'] }, timeout, true],
  [{ path: ['/img/'] }, onOrigin, true],
  [{ path: ['origin.example.com/img/'] }, onOrigin, true],
  [{ path: ['cdn.example.com/img/'] }, onOrigin, false],
  ...(['code', 'status', 'path', 'in'] as const).map((kind): [Filters, OriginError, boolean] => [
    { [kind]: ['*'] },
    bare,
    false,
  ]),
])('%j of %o: %s', (filters, entry, matches) => {
  expect(createFilter(filters)(entry)).toBe(matches);
});

test('a path with many parts takes no longer than its length', () => {
  const entry = { ...timeout, path: () => `/${'a'.repeat(2000)}` };
  expect(createFilter({ path: [`/${'a*'.repeat(25)}b`] })(entry)).toBe(false);
});
