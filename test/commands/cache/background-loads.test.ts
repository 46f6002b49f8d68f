import { expect, test } from 'vitest';
import { createBackgroundLoads } from '../../../src/commands/cache/background-loads.ts';

function bench() {
  let ms = 0;
  const explained: unknown[] = [];
  return {
    readings: createBackgroundLoads<string>({ now: () => new Date(ms) }),
    later: (by: number) => void (ms += by),
    explained,
    explain: (error: unknown) => {
      explained.push(error);
      return { message: 'The CDN is down.', reference: `ref${explained.length}` };
    },
  };
}

/** A reading that lasts until it is told to end. */
function endless() {
  const heard: AbortSignal[] = [];
  const load = (until: AbortSignal) =>
    new Promise<string>((_, reject) => {
      heard.push(until);
      until.addEventListener('abort', () => reject(new Error('ended')));
    });
  return { heard, load };
}

test('those who ask for the same at the same time share one reading; others have their own', async () => {
  const { readings, explain } = bench();
  let loads = 0;
  const load = async () => `list ${(loads += 1)}`;
  const [one, same, other] = await Promise.all([
    readings.begin('T1/U1', load, explain),
    readings.begin('T1/U1', load, explain),
    readings.begin('T1/U2', load, explain),
  ]);
  expect([one, same, other]).toEqual([{ read: 'list 1' }, { read: 'list 1' }, { read: 'list 2' }]);
  expect(await readings.begin('T1/U1', load, explain)).toEqual({ read: 'list 3' });
});

test('a failure is told to all who ask in the next ten seconds, and explained once', async () => {
  const { readings, explain, explained, later } = bench();
  let loads = 0;
  const load = async () => {
    loads += 1;
    throw new Error('down');
  };
  const failed = { failure: { message: 'The CDN is down.', reference: 'ref1' } };
  const both = [readings.begin('T1/U1', load, explain), readings.begin('T1/U1', load, explain)];
  expect(await Promise.all(both)).toEqual([failed, failed]);
  later(9_999);
  expect(await readings.begin('T1/U1', load, explain)).toEqual(failed);
  expect([loads, explained.length]).toEqual([1, 1]);
  later(1);
  await readings.begin('T1/U1', load, explain);
  expect([loads, explained.length]).toEqual([2, 2]);
});

test('what ends with its key is no failure, and the next key begins anew', async () => {
  const { readings, explain, explained } = bench();
  const { load, heard } = endless();
  const ended = readings.begin('T1/U1', load, explain);
  const others = readings.begin('T1/U2', load, explain);
  readings.end((key) => key === 'T1/U1');
  expect(heard.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(await readings.begin('T1/U1', async () => 'new', explain)).toEqual({ read: 'new' });
  expect(await ended).toMatchObject({ failure: { message: expect.stringContaining('stopped') } });
  expect(explained).toEqual([]);
  await readings.stop();
  expect(await others).toMatchObject({ failure: { message: expect.stringContaining('stopped') } });
});

test('a failure is forgotten with its key', async () => {
  const { readings, explain } = bench();
  await readings.begin('T1/U1', () => Promise.reject(new Error('refused')), explain);
  readings.end((key) => key === 'T1/U1');
  expect(await readings.begin('T1/U1', async () => 'new', explain)).toEqual({ read: 'new' });
});

test('a stop ends everything, waits for it, and nothing begins any more', async () => {
  const { readings, explain, explained } = bench();
  const { load, heard } = endless();
  const running = readings.begin('T1/U1', load, explain);
  await readings.stop();
  expect(await running).toHaveProperty('failure');
  expect(await readings.begin('T1/U2', load, explain)).toHaveProperty('failure');
  expect(heard.map(({ aborted }) => aborted)).toEqual([true]);
  expect(explained).toEqual([]);
});
