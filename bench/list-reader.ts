import { createCdn } from '../src/api/cdn.ts';
import { createOriginErrorCounter, createSeenIds } from '../src/api/origin-errors/counts.ts';
import { shiftDay, startOfDay, toUtcDay } from '../src/lib/time.ts';
import { Secret } from '../src/secrets/secret.ts';

// Reads one list in a heap of its own and prints how many elements it had, how long it took and how far the memory grew.
//   node bench/list-reader.ts zones|errors bot|floor
const [what = '', way = ''] = process.argv.slice(2);
const { CDN_API_URL: apiUrl = '', CDN_ORIGIN_LOGGING_URL: logUrl = '', CDN_KEY: key = '' } = process.env;
const cdn = createCdn({ apiUrl, originLoggingUrl: logUrl }).withKey(new Secret(key));
const headers = { AccessKey: key, Accept: 'application/json' };
const zone = '1001';
const day = shiftDay(toUtcDay(new Date()), -1);
const [year, month, date] = day.split('-');

const reads: Readonly<Record<string, () => Promise<number>>> = {
  'zones bot': async () => (await cdn.pullZones.all()).zones.length,
  'zones floor': async () => {
    const response = await fetch(`${apiUrl}/pullzone`, { headers });
    return (JSON.parse(await response.text()) as unknown[]).length;
  },
  // As `/cdn errors` counts a day: kinds, addresses, hours, samples, each entry once.
  'errors bot': async () => {
    const counter = createOriginErrorCounter({ start: startOfDay(day), hours: 24 });
    const ids = createSeenIds();
    await cdn.originErrors.forEach(zone, day, (entry) => {
      if (ids.isNew(entry.id)) counter.add(entry);
    });
    return counter.result().total;
  },
  'errors floor': async () => {
    const response = await fetch(`${logUrl}/${zone}/${month}-${date}-${year}`, { headers });
    return (JSON.parse(await response.text()) as { logs: unknown[] }).logs.length;
  },
};
const read = reads[`${what} ${way}`];
if (!read) throw new Error('usage: zones|errors bot|floor');
// The connection and the code are warm in a bot that runs: an unknown zone's log is empty.
await cdn.originErrors.forEach('1', day, () => undefined);

const before = process.memoryUsage.rss();
const began = performance.now();
const count = await read();
const ms = performance.now() - began;
const grown = process.resourceUsage().maxRSS * 1024 - before;
process.stdout.write(`${JSON.stringify({ count, ms, grown })}\n`);
process.exit(0);
