import { setTimeout as pause } from 'node:timers/promises';
import { post, requestAnswer, startAtRate } from './load.ts';
import { percentile } from './numbers.ts';
import type { Subject } from './processes.ts';
import { formatMs } from './report.ts';
import type { BenchSlack } from './slack.ts';

/** One command, press or search and what became of it. Moments are ms of `performance.now()`. */
export interface Delivery {
  readonly sentAt: number;
  /** Undefined where the connection broke or the answer was no 200. */
  acknowledgedAt: number | undefined;
  readonly answers: { readonly at: number; readonly text: string }[];
}

/** Shown while people wait. */
const progressText = /^(?:Working on it|Queued behind)/;
/** After the last command; then a command counts as not answered. */
const patienceMs = 30_000;

type Send = (slack: BenchSlack, port: number, user: string) => Promise<Delivery>;

/** One after the other. `connect` and `zone` open modals. */
const kinds: readonly Send[] = [
  ...['help', 'zones', 'zone 1001', 'connect', 'whoami', 'errors 1001 yesterday', 'zone', 'digest list'].map(
    (words): Send =>
      (slack, port, user) =>
        deliver(slack, port, (answers) => slack.slash(words, { user, answers })),
  ),
  (slack, port, user) =>
    deliver(slack, port, (answers) => slack.press('zones:page', 'zones', { user, answers })),
  search,
];

/** Sends `count` mixed commands, presses and searches of these people at a rate, and waits for their answers. */
export async function sendMixed(
  slack: BenchSlack,
  { port }: Subject,
  { count, perSecond, people }: { count: number; perSecond: number; people: readonly string[] },
): Promise<{ answered: number[]; acknowledged: number[]; silent: number }> {
  let turn = 0;
  const send = (): Promise<Delivery> => {
    const n = (turn += 1);
    const user = people[Math.floor(n / kinds.length) % people.length] ?? '';
    return (kinds[n % kinds.length] ?? search)(slack, port, user);
  };
  const deliveries = await startAtRate(perSecond, (started) => started >= count, send);
  const until = performance.now() + patienceMs;
  while (deliveries.some((one) => !findAnswer(one)) && performance.now() < until) await pause(20);
  const answered = deliveries.flatMap((one) => {
    const answer = findAnswer(one);
    return answer ? [answer.at - one.sentAt] : [];
  });
  const acknowledged = deliveries.flatMap(({ sentAt, acknowledgedAt }) =>
    acknowledgedAt === undefined ? [] : [acknowledgedAt - sentAt],
  );
  return { answered, acknowledged, silent: deliveries.length - answered.length };
}

async function deliver(
  slack: BenchSlack,
  port: number,
  createRequest: (responseUrl: string) => Buffer,
): Promise<Delivery> {
  const delivery: Delivery = { sentAt: performance.now(), acknowledgedAt: undefined, answers: [] };
  const { url } = slack.answers((text) => delivery.answers.push({ at: performance.now(), text }));
  try {
    await post(port, createRequest(url));
    delivery.acknowledgedAt = performance.now();
  } catch {
    // It stays without an acknowledgement and counts as not answered.
  }
  return delivery;
}

/** A menu's lines are in the acknowledgement. */
async function search(slack: BenchSlack, port: number, user: string): Promise<Delivery> {
  const sentAt = performance.now();
  const { body } = await requestAnswer(port, slack.suggest('zones:pick', 'shop', user));
  const at = performance.now();
  return { sentAt, acknowledgedAt: at, answers: [{ at, text: body }] };
}

function findAnswer({ answers }: Delivery): Delivery['answers'][number] | undefined {
  return answers.find(({ text }) => !progressText.test(text));
}

/** `p50 0.96 ms, p99 18.2 ms, worst 36 ms` */
export function formatSpread(times: readonly number[]): string {
  if (times.length === 0) return 'none';
  return `p50 ${formatMs(percentile(times, 50))}, p99 ${formatMs(percentile(times, 99))}, worst ${formatMs(Math.max(...times))}`;
}
