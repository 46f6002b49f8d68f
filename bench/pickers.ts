import { linkKey } from './measure/commands.ts';
import { requestAnswer } from './measure/load.ts';
import { watchEventLoop } from './measure/metrics.ts';
import { measureInTurns, median, percentile } from './measure/numbers.ts';
import { startBot, startCdn, startSubject, withTempDirectory } from './measure/processes.ts';
import { formatMs, formatRatio, logProgress, reportFinding } from './measure/report.ts';
import { startSlack } from './measure/slack.ts';

// A letter typed into the menu of zones, from the delivery to the lines. Cold: the key was linked a moment ago and no
// form has warmed anything. Warm: the list is in memory. Beside it a bare server that reads, parses and filters.
const sizes = [100, 10_000, 50_000] as const;
const coldRounds = 5;
const goals = { cold: 2_000, warm: 50 };
// Everything, many, some, one, an id, none.
const letters = ['', 'e', 'shop', 'checkout-partner', 'media.example', '1004', 'nothing like it'];
const warmRounds = 20;

for (const zones of sizes) {
  await withTempDirectory(async (dataDir) => {
    const slack = await startSlack();
    const cdn = await startCdn(zones, 'few');
    const env = { ...slack.environment('http'), CDN_API_URL: cdn.url };
    const bare = await startSubject(['bench/bare-picker.ts'], { ...env, CDN_KEY: cdn.key });
    const bot = await startBot({ ...env, DATA_DIR: dataDir });
    const { port } = bot;
    const suggestFromBot = (letter: string) => requestAnswer(port, slack.suggest('zones:pick', letter));
    const byHand = (letter: string, how: 'cold' | 'warm') =>
      requestAnswer(bare.port, slack.suggest(how, letter));

    /** Goes on asking until the menu has every zone. */
    const whenWhole = async (): Promise<void> => {
      for (;;) {
        const { body } = await suggestFromBot('');
        if (body.includes('being read')) continue;
        const more = /and ([\d,]+) more/.exec(body)?.[1]?.replaceAll(',', '') ?? '0';
        const shown = (JSON.parse(body) as { options: unknown[] }).options.length - (more === '0' ? 0 : 1);
        if (shown + Number(more) === zones) return;
        throw new Error(`the menu knows ${shown} and ${more} more, of ${zones}`);
      }
    };
    const whole: number[] = [];
    const readCold = async (): Promise<number> => {
      await linkKey(slack, port, cdn.key);
      const asked = performance.now();
      const first = await suggestFromBot('shop');
      if (!first.body.includes('shop')) throw new Error(`no hits at once: ${first.body.slice(0, 200)}`);
      await whenWhole();
      whole.push(performance.now() - asked);
      return first.ms;
    };
    const cold = (): Promise<number> => watchEventLoop(port, readCold);
    await cold();
    whole.length = 0;
    const read = { bot: cold, bare: async () => (await byHand('shop', 'cold')).ms };
    const first = await measureInTurns(['bare', 'bot'], coldRounds, (name) => read[name]());

    const size = zones.toLocaleString('en');
    reportFinding({
      what: `menu of ${size} zones, cold`,
      bot: `${formatMs(first.bot)}, everything after ${formatMs(median(whole))}`,
      beside: `GET + JSON.parse + filter ${formatMs(first.bare)}`,
      ratio: formatRatio(first.bot / first.bare),
      goal: '≤ 2 s',
      met: first.bot <= goals.cold,
    });

    const taken: { bot: number[]; bare: number[] } = { bot: [], bare: [] };
    await watchEventLoop(port, async () => {
      for (let round = -2; round < warmRounds; round += 1) {
        for (const letter of letters) {
          const [bots, bares] = [(await suggestFromBot(letter)).ms, (await byHand(letter, 'warm')).ms];
          if (round < 0) continue;
          taken.bot.push(bots);
          taken.bare.push(bares);
        }
      }
    });
    const [most, worst] = [percentile(taken.bot, 95), Math.max(...taken.bot)];
    logProgress(
      `${zones} zones: cold ${formatMs(first.bot)}, warm ${formatMs(median(taken.bot))}, worst ${formatMs(worst)}`,
    );
    reportFinding({
      what: `menu of ${size} zones, warm`,
      bot: `${formatMs(median(taken.bot))} (p95 ${formatMs(most)}, worst ${formatMs(worst)})`,
      beside: `filter ${formatMs(median(taken.bare))} (worst ${formatMs(Math.max(...taken.bare))})`,
      ratio: formatRatio(median(taken.bot) / median(taken.bare)),
      goal: 'p95 ≤ 50 ms',
      met: most <= goals.warm,
    });
    for (const one of [bot, bare, cdn]) await one.stop();
    await slack.close();
  });
}
