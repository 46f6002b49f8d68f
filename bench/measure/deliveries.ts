import { setTimeout as pause } from 'node:timers/promises';
import { post, startAtRate } from './load.ts';
import { watchEventLoop } from './metrics.ts';
import { percentile } from './numbers.ts';
import { formatMs } from './report.ts';
import type { BenchSlack } from './slack.ts';

/** One typed command and what became of it. Moments are ms of `performance.now()`. */
export interface Delivery {
  readonly sentAt: number;
  /** Undefined where the connection broke or the answer was no 200. */
  acknowledgedAt: number | undefined;
  /** How often it was sent again. */
  repeats: number;
  readonly answers: { readonly at: number; readonly text: string }[];
}

/** After this Slack gives up on an acknowledgement. */
export const slackPatienceMs = 3_000;
/** A process that does not answer any more must not keep a benchmark. */
const benchPatienceMs = 60_000;
/** Shown while people wait. */
const progressText = /^(?:Working on it|Waiting for its turn)/u;

/**
 * Sends a signed command over a connection of its own and follows it. With `repeats` it is sent again at once where it
 * was not acknowledged within Slack's three seconds, as Slack does with events.
 */
export async function deliver(
  slack: BenchSlack,
  port: number,
  { words, user, repeats = 0 }: { words: string; user: string; repeats?: number },
): Promise<Delivery> {
  return deliverRequest(slack, port, (answers) => slack.slash(words, { user, answers }), repeats);
}

/** The same with any delivery that has a response_url, which `createRequest` is given. */
export async function deliverRequest(
  slack: BenchSlack,
  port: number,
  createRequest: (responseUrl: string) => Buffer,
  repeats = 0,
): Promise<Delivery> {
  const delivery: Delivery = {
    sentAt: performance.now(),
    acknowledgedAt: undefined,
    repeats: 0,
    answers: [],
  };
  const { url } = slack.answers((text) => delivery.answers.push({ at: performance.now(), text }));
  const request = createRequest(url);
  const patienceMs = repeats > 0 ? slackPatienceMs : benchPatienceMs;
  for (;;) {
    const sent = delivery.repeats === 0 ? request : repeatRequest(request, delivery.repeats);
    const isAcknowledged = await Promise.race([
      post(port, sent).then(
        () => true,
        () => false,
      ),
      pause(patienceMs, false, { ref: false }),
    ]);
    if (isAcknowledged) delivery.acknowledgedAt = performance.now();
    if (isAcknowledged || delivery.repeats >= repeats) return delivery;
    delivery.repeats += 1;
  }
}

/** A delivery as Slack sends it again: the same one, with the number of the repeat. */
function repeatRequest(request: Buffer, repeat: number): Buffer {
  const headers = `x-slack-retry-num: ${repeat}\r\nx-slack-retry-reason: http_error`;
  return Buffer.from(request.toString('latin1').replace('\r\n', `\r\n${headers}\r\n`), 'latin1');
}

/** Sends commands of so many people at a rate, and waits for the acknowledgements. */
export async function deliverAtRate(
  slack: BenchSlack,
  port: number,
  options: { words: string; perSecond: number; seconds: number; people: number; repeats?: number },
): Promise<Delivery[]> {
  const { words, perSecond, seconds, people, repeats = 0 } = options;
  let n = 0;
  return watchEventLoop(port, () =>
    startAtRate(
      perSecond,
      (started) => started >= perSecond * seconds,
      () => deliver(slack, port, { words, user: personOf((n += 1) % people), repeats }),
    ),
  );
}

export function personOf(n: number): string {
  return `U0BENCH${String(n).padStart(3, '0')}`;
}

/** Without signs of progress, such as the note of a command that waits for its turn. */
export function listAnswers({ answers }: Delivery): Delivery['answers'] {
  return answers.filter(({ text }) => !progressText.test(text));
}

export function findAnswer(delivery: Delivery): Delivery['answers'][number] | undefined {
  return listAnswers(delivery)[0];
}

/** Waits until each acknowledged delivery is answered, or for `limitMs`; ms it took. */
export async function waitForAnswers(deliveries: readonly Delivery[], limitMs: number): Promise<number> {
  const began = performance.now();
  let open = deliveries;
  for (;;) {
    open = open.filter((one) => one.acknowledgedAt !== undefined && !findAnswer(one));
    const taken = performance.now() - began;
    if (open.length === 0 || taken > limitMs) return taken;
    await pause(20);
  }
}

/** Ms to the acknowledgements. */
export function acknowledgementTimes(deliveries: readonly Delivery[]): number[] {
  return deliveries.flatMap(({ sentAt, acknowledgedAt }) =>
    acknowledgedAt === undefined ? [] : [acknowledgedAt - sentAt],
  );
}

/** `p50 0.96 ms, p99 18.2 ms, worst 36 ms` */
export function formatSpread(times: readonly number[]): string {
  if (times.length === 0) return 'none';
  return `p50 ${formatMs(percentile(times, 50))}, p99 ${formatMs(percentile(times, 99))}, worst ${formatMs(Math.max(...times))}`;
}
