import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { smokeCommand } from '../../src/cli/smoke.ts';
import { createTempDirectory } from '../support/temp-directory.ts';
import { createTerminal } from '../support/terminal.ts';

let cdn: CdnSimulator;
let keyFile: string;

beforeEach(async () => {
  cdn = await startCdn({ zones: 12 });
  keyFile = join(await createTempDirectory(), 'key');
  await writeFile(keyFile, `${cdn.key}\n`, { mode: 0o600 });
});
afterEach(() => cdn.close());

async function smoke(...words: string[]) {
  const env = { CDN_API_URL: cdn.url, CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl };
  const { terminal, lines } = createTerminal(env);
  const verdict = await smokeCommand(words, terminal);
  return {
    verdict,
    said: lines.join('\n').replaceAll(/\b[\d,]+ (ms|bytes|days|entries|latency values)/gu, '<n> $1'),
  };
}

test('the six reading operations are called, nothing else, and no value is printed', async () => {
  const { verdict, said } = await smoke('--key-file', keyFile, '--shield-zone', '501');
  expect(said).toMatchSnapshot('all six');
  expect(verdict).toBe(true);
  expect(said).not.toContain(cdn.key);
  expect(
    cdn.requests.map(({ method, path }) => `${method} ${path.replaceAll(/\d+|app0\w+/gu, '<id>')}`),
  ).toEqual([
    'GET /pullzone',
    'GET /apikey',
    'GET /<id>/<id>-<id>-<id>',
    'GET /mc/apps/<id>/summary',
    'GET /shield/metrics/shield-zone/<id>/upload-scanning',
    'POST /shield/event-logs/<id>/export',
  ]);
});

const paths = [
  /^\/pullzone/,
  /^\/apikey/,
  /^\/\d+\/\d\d-/,
  /\/summary$/,
  /\/upload-scanning$/,
  /\/event-logs\/\d+\/export$/,
];

test('what the simulator changes in each operation is printed by member, and never a value', async () => {
  const overwritten: Record<string, unknown>[] = [
    { MonthlyBandwidthUsed: 'sekrit', Hostnames: 7 },
    { Roles: 'sekrit' },
    { labels: 'sekrit' },
    { monthlyCost: 'sekrit' },
    { totalFilesScanned: 'sekrit' },
  ];
  for (const [index, overwrite] of overwritten.entries())
    cdn.faults.add({ match: { path: paths[index] as RegExp }, unknownMembers: true, overwrite });
  cdn.faults.add({ match: { path: paths[5] as RegExp }, body: 'html' });
  const { verdict, said } = await smoke('--key-file', keyFile, '--shield-zone', '501');
  expect(said).toMatchSnapshot('drift everywhere');
  expect(said).not.toContain('sekrit');
  expect(verdict).toBe(false);
});

test('members that are new are a note; one of the specification that is missing is a difference', async () => {
  const [first] = cdn.data.zones as unknown as Record<string, unknown>[];
  if (first) first['BrandNewMember'] = 1;
  const news = await smoke('--key-file', keyFile);
  expect(news.verdict).toBe(true);
  expect(news.said).toMatchSnapshot('news');
  delete first?.['EnableTLS1'];
  // Published later: a service of the specification does not have it.
  delete first?.['TlsSecurityLevel'];
  const lost = await smoke('--key-file', keyFile);
  expect(lost.verdict).toBe(false);
  expect(lost.said).toMatchSnapshot('lost');
});

test('an operation that the key may not call is told, and the others are called', async () => {
  cdn.faults.add({ match: { path: /\/apikey/ }, status: 401 });
  const { verdict, said } = await smoke('--key-file', keyFile);
  expect(verdict).toBe(false);
  expect(said).toMatchSnapshot('without rights for keys or a shield zone');
});

test('a key file that others can read is refused before anything is sent', async () => {
  await chmod(keyFile, 0o644);
  await expect(smoke('--key-file', keyFile)).rejects.toThrow('can be read by others');
  await expect(smoke()).rejects.toThrow('Name the file');
  expect(cdn.requests).toEqual([]);
});
