import { median } from './measure/numbers.ts';
import { readBotCommand, runToEnd, startCdn } from './measure/processes.ts';
import { formatMegabytes, formatMs, formatRatio, reportFinding } from './measure/report.ts';

// A whole list of an account, and a day of origin errors, against GET + JSON.parse of the same body. Each reading is a
// process (list-reader.ts), so that its heap is its own.
const rounds = 7;
const times = 1.6;
const lists = [
  { what: 'zones', count: 10_000, growth: 64e6, cdn: ['10000'] },
  { what: 'zones', count: 50_000, growth: 128e6, cdn: ['50000'] },
  { what: 'errors', count: 500_000, growth: 64e6, cdn: ['12', '--origin-errors', '500000'] },
] as const;

interface Reading {
  readonly ms: number;
  /** Peak growth of resident memory, bytes. */
  readonly grown: number;
}

const flags = (await readBotCommand()).filter((word) => word.startsWith('--'));
for (const { what, count, growth, cdn: options } of lists) {
  const [zones, ...more] = options;
  const cdn = await startCdn(Number(zones), 'few', more);
  const env = { CDN_API_URL: cdn.url, CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl, CDN_KEY: cdn.key };
  const readings: Record<'bot' | 'floor', Reading[]> = { bot: [], floor: [] };
  // The CDN keeps what it has made once, so the first round does not count.
  for (let round = 0; round <= rounds; round += 1)
    for (const way of ['floor', 'bot'] as const) {
      const nodeFlags = way === 'bot' ? flags : [];
      const read = await runToEnd([...nodeFlags, 'bench/list-reader.ts', what, way], env);
      if (read['count'] !== count) throw new Error(`${way} read ${String(read['count'])} of ${count}`);
      if (round > 0) readings[way].push({ ms: Number(read['ms']), grown: Number(read['grown']) });
    }
  const [bot, floor] = [summarize(readings.bot), summarize(readings.floor)];
  reportFinding({
    what: what === 'zones' ? `all ${count.toLocaleString('en')} zones` : '500,000 origin errors counted',
    bot: `${formatMs(bot.ms)}, peak +${formatMegabytes(bot.grown)}`,
    beside: `GET + JSON.parse ${formatMs(floor.ms)}, peak +${formatMegabytes(floor.grown)}`,
    ratio: formatRatio(bot.ms / floor.ms),
    goal: `≤ ${times} ×, ≤ +${formatMegabytes(growth)}`,
    met: bot.ms <= times * floor.ms && bot.grown <= growth,
  });
  await cdn.stop();
}

function summarize(readings: readonly Reading[]): Reading {
  return {
    ms: median(readings.map(({ ms }) => ms)),
    grown: median(readings.map(({ grown }) => grown)),
  };
}
