import { createHash } from 'node:crypto';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvHeader, csvLine, generateEventRows } from '../../../../simulator/cdn/event-rows.ts';
import { createEventStats, type EventStats } from '../../../../src/commands/exports/stats/event-stats.ts';
import { createTimeReader } from '../../../../src/commands/exports/stats/time.ts';
import { cell, csvFormat, cuts, expectedUrl, splitBytes, table } from '../csv/arbitraries.ts';

function figures(pieces: readonly (Uint8Array | string)[]): EventStats {
  const counter = createEventStats();
  for (const piece of pieces) counter.add(Buffer.from(piece));
  return counter.result();
}

/** The words of a column, counted as the dullest program does. */
function topOf(words: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const word of words) if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]).slice(0, 5);
}

const [from, to] = [Date.UTC(2026, 10, 20, 9, 30), Date.UTC(2026, 10, 21, 9, 30)];

test('the figures of a file of the simulated CDN are those of its rows', () => {
  const rows = generateEventRows(501, 3000, from, to);
  const file = Buffer.from(`${csvHeader}${rows.map(csvLine).join('')}`);
  const found = figures(splitBytes(file, [1, 2, 5000, 66_000, 66_001, 200_000]));
  expect(found).toMatchObject({
    rows: 3000,
    broken: 0,
    untimed: 0,
    bytes: file.length,
    sha256: createHash('sha256').update(file).digest('hex'),
  });
  expect(found.top).toEqual({
    action: { words: topOf(rows.map((row) => row.action)), missed: 0 },
    country: { words: topOf(rows.map((row) => row.country)), missed: 0 },
    rule: { words: topOf(rows.map((row) => row.ruleId)), missed: 0 },
    ip: { words: topOf(rows.map((row) => row.ip)), missed: 0 },
    url: { words: topOf(rows.map((row) => expectedUrl(row.url))), missed: 0 },
  });
  expect(found.slots).toHaveLength(144);
  expect(found.slots[0]).toEqual([from, rows.filter(({ timestamp }) => timestamp < from + 600_000).length]);
  expect(found.slots.reduce((sum, [, count]) => sum + count, 0)).toBe(3000);
});

test('one address is counted as one, however it is written', () => {
  const spellings = [
    ['203.0.113.7', '203.0.113.7:443', '::ffff:203.0.113.7', '[::FFFF:cb00:7107]:80', '203.000.113.007'],
    ['2001:db8::1', '2001:DB8:0:0:0:0:0:1', '[2001:db8::1]:443', '2001:db8::1%eth0', '"2001:db8::0:1"'],
  ];
  const rows = spellings.flat().map((ip) => `${ip},x\n`);
  expect(figures(['ip,action\n', ...rows, 'unknown,x\n']).top.ip?.words).toEqual([
    ['203.0.113.7', 5],
    ['2001:db8::1', 5],
    ['unknown', 1],
  ]);
});

test('any table is counted wherever it is cut, in whatever order its columns are', () => {
  const names = fc.shuffledSubarray(
    ['timestamp', 'Action', 'country_code', 'Rule ID', 'clientIp', 'url', 'more'],
    {
      minLength: 2,
    },
  );
  const file = names.chain((header) =>
    fc.record({
      header: fc.constant(header),
      rows: fc.array(fc.array(cell, { minLength: header.length, maxLength: header.length })),
    }),
  );
  fc.assert(
    fc.property(file, csvFormat, cuts, ({ header, rows }, how, cuts) => {
      const text = Buffer.from(stringify([header, ...rows], how));
      const found = figures(splitBytes(text, cuts));
      expect(found).toMatchObject({ rows: rows.length, broken: 0, bytes: text.length });
      const known = {
        action: 'Action',
        country: 'country_code',
        rule: 'Rule ID',
        ip: 'clientIp',
        url: 'url',
      };
      for (const [subject, name] of Object.entries(known)) {
        const column = header.indexOf(name);
        const counts = found.top[subject as keyof typeof known];
        expect(counts === undefined).toBe(column < 0);
        const shown = subject === 'url' ? expectedUrl : (word: string) => word;
        const expected = topOf(rows.map((row) => shown(row[column] ?? '')));
        expect((counts?.words ?? []).map(([, count]) => count)).toEqual(expected.map(([, count]) => count));
        const exactly = (word: string): number =>
          rows.filter((row) => shown(row[column] ?? '') === word).length;
        expect(counts?.words.filter(([word, count]) => exactly(word) !== count) ?? []).toEqual([]);
      }
    }),
  );
});

test('a table without a known column has a number of rows and nothing else', () => {
  fc.assert(
    fc.property(table, csvFormat, (rows, how) => {
      const { rows: count, top, slots } = figures([stringify([rows[0]?.map(() => 'x') ?? [], ...rows], how)]);
      expect({ count, slots }).toEqual({ count: rows.length, slots: [] });
      expect(Object.values(top).every((words) => words === undefined)).toBe(true);
    }),
  );
});

test('rows that do not fit the header are counted and said to be broken', () => {
  const found = figures(['time,action,ip\n', '2026-11-20T10:00:00Z,a\n\n', 'x,a,"1\n2"3\n', 'x,a,b,c\n,,\n']);
  expect(found).toMatchObject({ rows: 4, broken: 3, untimed: 3 });
  expect(found.top.action?.words).toEqual([['a', 3]]);
  expect(found.top.ip?.words).toEqual([
    ['1\n23', 1],
    ['b', 1],
  ]);
});

test('URLs are counted without what may be a secret in them', () => {
  const urls = [
    '/login?token=SECRETTOK123',
    '/login?token=SECRETTOK456&x',
    '/login#SECRETTOK',
    'https://ann:SECRETTOK@shop.example/a',
    'https://ann:SEC?RETTOK@shop.example/a?b=1',
    '"https://ann:""SECRETTOK@shop.example/b"',
    '/bcdn_token=SECRETTOK&expires=17/video/1.ts',
    '/@ann/photos?SECRETTOK',
    '?SECRETTOK',
  ];
  const { top, rows } = figures([['url', ...urls, ''].join('\n')]);
  expect(rows).toBe(urls.length);
  expect(JSON.stringify(top)).not.toMatch(/RETTOK|ann:/u);
  expect(top.url).toEqual({
    words: [
      ['/login', 3],
      ['https://shop.example/a', 2],
      ['https://shop.example/b', 1],
      ['/bcdn_token=…&expires=…/video/1.ts', 1],
      ['/@ann/photos', 1],
    ],
    missed: 0,
  });
});

test('a file without an event is told from one that nobody can read', () => {
  for (const file of ['', '\r\n', 'time,action\r\n', 'url']) expect(figures([file]).empty).toBe(true);
  for (const file of ['too many requests', 'time,action\n1,a\n', 'what,ever\n'])
    expect(figures([file]).empty).toBe(false);
});

test('an empty file, and one with a header alone', () => {
  const empty = { rows: 0, broken: 0, slots: [], untimed: 0 };
  expect(figures([])).toMatchObject({ ...empty, bytes: 0 });
  expect(figures(['time,action\n'])).toMatchObject({ ...empty, top: { action: { words: [], missed: 0 } } });
});

test('with more words than are kept the counts are at least what is said, and it is said', () => {
  const rows = Array.from({ length: 30_000 }, (_, nth) => `x,/often\nx,/${nth}\n`);
  const { top, rows: count } = figures(['action,url\n', ...rows]);
  expect(count).toBe(60_000);
  expect(top.action).toEqual({ words: [['x', 60_000]], missed: 0 });
  const { words, missed } = top.url ?? { words: [], missed: 0 };
  expect(words[0]).toEqual(['/often', 30_000]);
  expect(missed).toBeGreaterThan(0);
  for (const [word, counted] of words.slice(1)) {
    expect(word).toMatch(/^\/\d+$/u);
    expect(counted + missed).toBeGreaterThanOrEqual(1);
  }
});

test('a time that no window can hold is not taken for one', () => {
  const found = figures([
    'time\n2026-11-20T10:00:00Z\n1970-01-01T00:00:00Z\n9999-01-01T00:00:00Z\n2026-11-20T10:29:00Z\n',
  ]);
  expect(found).toMatchObject({ rows: 4, untimed: 2 });
  expect(found.slots).toEqual([
    [Date.UTC(2026, 10, 20, 10), 1],
    [Date.UTC(2026, 10, 20, 10, 10), 0],
    [Date.UTC(2026, 10, 20, 10, 20), 1],
  ]);
});

const read = (text: string): number => {
  const bytes = Buffer.from(`##${text}##`);
  return createTimeReader().readSlot(bytes, 2, bytes.length - 2);
};
const at = Date.UTC(2026, 10, 20, 10, 10);
const slotOf = (ms: number): number => ms - (ms % 600_000);

test.each([
  ['2026-11-20T10:15:30Z', at],
  ['2026-11-20T10:15:30.123Z', at],
  ['2026-11-20T10:15:30.1234567Z', at],
  ['2026-11-20T10:15:30', at],
  ['2026-11-20 10:15:30', at],
  ['2026-11-20 10:15:30.5', at],
  ['2026-11-20T12:15:30+02:00', at],
  ['2026-11-20T10:15:30.123+0000', at],
  [' 2026-11-20T10:15:30Z ', at],
  ['1795169730', at],
  ['1795169730123', at],
  ['1795169730123456', at],
  ['1795169730.5', at],
  ['Fri, 20 Nov 2026 10:15:30 GMT', at],
])('%s is a time', (text, expected) => {
  expect(read(text)).toBe(expected);
});

test.each([
  '',
  '-',
  'never',
  '7',
  '2026-13-20T10:15:30Z',
  '2026-11-20T25:15:30Z',
  '2026-11-20Txx:15:30Z',
  'x'.repeat(100),
])('%j is none', (text) => {
  expect(read(text)).toBeNaN();
});

test('any moment is read as Date reads it, whatever came before', () => {
  const moment = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(fc.array(moment), (moments) => {
      const reader = createTimeReader();
      for (const moment of moments) {
        const bytes = Buffer.from(moment.toISOString());
        expect(reader.readSlot(bytes, 0, bytes.length)).toBe(slotOf(moment.getTime()));
      }
    }),
  );
});
