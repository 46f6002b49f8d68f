import { found, progress } from './measure/findings.ts';
import { worstAcknowledgement } from './measure/meanwhile.ts';
import { median, megabytes, ms, times } from './measure/numbers.ts';
import { type Cdn, runToEnd, startCdn } from './measure/processes.ts';

// The whole list of an account: `pullZones.all` against download + JSON.parse, of everything in one body and of the
// same pages in sequence, each reading in a process of its own; and how long another person's command waits for its
// acknowledgement meanwhile.
const sizes = [
  { zones: 1_000, rounds: 5, times: undefined, growth: undefined, worst: undefined },
  { zones: 10_000, rounds: 7, times: 1.2, growth: 64e6, worst: 50 },
  { zones: 50_000, rounds: 3, times: 1.0, growth: 128e6, worst: 100 },
] as const;

for (const { zones, rounds, ...goal } of sizes) {
  const cdn = await startCdn(zones, 'few');
  const size = zones.toLocaleString('en');

  const ways = ['body', 'pages', 'bot'] as const;
  const taken: Record<(typeof ways)[number], Reading[]> = { body: [], pages: [], bot: [] };
  // The first reading of each warms the CDN: it keeps the bytes of a zone once it has made them.
  for (let round = 0; round <= rounds; round += 1) {
    for (const way of ways) {
      const reading = await readList(way, cdn, zones);
      if (round > 0) taken[way].push(reading);
    }
  }
  const [body, pages, bot] = [middle(taken.body), middle(taken.pages), middle(taken.bot)];
  progress(`${size} zones: bot ${shown(bot)}, one body ${shown(body)}, pages ${shown(pages)}`);
  found({
    what: `all ${size} zones`,
    bot: shown(bot),
    beside: `fetch + JSON.parse of one body ${shown(body)}, of the same pages in sequence ${shown(pages)}`,
    ratio: `${times(bot.ms / body.ms)} one body, ${times(bot.ms / pages.ms)} the pages`,
    goal: goal.times ? `≤ ${goal.times} × one body, ≤ +${megabytes(goal.growth)}` : '',
    met: goal.times ? bot.ms <= goal.times * body.ms && bot.grown <= goal.growth : undefined,
  });

  if (goal.worst) {
    const { busy, idle, commands } = await worstAcknowledgement(cdn, 'zones', 2);
    found({
      what: `worst acknowledgement of another command while ${size} zones are read`,
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

async function readList(way: string, cdn: Cdn, expected: number): Promise<Reading> {
  const read = await runToEnd(['bench/list-reader.ts', way], { CDN_API_URL: cdn.url, CDN_KEY: cdn.key });
  if (read['zones'] !== expected)
    throw new Error(`${way} read ${String(read['zones'])} zones of ${expected}`);
  return { ms: Number(read['ms']), grown: Number(read['grown']) };
}

function middle(readings: readonly Reading[]): Reading {
  return { ms: median(readings.map((one) => one.ms)), grown: median(readings.map((one) => one.grown)) };
}

function shown(reading: Reading): string {
  return `${ms(reading.ms)}, peak +${megabytes(reading.grown)}`;
}
