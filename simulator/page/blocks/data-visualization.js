// Charts as a sketch: the shape of the lines and every value in a table beneath, no more.

import { el } from '../dom.js';

const colours = ['#0f766e', '#b4572b', '#2d6aa3', '#8a4fa3', '#9a8a12', '#a33b5c'];
const [wide, high] = [520, 160];

export function dataVisualization(block) {
  const { chart } = block;
  const values = chart.type === 'pie' ? [{ name: 'Value', data: chart.segments }] : chart.series;
  const drawing = chart.type === 'pie' ? shares(chart.segments) : plot(chart.type, chart.series);
  return el(
    'figure',
    { class: 'chart' },
    el('figcaption', { class: 'title' }, block.title),
    drawing,
    legend(values),
    table(values),
  );
}

/** A pie as bars: which part is larger is easier to see. */
function shares(segments) {
  const total = segments.reduce((sum, { value }) => sum + value, 0) || 1;
  return el(
    'div',
    { class: 'shares' },
    ...segments.map(({ label, value }, index) => {
      const bar = el('span', { class: 'share' });
      bar.style.width = `${(value / total) * 100}%`;
      bar.style.background = colours[index % colours.length];
      return el('div', {}, `${label} · ${value} (${Math.round((value / total) * 100)} %)`, bar);
    }),
  );
}

function svg(tag, properties, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(properties)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function plot(type, series) {
  const all = series.flatMap(({ data }) => data.map(({ value }) => value));
  const [low, top] = [Math.min(0, ...all), Math.max(1, ...all)];
  const y = (value) => high - ((value - low) / (top - low)) * high;
  const shapes = series.flatMap(({ data }, nth) => {
    const fill = colours[nth % colours.length];
    const step = wide / Math.max(data.length, 1);
    if (type === 'bar') {
      const width = (step * 0.7) / series.length;
      return data.map(({ value }, at) =>
        svg('rect', {
          x: at * step + step * 0.15 + nth * width,
          y: y(Math.max(value, 0)),
          width,
          height: Math.abs(y(value) - y(0)),
          fill,
        }),
      );
    }
    const points = data.map(({ value }, at) => `${at * step + step / 2},${y(value)}`).join(' ');
    const line = svg('polyline', { points, fill: 'none', stroke: fill, 'stroke-width': 2 });
    if (type !== 'area' || !data.length) return [line];
    const ends = [`${step / 2},${y(0)}`, `${wide - step / 2},${y(0)}`];
    return [svg('polygon', { points: `${ends[0]} ${points} ${ends[1]}`, fill, 'fill-opacity': 0.2 }), line];
  });
  return svg('svg', { viewBox: `0 0 ${wide} ${high}`, class: 'plot', 'aria-hidden': 'true' }, ...shapes);
}

function legend(series) {
  if (series.length < 2) return undefined;
  const entry = ({ name }, nth) => {
    const swatch = el('span', { class: 'swatch' });
    swatch.style.background = colours[nth % colours.length];
    return el('span', {}, swatch, name);
  };
  return el('div', { class: 'legend' }, ...series.map(entry));
}

function table(series) {
  const head = el('tr', {}, el('th', {}, ''), ...series.map(({ name }) => el('th', { scope: 'col' }, name)));
  const rows = (series[0]?.data ?? []).map(({ label }, at) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, label),
      ...series.map(({ data }) => el('td', { class: 'right' }, String(data[at]?.value ?? ''))),
    ),
  );
  const whole = el('table', {}, el('thead', {}, head), el('tbody', {}, ...rows));
  return el('details', {}, el('summary', {}, 'Values'), el('div', { class: 'table-wrap' }, whole));
}
