import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { startStubApp } from './stub-app.ts';

const ops = 'C0OPS0000';
let slack: SlackSimulator;
let peer: Awaited<ReturnType<typeof startStubApp>>;

beforeEach(async () => {
  const words = { name: 'Name', description: 'What it does' };
  slack = await startSlack({
    shortcuts: [
      { callbackId: 'a:global', kind: 'global', ...words },
      { callbackId: 'a:message', kind: 'message', ...words },
    ],
  });
  peer = await startStubApp(slack);
});
afterEach(async () => {
  await peer.close();
  await slack.close();
});

test('a shortcut that the manifest does not declare, or of another kind, cannot be chosen', async () => {
  const alice = slack.as('U0ALICE00', ops);
  const { ts } = alice.say('hello');
  await expect(alice.shortcut('a:other')).rejects.toThrow('declares no global shortcut a:other');
  await expect(alice.shortcut('a:message')).rejects.toThrow('no global shortcut a:message');
  await expect(alice.shortcut('a:global', { ts })).rejects.toThrow('no message shortcut a:global');
  expect(peer.received).toEqual([]);
});
