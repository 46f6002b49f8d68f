import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebClient } from '@slack/web-api';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startSlack } from '../../../simulator/slack/server.ts';
import { Secret, withSecrets } from '../../../src/secrets/secret.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { type Respond, withFiles } from '../../../src/slack/send/responder.ts';
import { createSharing } from '../../../src/slack/send/sharing.ts';
import { openSlack, type Slack } from '../../../src/slack/send/slack-port.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { type Attachment, type Message, section } from '../../../src/views/blocks/blocks.ts';
import { readStable } from '../../support/words.ts';
import { alice, ops } from '../words.ts';

const slack = await startSlack();
const folder = await mkdtemp(join(tmpdir(), 'uploads-'));
const client = new WebClient(slack.botToken, {
  slackApiUrl: `${slack.url}/api/`,
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
});
beforeEach(() => {
  slack.calls.length = 0;
});
afterAll(async () => {
  await slack.close();
  await rm(folder, { recursive: true, force: true });
});

function open(apiUrl = `${slack.url}/api/`): Slack {
  return openSlack(
    {
      access: { token: async () => new Secret(slack.botToken) },
      clients: { job: () => client },
      apiUrl,
      egress: createEgress({ log: createLogger('silent') }),
    },
    { teamId: 'T0ACME000' },
    new AbortController().signal,
  );
}

const picture: Attachment = {
  name: 'latency.png',
  title: 'Latency',
  mimetype: 'image/png',
  content: new TextEncoder().encode('a picture'),
};
const text = (content: Attachment['content']): Attachment => ({
  name: 'entries.csv',
  title: 'Entries',
  mimetype: 'text/csv',
  content,
});

test('a file goes into a thread, with its words above it and exactly its bytes', async () => {
  await client.chat.postMessage({ channel: ops, text: 'a thread begins' });
  const [parent] = slack.as(alice, ops).messages();
  await open().share([picture], { channel: ops, thread: parent?.ts, comment: 'Latency now: 40' });
  const shared = slack
    .as(alice, ops)
    .messages()
    .find(({ files }) => files.length > 0);
  expect(shared).toMatchObject({ text: 'Latency now: 40', threadTs: parent?.ts });
  expect(shared?.files[0]).toMatchObject({
    name: 'latency.png',
    title: 'Latency',
    size: 'a picture'.length,
  });
  expect(slack.problems).toEqual([]);
});

test('a temporary file is deleted after sending, also if sending fails', async () => {
  const path = join(folder, 'spooled.csv');
  await writeFile(path, 'a,b\n1,2\n');
  await open().share([text({ path })], { channel: ops });
  await expect(stat(path)).rejects.toThrow('ENOENT');

  await writeFile(path, 'a,b\n1,2\n');
  slack.script.fail('files.completeUploadExternal', 'file_uploads_disabled');
  await expect(open().share([text({ path })], { channel: ops })).rejects.toMatchObject({
    code: 'file_uploads_disabled',
  });
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test.each<[string, object]>([
  ['no address', { file_id: 'F1' }],
  ['no id', { upload_url: 'https://slack.example/1' }],
])('where Slack gives %s nothing is sent', async (_, answer) => {
  const post = async () => Response.json({ ok: true, ...answer });
  const stub = new WebClient('xoxb-1', { slackApiUrl: `${slack.url}/api/`, fetch: post });
  const own = openSlack(
    {
      access: { token: async () => new Secret('xoxb-1') },
      clients: { job: () => stub },
      apiUrl: `${slack.url}/api/`,
      egress: createEgress({ log: createLogger('silent') }),
    },
    { teamId: 'T0ACME000' },
    new AbortController().signal,
  );
  await expect(own.share([picture], { channel: ops })).rejects.toMatchObject({ code: 'upload_failed' });
  await expect(own.findDirectMessages(alice)).rejects.toMatchObject({ code: 'upload_failed' });
  expect(slack.calls).toEqual([]);
});

test('an empty file, which Slack refuses, is not sent, and no file at all shares nothing', async () => {
  await expect(open().share([text(new Uint8Array())], { channel: ops })).rejects.toMatchObject({
    code: 'upload_failed',
  });
  await open().share([], { channel: ops });
  expect(slack.calls).toEqual([]);
});

test('bytes go to Slack’s hosts only, whatever address an answer names', async () => {
  const elsewhere = open('https://slack.example/api/');
  await expect(elsewhere.share([text(new TextEncoder().encode('secret'))], { channel: ops })).rejects.toThrow(
    /not Slack’s/,
  );
  expect(slack.calls.map(({ method }) => method)).not.toContain('files.upload');
});

test.each(['missing_scope', 'not_in_channel', 'some_new_code'])(
  'a refusal is reported with its code: %s',
  async (code) => {
    slack.script.fail('files.getUploadURLExternal', code);
    await expect(open().share([picture], { channel: ops })).rejects.toMatchObject({ code });
  },
);

test.each([false, true])(
  'a shared file stands in the thread of its answer, and none is left (in a thread: %s)',
  async (isReply) => {
    const path = join(folder, 'shared.csv');
    const claims = [true, false, true];
    const sharing = createSharing({
      route: {},
      slack: open(),
      postToResponseUrl: async () => undefined,
      tenant: 'T0ACME000',
      userId: alice,
      teamId: undefined,
      recall: () => undefined,
      claimOnce: async () => claims.shift() ?? false,
      release: async () => undefined,
      log: createLogger('silent'),
    });
    const { ts: thread } = slack.as(alice, ops).say('a thread begins');
    const outcomes: unknown[] = [];
    for (const refusal of [undefined, undefined, 'is_archived']) {
      await writeFile(path, 'a,b\n');
      if (refusal !== undefined) slack.script.fail('chat.postMessage', refusal);
      const to = { channel: ops, threadTs: isReply ? thread : undefined, files: [text({ path })], once: 'k' };
      outcomes.push(await sharing.post({ text: 'Shared' }, to));
      await expect(stat(path)).rejects.toThrow('ENOENT');
    }
    expect(outcomes).toEqual(['posted', 'repeated', { refused: 'is_archived' }]);
    const messages = slack.as(alice, ops).messages();
    const answer = messages.findLast((message) => message.text === 'Shared');
    expect(answer?.threadTs).toBe(isReply ? thread : undefined);
    expect(messages.findLast(({ files }) => files.length > 0)?.threadTs).toBe(isReply ? thread : answer?.ts);
  },
);

test('an aborted upload is reported, and nothing is shared', async () => {
  slack.script.drop('files.upload');
  await expect(open().share([picture], { channel: ops })).rejects.toThrowErrorMatchingSnapshot();
  expect(slack.calls.map(({ method }) => method)).not.toContain('files.completeUploadExternal');
});

function answers(): { sent: Message[]; respond: Respond; lines: string[] } {
  const sent: Message[] = [];
  const lines: string[] = [];
  const log = createLogger('warn', { write: (line: string) => void lines.push(line) });
  const inner: Respond = async (message) => sent.push(message) > 0;
  return { sent, lines, respond: withFiles(inner, { slack: open(), userId: alice, log }) };
}

test('a private answer comes at once and announces its file, which comes as a direct message', async () => {
  const { sent, respond } = answers();
  await respond({ text: 'Latency now: 40', blocks: [section('Latency now: 40')], files: [picture] });
  expect(sent.map((message) => readStable(message))).toMatchSnapshot();
  const message = slack.as(alice, `D${alice}`).messages().at(-1);
  expect(message).toMatchObject({ text: 'Latency now: 40', ephemeral: false });
  expect(message?.files).toHaveLength(1);
});

test('a failing upload never loses the answer', async () => {
  const { sent, respond, lines } = answers();
  slack.script.fail('conversations.open', 'missing_scope');
  await respond({ text: 'Latency now: 40', blocks: [section('Latency now: 40')], files: [picture] });
  expect(sent.map((message) => JSON.stringify(message).includes('Latency now: 40'))).toEqual([true, true]);
  const reference = /Reference (\w{8})/.exec(JSON.stringify(sent.at(-1)))?.[1] ?? 'none';
  expect(lines.join('')).toContain(reference);
});

test.each(['a temporary file', 'memory'])(
  'a file in %s that holds a live secret is not sent, not even in part',
  async (where) => {
    const path = join(folder, 'leak.csv');
    const bytes = new TextEncoder().encode(`a,b\n${'x,y\n'.repeat(50_000)}the-secret-Value-0123456789,z\n`);
    await writeFile(path, bytes);
    await withSecrets(async () => {
      const secret = new Secret('the-secret-Value-0123456789', 'test-secret');
      const file = {
        name: 'leak.csv',
        title: 'Leak',
        mimetype: 'text/csv',
        content: where === 'memory' ? bytes : { path },
      };
      const before = slack.calls.length;
      await expect(open().share([file], { channel: `D${alice}` })).rejects.toMatchObject({
        code: 'held_back',
      });
      expect(slack.calls).toHaveLength(before);
      expect(String(secret)).toBe('[secret]');
    });
  },
);

test('an answer without a file is passed on, and one that is not sent yet keeps its file', async () => {
  const path = join(folder, 'kept.csv');
  await writeFile(path, 'a,b\n');
  const sent: Message[] = [];
  const inner: Respond = async (message, as) => as !== 'interim' && sent.push(message) > 0;
  const respond = withFiles(inner, { slack: open(), userId: alice, log: createLogger('silent') });
  const plain = { text: 'Entries', blocks: [section('Entries')] };
  expect(await respond({ ...plain, files: [text({ path })] }, 'interim')).toBe(false);
  expect((await stat(path)).size).toBe(4);
  expect(slack.calls).toEqual([]);
  expect(await respond(plain)).toBe(true);
  expect(sent).toEqual([plain]);
});

test.each(['the answer', 'the conversation'])('a temporary file is deleted if %s fails', async (what) => {
  const path = join(folder, 'left.csv');
  await writeFile(path, 'a,b\n');
  const inner: Respond = async () => {
    if (what === 'the answer') throw new Error('Slack is away');
    return true;
  };
  const respond = withFiles(inner, { slack: open(), userId: alice, log: createLogger('silent') });
  slack.script.fail('conversations.open', 'some_error', what === 'the answer' ? 0 : 1);
  const sent = respond({ text: 'Entries', files: [text({ path })] });
  await sent.catch(() => undefined);
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test.each([
  [413, { code: 'upload_too_large' }],
  [403, { code: 'upload_refused' }],
  [503, { code: 'upload_failed' }],
  [429, { code: 'ratelimited', retryAfterSeconds: 450 }],
])('an address that answers HTTP %i says whether the same may be taken later', async (status, told) => {
  if (status === 429) slack.script.rateLimit('files.upload', 450);
  else slack.script.fail('files.upload', 'refused', 1, status);
  await expect(open().share([picture], { channel: ops })).rejects.toMatchObject(told);
});

test.each(['files.getUploadURLExternal', 'files.upload'])(
  'a file is kept where Slack asks for a pause at %s, and shown once',
  async (method) => {
    const path = join(folder, 'paused.csv');
    await writeFile(path, 'a,b\n1,2\n');
    const [url, bytes, share] = [
      'files.getUploadURLExternal',
      'files.upload',
      'files.completeUploadExternal',
    ];
    const pausing = method === bytes ? [bytes, share] : [url];
    for (const method of pausing) slack.script.rateLimit(method, 0);
    await open().share([text({ path })], { channel: ops });
    const calls = slack.calls.filter(({ method }) => method.startsWith('files.'));
    expect(calls.map(({ method, ok }) => `${method} ${ok}`)).toEqual(
      method === bytes
        ? [`${url} true`, `${bytes} false`, `${url} true`, `${bytes} true`, `${share} false`, `${share} true`]
        : [`${url} false`, `${url} true`, `${bytes} true`, `${share} true`],
    );
  },
);
