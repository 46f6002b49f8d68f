import { setTimeout as pause } from 'node:timers/promises';
import { type Delivery, deliver, findAnswer, waitForAnswers } from './deliveries.ts';
import { post } from './load.ts';
import { watchEventLoop } from './metrics.ts';
import type { Subject } from './processes.ts';
import { logProgress } from './report.ts';
import type { BenchSlack } from './slack.ts';

const perSecond = 100;
const atOnce = 16;

const commands = [
  'help',
  'whoami',
  'zones',
  'zone 1001',
  'digest list',
  'app app0api00000001',
  'errors 1001 yesterday',
  'names list',
  'no such command',
];

export interface MixedDelivery extends Delivery {
  readonly words: string;
}

/** Sends the n-th of mixed commands, with a press or a search beside every fifth; `onBroken` hears of one of those that failed. */
export async function deliverMixed(
  slack: BenchSlack,
  port: number,
  n: number,
  onBroken: (error: unknown) => void,
): Promise<MixedDelivery> {
  const words = commands[n % commands.length] ?? 'help';
  // Buttons and menus work on what is in memory.
  if (n % 10 === 0) await post(port, slack.press('zones:page', 'page=2')).catch(onBroken);
  if (n % 10 === 5) await post(port, slack.suggest('zones:pick', 'a')).catch(onBroken);
  return Object.assign(await deliver(slack, port, { words, user: 'U0BENCH00' }), { words });
}

/** Sends mixed commands as fast as they are answered, 100 a second at the most. */
export function sendMixed(slack: BenchSlack, { port }: Subject, count: number) {
  let [answered, silent] = [0, 0];
  const send = async (n: number): Promise<void> => {
    const one = await deliverMixed(slack, port, n, (error) => logProgress(String(error)));
    await waitForAnswers([one], 30_000);
    answered += 1;
    if (!findAnswer(one)) silent += 1;
  };
  const run = async (): Promise<{ silent: number; tookMs: number }> => {
    const open = new Set<Promise<void>>();
    const began = performance.now();
    let due = began;
    for (let n = 0; n < count; n += 1) {
      if (open.size >= atOnce) await Promise.race(open);
      const one: Promise<void> = send(n).finally(() => open.delete(one));
      open.add(one);
      due = Math.max(performance.now(), due + 1000 / perSecond);
      await pause(Math.max(0, due - performance.now()));
    }
    await Promise.all(open);
    return { silent, tookMs: performance.now() - began };
  };
  return { answered: () => answered, end: watchEventLoop(port, run) };
}
