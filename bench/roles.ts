import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { exportEndedMs, measureExport, withExportBot } from './measure/exports.ts';
import { sendMixed } from './measure/mixed.ts';
import {
  residentMemory,
  type Subject,
  startBot,
  startCdn,
  startPostgres,
  startSubject,
} from './measure/processes.ts';
import { formatMegabytes, logProgress, reportFinding } from './measure/report.ts';

// Resident memory of a `web` and of a `worker` process on one PostgreSQL, each with the limits that its script sets: the
// one answers mixed commands, the other makes an export. `all` is in memory.ts.
//   node bench/roles.ts --commands 500
const { values } = parseArgs({ options: { commands: { type: 'string', default: '20000' } } });
const commands = Number(values.commands);
const exportBytes = Math.max(10e6, 200e6 * (commands / 20_000));
/** Bytes: what one process with both roles may take. */
const most = 200e6;

const postgres = await startPostgres();
if (typeof postgres === 'string') logProgress(`roles left out: ${postgres}`);
else {
  const sink = await startSubject(['bench/export-sink.ts'], {});
  const cdn = await startCdn(100, 'few', ['--export-bytes', String(exportBytes)]);
  const sinkUrl = `http://127.0.0.1:${sink.port}/upload`;
  const workers: Subject[] = [];
  const start = async (env: Readonly<Record<string, string>>): Promise<Subject> => {
    workers.push(await startBot(env, '.', 'worker'));
    return startBot(env, '.', 'web');
  };
  await withExportBot({ cdn, sinkUrl, environment: postgres.environment, start }, async (slack, web) => {
    const [worker = web] = workers;
    const webAtStart = await residentMemory(web.pid);
    const { silent } = await sendMixed(slack, web, commands).end;
    report(web, {
      what: `a \`web\` process after ${commands} mixed commands`,
      atStart: webAtStart,
      after: await residentMemory(web.pid),
      words: `${silent} not answered`,
      silent,
    });
    const workerAtStart = await residentMemory(worker.pid);
    const { grown } = await measureExport(slack, { ...worker, port: web.port }, cdn);
    const justAfter = await residentMemory(worker.pid);
    await pause(exportEndedMs);
    report(worker, {
      what: `a \`worker\` process after an export of ${formatMegabytes(exportBytes)}`,
      atStart: workerAtStart,
      after: await residentMemory(worker.pid),
      words: `while its threads are there ${formatMegabytes(justAfter)}; the export: peak +${formatMegabytes(grown)}`,
    });
  });
  for (const worker of workers) await worker.stop();
  await cdn.stop();
  await sink.stop();
  await postgres.stop();
}

interface Reading {
  readonly what: string;
  readonly atStart: number;
  readonly after: number;
  readonly words: string;
  readonly silent?: number;
}

function report({ port }: Subject, { what, atStart, after, words, silent = 0 }: Reading): void {
  const finding = {
    what: `resident memory of ${what}, PostgreSQL`,
    bot: `${formatMegabytes(after)} (${words})`,
    beside: `before ${formatMegabytes(atStart)}`,
    ratio: '',
    goal: `≤ ${formatMegabytes(most)}`,
    met: after <= most && silent === 0,
  };
  reportFinding(finding, port);
}
