import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SecretLeakBlocked } from '../../../src/errors.ts';
import { registerSecret, Secret, withSecrets } from '../../../src/secrets/secret.ts';
import {
  createClients,
  createLibraryLog,
  createResponseUrls,
  isSlackAddress,
  toSlackFailure,
} from '../../../src/slack/send/clients.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import type { SendNativeBlocks } from '../../../src/slack/send/native-blocks.ts';
import { createResponder, type Respond } from '../../../src/slack/send/responder.ts';
import { createWeb } from '../../../src/slack/web/server.ts';
import { createLogger } from '../../../src/telemetry/log.ts';

const secret = 'a1B2-very-much-a-secret-77';

const lines: string[] = [];
const log = createLogger('debug', { write: (line) => lines.push(line) });
const egress = createEgress({ log });
afterEach(() => {
  // Whatever a test was about, the log never says it.
  if (lines.join('').includes(secret)) throw new Error('the secret is in the log');
  lines.length = 0;
});

/** What a message with the secret in it would do, in the middle of some work that has met the secret. */
const leaking = <T>(run: () => T): T =>
  withSecrets(() => {
    registerSecret('zone-key', secret);
    return run();
  });

function urlOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : input.toString();
}

/** The one line that the log has about it. */
function findStopped(sink: string): { reference: string } {
  const all = lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line['sink']);
  expect(all).toHaveLength(1);
  expect(all[0]).toMatchObject({ level: 'error', sink, kinds: ['zone-key'] });
  return { reference: String(all[0]?.['reference']) };
}

const sendNativeBlocks: SendNativeBlocks = (_way, content, send) => send(content);

describe('to Slack', () => {
  const sent: { url: string; body: unknown }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    sent.push({ url: urlOf(input), body: init?.body });
    return Response.json({ ok: true });
  };
  const clients = createClients({
    apiUrl: 'https://slack.test/api/',
    logger: createLibraryLog(log),
    egress,
    sendNativeBlocks,
    fetch,
  });
  afterEach(() => {
    sent.length = 0;
  });

  test.each(['interactive', 'job'] as const)(
    'a call of the %s client that holds a secret is not made',
    async (kind) => {
      const client = clients[kind](new Secret('xoxb-test'), 'T1');
      const blocks = [{ type: 'section' as const, text: { type: 'mrkdwn' as const, text: `*${secret}*` } }];
      await expect(
        leaking(() => client.chat.postMessage({ channel: 'C1', text: 'x', blocks })),
      ).rejects.toThrow(SecretLeakBlocked);
      expect(sent).toEqual([]);
      findStopped('slack');
    },
  );

  test.each([
    ['a button’s value', { value: secret }],
    ['a member’s name', { [secret]: 1 }],
    ['a file’s bytes', { file: Buffer.from(`key=${secret}`) }],
    ['private_metadata', { view: { private_metadata: JSON.stringify({ a: secret }) } }],
  ])('it is found in %s', async (_, args) => {
    const client = clients.interactive(new Secret('xoxb-test'), 'T1');
    await expect(leaking(() => client.apiCall('views.open', args))).rejects.toThrow(SecretLeakBlocked);
    expect(sent).toEqual([]);
    findStopped('slack');
  });

  test('a call without one goes out, its token in the header', async () => {
    await leaking(() =>
      clients.interactive(new Secret('xoxb-test'), 'T1').chat.postMessage({ channel: 'C1', text: 'fine' }),
    );
    expect(sent).toHaveLength(1);
  });

  const postToResponseUrl = createResponseUrls({
    egress,
    apiUrl: 'http://127.0.0.1:1/api/',
    sendNativeBlocks,
  });

  test('a response_url that holds a secret is not used', async () => {
    const url = `http://127.0.0.1:1/a?b=${encodeURIComponent(secret)}`;
    await expect(leaking(() => postToResponseUrl('T1', url, { text: 'fine' }))).rejects.toThrow(
      SecretLeakBlocked,
    );
    findStopped('response_url');
  });

  test.each([
    'http://hooks.slack.com/1',
    'https://127.0.0.1/1',
    'http://127.0.0.1.evil.example/1',
    'file:///etc',
  ])('a response_url that is not Slack’s is not used: %s', async (url) => {
    await expect(postToResponseUrl('T1', url, { text: 'fine' })).rejects.toThrow('not an address of Slack');
  });

  test.each([
    ['https://hooks.slack.com/1', true],
    ['https://hooks.slack.com:8443/1', false],
    ['https://user@hooks.slack.com/1', false],
    ['https://:password@hooks.slack.com/1', false],
    ['https://hooks.slack.com.:443/1', false],
    ['https://hooks.slack.com@evil.example/1', false],
    ['http://hooks.slack.com/1', false],
  ])('%s is Slack’s address: %j', (url, isSlack) => {
    expect(isSlackAddress(new URL(url), 'https://slack.com/api/')).toBe(isSlack);
  });

  let reply = 'ok';
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    sent.push({ url: String(request.url), body: await readText(request) });
    response.end(reply);
  };
  const hooks = createServer((request, response) => void receive(request, response));
  let respond: Respond;
  beforeAll(async () => {
    await once(hooks.listen(0, '127.0.0.1'), 'listening');
    respond = createResponder({
      route: {
        responseUrl: `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/1`,
        channelId: 'C1',
        userId: 'U1',
      },
      client: async () => clients.interactive(new Secret('xoxb-test'), 'T1'),
      postToResponseUrl,
      signal: new AbortController().signal,
      tenant: 'T1',
      log,
    });
  });
  test.each(['<html>Try later</html>', '{"ok": false,"error":"expired_url"}'])(
    'an answer by response_url that Slack did not take is sent in another way: %s',
    async (said) => {
      reply = said;
      const url = `http://127.0.0.1:${(hooks.address() as AddressInfo).port}/1`;
      await expect(postToResponseUrl('T1', url, { text: 'fine' })).rejects.toThrow('HTTP 200');
      reply = 'ok';
    },
  );

  afterAll(() => {
    hooks.close();
    hooks.closeAllConnections();
  });

  test('an answer by response_url that holds a secret is not sent, and not by another way either', async () => {
    await expect(leaking(() => respond({ text: secret }))).rejects.toThrow(SecretLeakBlocked);
    expect(sent).toEqual([]);
    findStopped('response_url');
  });

  test('a doubtful value is masked in messages, answers by response_url and acknowledgements', async () => {
    await withSecrets(async () => {
      registerSecret('variable-value', 'tenant-42/blue');
      const text = 'The tenant-42/blue rule';
      await clients.interactive(new Secret('xoxb-test'), 'T1').chat.postMessage({ channel: 'C1', text });
      await respond({ text });
      expect(egress.acknowledgement({ text })).toEqual({ text: 'The [secret] rule' });
    });
    expect(sent).toHaveLength(2);
    for (const { body } of sent) expect(decodeURIComponent(String(body))).toMatch(/The.\[secret\].rule/);
  });

  test('a message that is there to bring this kind of secret goes out; another kind in it does not', async () => {
    await leaking(() => respond({ text: secret, carries: ['zone-key'] }));
    expect(sent).toHaveLength(1);
    await expect(
      leaking(() => {
        registerSecret('cdn-key', 'another-secret-0815');
        return respond({ text: `${secret} another-secret-0815`, carries: ['zone-key'] });
      }),
    ).rejects.toThrow(SecretLeakBlocked);
    expect(sent).toHaveLength(1);
  });
});

describe('acknowledgements', () => {
  const menu = { options: [{ text: { type: 'plain_text' }, value: 'note' }] };
  const modal = { response_action: 'update', view: { type: 'modal', blocks: [{ type: 'section' }] } };
  test.each([
    ['options', { options: [{ text: { type: 'plain_text', text: secret }, value: '1' }] }, menu],
    ['an updated view', { response_action: 'update', view: { type: 'modal', title: secret } }, modal],
    ['field errors', { response_action: 'errors', errors: { accessKey: `not ${secret}` } }, modal],
    ['a message', { text: secret }, { response_type: 'ephemeral' }],
  ])('%s with a secret are replaced by a sentence of the same form', (_, reply, form) => {
    const instead = leaking(() => egress.acknowledgement(reply));
    const { reference } = findStopped('acknowledgement');
    expect(instead).toMatchObject(form);
    expect(JSON.stringify(instead)).not.toContain(secret);
    expect(JSON.stringify(instead)).toContain(reference);
  });

  test('plain text is replaced by plain text', () => {
    expect(leaking(() => egress.acknowledgement(`no ${secret}`))).toMatch(/held back.*Reference \w{8}$/);
  });

  test('others stay as they are', () => {
    const reply = { options: [] };
    expect(leaking(() => egress.acknowledgement(reply))).toBe(reply);
    expect(leaking(() => egress.acknowledgement(undefined))).toBeUndefined();
  });
});

function noteSecret(text: string): string {
  registerSecret('zone-key', secret);
  return text;
}

describe('answers of our own endpoints', () => {
  let says = { metrics: '', unready: '' };
  const options = {
    port: 0,
    isPublic: false,
    egress,
    log,
    metrics: {
      contentType: 'text/plain',
      render: async () => noteSecret(says.metrics),
    },
    unready: async () => [noteSecret(says.unready)],
  };
  const web = createWeb(options);
  let base = '';
  beforeAll(async () => {
    base = `http://127.0.0.1:${await web.listen()}`;
  });
  afterAll(() => web.close(Promise.resolve()));

  test.each(['metrics', 'readyz'])('/%s with a secret becomes a sentence', async (path) => {
    says = { metrics: `x{a="${secret}"} 1`, unready: `cannot reach ${secret}` };
    const response = await fetch(`${base}/${path}`);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).not.toContain(secret);
    expect(text).toContain(findStopped('http').reference);
  });

  test('others arrive as they are', async () => {
    says = { metrics: 'chatops_in_flight 0', unready: 'the database does not answer' };
    expect(await (await fetch(`${base}/metrics`)).text()).toBe('chatops_in_flight 0');
    const ready = await fetch(`${base}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, 'the database does not answer\n']);
    expect((await fetch(`${base}/nothing`)).status).toBe(404);
  });

  test('on a port that strangers reach, reasons hold no address of this network', async () => {
    const open = createWeb({ ...options, isPublic: true });
    const address = `http://127.0.0.1:${await open.listen()}/readyz`;
    says = { metrics: '', unready: 'The database at db.corp:5432/bot takes no writes: it is a standby.' };
    const told = await (await fetch(address)).text();
    says = { metrics: '', unready: 'silent for 15 s: The proxy 10.0.0.7:3128 refused the connection.' };
    expect([told, await (await fetch(address)).text()]).toEqual([
      'The database takes no writes: it is a standby.\n',
      'silent for 15 s: The proxy refused the connection.\n',
    ]);
    await open.close(Promise.resolve());
  });
});

describe('requests to others', () => {
  const passage = { origins: ['https://cdn.test'], header: 'accesskey' };
  const asked: string[] = [];
  const guarded = egress.fetch(
    'cdn',
    async (input) => {
      asked.push(urlOf(input));
      return new Response();
    },
    passage,
  );
  const headers = { AccessKey: secret };
  afterEach(() => {
    asked.length = 0;
  });

  test('the key passes in its header, to its own hosts', async () => {
    await leaking(() => guarded('https://cdn.test/pullzone?page=1', { headers }));
    expect(asked).toHaveLength(1);
  });

  test.each([
    ['to another host', 'https://elsewhere.test/pullzone', { headers }],
    ['in another header', 'https://cdn.test/pullzone', { headers: { Referer: secret } }],
    ['in the query', `https://cdn.test/pullzone?search=${secret}`, {}],
    ['in the body', 'https://cdn.test/pullzone', { method: 'POST', body: JSON.stringify({ a: secret }) }],
  ])('it does not %s', async (_, url, init) => {
    await expect(leaking(() => guarded(url, init))).rejects.toThrow(SecretLeakBlocked);
    expect(asked).toEqual([]);
    findStopped('cdn');
  });
});

test('a secret across two pieces of a file is blocked', () => {
  leaking(() => {
    const check = egress.file();
    check(Buffer.from(`time,status\n1,200,${secret.slice(0, 9)}`));
    expect(() => check(Buffer.from(`${secret.slice(9)}\n2,200`))).toThrow(SecretLeakBlocked);
  });
  findStopped('file');
});

test('what is tried twice may have been sent, although the second connection is refused', async () => {
  const server = createServer(({ socket }) => {
    server.close();
    socket.resetAndDestroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clients = createClients({
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`,
    logger: createLibraryLog(log),
    egress,
    sendNativeBlocks: (_way, content, send) => send(content),
  });
  const post = (kind: 'interactive' | 'job') =>
    clients[kind](new Secret('xoxb-test'), 'T1')
      .chat.postMessage({ channel: 'C1', text: 'fine' })
      .catch(toSlackFailure);
  await expect(post('interactive')).resolves.toMatchObject({ code: 'no_answer' });
  await expect(post('job')).resolves.toMatchObject({ code: 'not_sent' });
});
