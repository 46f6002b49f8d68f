import { expect, test } from 'vitest';
import { findNextRuns, type Schedule } from '../../src/lib/schedule.ts';
import { createWallClock, timeZones } from '../support/digests/time-zones.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const daily = (zone: string, time: string): Schedule => ({
  time,
  zone,
  weekdays: [1, 2, 3, 4, 5, 6, 7],
  monthDays: [],
});

/** Every moment at which a wall's clock jumps, to the minute: the first one of the new time. */
function changesOf(zone: string, from: number, until: number): number[] {
  const wall = createWallClock(zone);
  const ahead = (at: number): number => Date.parse(`${wall(at).replace(' ', 'T')}Z`) - at;
  const changes: number[] = [];
  for (let at = from; at < until; at += day) {
    if (ahead(at) === ahead(at + day)) continue;
    let [low, high] = [at, at + day];
    while (high - low > minute) {
      const middle = low + Math.floor((high - low) / 2 / minute) * minute;
      if (ahead(middle) === ahead(low)) low = middle;
      else high = middle;
    }
    changes.push(high);
  }
  return changes;
}

const around = 240;

/** From what a clock shows minute by minute around a change: when a clock shows a time first, or jumps over it. */
function runsByHand(shown: readonly string[], from: number, time: string): number[] {
  const runs = new Map<string, number>();
  for (const [index, now] of shown.entries()) {
    const before = shown[index - 1] ?? now;
    const at = from + index * minute;
    for (const date of new Set([before.slice(0, 10), now.slice(0, 10)])) {
      const wanted = `${date} ${time}`;
      if (now === wanted || (before < wanted && wanted < now)) runs.set(wanted, runs.get(wanted) ?? at);
    }
  }
  return [...runs.values()];
}

test('every change of the clocks from 2026 to 2036: what a minute by minute count says', () => {
  const wrong: string[] = [];
  let changed = 0;
  for (const zone of timeZones) {
    const wall = createWallClock(zone);
    for (const change of changesOf(zone, Date.UTC(2026, 0, 1), Date.UTC(2037, 0, 1))) {
      changed += 1;
      // The edges of what is left out or comes twice, and the middle of it.
      const [old, fresh] = [change - minute, change].map(wall);
      const edges = [-minute, 0, 15 * minute].map((by) => wall(change + by).slice(11));
      const times = new Set([old?.slice(11) ?? '', fresh?.slice(11) ?? '', ...edges, '02:30', '00:00']);
      const from = change - around * minute;
      const shown = Array.from({ length: 2 * around + 1 }, (_, index) => wall(from + index * minute));
      for (const time of times) {
        const runs = findNextRuns(daily(zone, time), new Date(from - 1), 3)
          .map((at) => at.getTime())
          .filter((at) => at <= change + around * minute);
        const expected = runsByHand(shown, from, time);
        if (runs.join() !== expected.join())
          wrong.push(`${zone} ${time}: ${runs.map(wall).join()} instead of ${expected.map(wall).join()}`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(timeZones.length).toBeGreaterThan(40);
  // 25 of these zones change twice a year.
  expect(changed).toBeGreaterThan(500);
});

test('the next run is there at once, whatever the zone: months end, and leap days come', () => {
  for (const zone of timeZones) {
    const wall = createWallClock(zone);
    const last = { time: '09:00', zone, weekdays: [], monthDays: [29, 31] };
    const runs = findNextRuns(last, new Date(Date.UTC(2028, 0, 20)), 6).map((at) => wall(at.getTime()));
    expect(runs).toEqual(
      ['01-29', '01-31', '02-29', '03-29', '03-31', '04-29'].map((date) => `2028-${date} 09:00`),
    );
  }
});
