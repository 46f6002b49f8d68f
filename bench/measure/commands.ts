import { setTimeout as pause } from 'node:timers/promises';
import { post, sendAtRate } from './load.ts';
import { ignoreEventLoop, watchEventLoop } from './metrics.ts';
import { median } from './numbers.ts';
import { type Cdn, processorTime, type Subject, startBot, withTempDirectory } from './processes.ts';
import { formatMs, logProgress } from './report.ts';
import { type BenchSlack, startSlack } from './slack.ts';

/** Links a CDN key for a user: submits the form and waits for the view that confirms it. */
export async function linkKey(slack: BenchSlack, port: number, key: string, user?: string): Promise<void> {
  const shown = slack.nextCall('views.update');
  await post(port, slack.submit('connect:submit', { accessKey: key }, user));
  await shown;
}

/** Types `/cdn <words>` and waits for `count` answers; ms from the command to the first and the last, and the last's body. */
export async function runCommand(
  slack: BenchSlack,
  port: number,
  words: string,
  { count = 1, user }: { count?: number; user?: string } = {},
): Promise<{ first: number; last: number; body: string }> {
  let body = '';
  const answers = slack.answers((_, came) => {
    body = came;
  });
  const command = slack.slash(words, { answers: answers.url, ...(user === undefined ? {} : { user }) });
  return watchEventLoop(port, async () => {
    const asked = performance.now();
    await post(port, command);
    const first = (await answers.at(1)) - asked;
    const last = (await answers.at(count)) - asked;
    return { first, last, body };
  });
}

/** Processor time a command takes in all, acknowledgement and answer, ms: the mean of 300 at 100 a second. */
export async function measureProcessorTime(
  slack: BenchSlack,
  subject: Subject,
  request: () => Buffer,
): Promise<number> {
  const count = 300;
  return watchEventLoop(subject.port, async () => {
    const before = { answered: slack.answered(), time: await processorTime(subject.pid) };
    await sendAtRate(subject.port, request, { perSecond: 100, until: (sent) => sent >= count });
    while (slack.answered() - before.answered < count) await pause(5);
    return ((await processorTime(subject.pid)) - before.time) / count;
  });
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
    const idly = (): Promise<number[]> => ignoreEventLoop(() => during(() => pause(1_500)));
    await idly();
    const busy: number[] = [];
    const idle: number[] = [];
    let commands = 0;
    for (let round = 0; round < 3; round += 1) {
      idle.push(Math.max(...(await idly())));
      await linkKey(slack, bot.port, cdn.key);
      const taken = await during(() => runCommand(slack, bot.port, words, { count: answers }));
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
