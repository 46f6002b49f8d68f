import { setTimeout as pause } from 'node:timers/promises';
import { post, sendAtRate } from './load.ts';
import { median } from './numbers.ts';
import { type Cdn, startBot, withTempDirectory } from './processes.ts';
import { formatMs, logProgress } from './report.ts';
import { type BenchSlack, startSlack } from './slack.ts';

/** Links a CDN key for a user: submits the form and waits for the view that confirms it. */
export async function linkKey(slack: BenchSlack, port: number, key: string, user?: string): Promise<void> {
  const shown = slack.nextCall('views.update');
  await post(port, slack.submit('connect:submit', { accessKey: key }, user));
  await shown;
}

/** Types `/cdn <words>` and waits for answers; ms from the command to the first and to the last of them. */
export async function runCommand(
  slack: BenchSlack,
  port: number,
  words: string,
  count = 1,
): Promise<{ first: number; last: number }> {
  const answers = slack.answers();
  const command = slack.slash(words, { answers: answers.url });
  const asked = performance.now();
  await post(port, command);
  const first = (await answers.at(1)) - asked;
  const last = (await answers.at(count)) - asked;
  return { first, last };
}

export interface WorstAcknowledgement {
  /** ms, while the work was under way. */
  readonly busy: number;
  /** The same load with nothing else under way. */
  readonly idle: number;
  /** How many commands waited for their acknowledgement meanwhile. */
  readonly commands: number;
}

/**
 * Longest acknowledgement of another user's `/cdn help`, 100 a second, while the bot works on the command `words`,
 * which has so many answers: the middle of three.
 */
export async function measureWorstAcknowledgement(
  cdn: Cdn,
  words: string,
  answers: number,
): Promise<WorstAcknowledgement> {
  return withTempDirectory(async (dataDir) => {
    const slack = await startSlack();
    const bot = await startBot({
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
      const taken = await sendAtRate(bot.port, help, { perSecond: 100, until: () => over });
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
      const taken = await during(() => runCommand(slack, bot.port, words, answers));
      busy.push(Math.max(...taken));
      commands += taken.length;
    }
    logProgress(
      `worst meanwhile ${busy.map(formatMs).join(', ')}; otherwise ${idle.map(formatMs).join(', ')}`,
    );
    await bot.stop();
    await slack.close();
    return { busy: median(busy), idle: median(idle), commands };
  });
}
