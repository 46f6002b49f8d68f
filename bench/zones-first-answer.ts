import { linkKey, runCommand } from './measure/commands.ts';
import { ignoreEventLoop, watchEventLoop } from './measure/metrics.ts';
import { measureInTurns } from './measure/numbers.ts';
import { startBot, startCdn, startSubject, withTempDirectory } from './measure/processes.ts';
import { startRelay } from './measure/relay.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// `/cdn zones` from the command to the first message, in accounts of four sizes. Typed, it asks the CDN each time. The key
// is linked once: what follows a link (its audit, the Home tab) is work beside a command, not of it.
const sizes = [100, 1_000, 10_000, 50_000] as const;
const readings = 15;
/** Of both, as both run for days: compiled, with their connections open. */
const warmUps = 10;
const byBot = new Map<number, number>();

for (const zones of sizes) {
  await withTempDirectory(async (dataDir) => {
    const slack = await startSlack();
    const cdn = await startCdn(zones, 'few');
    const relay = await startRelay(cdn.url);
    const env = { ...slack.environment('http'), DATA_DIR: dataDir };
    const limit = await startSubject(['bench/bare-first-answer.ts'], {
      ...env,
      CDN_API_URL: cdn.url,
      CDN_KEY: cdn.key,
    });
    const bot = await startBot({ ...env, CDN_API_URL: cdn.url });

    const byHand = async (): Promise<number> => (await runCommand(slack, limit.port, 'zones')).first;
    const runOnBot = (): Promise<number> =>
      watchEventLoop(bot.port, async () => {
        // The second message is the whole list: the next reading begins when nothing is under way any more.
        return (await runCommand(slack, bot.port, 'zones', { count: 2 })).first;
      });
    const read = { limit: byHand, bot: runOnBot };
    await linkKey(slack, bot.port, cdn.key);
    for (let warmUp = 0; warmUp < warmUps; warmUp += 1) for (const one of [byHand, runOnBot]) await one();
    const taken = await measureInTurns(['limit', 'bot'], readings, (name) => read[name]());
    await bot.stop();

    // Bytes are counted in a run of their own: what counts also costs.
    const counted = await startBot({ ...env, CDN_API_URL: relay.url });
    await linkKey(slack, counted.port, cdn.key);
    const before = relay.bytes();
    await ignoreEventLoop(() => runCommand(slack, counted.port, 'zones'));
    const bytes = relay.bytes() - before;
    logProgress(`${zones} zones: bot ${formatMs(taken.bot)}, limit ${formatMs(taken.limit)}, ${bytes} bytes`);
    byBot.set(zones, taken.bot);

    reportFinding({
      what: `/cdn zones, first answer, ${zones.toLocaleString('en')} zones`,
      bot: `${formatMs(taken.bot)}, ${(bytes / 1000).toFixed(0)} kB read`,
      beside: `without a framework, a store or a policy ${formatMs(taken.limit)}`,
      ratio: `${formatRatio(taken.bot / taken.limit)} the limit`,
      goal: '≤ 2 × the limit, < 200 kB',
      met: taken.bot <= 2 * taken.limit && bytes < 200_000,
    });
    relay.close();
    for (const one of [counted, limit, cdn]) await one.stop();
    await slack.close();
  });
}

const [small = Number.NaN, large = Number.NaN] = [byBot.get(100), byBot.get(50_000)];
reportFinding({
  what: '/cdn zones, first answer, 50,000 zones against 100',
  bot: formatMs(large),
  beside: formatMs(small),
  ratio: formatRatio(large / small),
  goal: '≤ 1.5 ×',
  met: large <= 1.5 * small,
});
