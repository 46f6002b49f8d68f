// Charts as Slack draws them: a card of fixed height, never narrower than 400 pixels, with its data behind a menu.

import { el } from '../dom.js';
import { saveFile } from '../export.js';
import { openPicker } from '../picker.js';
import { colourOf, formatValue, pie, plot } from './plot.js';

export function dataVisualization(block) {
  const { chart } = block;
  const isPie = chart.type === 'pie';
  const series = isPie ? [{ name: 'Value', data: chart.segments }] : chart.series;
  const { drawing, across } = isPie ? { drawing: pie(chart.segments) } : plot(chart);
  const labels = series[0].data.map(({ label }) => label);
  const rows = [
    ['', ...series.map(({ name }) => name)],
    ...labels.map((label, at) => [label, ...series.map(({ data }) => formatValue(data[at].value))]),
  ];
  const names = isPie ? labels : series.map(({ name }) => name);
  const picture = el(
    'div',
    { class: 'chart-picture', role: 'img', 'aria-label': block.title },
    drawing,
    across && el('div', { class: 'across' }, across),
    el('div', { class: 'legend' }, ...(names.length > 1 ? names.map(entry) : [])),
  );
  const table = el('div', { class: 'table-wrap chart-table', tabindex: '0', hidden: true }, tableOf(rows));
  const show = (asTable) => {
    picture.hidden = asTable;
    table.hidden = !asTable;
  };
  const menu = el(
    'button',
    {
      type: 'button',
      class: 'icon-button',
      'aria-label': 'Chart options',
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      on: {
        click: () => {
          const other = table.hidden ? 'View as table' : 'View as chart';
          openPicker({
            anchor: menu,
            label: 'Chart options',
            search: false,
            load: () => [{ options: [other, 'Download chart data'].map((text) => ({ value: text, text })) }],
            isChosen: () => false,
            pick: ({ value }) => (value === other ? show(table.hidden) : saveFile(block.title, rows)),
          });
        },
      },
    },
    '⋯',
  );
  const head = el('figcaption', { class: 'chart-head' }, el('span', { class: 'title' }, block.title), menu);
  return el(
    'div',
    { class: 'chart-scroll' },
    el('figure', { class: `chart${across ? ' across' : ''}` }, head, picture, table),
  );
}

function entry(name, nth) {
  const swatch = el('span', { class: 'swatch' });
  swatch.style.background = colourOf(nth);
  return el('span', {}, swatch, name);
}

function tableOf([head, ...rows]) {
  return el(
    'table',
    {},
    el('thead', {}, el('tr', {}, ...head.map((name) => el('th', { scope: 'col' }, name)))),
    el(
      'tbody',
      {},
      ...rows.map(([label, ...values]) =>
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, label),
          ...values.map((value) => el('td', { class: 'right' }, value)),
        ),
      ),
    ),
  );
}
