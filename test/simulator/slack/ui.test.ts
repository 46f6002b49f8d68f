import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi, postJson, type Received, type Reply, slackSays, startStubApp } from './stub-app.ts';

let slack: SlackSimulator;
let page: string;
let peer: { received: Received[]; close(): Promise<void> };
let reply: (received: Received) => Reply;

beforeEach(async () => {
  page = await mkdtemp(join(tmpdir(), 'page-'));
  await writeFile(join(page, 'index.html'), '<!doctype html><title>Playground</title>');
  await writeFile(join(page, 'page.js'), 'export {};');
  slack = await startSlack({ page, hints: (did) => (did.length === 0 ? ['Type /cdn connect'] : []) });
  reply = () => ({});
  peer = await startStubApp(slack, (received) => reply(received));
});
afterEach(async () => {
  await peer.close();
  await slack.close();
  await rm(page, { recursive: true });
});

const get = async (path: string): Promise<Record<string, unknown>> =>
  (await (await fetch(slack.url + path)).json()) as Record<string, unknown>;
const post = async (name: string, body: unknown): Promise<Record<string, unknown>> =>
  JSON.parse((await postJson(`${slack.url}/ui/${name}`, body)).text) as Record<string, unknown>;
test('the page is served with its types, and nothing beside its directory', async () => {
  const index = await fetch(`${slack.url}/`);
  expect([index.headers.get('content-type'), await index.text()]).toEqual([
    'text/html; charset=utf-8',
    '<!doctype html><title>Playground</title>',
  ]);
  expect((await fetch(`${slack.url}/page.js`)).headers.get('content-type')).toBe(
    'text/javascript; charset=utf-8',
  );
  expect((await fetch(`${slack.url}/..%2f..%2fetc%2fpasswd`)).status).toBe(404);
});

const readHints = async () => (await get('/ui/state?user=U0ALICE00&channel=C0OPS0000'))['hints'];

test('a hint is gone once it was followed', async () => {
  expect(await readHints()).toEqual(['Type /cdn connect']);
  await post('slash', { user: 'U0ALICE00', channel: 'C0OPS0000', text: '/cdn connect' });
  expect(await readHints()).toEqual([]);
});

test('a switch has charts and tables refused, and taken again', async () => {
  const series = [{ name: 'a', data: [{ label: 'x', value: 1 }] }];
  const chart = { type: 'bar', series, axis_config: { categories: ['x'] } };
  const send = (): ReturnType<typeof callWebApi> =>
    callWebApi(slack, 'chat.postMessage', {
      channel: 'C0OPS0000',
      text: 'a chart',
      blocks: [{ type: 'data_visualization', title: 'A chart', chart }],
    });
  const answers = [await send()];
  for (const on of [true, false]) {
    await post('words-only', { user: 'U0DAVE000', on });
    answers.push(await send());
  }
  expect(answers).toMatchObject([{ ok: true }, { ok: false, error: 'invalid_blocks' }, { ok: true }]);
  expect(slack.problems).toEqual([]);
});

test('a failed dispatch is shown to the person, and a wrong request gets an error in words', async () => {
  reply = () => ({ status: 500 });
  await post('slash', { user: 'U0DAVE000', channel: 'C0OPS0000', text: 'zones' });
  const state = await get('/ui/state?user=U0DAVE000&channel=C0OPS0000');
  expect(state['notices']).toEqual([slackSays.failed]);
  expect(await post('slash', { user: 'U0NOBODY0', channel: 'C0OPS0000', text: 'x' })).toEqual({
    error: 'Nobody in the simulated Slack has the id U0NOBODY0',
  });
});
