import { setTimeout as pause } from 'node:timers/promises';
import { progress } from './findings.ts';
import { pace } from './load.ts';
import { median, ms } from './numbers.ts';
import { ask, linkKey } from './people.ts';
import { type Cdn, startTheBot, withDirectory } from './processes.ts';
import { startSlack } from './slack.ts';

export interface Worst {
  /** ms, while the work was under way. */
  readonly busy: number;
  /** The same load with nothing else under way. */
  readonly idle: number;
  /** How many commands waited for their acknowledgement meanwhile. */
  readonly commands: number;
}

/**
 * Longest wait of a `/cdn help` of somebody else, 100 of them a second, while the bot works for whoever typed `words`,
 * which has so many answers: the middle of three.
 */
export async function worstAcknowledgement(cdn: Cdn, words: string, answers: number): Promise<Worst> {
  return withDirectory(async (dataDir) => {
    const slack = await startSlack();
    const bot = await startTheBot({
      ...slack.environment('http'),
      DATA_DIR: dataDir,
      CDN_API_URL: cdn.url,
      CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl,
    });
    const help = (): Buffer => slack.slash('help', { user: 'U0OTHER00' });
    const during = async (work: () => Promise<unknown>): Promise<number[]> => {
      let over = false;
      const running = work().finally(() => {
        over = true;
      });
      const taken = await pace(bot.port, help, { perSecond: 100, until: () => over });
      await running;
      return taken;
    };
    await during(() => pause(1_500));
    const busy: number[] = [];
    const idle: number[] = [];
    let commands = 0;
    for (let round = 0; round < 3; round += 1) {
      idle.push(Math.max(...(await during(() => pause(1_500)))));
      await linkKey(slack, bot.port, cdn.key);
      const taken = await during(() => ask(slack, bot.port, words, answers));
      busy.push(Math.max(...taken));
      commands += taken.length;
    }
    progress(`worst meanwhile ${busy.map(ms).join(', ')}; otherwise ${idle.map(ms).join(', ')}`);
    await bot.stop();
    await slack.close();
    return { busy: median(busy), idle: median(idle), commands };
  });
}
