import type { Json } from '../world.ts';
import { isObject } from '../world.ts';
import { byType, id, list, number, type Report, type Rule, shape, string } from './rules.ts';

// The safe bounds: where published pages differ, the lower one.
const words = string(50);
const label = string(20);
const mostSeries = 6;
const mostPoints = 20;

const part: Rule = (value, at, report) => {
  number(value, at, report);
  if (typeof value === 'number' && value <= 0) report.refuse(at, 'a segment must be more than 0');
};
const segments = list(shape({ label, value: part }), mostSeries);
const points = list(shape({ label, value: number }), mostPoints);
const axes = shape({ categories: list(label, mostPoints) }, { x_label: words, y_label: words });
const plotted = shape(
  { series: list(shape({ name: label, data: points }), mostSeries), axis_config: axes },
  {},
  (chart, at, report) => {
    const series = listOf(chart['series']);
    const categories = isObject(chart['axis_config']) ? chart['axis_config']['categories'] : [];
    unique(Array.isArray(categories) ? categories : [], `${at}/axis_config/categories`, report);
    unique(
      series.map(({ name }) => name),
      `${at}/series`,
      report,
    );
    for (const [nth, { data }] of series.entries()) {
      const labels = listOf(data).map((point) => point['label']);
      if (JSON.stringify(labels) !== JSON.stringify(categories))
        report.refuse(`${at}/series/${nth}/data`, 'must have one point for each category, in their order');
    }
  },
);

/** A chart of a message, which holds at most two. */
export const dataVisualization = shape(
  {
    title: words,
    chart: byType({
      pie: shape({ segments }, {}, (chart, at, report) =>
        unique(
          listOf(chart['segments']).map((one) => one['label']),
          `${at}/segments`,
          report,
        ),
      ),
      line: plotted,
      bar: plotted,
      area: plotted,
    }),
  },
  { block_id: id },
  (_value: Json, at: string, report: Report) => {
    if (report.count('data_visualization') > 2)
      report.refuse(at, 'no more than 2 data_visualization blocks are allowed per message');
  },
);

function unique(names: readonly unknown[], at: string, report: Report): void {
  for (const [index, name] of names.entries())
    if (names.indexOf(name) < index) report.refuse(`${at}/${index}`, `already exists: ${String(name)}`);
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
