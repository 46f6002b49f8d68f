import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateEventRows } from '../../../simulator/cdn/event-rows.ts';
import { createEventCounter, readHeader } from '../../../src/commands/exports/csv.ts';
import type { EventFigures } from '../../../src/views/exports/exports.ts';

const [from, to] = [Date.UTC(2026, 10, 20, 9, 30), Date.UTC(2026, 10, 21, 9, 30)];

function count(
  [header = [], ...rows]: readonly (readonly string[])[],
  window = { from: new Date(from), to: new Date(to) },
): EventFigures {
  const columns = readHeader(header);
  if (!columns) throw new Error('this is no header');
  const counter = createEventCounter(columns, window);
  for (const row of rows) counter.add(row);
  return counter.result();
}

const countColumn = (name: string, cells: readonly string[]) => count([[name], ...cells.map((one) => [one])]);

/** The most frequent words, counted without a bound. */
function topOf(words: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const word of words) if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5);
}

test('the figures of a log of the simulated CDN are those of its rows', () => {
  const rows = generateEventRows(501, 3000, from, to);
  const names = ['timestamp', 'action', 'country', 'ruleId', 'ip'] as const;
  const figures = count([
    names,
    ...rows.map((row) => [
      new Date(row.timestamp).toISOString(),
      row.action,
      row.country,
      row.ruleId,
      row.ip,
    ]),
  ]);
  expect(figures).toMatchObject({ untimed: 0 });
  expect(figures.top).toEqual({
    action: topOf(rows.map((row) => row.action)),
    country: topOf(rows.map((row) => row.country)),
    rule: topOf(rows.map((row) => row.ruleId)),
    ip: topOf(rows.map((row) => row.ip)),
  });
  expect(figures.bars?.counts.reduce((sum, one) => sum + one, 0)).toBe(3000);
});

test('one address is counted once however it is written', () => {
  const spellings = [
    ['203.0.113.7', '203.0.113.7:443', '::ffff:203.0.113.7', '[::FFFF:cb00:7107]:80', '203.000.113.007'],
    ['2001:db8::1', '2001:DB8:0:0:0:0:0:1', '[2001:db8::1]:443', '2001:db8::1%eth0', '2001:db8::0:1'],
  ];
  expect(countColumn('ip', [...spellings.flat(), 'unknown']).top.ip).toEqual([
    ['2001:db8::1', 5],
    ['203.0.113.7', 5],
    ['unknown', 1],
  ]);
});

test.each([
  ['/login?token=SECRET&x', '/login'],
  ['/login#SECRET', '/login'],
  ['https://ann:SECRET@shop.example/a', 'https://shop.example/a'],
  ['https://ann:SEC?RET@shop.example/a?b=1', 'https://shop.example/a'],
  ['//ann:SECRET@shop.example/a', '//shop.example/a'],
  ['https://user:pa/SECRET@shop.example/a', 'https://shop.example/a'],
  ['/bcdn_token=SECRET&expires=17/video/1.ts', '/bcdn_token=…&expires=…/video/1.ts'],
  ['/@ann/photos?SECRET', '/@ann/photos'],
])('the URL %s is counted without what may be a secret', (url, expected) => {
  expect(countColumn('url', [url, url]).top.url).toEqual([[expected, 2]]);
});

test('many different values are counted in bounded memory, frequent ones among them', () => {
  const rare = Array.from({ length: 150_000 }, (_, nth) => `rare${nth}`);
  const cells = rare.flatMap((word, nth) => (nth % 3 === 0 ? [word, 'often'] : [word]));
  expect(countColumn('action', cells).top.action?.[0]).toEqual(['often', 50_000]);
});

test('long values are counted by how they begin', () => {
  const long = 'x'.repeat(300);
  expect(countColumn('action', [long, `${long}y`]).top.action).toEqual([[`${'x'.repeat(256)}…`, 2]]);
});

const at = Date.UTC(2026, 10, 20, 10, 15, 30);
test.each([
  '2026-11-20T10:15:30Z',
  '2026-11-20T10:15:30.123456789Z',
  '2026-11-20 10:15:30',
  '2026-11-20T10:15',
  '2026-11-20T11:15:30+01:00',
  'Fri, 20 Nov 2026 10:15:30 GMT',
  ' 2026-11-20T10:15:30Z ',
  String(at / 1000),
  String(at),
  `${at}000`,
  `${at}000000`,
  `${at / 1000}.5`,
])('the time %s is read, as UTC where it has no zone', (time) => {
  const hour = { from: new Date(at - 930_000), to: new Date(at + 2_670_000) };
  expect(count([['time'], [time], [time]], hour)).toMatchObject({
    untimed: 0,
    bars: { from: Date.UTC(2026, 10, 20, 10), minutes: 10, counts: [0, 2, 0, 0, 0, 0] },
  });
});

test.each(['', 'soon', '12', '2026', '99999', '2026-13-45T99:00:00Z', 'x'.repeat(100)])(
  '%j is no time',
  (text) => {
    const figures = countColumn('time', [text]);
    expect(figures.untimed).toBe(1);
    expect(figures.bars).toBeUndefined();
  },
);

test('a time outside of the window is no event time', () => {
  const times = ['2026-11-20T10:15:30Z', '1999-01-01T00:00:00Z', '2099-01-01T00:00:00Z'];
  const { untimed, bars } = countColumn('time', times);
  expect([untimed, bars?.counts.reduce((sum, one) => sum + one, 0)]).toEqual([2, 1]);
});

test('every event of any window is in one of at most eight bars without gaps', () => {
  const window = fc.tuple(
    fc.integer({ min: from, max: to }),
    fc.integer({ min: 1, max: 40 * 24 * 60 }).map((minutes) => minutes * 60_000),
  );
  fc.assert(
    fc.property(window, fc.array(fc.double({ min: 0, max: 0.999, noNaN: true })), ([start, ms], parts) => {
      const moments = parts.map((part) => new Date(Math.floor(start + part * ms)).toISOString());
      const whole = { from: new Date(start), to: new Date(start + ms) };
      const { bars, untimed } = count([['time'], ...moments.map((one) => [one])], whole);
      expect(untimed).toBe(0);
      expect(bars?.counts.reduce((sum, one) => sum + one, 0) ?? 0).toBe(moments.length);
      expect(bars?.counts.length ?? 0).toBeLessThanOrEqual(8);
    }),
  );
});
