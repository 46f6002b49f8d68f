import { found, progress } from './measure/findings.ts';
import { median, megabytes, ms, times } from './measure/numbers.ts';
import { type Cdn, runToEnd, startCdn } from './measure/processes.ts';

// One day of origin errors, counted while it arrives, against download + JSON.parse of the same answer; each reading
// in a process of its own.
const sizes = [
  { entries: 1_000, rounds: 5, times: undefined, growth: undefined },
  { entries: 50_000, rounds: 5, times: undefined, growth: undefined },
  { entries: 500_000, rounds: 3, times: 1.0, growth: 48e6 },
] as const;

for (const { entries, rounds, ...goal } of sizes) {
  const cdn = await startCdn(12, 'few', ['--origin-errors', String(entries)]);
  const ways = ['body', 'bot'] as const;
  const taken: Record<(typeof ways)[number], Reading[]> = { body: [], bot: [] };
  for (let round = 0; round < rounds; round += 1)
    for (const way of ways) taken[way].push(await readDay(way, cdn, entries));
  const [body, bot] = [middle(taken.body), middle(taken.bot)];
  const size = entries.toLocaleString('en');
  progress(`${size} entries: bot ${shown(bot)}, one body ${shown(body)}`);
  found({
    what: `${size} origin errors counted`,
    bot: shown(bot),
    beside: `fetch + JSON.parse of the same answer ${shown(body)}`,
    ratio: times(bot.ms / body.ms),
    goal: goal.times ? `≤ ${goal.times} ×, ≤ +${megabytes(goal.growth)}` : '',
    met: goal.times ? bot.ms <= goal.times * body.ms && bot.grown <= goal.growth : undefined,
  });
  await cdn.stop();
}

interface Reading {
  readonly ms: number;
  readonly grown: number;
}

async function readDay(way: string, cdn: Cdn, expected: number): Promise<Reading> {
  const read = await runToEnd(['bench/origin-error-reader.ts', way], {
    CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl,
    CDN_KEY: cdn.key,
    ZONE: '1001',
  });
  if (read['entries'] !== expected)
    throw new Error(`${way} read ${String(read['entries'])} entries of ${expected}`);
  return { ms: Number(read['ms']), grown: Number(read['grown']) };
}

function middle(readings: readonly Reading[]): Reading {
  return { ms: median(readings.map((one) => one.ms)), grown: median(readings.map((one) => one.grown)) };
}

function shown(reading: Reading): string {
  return `${ms(reading.ms)}, peak +${megabytes(reading.grown)}`;
}
