import { setTimeout as pause } from 'node:timers/promises';
import { post, sendAtRate } from './load.ts';
import { processorTime, type Subject } from './processes.ts';
import type { BenchSlack } from './slack.ts';

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
  const asked = performance.now();
  await post(port, command);
  const first = (await answers.at(1)) - asked;
  const last = (await answers.at(count)) - asked;
  return { first, last, body };
}

/** Processor time a command takes in all, acknowledgement and answer, ms: the mean of 300 at 100 a second. */
export async function measureProcessorTime(
  slack: BenchSlack,
  subject: Subject,
  request: () => Buffer,
): Promise<number> {
  const count = 300;
  const before = { answered: slack.answered(), time: await processorTime(subject.pid) };
  await sendAtRate(subject.port, request, { perSecond: 100, until: (sent) => sent >= count });
  while (slack.answered() - before.answered < count) await pause(5);
  return ((await processorTime(subject.pid)) - before.time) / count;
}
