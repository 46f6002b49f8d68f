import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSlack } from '../../../simulator/slack/server.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createClients, createLibraryLog } from '../../../src/slack/send/clients.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { type Bot, startBot } from '../../support/bot.ts';
import { commandForm, interactionForm, sign } from '../signed.ts';
import { alice, ops } from '../words.ts';

describe('signed HTTP', () => {
  let bot: Bot;
  beforeAll(async () => {
    bot = await startBot({ transport: 'http' });
  });
  afterAll(() => bot.stop());

  const post = (
    body: string,
    options: { at?: number; type?: string; secret?: string } = {},
  ): Promise<Response> => {
    return fetch(`http://127.0.0.1:${bot.app.port()}/slack/events`, {
      method: 'POST',
      headers: sign(body, options.secret ?? bot.slack.signingSecret, options),
      body,
    });
  };
  const form = commandForm('1.2.');

  const json = { type: 'application/json' };
  test.each<[string, string, Parameters<typeof post>[1], number]>([
    [
      'a form whose content type names a charset',
      `${form}a`,
      { type: 'application/x-www-form-urlencoded; charset=utf-8' },
      200,
    ],
    ['an old timestamp', `${form}b`, { at: Date.now() - 6 * 60_000 }, 401],
    ['a timestamp from the future', `${form}b`, { at: Date.now() + 24 * 3600_000 }, 401],
    ['a foreign signature', `${form}b`, { secret: 'not the secret' }, 401],
    ['a foreign signature with ssl_check', 'ssl_check=1', { secret: 'not the secret' }, 401],
    ['an empty body', '', json, 400],
    ['no JSON', 'not json', json, 400],
    ['half of some JSON', '[1', json, 400],
    ['a text', '"text"', json, 400],
    ['nothing', 'null', json, 400],
    ['an unknown kind', '{"type":"new_kind"}', json, 200],
    ['a press of nothing', '{"type":"block_actions","actions":[]}', json, 200],
    ['a command of nobody', '{"command":"/cdn"}', json, 200],
    ['parts of another kind', '{"type":"block_actions","user":{"id":"U1"},"view":"none"}', json, 500],
  ])('signed, %s', async (_what, body, options, status) => {
    expect((await post(body, options)).status).toBe(status);
    const isLogged = bot.logs.join('').includes('cannot acknowledge a delivery');
    expect(isLogged).toBe(status === 500);
  });

  const broken = { id: 'V1', callback_id: 'zones:submit', state: { values: { zone: null } } };
  const sender = { user: { id: alice }, team: { id: 'T0ACME000' } };
  test.each<[string, string]>([
    ['presses that are a text', interactionForm({ ...sender, type: 'block_actions', actions: 'x' })],
    ['a field that is nothing', interactionForm({ ...sender, type: 'view_submission', view: broken })],
    ['a command without its workspace', `command=%2Fcdn&text=help&user_id=${alice}&trigger_id=1.9`],
    [
      'a Home tab without its workspace',
      `{"event":{"type":"app_home_opened","tab":"home","user":"${alice}"}}`,
    ],
    ['a step without its run', '{"event":{"type":"function_executed"},"team_id":"T0ACME000"}'],
    [
      'a step without its workspace',
      '{"event":{"type":"function_executed","function":{"callback_id":"x"},"function_execution_id":"Fx1"}}',
    ],
    ['word of dropped events', '{"type":"app_rate_limited"}'],
  ])('signed, %s, three times: one line of the log', async (_what, body) => {
    const logged = bot.logs.length;
    for (const _ of [1, 2, 3]) expect((await post(body, body.startsWith('{') ? json : {})).status).toBe(200);
    await readOutcomes(() => post(`${form}after.${logged}`));
    const lines = bot.logs.slice(logged).filter((line) => /"level":"(?:warn|error)"/u.test(line));
    expect(lines.length).toBeLessThanOrEqual(1);
  });

  test('what people write into a message is no interaction under another content type', async () => {
    const menu = interactionForm({ type: 'block_suggestion', action_id: 'zone', value: 'a' });
    const written = { type: 'event_callback', event: { type: 'message', text: `a&${menu}&` } };
    const response = await post(JSON.stringify(written), { type: 'text/plain' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('a signature of another length is refused like any other', async () => {
    const headers = { ...sign(form, bot.slack.signingSecret), 'x-slack-signature': 'v0=0' };
    const address = `http://127.0.0.1:${bot.app.port()}/slack/events`;
    expect((await fetch(address, { method: 'POST', headers, body: form })).status).toBe(401);
  });

  test.each(['hexadecimal', 'exponential'])('a %s timestamp is refused', async (how) => {
    const seconds = Math.floor(Date.now() / 1000);
    const timestamp = how === 'hexadecimal' ? `0x${seconds.toString(16)}` : `${seconds}e0`;
    const signature = createHmac('sha256', bot.slack.signingSecret)
      .update(`v0:${timestamp}:${form}`)
      .digest('hex');
    const headers = { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${signature}` };
    const address = `http://127.0.0.1:${bot.app.port()}/slack/events`;
    expect((await fetch(address, { method: 'POST', headers, body: form })).status).toBe(401);
  });

  test.each([
    ['without a signature', {}],
    ['with a timestamp alone', { 'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000)) }],
    ['with an old timestamp', { 'x-slack-signature': 'v0=0', 'x-slack-request-timestamp': '1700000000' }],
  ])('a request %s is refused before its body arrives', async (_how, headers) => {
    const announced = { 'content-length': String(1024 * 1024), ...headers };
    const address = { host: '127.0.0.1', port: bot.app.port(), path: '/slack/events', method: 'POST' };
    const waiting = request({ ...address, headers: announced });
    waiting.flushHeaders();
    const [response] = (await once(waiting, 'response')) as [IncomingMessage];
    waiting.destroy();
    expect([response.statusCode, response.headers.connection]).toEqual([401, 'close']);
  });

  test.each<[string, string, number, string?]>([
    ['ssl_check', 'ssl_check=1', 200],
    ['ssl_check with a token', 'token=abc&ssl_check=1', 200],
    ['a command with ssl_check', `${form}c&ssl_check=1`, 401],
    ['a click with ssl_check', `payload=${encodeURIComponent('{"type":"block_actions"}')}&ssl_check=1`, 401],
    ['another value of ssl_check', 'ssl_check=0', 401],
    [
      'an event with ssl_check',
      '{"ssl_check":1,"type":"url_verification","challenge":"c2"}',
      401,
      'application/json',
    ],
    ['a form under another name', 'ssl_check=1', 401, 'application/json'],
    ['a long body with ssl_check', `ssl_check=1&token=${'x'.repeat(2000)}`, 401],
  ])('unsigned, %s', async (_what, body, status, type = 'application/x-www-form-urlencoded') => {
    const headers = { 'content-type': type };
    const address = `http://127.0.0.1:${bot.app.port()}/slack/events`;
    const response = await fetch(address, { method: 'POST', headers, body });
    expect([response.status, await response.text()]).toEqual([status, '']);
  });

  test('a body over four megabytes is refused', async () => {
    const response = await post(`text=${'x'.repeat(5 * 1024 * 1024)}`).catch(() => ({ status: 413 }));
    expect(response.status).toBe(413);
  });

  /** How the deliveries end that begin with these requests. */
  const readOutcomes = async (...requests: readonly (() => Promise<Response>)[]): Promise<string[]> => {
    const logged = bot.logs.length;
    const find = (): string[] =>
      bot.logs
        .slice(logged)
        .flatMap((line) =>
          line.includes('"delivery done"') ? (/"outcome":"(\w+)"/.exec(line)?.[1] ?? []) : [],
        );
    await Promise.all(requests.map((send) => send()));
    await expect.poll(find).toHaveLength(requests.length);
    return find().toSorted((one, other) => one.localeCompare(other));
  };

  const submit = (hash: string, triggerId: string): Promise<Response> => {
    const chosen = { text: { type: 'plain_text', text: 'shop' }, value: '1001' };
    const view = {
      id: 'V0TWICE00',
      hash,
      type: 'modal',
      callback_id: 'zones:submit',
      title: { type: 'plain_text', text: 'Show a zone' },
      private_metadata: JSON.stringify({ channel: ops }),
      state: { values: { zone: { 'zones:pick': { type: 'external_select', selected_option: chosen } } } },
    };
    const [user, team] = [{ id: alice }, { id: 'T0ACME000', domain: 'acme' }];
    const body = { type: 'view_submission', user, team, trigger_id: triggerId, view };
    return post(`payload=${encodeURIComponent(JSON.stringify(body))}`);
  };

  const sendEvent = (event: {
    readonly type: string;
    readonly [member: string]: unknown;
  }): Promise<Response> => {
    const about = {
      type: 'event_callback',
      team_id: 'T0ACME000',
      event_id: `Ev0${event.type}`,
    };
    const authorizations = [{ team_id: 'T0ACME000', user_id: bot.slack.workspaces.acme.botUserId }];
    return post(JSON.stringify({ ...about, event: { user: alice, ...event }, authorizations }), {
      type: 'application/json',
    });
  };
  const pressed = { action_id: 'help:run:0', value: 'help', type: 'button', action_ts: '1' };
  const press = { type: 'block_actions', container: {}, channel: { id: ops }, actions: [pressed] };
  const home = { type: 'app_home_opened', tab: 'home', channel: `D${alice}` };
  const message = { type: 'message', channel: `D${alice}`, channel_type: 'im', text: 'help', ts: '1.1' };

  test.each<[string, (nth: number) => Promise<Response>]>([
    ['command', () => post(`${form}repeated`)],
    ['press', () => post(interactionForm({ ...press, trigger_id: '2.1.a' }))],
    [
      'shortcut',
      () => post(interactionForm({ type: 'shortcut', callback_id: 'home:menu', trigger_id: '2.1.b' })),
    ],
    ['message', () => sendEvent(message)],
    ['look at the Home tab', () => sendEvent(home)],
    ['form', (nth) => submit('1.first', `1.1.${nth}`)],
  ])('a %s that Slack sends three times is worked on once', async (_, send) => {
    const outcomes = await readOutcomes(...[1, 2, 3].map((nth) => () => send(nth)));
    expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(2);
  });

  test('another command, and the next view of a form, are no copies', async () => {
    // Nobody has a key here.
    const outcomes = await readOutcomes(
      () => post(`${form}later`),
      () => submit('2.next', '1.1.d'),
    );
    expect(outcomes).toEqual(['answered', 'refused']);
  });

  const old = { action_id: 'gone:run', callback_id: 'gone:submit', trigger_id: '3.1.a' };
  test.each<[string, object]>([
    ['press', { ...press, actions: [{ ...pressed, ...old }] }],
    ['shortcut', { type: 'shortcut' }],
  ])('a %s from an older version of the bot is refused', async (_, body) => {
    expect(await readOutcomes(() => post(interactionForm({ ...body, ...old })))).toEqual(['refused']);
  });

  test.each<[string, object, string]>([
    [
      'form',
      { type: 'view_submission', view: { ...old, id: 'V1', hash: 'h' } },
      '"response_action":"update"',
    ],
    ['menu', { type: 'block_suggestion', value: 'a' }, '"value":"note"'],
  ])('a %s from an older version of the bot is answered at once', async (_, body, told) => {
    const response = await post(interactionForm({ ...old, ...body }));
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining(told)]);
  });

  const runStep = (event: object) => {
    const about = {
      event: { type: 'function_executed', ...event },
      team_id: 'T0ACME000',
      event_id: 'Ev0STEP',
    };
    return post(JSON.stringify({ type: 'event_callback', ...about }), { type: 'application/json' });
  };

  test('a step of a workflow without its token ends all the same, with an error where it lacks more', async () => {
    await runStep({ function_execution_id: 'Fx0BARE' });
    await expect
      .poll(() => bot.slack.calls.filter(({ method }) => method === 'functions.completeError'))
      .toMatchObject([{ args: { function_execution_id: 'Fx0BARE' } }]);
  });

  test('a step of a workflow for which Slack names nobody ends with an error', async () => {
    await runStep({
      function: { callback_id: 'zones_needing_attention' },
      function_execution_id: 'Fx0NOBODY',
    });
    await expect
      .poll(() => bot.slack.calls.map(({ args }) => args['function_execution_id']))
      .toContain('Fx0NOBODY');
  });

  test('Slack’s word that it drops events is acknowledged, and in the log', async () => {
    expect((await post('{"type":"app_rate_limited"}', json)).status).toBe(200);
    expect(bot.logs.join('')).toContain('app_rate_limited');
  });

  test.each<[string, () => Promise<Response>]>([
    [
      'a press of a link, which Slack delivers too',
      () => {
        const link = { ...pressed, action_id: 'connect:link' };
        return post(interactionForm({ ...press, actions: [link], trigger_id: '2.1.c' }));
      },
    ],
    [
      'a message in a channel that mentions nobody',
      () => sendEvent({ ...message, channel: ops, channel_type: 'channel' }),
    ],
    ['another tab', () => sendEvent({ ...home, tab: 'messages' })],
  ])('%s is not worked on', async (_, send) => {
    const begun = bot.logs.length;
    expect((await send()).status).toBe(200);
    // What came later is done.
    await readOutcomes(() => post(`${form}after.${begun}`));
    expect(bot.logs.slice(begun).filter((line) => line.includes('"delivery done"'))).toHaveLength(1);
  });

  test('a step of a workflow that cannot even be ended is in the log, with what it lacks', async () => {
    expect((await runStep({ function: { callback_id: 'zones_needing_attention' } })).status).toBe(200);
    expect(bot.logs.join('')).toContain('"missing":["event.function_execution_id"]');
  });

  test('Slack’s check of the address is answered', async () => {
    const response = await post(JSON.stringify({ type: 'url_verification', challenge: 'c1' }), {
      type: 'application/json',
    });
    expect(await response.json()).toEqual({ challenge: 'c1' });
  });

  test('health and readiness answer; metrics are not on the port that Slack reaches', async () => {
    for (const [path, status] of Object.entries({ healthz: 200, readyz: 200, metrics: 404 })) {
      const response = await fetch(`http://127.0.0.1:${bot.app.port()}/${path}`);
      expect([path, response.status]).toEqual([path, status]);
    }
  });
});

describe('Socket Mode', () => {
  let bot: Bot;
  beforeAll(async () => {
    bot = await startBot({ transport: 'socket' });
    await bot.slack.socket.waitFor(2);
  });
  afterAll(() => bot.stop());

  test('commands typed while Slack refreshes every connection are all taken', async () => {
    const person = bot.slack.as(alice, ops);
    const typing = [];
    for (let round = 0; round < 4; round += 1) {
      const refreshed = bot.slack.socket.refresh();
      for (let nth = 0; nth < 10; nth += 1) typing.push(person.slash('help'));
      await refreshed;
    }
    const taken = await Promise.all(typing);
    expect(taken.filter(({ timedOut, status }) => timedOut || status !== 200)).toEqual([]);
  });

  test('after all connections are cut they come back', async () => {
    bot.slack.socket.kill();
    await bot.slack.socket.waitFor(2);
    const typed = await bot.slack.as(alice, ops).slash('help');
    expect(typed.status).toBe(200);
  });
});

test('a rate-limited job delays no person: they have separate clients', async () => {
  const slack = await startSlack();
  const clients = createClients({
    apiUrl: `${slack.url}/api/`,
    logger: createLibraryLog(createLogger('silent')),
    egress: createEgress({ log: createLogger('silent') }),
    sendNativeBlocks: (_way, content, send) => send(content),
  });
  const token = new Secret(slack.botToken);
  const acme = slack.workspaces.acme.id;
  slack.script.rateLimit('chat.postMessage', 30);
  await expect(clients.job(token, acme).chat.postMessage({ channel: ops, text: 'digest' })).rejects.toThrow(
    /rate/i,
  );
  await clients.interactive(token, acme).auth.test();
  expect(clients.job(token, acme)).not.toBe(clients.interactive(token, acme));
  await slack.close();
});
