import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { readCdnConfig } from '../../src/app/config.ts';
import { smokeCommand } from '../../src/cli/smoke.ts';
import { createTempDirectory } from '../support/temp-directory.ts';

let cdn: CdnSimulator;
let keyFile: string;

beforeEach(async () => {
  cdn = await startCdn({ zones: 12 });
  keyFile = join(await createTempDirectory(), 'key');
  await writeFile(keyFile, `${cdn.key}\n`, { mode: 0o600 });
});
afterEach(() => cdn.close());

async function smoke(...words: string[]) {
  const lines: string[] = [];
  const config = readCdnConfig({ CDN_API_URL: cdn.url, CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl });
  const print = (line: string) => void lines.push(line);
  const verdict = await smokeCommand(words, { cdn: config, fetch, now: () => new Date(), print });
  return {
    verdict,
    said: lines.join('\n').replaceAll(/\b[\d,]+ (ms|bytes|days|entries|latency values)/gu, '<n> $1'),
  };
}

test('the six reading operations are called, nothing else, and no value is printed', async () => {
  const { verdict, said } = await smoke('--key-file', keyFile, '--shield-zone', '501');
  expect(said).toMatchSnapshot('all six');
  expect(verdict).toBe('as specified');
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

test('an answer that differs from the specification and a refusal are told, with exit code 1', async () => {
  cdn.faults.add({ match: { path: /\/apikey/ }, status: 401 });
  cdn.faults.add({ match: { path: /\/summary/ }, overwrite: { monthlyCost: 'much' } });
  const { verdict, said } = await smoke('--key-file', keyFile);
  expect(verdict).toBe('differs');
  expect(said).toMatchSnapshot('without rights for keys or a shield zone');
});

test('a key file that others can read is refused before anything is sent', async () => {
  await chmod(keyFile, 0o644);
  await expect(smoke('--key-file', keyFile)).rejects.toThrow('can be read by others');
  await expect(smoke()).rejects.toThrow('Name the file');
  expect(cdn.requests).toEqual([]);
});
