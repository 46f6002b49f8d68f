import { measureExport, shieldZone, startSink, windowNow, withExportBot } from './measure/exports.ts';
import { median } from './measure/numbers.ts';
import { runToEnd, startCdn, withTempDirectory } from './measure/processes.ts';
import { formatMegabytes, formatMs, formatRatio, reportFinding } from './measure/report.ts';

// An event log of 200 MB from the CDN to Slack, as it is: the whole bot against the barest program over a file.
const bytes = 200e6;
const rounds = 3;
const goals = { times: 1.6, growth: 64e6 };

const sink = await startSink();
const cdn = await startCdn(12, 'few', ['--export-bytes', String(bytes), '--announce-length']);
await withExportBot({ cdn, sinkUrl: sink.url }, async (slack, subject) => {
  // The first export of a process loads code.
  await measureExport(slack, subject, cdn);
  const [bot, grown, bare]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const reading = await measureExport(slack, subject, cdn);
    bot.push(reading.ms);
    grown.push(reading.grown);
    bare.push(await exportOverAFile());
  }
  const [taken, floor, growth] = [median(bot), median(bare), median(grown)];
  reportFinding({
    what: `export of ${formatMegabytes(bytes)}, as it is`,
    bot: `${formatMs(taken)}, peak +${formatMegabytes(growth)}`,
    beside: `bare Node over a file ${formatMs(floor)}`,
    ratio: formatRatio(taken / floor),
    goal: `≤ ${goals.times} ×, ≤ +${formatMegabytes(goals.growth)}`,
    met: taken <= goals.times * floor && growth <= goals.growth,
  });
});
await cdn.stop();
await sink.stop();

function exportOverAFile(): Promise<number> {
  const { from, to } = windowNow();
  return withTempDirectory(async (directory) => {
    const environment = {
      EXPORT_URL: `${cdn.url}/shield/event-logs/${shieldZone}/export`,
      EXPORT_BODY: JSON.stringify({ from: from * 1000, to: to * 1000 }),
      CDN_KEY: cdn.key,
      SINK_URL: sink.url,
      SPOOL: directory,
    };
    return Number((await runToEnd(['bench/bare-export.ts'], environment))['ms']);
  });
}
