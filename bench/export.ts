import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type ExportReading,
  formatExport,
  measureExport,
  medianOf,
  shieldZone,
  windowNow,
  withExportBot,
} from './measure/exports.ts';
import { sendAtRate } from './measure/load.ts';
import { ignoreEventLoop } from './measure/metrics.ts';
import { median } from './measure/numbers.ts';
import {
  type Cdn,
  runToEnd,
  type Subject,
  startCdn,
  startSink,
  withTempDirectory,
} from './measure/processes.ts';
import { formatMegabytes, formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import type { BenchSlack } from './measure/slack.ts';

// An event log from the CDN to Slack: the whole bot against curl piped into curl, the barest program that has a file in
// between, and the SDK's own upload, with and without a length announced, and how long another person's command waits for its acknowledgement meanwhile.
const sizes = [
  { bytes: 10e6, rounds: 5, sdk: true },
  { bytes: 200e6, rounds: 3, sdk: true },
  { bytes: 1e9, rounds: 1, sdk: false },
] as const;
const growth = 64e6;

const sink = await startSink();
const { url: sinkUrl } = sink;

const [only] = process.argv.slice(2);

for (const announced of [true, false]) {
  for (const { bytes, rounds, sdk } of sizes) {
    if (only !== undefined && bytes !== Number(only) * 1e6) continue;
    const cdn = await startCdn(12, 'few', [
      '--export-bytes',
      String(bytes),
      ...(announced ? ['--announce-length'] : []),
    ]);
    const size = `${formatMegabytes(bytes)} ${announced ? 'with' : 'without'} a length`;
    const bot: ExportReading[] = [];
    const curl: number[] = [];
    const bare: number[] = [];
    const upload: ExportReading[] = [];
    await withExportBot({ cdn, sinkUrl }, async (slack, subject) => {
      const run = (): Promise<ExportReading> => measureExport(slack, subject, cdn);
      await ignoreEventLoop(run);
      for (let round = 0; round < rounds; round += 1) {
        bot.push(await run());
        const piped = await curlIntoCurl(cdn);
        if (piped !== undefined) curl.push(piped);
        bare.push(await overAFile(cdn));
        if (sdk && announced) upload.push(await withTheSdk(slack, cdn));
      }
    });

    const [taken, floor] = [medianOf(bot), median(curl)];
    const beside = [
      curl.length > 0 ? `curl into curl ${formatMs(floor)}` : 'this machine has no curl',
      `bare Node over a file ${formatMs(median(bare))}`,
      ...(upload.length > 0 ? [`filesUploadV2 ${formatExport(medianOf(upload))}`] : []),
    ];
    logProgress(`${size}: bot ${formatExport(taken)}, ${beside.join(', ')}`);
    const isGoal = bytes === 200e6;
    reportFinding({
      what: `export of ${size}`,
      bot: formatExport(taken),
      beside: beside.join(', '),
      ratio: [
        ...(curl.length > 0 ? [`${formatRatio(taken.ms / floor)} curl`] : []),
        `${formatRatio(taken.ms / median(bare))} bare Node`,
      ].join(', '),
      goal: [...(isGoal ? ['≤ 2 × bare Node, ≤ 3 × curl'] : []), `≤ +${formatMegabytes(growth)}`].join(', '),
      met: (!isGoal || isWithinGoal(taken.ms, { bare: median(bare), curl: floor })) && taken.grown <= growth,
    });
    if (isGoal && announced)
      await withExportBot({ cdn, sinkUrl }, async (slack, subject) => {
        const worst = await worstAcknowledgements(slack, subject, () => measureExport(slack, subject, cdn));
        reportFinding({
          what: `worst acknowledgement of another command while ${formatMegabytes(bytes)} are exported`,
          bot: formatMs(worst.busy),
          beside: `the same load with nothing else under way ${formatMs(worst.idle)}`,
          ratio: '',
          goal: '≤ 50 ms',
          met: worst.busy <= 50,
        });
      });
    await cdn.stop();
  }
}
await sink.stop();

/** Without a curl the goal is that of the bare program. */
function isWithinGoal(ms: number, { bare, curl }: { bare: number; curl: number }): boolean {
  return ms <= 2 * bare && !(ms > 3 * curl);
}

/** The source's address, and what it is asked. */
function createRequest(cdn: Cdn): { url: string; body: string } {
  const { from, to } = windowNow();
  const url = `${cdn.url}/shield/event-logs/${shieldZone}/export`;
  return { url, body: JSON.stringify({ from: from * 1000, to: to * 1000 }) };
}

/** undefined: there is no curl. */
async function curlIntoCurl(cdn: Cdn): Promise<number | undefined> {
  const { url, body } = createRequest(cdn);
  const download =
    'curl -sS -X POST -H "AccessKey: $KEY" -H "content-type: application/json" -d "$BODY" "$FROM"';
  const began = performance.now();
  try {
    const { stdout } = await promisify(execFile)('sh', ['-c', `${download} | curl -sS -X POST -T - "$TO"`], {
      env: { PATH: process.env['PATH'] ?? '', KEY: cdn.key, BODY: body, FROM: url, TO: sinkUrl },
    });
    if (Number(stdout) < 1e6) throw new Error(`curl sent ${stdout} bytes`);
    return performance.now() - began;
  } catch (error) {
    if (String(error).includes('not found')) return undefined;
    throw error;
  }
}

/** The same bytes through the barest program that puts them down in between. */
function overAFile(cdn: Cdn): Promise<number> {
  const { url, body } = createRequest(cdn);
  return withTempDirectory(async (directory) => {
    const environment = {
      EXPORT_URL: url,
      EXPORT_BODY: body,
      CDN_KEY: cdn.key,
      SINK_URL: sinkUrl,
      SPOOL: directory,
    };
    return Number((await runToEnd(['bench/bare-export.ts'], environment))['ms']);
  });
}

async function withTheSdk(slack: BenchSlack, cdn: Cdn): Promise<ExportReading> {
  const { url, body } = createRequest(cdn);
  const { SLACK_API_URL = '' } = slack.environment('http');
  const environment = { SLACK_API_URL, EXPORT_URL: url, EXPORT_BODY: body, CDN_KEY: cdn.key };
  const read = await runToEnd(['bench/export-sdk.ts'], environment);
  return { ms: Number(read['ms']), grown: Number(read['grown']) };
}

/** Longest wait of a `/cdn help`, 100 of them a second, while a log is exported, the middle of three; and otherwise. */
async function worstAcknowledgements(
  slack: BenchSlack,
  bot: Subject,
  run: () => Promise<unknown>,
): Promise<{ busy: number; idle: number }> {
  const busy: number[] = [];
  const idle: number[] = [];
  const help = (): Buffer => slack.slash('help', { user: 'U0OTHER00' });
  const during = async (work: () => Promise<unknown>): Promise<number> => {
    let over = false;
    const running = work().finally(() => {
      over = true;
    });
    const taken = await sendAtRate(bot.port, help, { perSecond: 100, until: () => over });
    await running;
    return Math.max(...taken);
  };
  const idly = (): Promise<number> => ignoreEventLoop(() => during(() => pause(1_500)));
  // The first commands of all load code, and so does the first export.
  await idly();
  await ignoreEventLoop(run);
  for (let round = 0; round < 3; round += 1) {
    idle.push(await idly());
    busy.push(await during(run));
  }
  logProgress(
    `worst while exporting ${busy.map(formatMs).join(', ')}; otherwise ${idle.map(formatMs).join(', ')}`,
  );
  return { busy: median(busy), idle: median(idle) };
}
