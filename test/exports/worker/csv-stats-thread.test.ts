import { afterEach, expect, test } from 'vitest';
import { csvHeader, csvLine, generateEventRows } from '../../../simulator/cdn/event-rows.ts';
import { createEventStats, type EventStats } from '../../../src/exports/stats/event-stats.ts';
import { createCsvStatsThread } from '../../../src/exports/worker/csv-stats-thread.ts';
import { splitBytes } from '../csv/arbitraries.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function newThread() {
  const thread = createCsvStatsThread();
  ends.push(thread.close);
  return thread;
}

const [from, to] = [Date.UTC(2026, 10, 20), Date.UTC(2026, 10, 21)];
const fileOf = (rows: number): Buffer =>
  Buffer.from(`${csvHeader}${generateEventRows(501, rows, from, to).map(csvLine).join('')}`);

function counted(file: Uint8Array): EventStats {
  const counter = createEventStats();
  counter.add(file);
  return counter.result();
}

test.each([
  ['nothing', 0],
  ['a file that needs no thread', 100],
  ['one that is larger than the memory it is handed over in', 30_000],
])('%s is counted as it is counted in one piece', async (_, rows) => {
  const file = rows === 0 ? Buffer.alloc(0) : fileOf(rows);
  const thread = newThread();
  for (const piece of splitBytes(file, [7, 100_000, 131_072, 131_073, 900_000, 3_000_000])) {
    await thread.add(piece);
    // Its giver uses a piece again.
    piece.fill(0);
  }
  expect(await thread.result()).toEqual(counted(file));
});

test('a thread that is ended lets nobody wait for it', async () => {
  const thread = newThread();
  const file = fileOf(20_000);
  await thread.add(file);
  await thread.close();
  await expect(
    (async () => {
      for (let round = 0; round < 3; round += 1) await thread.add(file);
    })(),
  ).rejects.toThrow('ended');
});
