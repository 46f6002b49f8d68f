import { linkKey, runCommand } from './measure/commands.ts';
import { measureInTurns } from './measure/numbers.ts';
import { startBot, startCdn, startSubject, withTempDirectory } from './measure/processes.ts';
import { formatMs, formatRatio, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// `/cdn zones` from the command to the first message, in accounts of three sizes. Typed, it asks the CDN each time.
const sizes = [100, 10_000, 50_000] as const;
const readings = 15;
/** Both run for days in life: compiled, with their connections open. */
const warmUps = 10;

for (const zones of sizes)
  await withTempDirectory(async (dataDir) => {
    const slack = await startSlack();
    const cdn = await startCdn(zones, 'few');
    const env = { ...slack.environment('http'), CDN_API_URL: cdn.url };
    const limit = await startSubject(['bench/bare-first-answer.ts'], { ...env, CDN_KEY: cdn.key });
    const bot = await startBot({ ...env, DATA_DIR: dataDir });
    const read = {
      limit: async () => (await runCommand(slack, limit.port, 'zones')).first,
      // The second message is the whole list: the next reading begins when it is there.
      bot: async () => (await runCommand(slack, bot.port, 'zones', { count: 2 })).first,
    };
    await linkKey(slack, bot.port, cdn.key);
    for (let turn = 0; turn < warmUps; turn += 1) for (const one of Object.values(read)) await one();
    const taken = await measureInTurns(['limit', 'bot'], readings, (name) => read[name]());
    reportFinding({
      what: `/cdn zones, first answer, ${zones.toLocaleString('en')} zones`,
      bot: formatMs(taken.bot),
      beside: `without a framework, a store or a policy ${formatMs(taken.limit)}`,
      ratio: formatRatio(taken.bot / taken.limit),
      goal: '≤ 2 ×',
      met: taken.bot <= 2 * taken.limit,
    });
    for (const one of [bot, limit, cdn]) await one.stop();
    await slack.close();
  });
