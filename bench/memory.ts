import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sendMixed } from './measure/deliveries.ts';
import { exportEndedMs, measureExport, startSink, withExportBot } from './measure/exports.ts';
import { residentMemory, startCdn, startPostgres } from './measure/processes.ts';
import { formatMegabytes, logProgress, reportFinding } from './measure/report.ts';

// Resident memory after mixed commands and an export.
//   node bench/memory.ts --commands 2000
const { values } = parseArgs({ options: { commands: { type: 'string', default: '20000' } } });
const commands = Number(values.commands);
const perSecond = 100;
const person = 'U0BENCH00';
/** From then on memory counts as flat where it grows by less than a twentieth. */
const warmCommands = Math.round(commands / 4);
const noise = 0.05;

const sink = await startSink();
const cdn = await startCdn(100, 'few', ['--export-bytes', String(200e6)]);
const postgres = await startPostgres();
if (typeof postgres === 'string') logProgress(`PostgreSQL left out: ${postgres}`);
else {
  await measure('PostgreSQL', 220e6, postgres.environment);
  await postgres.stop();
}
await measure('embedded', 300e6);
await cdn.stop();
await sink.stop();

async function measure(
  engine: string,
  most: number,
  environment?: Readonly<Record<string, string>>,
): Promise<void> {
  const options = { cdn, sinkUrl: sink.url, ...(environment && { environment }) };
  await withExportBot(options, async (slack, bot) => {
    const send = (count: number) => sendMixed(slack, bot, { count, perSecond, people: [person] });
    const first = await send(warmCommands);
    const warm = await residentMemory(bot.pid);
    const second = await send(commands - warmCommands);
    const last = await residentMemory(bot.pid);
    const { grown } = await measureExport(slack, bot, cdn);
    await pause(exportEndedMs);
    const after = await residentMemory(bot.pid);
    const silent = first.silent + second.silent;
    reportFinding({
      what: `resident memory after ${commands.toLocaleString('en')} mixed commands and an export of 200 MB, ${engine}`,
      bot: `${formatMegabytes(after)} (${formatMegabytes(warm)} after a quarter of the commands, ${formatMegabytes(last)} after all; the export +${formatMegabytes(grown)})`,
      beside: `${silent} not answered`,
      ratio: '',
      goal: `≤ ${formatMegabytes(most)}, flat`,
      met: after <= most && silent === 0 && last - warm <= noise * warm,
    });
  });
}
