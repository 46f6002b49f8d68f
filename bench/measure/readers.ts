import { measureWorstAcknowledgement } from './commands.ts';
import { forgetEventLoop } from './metrics.ts';
import { median } from './numbers.ts';
import { type Cdn, readBotCommand, runToEnd } from './processes.ts';
import { formatMegabytes, formatMs, reportFinding } from './report.ts';

/** One run of a reader, a process of its own. */
interface Reading {
  readonly ms: number;
  /** Peak growth of its memory, bytes. */
  readonly grown: number;
}

/** Ways of reading that are floors: plain programs of Node's. */
const floors = new Set(['body', 'pages']);

/**
 * Runs `bench/<reader>.ts <way>` and checks that it read everything: `expected` of what it counts as `unit`. The bot's own
 * ways run with the heap that it is started with.
 */
export async function runReader(
  [reader, way]: readonly [reader: string, way: string],
  env: Readonly<Record<string, string>>,
  [unit, expected]: readonly [unit: string, expected: number],
): Promise<Reading> {
  const { args } = await readBotCommand();
  const flags = floors.has(way) ? [] : args.filter((word) => word.startsWith('--'));
  const read = await runToEnd([...flags, `bench/${reader}.ts`, way], env);
  if (read[unit] !== expected)
    throw new Error(`${way} read ${String(read[unit])} ${unit}, expected ${expected}`);
  return { ms: Number(read['ms']), grown: Number(read['grown']) };
}

/** Runs each way in turn, `rounds` times. The first `warmUps` rounds do not count. */
export async function compareReaders<Way extends string>(
  ways: readonly Way[],
  { rounds, warmUps = 0 }: { readonly rounds: number; readonly warmUps?: number },
  read: (way: Way) => Promise<Reading>,
): Promise<Record<Way, Reading>> {
  forgetEventLoop();
  const readings = new Map<Way, Reading[]>(ways.map((way) => [way, []]));
  for (let round = 0; round < warmUps + rounds; round += 1)
    for (const way of ways) {
      const reading = await read(way);
      if (round >= warmUps) readings.get(way)?.push(reading);
    }
  const medians = [...readings].map(([way, taken]) => [
    way,
    { ms: median(taken.map(({ ms }) => ms)), grown: median(taken.map(({ grown }) => grown)) },
  ]);
  return Object.fromEntries(medians) as Record<Way, Reading>;
}

export function formatReading({ ms, grown }: Reading): string {
  return `${formatMs(ms)}, peak +${formatMegabytes(grown)}`;
}

/** Reports how long another person's command waits while the bot works for the sender of `words`. */
export async function reportWorstAcknowledgement(
  cdn: Cdn,
  { words, answers, doing, goalMs }: { words: string; answers: number; doing: string; goalMs: number },
): Promise<void> {
  const { busy, idle, commands } = await measureWorstAcknowledgement(cdn, words, answers);
  reportFinding({
    what: `worst acknowledgement of another command while ${doing}`,
    bot: `${formatMs(busy)} (of ${commands})`,
    beside: `the same load with nothing else under way ${formatMs(idle)}`,
    ratio: '',
    goal: `≤ ${goalMs} ms`,
    met: busy <= goalMs,
  });
}
