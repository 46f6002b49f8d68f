import { type Delivery, deliver } from './deliveries.ts';
import { post } from './load.ts';
import type { BenchSlack } from './slack.ts';

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
