import { startCdn } from './measure/processes.ts';
import { compareReaders, formatReading, reportWorstAcknowledgement, runReader } from './measure/readers.ts';
import { formatMegabytes, formatRatio, logProgress, reportFinding } from './measure/report.ts';

// The whole list of an account: `pullZones.all` against download + JSON.parse, of everything in one body and of the
// same pages in sequence, each reading in a process of its own; and how long another person's command waits for its
// acknowledgement meanwhile.
const sizes = [
  { zones: 1_000, rounds: 5, times: undefined, growth: undefined, worst: undefined },
  { zones: 10_000, rounds: 15, times: 1.2, growth: 64e6, worst: 50 },
  { zones: 50_000, rounds: 15, times: 1.0, growth: 128e6, worst: 100 },
] as const;

for (const { zones, rounds, ...goal } of sizes) {
  const cdn = await startCdn(zones, 'few');
  const env = { CDN_API_URL: cdn.url, CDN_KEY: cdn.key };
  // The CDN keeps the bytes of a zone once it has made them, so the first round does not count.
  const { body, pages, bot } = await compareReaders(['body', 'pages', 'bot'], { rounds, warmUps: 1 }, (way) =>
    runReader(['list-reader', way], env, ['zones', zones]),
  );
  const size = zones.toLocaleString('en');
  logProgress(
    `${size} zones: bot ${formatReading(bot)}, one body ${formatReading(body)}, pages ${formatReading(pages)}`,
  );
  reportFinding({
    what: `all ${size} zones`,
    bot: formatReading(bot),
    beside: `fetch + JSON.parse of one body ${formatReading(body)}, of the same pages in sequence ${formatReading(pages)}`,
    ratio: `${formatRatio(bot.ms / body.ms)} one body, ${formatRatio(bot.ms / pages.ms)} the pages`,
    goal: goal.times ? `≤ ${goal.times} × one body, ≤ +${formatMegabytes(goal.growth)}` : '',
    met: goal.times ? bot.ms <= goal.times * body.ms && bot.grown <= goal.growth : undefined,
  });
  if (goal.worst)
    await reportWorstAcknowledgement(cdn, {
      words: 'zones',
      answers: 2,
      doing: `${size} zones are read`,
      goalMs: goal.worst,
    });
  await cdn.stop();
}
