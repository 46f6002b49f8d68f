import { runCommand } from './measure/commands.ts';
import { sendAtRate } from './measure/load.ts';
import { median } from './measure/numbers.ts';
import { readPeakMemory, resetPeakMemory, startBot, withTempDirectory } from './measure/processes.ts';
import { formatMegabytes, formatMs, reportFinding } from './measure/report.ts';
import { startSlack, waitUntilQuiet } from './measure/slack.ts';

// 100,000 signed commands in 5 s to a bot that has one core: it has to live, and to answer or refuse each of them.
const commands = 100_000;
const seconds = 5;
const connections = 256;
const afterwards = 20;

await withTempDirectory(async (dataDir) => {
  const slack = await startSlack();
  const bot = await startBot({ ...slack.environment('http'), DATA_DIR: dataDir }, 0);
  for (let n = 0; n < afterwards; n += 1) await runCommand(slack, bot.port, 'help');
  await resetPeakMemory(bot.pid);
  let n = 0;
  const taken = await sendAtRate(bot.port, () => slack.slash('help', { user: `U0FLOOD${(n += 1) % 200}` }), {
    perSecond: commands / seconds,
    until: (sent) => sent >= commands,
    connections,
  });
  const lasted = Math.max(...taken);
  await waitUntilQuiet(slack);
  const peak = await readPeakMemory(bot.pid);
  const next: number[] = [];
  for (let turn = 0; turn < afterwards; turn += 1)
    next.push((await runCommand(slack, bot.port, 'help')).first);
  reportFinding({
    what: `${commands.toLocaleString('en')} signed commands in ${seconds} s, one core, embedded`,
    bot: `${taken.length} acknowledged, peak ${formatMegabytes(peak)}, the next command p50 ${formatMs(median(next))}`,
    beside: `the last acknowledgement after ${formatMs(lasted)}`,
    ratio: '',
    goal: 'lives, each acknowledged, ≤ 400 MB, next p50 ≤ 100 ms',
    met: taken.length === commands && peak <= 400e6 && median(next) <= 100,
  });
  await bot.stop();
  await slack.close();
});
