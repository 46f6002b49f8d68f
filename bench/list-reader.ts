import { createCdn } from '../src/api/cdn.ts';
import { Secret } from '../src/secrets/secret.ts';

// Reads one whole list in a heap of its own and prints how long it took and how far the memory grew.
//   node bench/list-reader.ts bot | pages | body
const [way] = process.argv.slice(2);
const url = process.env['CDN_API_URL'] ?? '';
const key = process.env['CDN_KEY'] ?? '';

const cdn = createCdn({ apiUrl: url, originLoggingUrl: url }).withKey(new Secret(key));

interface Page {
  readonly Items: readonly unknown[];
  readonly HasMoreItems: boolean;
}

/** A floor: the same pages, one after the other, each downloaded and parsed whole. */
async function parsePages(search = ''): Promise<number> {
  let count = 0;
  for (let page = 1; ; page += 1) {
    const response = await fetch(`${url}/pullzone?page=${page}&perPage=1000${search}`, {
      headers: { AccessKey: key, Accept: 'application/json' },
    });
    const body = JSON.parse(await response.text()) as Page;
    count += body.Items.length;
    if (!body.HasMoreItems) return count;
  }
}

/** The other floor: everything in one body, as the service answers a request without a page. */
async function parseBody(): Promise<number> {
  const response = await fetch(`${url}/pullzone`, {
    headers: { AccessKey: key, Accept: 'application/json' },
  });
  return (JSON.parse(await response.text()) as unknown[]).length;
}

const ways: Readonly<Record<string, () => Promise<number>>> = {
  bot: async () => (await cdn.pullZones.all({ expected: total })).zones.length,
  pages: () => parsePages(),
  body: parseBody,
};
const read = ways[way ?? ''];
if (!read) throw new Error('Which way? bot, pages or body');

// One connection and the code itself are warm in a bot that runs; a list is not. The first answer has told how many there are.
const { total } = await cdn.pullZones.firstPage();
await parsePages('&search=checkout-partner-1');

const before = process.memoryUsage.rss();
const began = performance.now();
const zones = await read();
const ms = performance.now() - began;
const grown = process.resourceUsage().maxRSS * 1024 - before;
process.stdout.write(`${JSON.stringify({ zones, ms, grown })}\n`);
process.exit(0);
