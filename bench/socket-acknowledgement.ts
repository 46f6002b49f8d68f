import { startAtRate } from './measure/load.ts';
import { startBot, startSubject, withTempDirectory } from './measure/processes.ts';
import { formatMs, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// What is lost over Socket Mode while Slack renews the connections.
const perSecond = 30;

await withTempDirectory(async (dataDir) => {
  // A Slack for each: over Socket Mode the app chooses the connection, so they cannot share one.
  const [slackOfBolt, slackOfBot] = [await startSlack(), await startSlack()];
  const bolt = await startSubject(['bench/minimal-bolt.ts', 'socket'], slackOfBolt.environment('socket'));
  const bot = await startBot({ ...slackOfBot.environment('socket'), DATA_DIR: dataDir });
  await slackOfBot.socket.waitFor(2);
  const renew = async ({
    socket,
    slashPayload,
  }: typeof slackOfBot): Promise<{ words: string; lost: number; gap: number }> => {
    socket.gaps();
    let isRenewing = true;
    const renewed = (async () => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const before = socket.ready();
      await socket.refreshAll(1_500);
      await socket.waitFor(before);
      await new Promise((resolve) => setTimeout(resolve, 500));
      isRenewing = false;
    })();
    const taken = await startAtRate(
      perSecond,
      () => !isRenewing,
      () => socket.deliver(slashPayload('help')),
    );
    await renewed;
    const lost = taken.filter((one) => one === undefined).length;
    const gap = socket.gaps();
    return { words: `${lost} of ${taken.length} lost, ${formatMs(gap)} without a connection`, lost, gap };
  };
  const beside = await renew(slackOfBolt);
  const ours = await renew(slackOfBot);
  reportFinding({
    what: `Slack renews every Socket Mode connection, ${perSecond} commands a second`,
    bot: ours.words,
    beside: `minimal Bolt: ${beside.words}`,
    ratio: '',
    goal: '0 lost, 0 ms',
    met: ours.lost === 0 && ours.gap === 0,
  });
  for (const one of [bolt, bot]) await one.stop();
  for (const one of [slackOfBolt, slackOfBot]) await one.close();
});
