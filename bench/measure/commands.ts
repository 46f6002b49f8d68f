import { setTimeout as pause } from 'node:timers/promises';
import { post } from './load.ts';
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

/** Sends commands and waits for their answers. More than a few at once would be refused by a bot on a busy machine. */
export async function sendAnswered(
  slack: BenchSlack,
  { port }: Subject,
  request: () => Buffer,
  count: number,
): Promise<void> {
  const before = slack.answered();
  for (let sent = 1; sent <= count; sent += 1) {
    await post(port, request());
    while (sent - (slack.answered() - before) >= mostAtOnce) await pause(1);
  }
  while (slack.answered() - before < count) await pause(1);
}

const mostAtOnce = 4;

/** Processor time a command takes in all, acknowledgement and answer, ms: the mean of 300. */
export async function measureProcessorTime(
  slack: BenchSlack,
  subject: Subject,
  request: () => Buffer,
): Promise<number> {
  const count = 300;
  const before = await processorTime(subject.pid);
  await sendAnswered(slack, subject, request, count);
  return ((await processorTime(subject.pid)) - before) / count;
}
