import { afterEach, expect, test } from 'vitest';
import { csvHeader, csvLine, generateEventRows } from '../../../../simulator/cdn/event-rows.ts';
import { createEventStats, type EventStats } from '../../../../src/commands/exports/stats/event-stats.ts';
import { startStatsThread } from '../../../../src/commands/exports/worker/stats-thread.ts';
import { splitBytes } from '../csv/arbitraries.ts';

const threads: ReturnType<typeof startStatsThread>[] = [];
afterEach(() => {
  for (const thread of threads.splice(0)) thread.cancel();
});

function newThread(): ReturnType<typeof startStatsThread> {
  const thread = startStatsThread({});
  threads.push(thread);
  return thread;
}

const [from, to] = [Date.UTC(2026, 10, 20), Date.UTC(2026, 10, 21)];
const fileOf = (rows: number): Buffer =>
  Buffer.from(`${csvHeader}${generateEventRows(501, rows, from, to).map(csvLine).join('')}`);

function countFile(file: Uint8Array): EventStats {
  const counter = createEventStats();
  counter.add(file);
  return counter.result();
}

test.each([
  ['nothing', 0],
  ['a file that needs no thread', 100],
  ['a file of several batches', 30_000],
])('%s is counted as in one piece', async (_, rows) => {
  const file = rows === 0 ? Buffer.alloc(0) : fileOf(rows);
  const thread = newThread();
  for (const piece of splitBytes(file, [7, 100_000, 131_072, 131_073, 900_000, 3_000_000])) {
    // One memory for two pieces: they are copied, and the giver may use the memory again.
    const shared = new Uint8Array(piece.length + 1);
    shared.set(piece);
    await thread.add(shared.subarray(0, piece.length));
    shared.fill(0);
  }
  expect(await thread.result()).toEqual(countFile(file));
});

test('a thread counts one file after the other', async () => {
  for (const rows of [20_000, 30_000]) {
    const thread = startStatsThread({ hashes: false });
    await thread.add(new Uint8Array(fileOf(rows)));
    expect((await thread.result()).rows).toBe(rows);
  }
  newThread();
});

test('adding to a cancelled thread fails', async () => {
  const thread = newThread();
  const add = () => thread.add(new Uint8Array(fileOf(20_000)));
  await add();
  thread.cancel();
  await expect(
    (async () => {
      for (let round = 0; round < 8; round += 1) await add();
    })(),
  ).rejects.toThrow('ended');
});
