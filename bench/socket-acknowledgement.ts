import { startAtRate } from './measure/load.ts';
import { watchEventLoop } from './measure/metrics.ts';
import { measureInTurns, median, percentile } from './measure/numbers.ts';
import { type Subject, startBot, startSubject, withTempDirectory } from './measure/processes.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { type BenchSlack, startSlack } from './measure/slack.ts';

// `/cdn help` over Socket Mode: the time to the acknowledgement, and what is lost while Slack renews the connections.
const names = ['bare', 'bolt', 'bot'] as const;
type Name = (typeof names)[number];
const rounds = 3;

await withTempDirectory(async (dataDir) => {
  // A Slack for each: over Socket Mode the app chooses the connection, so they cannot share one.
  const slacks: Record<Name, BenchSlack> = {
    bare: await startSlack(),
    bolt: await startSlack(),
    bot: await startSlack(),
  };
  const env = (name: Name): Record<string, string> => slacks[name].environment('socket');
  const subjects: Record<Name, Subject> = {
    bare: await startSubject(['bench/bare-socket.ts'], env('bare')),
    bolt: await startSubject(['bench/minimal-bolt.ts', 'socket'], env('bolt')),
    bot: await startBot({ ...env('bot'), DATA_DIR: dataDir }),
  };
  await slacks.bot.socket.waitFor(2);

  const send = (
    name: Name,
    perSecond: number,
    until: (sent: number) => boolean,
  ): Promise<(number | undefined)[]> => {
    const { socket, slashPayload } = slacks[name];
    return watchEventLoop(subjects[name].port, () =>
      startAtRate(perSecond, until, () => socket.deliver(slashPayload('help'))),
    );
  };
  for (const name of names) await send(name, 500, (sent) => sent >= 500);

  const p99: number[] = [];
  const middles = await measureInTurns(names, rounds, async (name) => {
    const taken = (await send(name, 200, (sent) => sent >= 500)).filter((one) => one !== undefined);
    logProgress(
      `200 a second, ${name}: p50 ${formatMs(median(taken))}, p99 ${formatMs(percentile(taken, 99))}`,
    );
    if (name === 'bot') p99.push(percentile(taken, 99));
    return median(taken);
  });
  reportFinding({
    what: 'acknowledgement over Socket Mode, 200 a second, p50',
    bot: `${formatMs(middles.bot)} (p99 ${formatMs(median(p99))})`,
    beside: `bare ws ${formatMs(middles.bare)}, minimal Bolt ${formatMs(middles.bolt)} (${formatRatio(middles.bolt / middles.bare)})`,
    ratio: `${formatRatio(middles.bot / middles.bare)} bare`,
    goal: '≤ 1.7 × bare',
    met: middles.bot <= 1.7 * middles.bare,
  });

  const refresh = async (name: Name): Promise<{ sent: number; lost: number; gap: number }> => {
    const { socket } = slacks[name];
    socket.gaps();
    let renewing = true;
    const renewed = (async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const before = socket.ready();
      await socket.refreshAll(1_500);
      await socket.waitFor(before);
      await new Promise((resolve) => setTimeout(resolve, 500));
      renewing = false;
    })();
    const taken = await send(name, 30, () => !renewing);
    await renewed;
    return { sent: taken.length, lost: taken.filter((one) => one === undefined).length, gap: socket.gaps() };
  };
  const bolt = await refresh('bolt');
  const bot = await refresh('bot');
  reportFinding({
    what: 'Slack renews every Socket Mode connection, 30 commands a second',
    bot: `${bot.lost} of ${bot.sent} lost, ${formatMs(bot.gap)} without a connection`,
    beside: `minimal Bolt: ${bolt.lost} of ${bolt.sent} lost, ${formatMs(bolt.gap)} without`,
    ratio: '',
    goal: '0 lost, 0 ms',
    met: bot.lost === 0 && bot.gap === 0,
  });

  for (const name of names) await subjects[name].stop();
  for (const name of names) await slacks[name].close();
});
