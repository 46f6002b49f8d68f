import { compact, context, type MessageBlock } from './blocks.ts';
import { escapeMrkdwn, plainText, truncate } from './text.ts';

// The lowest of the published limits: newer pages name 12 series.
const maxTitle = 50;
const maxLabel = 20;
// More cannot be read on a phone.
export const maxPoints = 8;
const maxSeries = 6;

export interface Chart {
  readonly kind: 'line' | 'bar';
  readonly title: string;
  /** The unit, on the vertical axis. Slack formats no numbers, so values come scaled: 9.1 with `TB a day`. */
  readonly unit: string;
  readonly labels: readonly string[];
  /** A value for each label, undefined where nothing was reported. A series without any value is left out. */
  readonly series: readonly { readonly name: string; readonly values: readonly (number | undefined)[] }[];
}

/** Labels without a value are left out and named below: a gap cannot be drawn. A message holds two charts. */
export function renderChart(about: Chart): MessageBlock[] {
  const { kind, title, unit, labels, series } = about;
  const from = Math.max(0, labels.length - maxPoints);
  const drawn = series
    .slice(0, maxSeries)
    .map(({ name, values }) => ({ name, values: values.slice(from) }))
    .filter(({ values }) => values.some(Number.isFinite));
  const categories = makeUnique(labels.slice(from));
  const isReported = categories.map((_, at) => drawn.every(({ values }) => Number.isFinite(values[at])));
  const shown = categories.filter((_, at) => isReported[at]);
  const missing = categories.filter((_, at) => !isReported[at]);
  if (drawn.length === 0 || shown.length === 0) return [];
  const names = makeUnique(drawn.map(({ name }) => name));
  const cut = from > 0 ? `, newest ${maxPoints}` : '';
  return compact<MessageBlock>([
    {
      type: 'data_visualization',
      title: `${plainText(title, maxTitle - cut.length)}${cut}`,
      chart: {
        type: kind,
        series: drawn.map(({ values }, nth) => ({
          name: names[nth] ?? '',
          data: categories.flatMap((label, at) =>
            isReported[at] ? [{ label, value: values[at] ?? 0 }] : [],
          ),
        })),
        axis_config: { categories: shown, y_label: plainText(unit, maxTitle) },
      },
    },
    missing.length > 0 && context(`Not reported: ${missing.map((label) => escapeMrkdwn(label)).join(', ')}`),
  ]);
}

/** The smallest of these sizes that makes at most eight bars of so many parts: more cannot be read on a phone. */
export function chooseBucketSize(parts: number, sizes: readonly number[]): number {
  return sizes.find((size) => parts / size <= 8) ?? sizes.at(-1) ?? 1;
}

export function sumBuckets(values: readonly number[], size: number): number[] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, bucket) =>
    values.slice(bucket * size, (bucket + 1) * size).reduce((sum, value) => sum + value, 0),
  );
}

/** Labels of 1–20 characters, each once: Slack refuses a message in which two are the same. */
function makeUnique(labels: readonly string[]): string[] {
  const used = new Set<string>();
  return labels.map((label) => {
    const short = plainText(label, maxLabel);
    let name = short;
    for (let nth = 2; used.has(name); nth += 1) name = `${truncate(short, maxLabel - 5)} (${nth})`;
    used.add(name);
    return name;
  });
}
