import { post } from './load.ts';
import type { BenchSlack } from './slack.ts';

/** Links a CDN key for somebody, as people do it: the form, and the answer that the form shows. */
export async function linkKey(slack: BenchSlack, port: number, key: string, user?: string): Promise<void> {
  const shown = slack.nextCall('views.update');
  await post(port, slack.submit('connect:submit', { accessKey: key }, user));
  await shown;
}

/** Types `/cdn <words>` and waits for answers; ms from the command to the first and to the last of them. */
export async function ask(
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
