import { createCdn } from '../src/api/cdn.ts';
import { createOriginErrorCounter } from '../src/api/origin-errors/counts.ts';
import { createSeenIds } from '../src/api/origin-errors/seen-ids.ts';
import { countNew } from '../src/commands/reports/accounts/error-counts.ts';
import { dayMs, hourMs, shiftDay, startOfDay, toUtcDay } from '../src/lib/time.ts';
import { Secret } from '../src/secrets/secret.ts';

// Reads one day's origin errors in a heap of its own and prints how long it took and how far the memory grew.
//   node bench/origin-error-reader.ts bot | look | again | body
const [way] = process.argv.slice(2);
const url = process.env['CDN_ORIGIN_LOGGING_URL'] ?? '';
const key = process.env['CDN_KEY'] ?? '';
const zone = process.env['ZONE'] ?? '';
const { originErrors } = createCdn({ apiUrl: url, originLoggingUrl: url }).withKey(new Secret(key));
const day = shiftDay(toUtcDay(new Date()), -1);

/** As `/cdn errors` counts a day: kinds, addresses, hours, samples, each entry once. */
async function count(): Promise<number> {
  const counter = createOriginErrorCounter({ start: startOfDay(day), hours: 24 });
  const ids = createSeenIds();
  await originErrors.forEach(zone, day, (entry) => {
    if (ids.isNew(entry.id)) counter.add(entry);
  });
  return counter.result().total;
}

/** As a watch looks at a zone: the day is counted from its beginning, and once more after what `known` has counted. */
const begin = startOfDay(day);
const end = begin + dayMs - 1;
type Known = Exclude<Parameters<typeof countNew>[2], undefined>;
const beginning: Known = {
  version: 1,
  since: begin,
  partialDays: [],
  position: { boundary: begin - 1, newest: begin - 1, recent: [] },
  tally: { codes: [] },
  lookedAt: new Date(begin + hourMs),
};
let known = beginning;
async function look(): Promise<number> {
  const { counts, result } = await countNew(originErrors, zone, known, new Date(end));
  // Stored as JSON.
  if (counts) known = { ...(JSON.parse(JSON.stringify(counts)) as typeof counts), lookedAt: new Date(end) };
  return result.sum(begin).total;
}

/** The floor: the answer downloaded and parsed whole. The documents inside the entries stay texts. */
async function parse(): Promise<number> {
  const [year, month, date] = day.split('-');
  const response = await fetch(`${url}/${zone}/${month}-${date}-${year}`, { headers: { AccessKey: key } });
  return (JSON.parse(await response.text()) as { logs: unknown[] }).logs.length;
}

const read = { bot: count, look, again: look, body: parse }[way ?? ''];
if (!read) throw new Error('Which way? bot, look, again or body');

// The connection and the code itself are warm in a bot that runs: an unknown zone's answer is empty.
await originErrors.forEach('1', day, () => undefined);
await (await fetch(`${url}/1/01-01-2026`, { headers: { AccessKey: key } })).text();
if (way === 'again') await look();

const before = process.memoryUsage.rss();
const began = performance.now();
const entries = await read();
const ms = performance.now() - began;
const grown = process.resourceUsage().maxRSS * 1024 - before;
process.stdout.write(`${JSON.stringify({ entries, ms, grown })}\n`);
process.exit(0);
