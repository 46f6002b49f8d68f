import { linkKey, runCommand } from './measure/commands.ts';
import { formatSpread } from './measure/deliveries.ts';
import { measureExport, startSink, withExportBot } from './measure/exports.ts';
import { sendAtRate } from './measure/load.ts';
import { startCdn } from './measure/processes.ts';
import { reportFinding } from './measure/report.ts';

// How long other people's commands wait for their acknowledgement while the bot reads 50,000 zones, counts 500,000
// origin errors and exports 1 GB, all at once.
const perSecond = 50;
const reader = 'U0READER0';

const sink = await startSink();
const cdn = await startCdn(50_000, 'few', ['--origin-errors', '500000', '--export-bytes', '1000000000']);
await withExportBot({ cdn, sinkUrl: sink.url }, async (slack, bot) => {
  await linkKey(slack, bot.port, cdn.key, reader);
  // The first of each loads code.
  await runCommand(slack, bot.port, 'help');
  const help = (): Buffer => slack.slash('help', { user: 'U0OTHER00' });
  let isOver = false;
  const work = Promise.all([
    measureExport(slack, bot, cdn),
    runCommand(slack, bot.port, 'zones sort:bandwidth', { user: reader, count: 2 }),
    runCommand(slack, bot.port, 'errors 1001 yesterday'),
  ]).finally(() => {
    isOver = true;
  });
  const taken = await sendAtRate(bot.port, help, { perSecond, until: () => isOver });
  await work;
  const worst = Math.max(...taken);
  reportFinding({
    what: 'acknowledgements while 50,000 zones, 500,000 origin errors and a 1 GB export are read',
    bot: `${formatSpread(taken)} of ${taken.length}`,
    beside: 'Slack waits 3 s',
    ratio: '',
    goal: 'worst ≤ 150 ms',
    met: worst <= 150,
  });
});
await cdn.stop();
await sink.stop();
