import { Buffer } from 'node:buffer';
import { afterAll, expect, test } from 'vitest';
import { type Chart, createCharts } from '../../src/charts/charts.ts';
import { layout } from '../../src/charts/layout.ts';

const charts = createCharts();
afterAll(() => charts.close());

const days = Array.from({ length: 28 }, (_, index) => `${index + 1} Nov`);
const scanning: Chart = {
  title: 'Upload scanning, shield zone 501',
  subtitle: '28 days',
  labels: days,
  panels: [
    { kind: 'bars', name: 'Files', series: [{ name: 'Files', values: days.map((_, day) => day * 31) }] },
    {
      kind: 'stacked',
      name: 'Requests',
      series: [
        { name: 'Logged', values: days.map((_, day) => day % 7) },
        { name: 'Blocked', values: days.map((_, day) => (day % 5 === 0 ? null : day % 3)) },
      ],
    },
  ],
};
const line = (values: readonly (number | null)[], title = 'Latency'): Chart => ({
  title,
  labels: values.map((_, index) => String(index)),
  panels: [{ kind: 'line', name: 'Latency', series: [{ name: 'Latency', values }] }],
});

/** Width and height, from the header of a PNG. */
function dimensions(png: Uint8Array): [number, number] {
  const bytes = Buffer.from(png);
  expect(bytes.subarray(1, 4).toString()).toBe('PNG');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

test('the same data give the same bytes, also in another thread and after other charts', async () => {
  const first = await charts.draw(scanning);
  await charts.draw(line([1, 2, 3]));
  const other = createCharts();
  try {
    expect(Buffer.compare(first, await charts.draw(scanning))).toBe(0);
    expect(Buffer.compare(first, await other.draw(scanning))).toBe(0);
  } finally {
    await other.close();
  }
  expect(dimensions(first)).toEqual([1200, 1290]);
});

test('while a chart is drawn this thread goes on with other work', async () => {
  let turns = 0;
  let drawing = true;
  const turn = (): void => {
    turns += 1;
    if (drawing) setImmediate(turn);
  };
  setImmediate(turn);
  await charts.draw(scanning);
  drawing = false;
  // Drawn in this thread, it would have had one turn at most between the asking and the answer.
  expect(turns).toBeGreaterThan(5);
});

test.each([
  ['nothing', line([])],
  ['one point', line([41.7])],
  ['gaps only', line([null, null])],
  ['equal values', line([5, 5, 5])],
  ['huge and tiny values', line([1e15, 1e-9, -3])],
  ['a thousand points', line(Array.from({ length: 1000 }, (_, index) => Math.sin(index)))],
  ['words in other scripts', line([1, 2], '日本 😀 Ωμέγα Привет')],
  ['long words', line([1, 2], 'latency '.repeat(50))],
])('a chart of %s is a picture too', async (_, chart) => {
  expect(dimensions(await charts.draw(chart))).toEqual([1200, 755]);
});

test('series differ in more than colour, and the picture brings its own ground', () => {
  const drawn = JSON.stringify(layout(scanning));
  expect(drawn).toContain('"decal":{"show":true}');
  expect(drawn).toContain('"backgroundColor":"#FFFFFF"');
  const two = layout({
    ...line([]),
    panels: [
      {
        kind: 'line',
        name: 'Both',
        series: [
          { name: 'a', values: [1] },
          { name: 'b', values: [2] },
        ],
      },
    ],
  }) as { series: { symbol: string; lineStyle: { type: string } }[] };
  const [a, b] = two.series;
  expect(a?.symbol).not.toBe(b?.symbol);
  expect(a?.lineStyle.type).not.toBe(b?.lineStyle.type);
});

test('what cannot be drawn is an error, and the next chart is drawn all the same', async () => {
  const broken = { ...scanning, panels: undefined } as unknown as Chart;
  await expect(charts.draw(broken)).rejects.toThrow(/could not be drawn/);
  expect((await charts.draw(line([1, 2]))).length).toBeGreaterThan(1000);
});

test('a drawing that takes too long is given up', async () => {
  const impatient = createCharts({ timeoutMs: 1 });
  await expect(impatient.draw(scanning)).rejects.toThrow(/not drawn within/);
  await impatient.close();
});
