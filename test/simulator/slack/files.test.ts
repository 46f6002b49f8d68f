import { request } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi } from './stub-app.ts';

let slack: SlackSimulator;

beforeEach(async () => {
  slack = await startSlack();
});
afterEach(() => slack.close());

async function announce(length: number, filename = 'events.csv'): Promise<{ id: string; uploadUrl: string }> {
  const answer = await callWebApi(slack, 'files.getUploadURLExternal', { filename, length: String(length) });
  return { id: String(answer['file_id']), uploadUrl: String(answer['upload_url']) };
}

const complete = (id: string, args: Record<string, unknown> = {}) =>
  callWebApi(slack, 'files.completeUploadExternal', {
    files: [{ id, title: 'Events' }],
    channel_id: 'C0OPS0000',
    ...args,
  });

test('a different number of bytes than announced is refused and cannot be completed', async () => {
  const { id, uploadUrl } = await announce(10);
  expect((await fetch(uploadUrl, { method: 'POST', body: 'too short' })).status).toBe(400);
  expect(await complete(id)).toMatchObject({ ok: false, error: 'file_not_found' });
  expect(slack.problems).toEqual(['files.upload: 9 bytes came, 10 were announced']);
});

test('an upload that breaks off is aborted: never visible, never completed', async () => {
  const { id, uploadUrl } = await announce(1000);
  await new Promise<void>((resolve) => {
    const outgoing = request(uploadUrl, { method: 'POST', headers: { 'content-length': 1000 } });
    outgoing.on('error', () => resolve());
    outgoing.write('half', () => outgoing.destroy(new Error('cut')));
  });
  await expect.poll(() => slack.calls.some(({ error }) => error === 'aborted')).toBe(true);
  expect(await complete(id)).toMatchObject({ error: 'file_not_found' });
  expect(await callWebApi(slack, 'files.info', { file: id })).toMatchObject({ error: 'file_not_found' });
});

test('an upload address works once and takes no token', async () => {
  const { uploadUrl } = await announce(3);
  const upload = () =>
    fetch(uploadUrl, { method: 'POST', body: 'abc', headers: { authorization: `Bearer ${slack.botToken}` } });
  expect((await upload()).status).toBe(200);
  expect((await upload()).status).toBe(404);
  expect(slack.problems).toEqual(['files.upload: a token was sent to the upload address, which takes none']);
});

test('a file goes only where the bot is; without a channel nobody sees it', async () => {
  const { id, uploadUrl } = await announce(3);
  await fetch(uploadUrl, { method: 'POST', body: 'abc' });
  expect(await complete(id, { channel_id: 'C0RANDOM0' })).toMatchObject({ error: 'not_in_channel' });
  expect(await complete(id, { channel_id: 'C0NOWHERE' })).toMatchObject({ error: 'channel_not_found' });
  expect(await complete(id, { channel_id: '' })).toMatchObject({ error: 'channel_not_found' });
  expect(await complete(id, { channel_id: 'U0BOB0000', thread_ts: '1.2' })).toMatchObject({ ok: true });
  expect(slack.as('U0BOB0000').messages()).toMatchObject([
    { channel: 'DU0BOB0000', threadTs: '1.2', files: [{ name: 'events.csv' }] },
  ]);
  expect(await callWebApi(slack, 'files.info', { file: id }, slack.workspaces.beta.botToken)).toMatchObject({
    error: 'file_not_found',
  });
});

test('blocks beside a comment are ignored by Slack and a problem here', async () => {
  const { id, uploadUrl } = await announce(3);
  await fetch(uploadUrl, { method: 'POST', body: 'abc' });
  await complete(id, { initial_comment: 'Hello', blocks: [{ type: 'divider' }] });
  expect(slack.as('U0BOB0000').messages()).toMatchObject([{ text: 'Hello', blocks: [] }]);
  expect(slack.problems).toEqual(['files.completeUploadExternal: blocks is ignored beside initial_comment']);
});
