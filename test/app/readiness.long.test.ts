import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import { buildApp } from '../../src/app/build-app.ts';
import { readConfig } from '../../src/app/config.ts';
import type { ChatApp } from '../../src/app/wire.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { environment } from '../support/bot.ts';
import { copyEmbeddedDatabase } from '../support/database-templates.ts';
import { prepareEngines } from '../support/engines.ts';
import { startRelay } from '../support/relay.ts';

const { postgres } = await prepareEngines();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface World {
  readonly slack: SlackSimulator;
  readonly cdn: CdnSimulator;
}

async function startWorld(now?: () => number): Promise<World> {
  const [slack, cdn] = await Promise.all([startSlack(now ? { now } : {}), startCdn({ zones: 1 })]);
  closing.push(
    () => slack.close(),
    () => cdn.close(),
  );
  return { slack, cdn };
}

/** The real bot over Socket Mode, with these variables beside the usual ones. */
async function start(world: World, env: Record<string, string> = {}): Promise<ChatApp> {
  const dataDir = await mkdtemp(join(tmpdir(), 'chatops-'));
  if (!('DATABASE_URL' in env)) await copyEmbeddedDatabase(dataDir);
  const config = readConfig({ ...environment({ ...world, dataDir }), ...env });
  const app = await buildApp({ config, log: createLogger('silent') });
  closing.push(() => app.stop());
  await app.start();
  return app;
}

async function readiness(app: ChatApp): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${app.port()}/readyz`);
  return `${response.status} ${(await response.text()).trim()}`;
}

async function waitFor(app: ChatApp, said: string | RegExp): Promise<void> {
  await expect.poll(() => readiness(app), { timeout: 40_000, interval: 500 }).toMatch(said);
}

test('a socket that was cut without a close is noticed by its silence', async () => {
  const world = await startWorld();
  const relay = await startRelay(world.slack.url);
  closing.push(() => relay.close());
  const app = await start(world, { SLACK_API_URL: new URL('/api/', relay.url).href });
  await waitFor(app, '200 ready');
  relay.hold();
  await waitFor(app, '503 no connection to Slack has delivered anything for 15 s');
  const metrics = await (await fetch(`http://127.0.0.1:${app.port()}/metrics`)).text();
  expect(metrics).toContain('\nchatops_slack_connections 0\n');
  relay.resume();
  await waitFor(app, '200 ready');
});

test('a clock that differs from the one in Slack’s answers by minutes is told', async () => {
  let aheadMs = 0;
  const world = await startWorld(() => Date.now() + aheadMs);
  const app = await start(world);
  expect(await readiness(app)).toBe('200 ready');
  const person = world.slack.as('U0ALICE00', 'C0OPS0000');
  // Opens a form, by a call whose answer has a date.
  const hear = async (): Promise<void> => {
    await person.slash('connect');
    await person.waitForModal(/key/i);
    await person.closeModal();
  };
  aheadMs = 600_000;
  await hear();
  await waitFor(app, /^503 this machine’s clock is (?:599|600|601) s behind Slack’s: set it by NTP/);
  aheadMs = 0;
  await hear();
  await waitFor(app, '200 ready');
});

describe.skipIf(postgres.skip)('with PostgreSQL', () => {
  test('a slow database is told after two seconds, and is not asked again meanwhile', async () => {
    const world = await startWorld();
    const { databaseUrl } = await postgres.createLocation();
    const relay = await startRelay(databaseUrl?.reveal() ?? '');
    closing.push(() => relay.close());
    const app = await start(world, { DATABASE_URL: relay.url, ENCRYPTION_KEYS: generateKeys('k1') });
    expect(await readiness(app)).toBe('200 ready');
    relay.delay(3_000);
    await waitFor(app, '503 the database has not answered for 2 s');
    relay.delay(0);
    await waitFor(app, '200 ready');
    relay.close();
    await waitFor(app, /^503 No database answers at 127\.0\.0\.1:\d+/u);
  });
});
