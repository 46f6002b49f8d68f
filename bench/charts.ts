import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Chart, createCharts } from '../src/charts/charts.ts';
import { drawPicture } from '../src/charts/worker.ts';
import { median } from './measure/numbers.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';

// A chart in its thread against the same drawing without one, and how long the thread that answers Slack stands
// still meanwhile: against the same drawing in that thread, which an acknowledgement would wait for.
const days = Array.from({ length: 28 }, (_, index) => `${index + 1} Nov`);
const chart: Chart = {
  title: 'Upload scanning, shield zone 501',
  subtitle: '28 days',
  labels: days,
  panels: [
    {
      kind: 'bars',
      name: 'Files scanned',
      series: [{ name: 'Files', values: days.map((_, day) => (day * 7919) % 900) }],
    },
    {
      kind: 'bars',
      name: 'Requests',
      series: [
        { name: 'Logged', values: days.map((_, day) => (day * 7919) % 90) },
        { name: 'Blocked', values: days.map((_, day) => (day * 7919) % 40) },
      ],
    },
  ],
};
const rounds = 15;

const charts = createCharts();
const cold = await clocked(() => charts.draw(chart));
const apart = await several(() => charts.draw(chart));
await charts.close();
drawPicture(chart);
const here = await several(async () => drawPicture(chart));
logProgress(
  `chart: apart ${formatMs(apart.taken)}, here ${formatMs(here.taken)}, the first ${formatMs(cold)}`,
);

reportFinding({
  what: 'a chart of 28 days, drawn',
  bot: `${formatMs(apart.taken)}, the first ${formatMs(cold)}`,
  beside: `echarts and resvg in one thread ${formatMs(here.taken)}`,
  ratio: formatRatio(apart.taken / here.taken),
  goal: '',
  met: undefined,
});
reportFinding({
  what: 'longest the answering thread stands still while charts are drawn',
  bot: formatMs(apart.stood),
  beside: `drawn in the same thread ${formatMs(here.stood)}`,
  ratio: '',
  goal: '≤ 50 ms',
  met: apart.stood <= 50,
});

async function clocked(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The middle of several drawings, and the longest pause of this thread during them, ms. */
async function several(draw: () => Promise<unknown>): Promise<{ taken: number; stood: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const taken: number[] = [];
  delay.enable();
  for (let round = 0; round < rounds; round += 1) {
    taken.push(await clocked(draw));
    // A turn of the loop, so that what stood still is noticed.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  delay.disable();
  return { taken: median(taken), stood: delay.max / 1e6 };
}
