import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runCommand } from './measure/commands.ts';
import { exportEndedMs, measureExport, withExportBot } from './measure/exports.ts';
import { post } from './measure/load.ts';
import { createMemoryGroup, type MemoryGroup } from './measure/memory-group.ts';
import { sendMixed } from './measure/mixed.ts';
import { sampleNewProcesses } from './measure/process-tree.ts';
import {
  readBotCommand,
  residentMemory,
  type Subject,
  startBot,
  startCdn,
  startPostgres,
  startSubject,
  withTempDirectory,
} from './measure/processes.ts';
import { formatMegabytes, formatMs, logProgress, reportFinding } from './measure/report.ts';
import { type BenchSlack, startSlack } from './measure/slack.ts';
import { findTrend } from './measure/trend.ts';

// Resident memory: after mixed commands and an export, of the first export, of the very first start, and of everything
// together in a container of 512 MB. Exports shrink with the number of commands, to 10 MB at least.
//   node bench/memory.ts --commands 500
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { commands: { type: 'string', default: '20000' } },
});
const commands = Number(positionals[0] ?? values.commands);
const share = commands / 20_000;
const exportBytes = Math.max(10e6, 200e6 * share);
const largeBytes = Math.max(10e6, 1e9 * share);
const warmCommands = Math.round(2_000 * share);
const containerCommands = Math.round(5_000 * share);
const settledMs = 2_000;
const firstStarts = 3;
const container = 512 * 1024 ** 2;
/** Bytes. */
const goals = { postgres: 200e6, embedded: 260e6, export: 64e6, firstStart: 400e6, container: 450e6 };

const sink = await startSubject(['bench/export-sink.ts'], {});
const sinkUrl = `http://127.0.0.1:${sink.port}/upload`;
const cdn = await startCdn(100, 'few', ['--export-bytes', String(exportBytes)]);
const postgres = await startPostgres();
if (typeof postgres === 'string') logProgress(`PostgreSQL left out: ${postgres}`);
else {
  await measureLoad('PostgreSQL', goals.postgres, postgres.environment);
  await postgres.stop();
}
await measureLoad('embedded', goals.embedded);
await cdn.stop();
await measureFirstStart();
await measureContainer();
await sink.stop();

/** The first export of a bot that has done little, and then, of a new one, commands with an export at their end. */
async function measureLoad(
  engine: string,
  most: number,
  environment?: Readonly<Record<string, string>>,
): Promise<void> {
  const options = { cdn, sinkUrl, ...(environment && { environment }) };
  await withExportBot(options, async (slack, bot) => {
    for (let n = 0; n < 20; n += 1) await runCommand(slack, bot.port, 'help');
    await pause(settledMs);
    const { grown } = await measureExport(slack, bot, cdn);
    reportFinding({
      what: `the first export, ${formatMegabytes(exportBytes)}, ${engine}: peak of resident memory`,
      bot: `+${formatMegabytes(grown)}`,
      beside: '',
      ratio: '',
      goal: `≤ +${formatMegabytes(goals.export)}`,
      met: grown <= goals.export,
    });
  });
  await withExportBot(options, async (slack, bot) => {
    const points: { x: number; y: number }[] = [];
    const load = sendMixed(slack, bot, commands);
    const watch = setInterval(
      () => void residentMemory(bot.pid).then((y) => points.push({ x: load.answered(), y })),
      Math.max(20, Math.min(1_000, commands)),
    );
    const { silent, tookMs } = await load.end;
    clearInterval(watch);
    const { grown } = await measureExport(slack, bot, cdn);
    await pause(settledMs);
    const justAfter = await residentMemory(bot.pid);
    await pause(exportEndedMs);
    const after = await residentMemory(bot.pid);
    const trend = findTrend(
      points.filter(({ x }) => x >= warmCommands),
      1_000,
      'for 1,000 commands',
    );
    const rate = `${((commands / tookMs) * 1000).toFixed(0)} a second`;
    reportFinding({
      what: `resident memory after ${commands} mixed commands and an export of ${formatMegabytes(exportBytes)}, ${engine}`,
      bot: `${formatMegabytes(after)} (while its threads are there ${formatMegabytes(justAfter)}; the export: peak +${formatMegabytes(grown)})`,
      beside: `${rate}, ${silent} not answered`,
      ratio: '',
      goal: `≤ ${formatMegabytes(most)}`,
      met: after <= most && silent === 0,
    });
    reportFinding({
      what: `resident memory from ${warmCommands} commands on, ${engine}`,
      bot: trend.words,
      beside: `most ${formatMegabytes(Math.max(...points.map(({ y }) => y)))}`,
      ratio: '',
      goal: 'flat (within 2 %)',
      met: trend.isFlat,
    });
  });
}

/** In an empty directory, all processes together. */
async function measureFirstStart(): Promise<void> {
  const slack = await startSlack();
  const peaks: number[] = [];
  let processes = 0;
  for (let n = 0; n < firstStarts; n += 1)
    await withTempDirectory(async (dataDir) => {
      const sampler = await sampleNewProcesses();
      const bot = await startBot({ ...slack.environment('http'), DATA_DIR: dataDir });
      await pause(settledMs);
      await sampler.stop();
      peaks.push(sampler.peak());
      processes = Math.max(processes, ...sampler.samples.map((one) => one.processes));
      await bot.stop();
    });
  await slack.close();
  const peak = Math.max(...peaks);
  reportFinding({
    what: 'the very first embedded start: peak of all processes together',
    bot: `${formatMegabytes(peak)}, ${processes} processes at the most`,
    beside: `${firstStarts} starts: ${peaks.map(formatMegabytes).join(', ')}`,
    ratio: '',
    goal: `≤ ${formatMegabytes(goals.firstStart)}`,
    met: peak <= goals.firstStart,
  });
}

/** First start, commands, a large export and a digest, as in a container with the embedded database. */
async function measureContainer(): Promise<void> {
  const large = await startCdn(100, 'few', ['--export-bytes', String(largeBytes)]);
  const group = await createMemoryGroup(container);
  if (typeof group === 'string') logProgress(`without a control group: ${group}`);
  const sampler = await sampleNewProcesses();
  const phases: string[] = [];
  const begun = { at: 0 };
  const end = (phase: string): void => {
    phases.push(`${phase} ${formatMegabytes(sampler.peak(begun.at))}`);
    begun.at = performance.now();
  };
  const anonymous = typeof group === 'string' ? undefined : watchAnonymous(group);
  let failure: unknown;
  try {
    const start = typeof group === 'string' ? startBot : startIn(group);
    await withExportBot({ cdn: large, sinkUrl, start }, async (slack, bot) => {
      end('start');
      const { silent } = await sendMixed(slack, bot, containerCommands).end;
      end(`${containerCommands} commands`);
      const { ms } = await measureExport(slack, bot, large);
      logProgress(`export of ${formatMegabytes(largeBytes)}: ${formatMs(ms)}`);
      end(`export of ${formatMegabytes(largeBytes)}`);
      await runDigest(slack, bot);
      await pause(settledMs);
      end('digest');
      if (silent > 0) throw new Error(`${silent} commands were not answered`);
    });
  } catch (error) {
    failure = error;
    logProgress(String(error));
  }
  await sampler.stop();
  await large.stop();
  const peak = sampler.peak();
  reportFinding({
    what: 'first start, commands, a large export and a digest, embedded: peak of all processes together',
    bot: formatMegabytes(peak),
    beside: phases.join(', '),
    ratio: '',
    goal: `< ${formatMegabytes(goals.container)}`,
    met: peak < goals.container && failure === undefined,
  });
  if (typeof group === 'string' || !anonymous) return;
  const [kills, withFiles] = [await group.readKills(), await group.readPeak()];
  const own = await anonymous.stop();
  await group.remove();
  reportFinding({
    what: `the same inside a control group of ${formatMegabytes(container)}`,
    bot: kills > 0 ? `${kills} processes killed` : 'not killed',
    beside: `the group’s own peak ${formatMegabytes(own)}, with the page cache ${formatMegabytes(withFiles)}`,
    ratio: '',
    goal: 'not killed',
    met: kills === 0 && failure === undefined,
  });
}

/** Starts the bot with its flags; it is in the group before it is the bot. */
function startIn({ procs }: MemoryGroup) {
  return async (more: Readonly<Record<string, string>>): Promise<Subject> => {
    const { args, environment } = await readBotCommand();
    return startSubject(['bench/measure/within.ts', procs, ...args], { ...environment, ...more });
  };
}

/** The most a group holds without the page cache, read ten times a second. */
function watchAnonymous(group: MemoryGroup) {
  let most = 0;
  const read = async (): Promise<void> => {
    most = Math.max(most, await group.readAnonymous());
  };
  const timer = setInterval(() => void read(), 100);
  return {
    async stop(): Promise<number> {
      clearInterval(timer);
      return most;
    },
  };
}

/** Makes a digest by its form, and runs it. */
async function runDigest(slack: BenchSlack, { port }: Subject): Promise<void> {
  const saved = slack.nextCall('views.update');
  const form = { kind: ['zones'], days: ['daily'], time: '09:00', timezone: 'UTC', channel: 'C0BENCH00' };
  await post(port, slack.submit('digests:submit', form));
  await saved;
  const list = Promise.withResolvers<string>();
  const { url } = slack.answers((_text, body) => list.resolve(body));
  await post(port, slack.slash('digest list', { answers: url }));
  const id = /digests:run (\w+)/.exec(await list.promise)?.[1];
  if (id === undefined) throw new Error('no digest was stored');
  const posted = slack.nextCall('chat.postMessage');
  await post(port, slack.slash(`digest run ${id}`));
  await posted;
}
