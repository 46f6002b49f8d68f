import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startCdn } from '../../../simulator/cdn/server.ts';
import { readManifest } from '../../../simulator/slack/manifest.ts';
import { startSlack } from '../../../simulator/slack/server.ts';
import { createPublicUrl, environment } from '../../support/bot.ts';
import { copyEmbeddedDatabase } from '../../support/database-templates.ts';
import { startBotProcess } from '../../support/process.ts';

/** Runs in the bot's process: prints when a module of the protocol is evaluated. */
const watch = `import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (/class McpServer|McpServer = class/u.test(String(loaded.source))) process.stdout.write('PROTOCOL LOADED\\n');
    return loaded;
  },
});`;

test('the package of the protocol is loaded by the first request, and not before', async () => {
  const [slack, cdn, dataDir, address] = await Promise.all([
    startSlack(readManifest({ assistant: true })),
    startCdn({ zones: 5 }),
    mkdtemp(join(tmpdir(), 'chatops-')),
    createPublicUrl(),
  ]);
  await copyEmbeddedDatabase(dataDir);
  const bot = startBotProcess({
    ...environment({ slack, cdn, dataDir, transport: 'http' }),
    ...address,
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(watch)}`,
  });
  onTestFinished(async () => {
    await bot.kill('SIGTERM');
    await Promise.all([slack.close(), cdn.close(), rm(dataDir, { recursive: true, force: true })]);
  });
  await bot.waitForOutput('"ready"');
  slack.deliverTo(`${address.PUBLIC_URL}/slack/events`);
  const alice = slack.as('U0ALICE00', 'C0OPS0000');
  await alice.slash('help');
  await alice.waitForMessage(/help/iu);
  expect(bot.output()).not.toContain('PROTOCOL LOADED');
  // Refused before it is read.
  expect((await fetch(`${address.PUBLIC_URL}/mcp`, { method: 'POST', body: '{}' })).status).toBe(401);
  expect(bot.output()).not.toContain('PROTOCOL LOADED');
  const own = slack.assistant('U0ALICE00', { origin: address.PUBLIC_URL });
  expect(await own.tools()).toHaveLength(12);
  await own.close();
  expect(bot.output()).toContain('PROTOCOL LOADED');
});
