import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../support/bot.ts';
import { configure } from '../support/settings.ts';
import { hasBrowser, say, usePlayground } from './browser.ts';

const [alice, bob, ops] = ['U0ALICE00', 'U0BOB0000', 'C0OPS0000'];

const { page, playground, complaints } = await usePlayground({ assistant: true, zones: 60 });

const newest = () => page.locator('#log .message').last();

describe.skipIf(!hasBrowser)('the assistant in the playground', () => {
  beforeAll(async () => {
    const { slack, cdn, botUrl } = playground;
    await connect({ slack, cdn, env: { PUBLIC_URL: botUrl } }, alice, ops);
    const settings = { operators: [alice], approvers: [bob], assistant: 'proposing' };
    await configure(slack.as(alice, ops), settings);
    await page.getByRole('button', { name: 'slackbot' }).click();
  });

  test('a tool that reads is called at once, and its buttons call the next one', async () => {
    await say(page, 'list_zones only=attention limit=3');
    await newest().getByRole('button', { name: 'checkout' }).click();
    await newest().getByText('by get_zone of cdn').waitFor();
    expect(await newest().textContent()).toContain('checkout');
    expect(await page.locator('#topbar').innerText()).toMatch(/as Alice Adams$/u);
  });

  test('a tool that asks is put to the person first; denied, nothing is asked for', async () => {
    const asks = 'propose_volume_deletion app=app0worker00002 volume=old-cache reason=The node is gone';
    await say(page, asks);
    await newest().getByRole('button', { name: 'Deny' }).click();
    await newest().getByText('Denied').waitFor();
    expect(JSON.stringify(playground.slack.as(bob).messages())).not.toContain('old-cache');
    await say(page, asks);
    await newest().getByRole('button', { name: 'Allow once' }).click();
    await newest().getByText('by propose_volume_deletion of cdn').waitFor();
    await playground.slack.as(bob).waitForMessage(({ reads }) => reads.includes('old-cache'));
  });

  test('nothing broke a rule of Slack, or left this machine', () => {
    expect([playground.slack.problems, complaints]).toEqual([[], []]);
  });
});

test('npm run mcp speaks the protocol over standard input and output', async () => {
  const client = new Client({ name: 'editor', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: ['simulator/mcp.ts'], stderr: 'ignore' }),
  );
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(12);
  const result = await client.callTool({ name: 'get_zone', arguments: { zone: 'shop' } });
  expect(result.isError).toBeUndefined();
  await client.close();
});
