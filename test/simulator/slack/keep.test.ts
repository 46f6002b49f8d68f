import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi } from './stub-app.ts';

let keep: string;
let slack: SlackSimulator;

beforeEach(async () => {
  keep = await mkdtemp(join(tmpdir(), 'kept-'));
  slack = await startSlack({ keep });
});
afterEach(async () => {
  await slack.close();
  await rm(keep, { recursive: true });
});

const restart = async (): Promise<void> => {
  await slack.close();
  slack = await startSlack({ keep });
};

test('messages, threads and choices in them survive a restart, private ones do not', async () => {
  const menu = {
    type: 'static_select',
    action_id: 'kind',
    options: ['a', 'b'].map((value) => ({ text: { type: 'plain_text', text: value }, value })),
  };
  const blocks = [{ type: 'actions', block_id: 'b', elements: [menu] }];
  const { ts } = await callWebApi(slack, 'chat.postMessage', { channel: 'C0OPS0000', text: 'root', blocks });
  const where = { channel: 'C0OPS0000', user: 'U0ALICE00', text: 'for Alice' };
  slack.as('U0BOB0000', 'C0OPS0000').say('a reply', { thread: String(ts) });
  await callWebApi(slack, 'chat.postEphemeral', { ...where, thread_ts: ts });
  await slack.as('U0ALICE00', 'C0OPS0000').choose('kind', 'b');
  const seen = slack.as('U0ALICE00', 'C0OPS0000').messages();
  expect(seen).toHaveLength(3);
  const before = seen.filter(({ ephemeral }) => !ephemeral);

  await restart();
  expect(slack.as('U0ALICE00', 'C0OPS0000').messages()).toEqual(before);
  expect(slack.as('U0BOB0000', 'C0OPS0000').messages()).toHaveLength(2);
  // What comes later is newer, and a kept message can be changed.
  await callWebApi(slack, 'chat.update', { channel: 'C0OPS0000', ts, text: 'changed' });
  const said = slack.as('U0BOB0000', 'C0OPS0000').say('later');
  expect(Number(said.ts)).toBeGreaterThan(Number(before.at(-1)?.ts));
  expect(slack.as('U0ALICE00', 'C0OPS0000').messages()[0]?.text).toBe('changed');
});
