import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { Resvg } from '@resvg/resvg-js';
import { BarChart, LineChart } from 'echarts/charts';
import { AriaComponent, GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { Chart, Drawn } from './charts.ts';
import { layout, size } from './layout.ts';

use([BarChart, LineChart, AriaComponent, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

/** Times as many pixels as the layout has points: sharp on a phone, about 60 kB. */
const scale = 2.5;

const fontFiles = ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf'].map((file) =>
  fileURLToPath(import.meta.resolve(`@expo-google-fonts/inter/${file}`)),
);

/** A chart as PNG. No clock, no randomness, no fonts of the machine: the same data give the same bytes. */
export function drawPicture(chart: Chart): Uint8Array {
  const drawing = init(null, null, { renderer: 'svg', ssr: true, ...size(chart) });
  try {
    drawing.setOption(layout(chart));
    const resvg = new Resvg(drawing.renderToSVGString(), {
      fitTo: { mode: 'zoom', value: scale },
      font: { fontFiles, loadSystemFonts: false, defaultFontFamily: 'Inter' },
    });
    return resvg.render().asPng();
  } finally {
    drawing.dispose();
  }
}

// The thread of `charts.ts`: a chart comes in, a picture goes out.
parentPort?.on('message', (chart: Chart) => {
  parentPort?.postMessage(attempt(chart));
});

function attempt(chart: Chart): Drawn {
  try {
    return { png: drawPicture(chart) };
  } catch (error) {
    return { error: `a chart could not be drawn: ${error instanceof Error ? error.message : String(error)}` };
  }
}
