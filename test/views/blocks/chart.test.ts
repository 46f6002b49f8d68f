import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { message } from '../../../src/views/blocks/blocks.ts';
import { type Chart, renderChart, sumBuckets } from '../../../src/views/blocks/chart.ts';
import { isChart, replaceNativeBlocks } from '../../../src/views/blocks/native.ts';
import { findProblems, text } from '../any.ts';

const chart = (given: Partial<Chart>): Chart => ({
  kind: 'bar',
  title: '6 errors',
  unit: 'Errors an hour',
  labels: ['a', 'b', 'c'],
  series: [{ name: 'Errors', values: [1, 2, 3] }],
  ...given,
});
const categories = (given: Partial<Chart>) =>
  renderChart(chart(given)).find(isChart)?.chart.axis_config.categories;
const words = (given: Partial<Chart>) => JSON.stringify(replaceNativeBlocks(renderChart(chart(given))));

test('a label without a value is left out of all series and named, never drawn as zero', () => {
  const blocks = renderChart(
    chart({
      series: [
        { name: 'Logged', values: [1, undefined, 3] },
        { name: 'Blocked', values: [1, 2, Number.NaN] },
      ],
    }),
  );
  expect(blocks.find(isChart)?.chart.series).toEqual([
    { name: 'Logged', data: [{ label: 'a', value: 1 }] },
    { name: 'Blocked', data: [{ label: 'a', value: 1 }] },
  ]);
  expect(JSON.stringify(blocks)).toContain('Not reported: b, c');
});

test('a series without any value is left out, and nothing is drawn of nothing', () => {
  const blocks = renderChart(
    chart({
      series: [
        { name: 'Logged', values: [1, 2, 3] },
        { name: 'Blocked', values: [undefined, undefined, undefined] },
      ],
    }),
  );
  expect(blocks.find(isChart)?.chart.series.map(({ name }) => name)).toEqual(['Logged']);
  expect(renderChart(chart({ series: [{ name: 'x', values: [undefined] }] }))).toEqual([]);
  expect(renderChart(chart({ labels: [], series: [{ name: 'x', values: [] }] }))).toEqual([]);
});

test('of more points the newest are drawn, and the title says how many', () => {
  const labels = Array.from({ length: 30 }, (_, at) => `${at}`);
  const series = [{ name: 'Errors', values: labels.map(Number) }];
  const drawn = renderChart(chart({ labels, series, title: 'x'.repeat(60) })).find(isChart);
  expect(drawn?.title).toMatch(/^x{39}…, newest 8$/u);
  expect(drawn?.chart.axis_config.categories).toEqual(labels.slice(22));
});

test('labels that are equal are told apart', () => {
  expect(categories({ labels: ['3 Nov', '3 Nov', 'x'.repeat(30)] })).toEqual([
    '3 Nov',
    '3 Nov (2)',
    `${'x'.repeat(19)}…`,
  ]);
});

test('buckets are sums of neighbours', () => {
  expect(sumBuckets([1, 2, 3, 4, 5], 2)).toEqual([3, 7, 5]);
});

test('in words a chart is a line a point, with a bar and the value', () => {
  const [block] = replaceNativeBlocks(
    renderChart(chart({ labels: ['00', '01', '02–now'], series: [{ name: 'e', values: [10, 0, 1.5] }] })),
  );
  expect(block).toMatchObject({ type: 'section' });
  expect('text' in (block ?? {}) && block).toHaveProperty(
    'text.text',
    [
      '*6 errors*',
      'Errors an hour',
      '```',
      '00     ██████████ 10',
      '01                0',
      '02–now ██         1.5',
      '```',
    ].join('\n'),
  );
});

test('in words several series stand beside each other', () => {
  const labels = Array.from({ length: 8 }, (_, at) => `day ${at + 1}`);
  const said = words({
    labels,
    series: [
      { name: 'Logged', values: labels.map((_, at) => at) },
      { name: 'Blocked', values: labels.map(() => 1) },
    ],
  });
  expect(JSON.parse(said)).toMatchSnapshot();
  expect(said).toContain('7 / 1');
});

test('markup and backticks in labels stay text', () => {
  const said = words({ title: '<!channel>', labels: ['```', '<@U1>', '&'] });
  expect(said).toContain('*&lt;!channel&gt;*');
  expect(said).toContain('&lt;@U1&gt;');
  expect(said.match(/```/gu)).toHaveLength(2);
});

test('any chart, and its words, are within Slack’s limits', () => {
  const value = fc.oneof(fc.double(), fc.integer(), fc.constant(undefined));
  const any = fc
    .tuple(fc.array(text, { maxLength: 60 }), fc.integer({ min: 0, max: 9 }))
    .chain(([labels, series]) =>
      fc.record({
        kind: fc.constantFrom('line' as const, 'bar' as const),
        title: text,
        unit: text,
        labels: fc.constant(labels),
        series: fc.array(
          fc.record({
            name: text,
            values: fc.array(value, { minLength: labels.length, maxLength: labels.length }),
          }),
          { minLength: series, maxLength: series },
        ),
      }),
    );
  fc.assert(
    fc.property(any, (given) => {
      expect(findProblems(message('x', renderChart(given)))).toEqual([]);
    }),
  );
});
