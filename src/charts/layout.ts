import type { Chart } from './charts.ts';

type Panel = Chart['panels'][number];

// Points of the layout. Slack on a phone shows the picture about 360 points wide: 15 here is 11 there.
const width = 480;
const panelHeight = 180;
const top = 88;
const bottom = 34;
const left = 64;
const right = 20;
const text = 15;

/**
 * Colours that stay apart with every kind of colour blindness (Okabe and Ito, https://jfly.uni-koeln.de/color/),
 * and never alone: lines differ in dashes and marks, bars in patterns.
 */
const colours = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#8A6D00', '#444444'];
const dashes = ['solid', 'dashed', 'dotted', 'solid', 'dashed', 'dotted'] as const;
const marks = ['circle', 'triangle', 'rect', 'diamond', 'roundRect', 'pin'];

// A ground of its own: as readable on Slack's dark background as on its light one.
const ground = '#FFFFFF';
const ink = '#1D1C1D';
const faint = '#55585C';
const grid = '#E3E6EA';

export function size(chart: Chart): { width: number; height: number } {
  return { width, height: top + chart.panels.length * (panelHeight + bottom) };
}

/** The option of echarts for a chart. */
export function layout(chart: Chart): Record<string, unknown> {
  const { panels } = chart;
  const named = panels.some(({ series }) => series.length > 1);
  const labels = chart.labels.map(drawable);
  let used = 0;
  const colouring = panels.map(({ series }) => series.map(() => used++ % colours.length));
  return {
    animation: false,
    backgroundColor: ground,
    textStyle: { fontFamily: 'Inter', fontSize: text, color: ink },
    aria: { enabled: true, decal: { show: named } },
    title: [
      {
        text: drawable(chart.title),
        subtext: drawable(chart.subtitle ?? ''),
        left: 16,
        top: 10,
        itemGap: 4,
        textStyle: { fontSize: 20, fontWeight: 600, color: ink, width: width - 32, overflow: 'truncate' },
        subtextStyle: { fontSize: text, color: faint, width: width - 32, overflow: 'truncate' },
      },
      ...panels.map((panel, index) => ({
        text: drawable(panel.name),
        left: 16,
        top: panelTop(index) - 34,
        textStyle: { fontSize: text, fontWeight: 600, color: faint },
      })),
    ],
    legend: panels.flatMap((panel, index) => legend(panel, index)),
    grid: panels.map((_, index) => ({
      left,
      right,
      top: panelTop(index),
      height: panelHeight - 36,
    })),
    xAxis: panels.map((_, index) => ({
      type: 'category',
      gridIndex: index,
      data: labels,
      boundaryGap: panels.some(({ kind }) => kind !== 'line'),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: faint } },
      axisLabel: {
        fontSize: text,
        color: ink,
        interval: labelEvery(labels),
        hideOverlap: true,
        showMinLabel: true,
      },
    })),
    yAxis: panels.map((panel, index) => ({
      type: 'value',
      gridIndex: index,
      min: panel.kind === 'line' ? undefined : 0,
      splitNumber: 3,
      minInterval: panel.kind === 'line' ? undefined : 1,
      axisLabel: { fontSize: text, color: ink, formatter: compact },
      splitLine: { lineStyle: { color: grid } },
    })),
    series: panels.flatMap((panel, index) => series(panel, index, colouring[index] ?? [])),
  };
}

function series(panel: Panel, index: number, colouring: readonly number[]): object[] {
  return panel.series.map(({ name, values }, nth) => {
    const look = colouring[nth] ?? 0;
    const shared = {
      name: drawable(name),
      xAxisIndex: index,
      yAxisIndex: index,
      data: values,
      itemStyle: { color: colours[look] },
    };
    if (panel.kind !== 'line')
      return {
        ...shared,
        type: 'bar',
        barCategoryGap: '25%',
        stack: panel.kind === 'stacked' ? index : null,
      };
    const few = values.filter((value) => value !== null).length <= 2;
    return {
      ...shared,
      type: 'line',
      symbol: marks[look],
      // A line needs two neighbours to be seen; a single value is a mark.
      showSymbol: few || panel.series.length > 1,
      symbolSize: few ? 9 : 6,
      connectNulls: false,
      lineStyle: { width: 3, type: dashes[look] },
    };
  });
}

function legend(panel: Panel, index: number): object[] {
  if (panel.series.length < 2) return [];
  return [
    {
      data: panel.series.map(({ name }) => drawable(name)),
      right,
      top: panelTop(index) - 36,
      itemGap: 28,
      textStyle: { fontSize: text, color: ink },
    },
  ];
}

function panelTop(index: number): number {
  return top + 22 + index * (panelHeight + bottom);
}

/** As many labels as fit beside each other, at equal distances. */
function labelEvery(labels: readonly string[]): number {
  const longest = Math.max(1, ...labels.map(({ length }) => length));
  const fitting = Math.max(2, Math.floor((width - left - right) / (longest * text * 0.62 + 14)));
  return Math.max(0, Math.ceil(labels.length / fitting) - 1);
}

/** 1234567 → `1.2M`. */
function compact(value: number): string {
  const size = Math.abs(value);
  for (const [unit, letter] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const) {
    if (size >= unit) return `${Number((value / unit).toPrecision(3))}${letter}`;
  }
  return String(Number(value.toPrecision(3)));
}

/** The font has Latin, Greek and Cyrillic letters; anything else would be an empty box. */
function drawable(words: string): string {
  return words.replaceAll(
    /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Nd}\p{P}\p{Sc}\p{Sm}\p{Zs}]/gu,
    '?',
  );
}
