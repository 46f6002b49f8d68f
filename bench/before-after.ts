import { linkKey, runCommand } from './measure/commands.ts';
import {
  type ExportReading,
  formatExport,
  measureExport,
  medianOf,
  withExportBot,
} from './measure/exports.ts';
import { measureThroughput } from './measure/load.ts';
import { measureInTurns } from './measure/numbers.ts';
import { startBot, startCdn, startSink, startSubject, withTempDirectory } from './measure/processes.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// This checkout beside another one, its dependencies installed, reading by reading in one run: acknowledgement, first
// answer and export. A figure may cost a tenth more than before.
const [before = ''] = process.argv.slice(2);
const most = 1.1;
const [acknowledgementRounds, answerRounds, exportRounds] = [5, 9, 10];

await withTempDirectory((oldData) =>
  withTempDirectory(async (newData) => {
    const [slack, cdn] = [await startSlack(), await startCdn(10_000, 'few')];
    const env = { ...slack.environment('http'), CDN_API_URL: cdn.url };
    const subjects = {
      bare: await startSubject(['bench/bare-http.ts'], env),
      before: await startBot({ ...env, DATA_DIR: oldData }, before),
      now: await startBot({ ...env, DATA_DIR: newData }),
    };
    const help = (): Buffer => slack.slash('help');
    const acknowledge = async (name: keyof typeof subjects): Promise<number> => {
      const perSecond = await measureThroughput(subjects[name].port, help, { atOnce: 16, forMs: 500 });
      // The answers of one must not fall into the reading of the next.
      for (let seen = -1; seen !== slack.answered(); await new Promise((go) => setTimeout(go, 400)))
        seen = slack.answered();
      return 1_000 / perSecond;
    };
    for (const name of ['bare', 'before', 'now'] as const) await acknowledge(name);
    const each = await measureInTurns(['bare', 'before', 'now'], acknowledgementRounds, acknowledge);
    report(
      'an acknowledgement, 16 at once',
      each,
      subjects.now.port,
      `bare node:http ${formatMs(each.bare)}`,
    );

    const firstAnswer = async (name: 'before' | 'now'): Promise<number> => {
      await linkKey(slack, subjects[name].port, cdn.key);
      return (await runCommand(slack, subjects[name].port, 'zones', { count: 2 })).first;
    };
    for (let warmUp = 0; warmUp < 3; warmUp += 1)
      for (const name of ['before', 'now'] as const) await firstAnswer(name);
    report(
      '/cdn zones, first answer, 10,000 zones',
      await measureInTurns(['before', 'now'], answerRounds, firstAnswer),
      subjects.now.port,
    );
    for (const one of [...Object.values(subjects), cdn]) await one.stop();
    await slack.close();
  }),
);

const sink = await startSink();
const { url: sinkUrl } = sink;
for (const announced of [true, false]) {
  const size = ['--export-bytes', String(200e6), ...(announced ? ['--announce-length'] : [])];
  const cdn = await startCdn(12, 'few', size);
  const readings = { before: [] as ExportReading[], now: [] as ExportReading[] };
  let port = 0;
  await withExportBot({ cdn, sinkUrl, checkout: before }, (oldSlack, oldBot) =>
    withExportBot({ cdn, sinkUrl }, async (slack, bot) => {
      port = bot.port;
      for (let round = -1; round < exportRounds; round += 1) {
        const pair = {
          before: await measureExport(oldSlack, oldBot, cdn),
          now: await measureExport(slack, bot, cdn),
        };
        // The first of each loads code.
        if (round < 0) continue;
        readings.before.push(pair.before);
        readings.now.push(pair.now);
        logProgress(`before ${formatExport(pair.before)}; now ${formatExport(pair.now)}`);
      }
    }),
  );
  await cdn.stop();
  const [old, now] = [medianOf(readings.before), medianOf(readings.now)];
  const busy = (now.busyMs ?? 0) / (old.busyMs ?? 0);
  reportFinding(
    {
      what: `export of 200 MB ${announced ? 'with' : 'without'} a length, before and now`,
      bot: formatExport(now),
      beside: `before: ${formatExport(old)}`,
      ratio: `${formatRatio(now.ms / old.ms)}, processor ${formatRatio(busy)}`,
      goal: `≤ ${formatRatio(most)} before`,
      met: now.ms <= most * old.ms,
    },
    port,
  );
}
await sink.stop();

function report(
  what: string,
  { before, now }: { before: number; now: number },
  port: number,
  beside = '',
): void {
  logProgress(`${what}: before ${formatMs(before)}, now ${formatMs(now)}`);
  reportFinding(
    {
      what: `${what}, before and now`,
      bot: formatMs(now),
      beside: [`before: ${formatMs(before)}`, beside].filter(Boolean).join(', '),
      ratio: formatRatio(now / before),
      goal: `≤ ${formatRatio(most)} before`,
      met: now <= most * before,
    },
    port,
  );
}
