import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import { environment } from '../support/bot.ts';
import { copyEmbeddedDatabase } from '../support/database-templates.ts';
import { startBotProcess } from '../support/process.ts';

let slack: SlackSimulator;
let cdn: CdnSimulator;
let dataDir: string;

beforeAll(async () => {
  [slack, cdn, dataDir] = await Promise.all([
    startSlack(),
    startCdn({ zones: 1 }),
    mkdtemp(join(tmpdir(), 'chatops-')),
  ]);
  await copyEmbeddedDatabase(dataDir);
});
afterAll(async () => {
  await Promise.all([slack.close(), cdn.close()]);
  await rm(dataDir, { recursive: true, force: true });
});

/** The packages of OpenTelemetry that a bot loads until it has answered. */
async function findLoaded(env: Record<string, string>): Promise<string[]> {
  const hooks = new URL('../support/print-loaded.mjs', import.meta.url).href;
  const bot = startBotProcess({
    ...environment({ slack, cdn, dataDir }),
    NODE_OPTIONS: `--import=${hooks}`,
    ...env,
  });
  await bot.waitForOutput('"ready"');
  const person = slack.as('U0ALICE00', 'C0OPS0000');
  await person.slash('help');
  await bot.waitForOutput('"delivery done"');
  await bot.kill('SIGTERM');
  const packages = bot.output().matchAll(/^loaded \S*node_modules\/(@opentelemetry\/[\w-]+)/gmu);
  return [...new Set([...packages].map(([, name = '']) => name))].toSorted((a, b) => a.localeCompare(b));
}

test('the packages of tracing are loaded only where a collector is configured', async () => {
  // The interface, which the queue and the metrics bring, is built in.
  expect(await findLoaded({})).toEqual([]);
  const exported: string[] = [];
  const collector = createServer((request, response) => {
    exported.push(`${request.method} ${request.url}`);
    response.end();
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const loaded = await findLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
  expect(loaded).toEqual(expect.arrayContaining(['@opentelemetry/sdk-trace']));
  // The packages have an interface of their own, and meet the built one all the same.
  expect(exported).toContain('POST /v1/traces');
  collector.close();
});
