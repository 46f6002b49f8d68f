import { startCdn } from './measure/processes.ts';
import { compareReaders, formatReading, reportWorstAcknowledgement, runReader } from './measure/readers.ts';
import { formatMegabytes, formatRatio, logProgress, reportFinding } from './measure/report.ts';

// One day of origin errors, counted while it arrives, against download + JSON.parse of the same answer, each reading
// in a process of its own; and how long another person's command waits for its acknowledgement while the bot counts.
const sizes = [
  { entries: 1_000, rounds: 5, times: undefined, growth: undefined, worst: undefined },
  { entries: 50_000, rounds: 5, times: undefined, growth: undefined, worst: undefined },
  { entries: 500_000, rounds: 3, times: 0.8, growth: 48e6, worst: 50 },
] as const;

for (const { entries, rounds, ...goal } of sizes) {
  const cdn = await startCdn(12, 'few', ['--origin-errors', String(entries)]);
  const env = { CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl, CDN_KEY: cdn.key, ZONE: '1001' };
  const { body, bot, look, again } = await compareReaders(
    ['body', 'bot', 'look', 'again'],
    { rounds },
    (way) => runReader(['origin-error-reader', way], env, ['entries', entries]),
  );
  const size = entries.toLocaleString('en');
  logProgress(`${size} entries: bot ${formatReading(bot)}, one body ${formatReading(body)}`);
  for (const [what, reading] of [
    [`${size} origin errors counted`, bot],
    [`${size} origin errors, first look of a watch`, look],
    [`${size} origin errors, the next look`, again],
  ] as const)
    reportFinding({
      what,
      bot: formatReading(reading),
      beside: `fetch + JSON.parse of the same answer ${formatReading(body)}`,
      ratio: formatRatio(reading.ms / body.ms),
      goal: goal.times ? `≤ ${goal.times} ×, ≤ +${formatMegabytes(goal.growth)}` : '',
      met: goal.times ? reading.ms <= goal.times * body.ms && reading.grown <= goal.growth : undefined,
    });
  if (goal.worst)
    // The day and the day before, which it is compared with, are read at the same time.
    await reportWorstAcknowledgement(cdn, {
      words: 'errors 1001 yesterday',
      answers: 1,
      doing: `twice ${size} origin errors are counted`,
      goalMs: goal.worst,
    });
  await cdn.stop();
}
