import { expect, test } from 'vitest';
import { createCache } from '../../src/lib/cache.ts';

function clock() {
  let ms = 1;
  return { now: () => new Date(ms), later: (by: number) => void (ms += by) };
}

test('a value stays for its ttl, which may depend on the value', () => {
  const { now, later } = clock();
  const cache = createCache<number>({ now, maxEntries: 10, ttlMs: (value) => value });
  cache.set('short', 10);
  cache.set('long', 20);
  later(9);
  expect([cache.get('short'), cache.get('long')]).toEqual([10, 20]);
  later(1);
  expect([cache.get('short'), cache.get('long')]).toEqual([undefined, 20]);
});

test('what is out of date leaves the memory with the next entry that has a size, or that is dropped', () => {
  const { now, later } = clock();
  const cache = createCache<number>({ now, maxSize: 10, ttlMs: 10 });
  cache.set('old', 1);
  later(10);
  cache.set('new', 2);
  expect(cache.size()).toBe(1);
  later(10);
  cache.drop('another');
  expect(cache.size()).toBe(0);
});

test('the least recently used entry is evicted first, by number and by size', () => {
  const few = createCache<string>({ now: clock().now, maxEntries: 2 });
  few.set('a', 'one');
  few.set('b', 'two');
  few.get('a');
  few.set('c', 'three');
  expect([few.get('a'), few.get('b'), few.get('c')]).toEqual(['one', undefined, 'three']);

  const small = createCache<string>({ now: clock().now, maxSize: 5, sizeOf: (value) => value.length });
  small.set('a', 'xx');
  small.set('b', 'xxx');
  small.set('c', 'x');
  small.set('large', 'xxxxxx');
  expect(['a', 'b', 'c', 'large'].map((key) => small.get(key))).toEqual([undefined, 'xxx', 'x', undefined]);
});

test('concurrent callers share one load, and a failed load is not cached', async () => {
  const cache = createCache<number>({ now: clock().now, maxEntries: 10 });
  let loads = 0;
  const load = async () => {
    loads += 1;
    if (loads === 1) throw new Error('down');
    return loads;
  };
  const failed = await Promise.allSettled([cache.load('a', load), cache.load('a', load)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([cache.load('a', load), cache.load('a', load)])).toEqual([2, 2]);
  expect(await cache.load('b', load)).toBe(3);
  expect(await cache.load('b', load, { isStale: (known) => known < 3 })).toBe(3);
  expect(await cache.load('b', load, { isStale: (known) => known < 4 })).toBe(4);
});

test('dropped entries are gone, and a load under way for them is not cached', async () => {
  const cache = createCache<string>({ now: clock().now, maxEntries: 10 });
  const late = Promise.withResolvers<string>();
  const loading = cache.load('T1/late', () => late.promise);
  for (const key of ['T1/a', 'T1/b', 'T2/a']) cache.set(key, key);
  cache.drop('T2/a');
  cache.drop((key) => key.startsWith('T1/'));
  late.resolve('late');
  expect(await loading).toBe('late');
  expect(['T1/a', 'T1/b', 'T2/a', 'T1/late'].map((key) => cache.get(key))).toEqual(Array(4).fill(undefined));
  expect(cache.size()).toBe(0);

  // It leaves the load that took its place to those who share it.
  const [old, next] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const first = cache.load('a', () => old.promise);
  cache.drop('a');
  const second = cache.load('a', () => next.promise);
  old.resolve('old');
  await first;
  const third = cache.load('a', async () => 'a load too many');
  next.resolve('next');
  expect(await Promise.all([second, third])).toEqual(['next', 'next']);
});

test('a caller that gives up gets its reason; when the one that began gives up, another begins anew', async () => {
  const cache = createCache<string>({ now: clock().now, maxEntries: 10 });
  const [beginner, other] = [new AbortController(), new AbortController()];
  const started: AbortSignal[] = [];
  const load = ({ signal }: AbortController) =>
    cache.load(
      'a',
      () => {
        started.push(signal);
        const { promise, reject } = Promise.withResolvers<string>();
        signal.addEventListener('abort', () => reject(signal.reason));
        return promise;
      },
      { signal },
    );
  const [begun, waiting, third] = [load(beginner), load(other), cache.load('a', async () => 'third')];
  other.abort(new Error('gave up'));
  await expect(waiting).rejects.toThrow('gave up');
  await expect(load(other)).rejects.toThrow('gave up');
  expect(started).toEqual([beginner.signal]);

  beginner.abort(new Error('gave up first'));
  await expect(begun).rejects.toThrow('gave up first');
  expect(await third).toBe('third');
  expect(cache.get('a')).toBe('third');
});
