import { found, progress } from './measure/findings.ts';
import { worstAcknowledgement } from './measure/meanwhile.ts';
import { median, megabytes, ms, times } from './measure/numbers.ts';
import { type Cdn, runToEnd, startCdn } from './measure/processes.ts';

// One day of origin errors, counted while it arrives, against download + JSON.parse of the same answer, each reading
// in a process of its own; and how long another person's command waits for its acknowledgement while the bot counts.
const sizes = [
  { entries: 1_000, rounds: 5, times: undefined, growth: undefined, worst: undefined },
  { entries: 50_000, rounds: 5, times: undefined, growth: undefined, worst: undefined },
  { entries: 500_000, rounds: 3, times: 1.0, growth: 48e6, worst: 50 },
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
  if (goal.worst) {
    // The day, and as many of the day before at the same time, with which it is compared.
    const { busy, idle, commands } = await worstAcknowledgement(cdn, 'errors 1001 yesterday', 1);
    found({
      what: `worst acknowledgement of another command while twice ${size} origin errors are counted`,
      bot: `${ms(busy)} (of ${commands})`,
      beside: `the same load with nothing else under way ${ms(idle)}`,
      ratio: '',
      goal: `≤ ${goal.worst} ms`,
      met: busy <= goal.worst,
    });
  }
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
