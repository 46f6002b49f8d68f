import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findProxy, readProxySettings, useProxy } from '../../src/lib/proxy.ts';
import { openForm, saveSettings, submitForm, waitForEnd } from '../commands/exports/bot.ts';
import { says } from '../commands/exports/words.ts';
import { ask, type Bot, connect, startBot } from '../support/bot.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';

describe('the settings', () => {
  test.each([
    [{}, undefined],
    [{ NO_PROXY: 'a' }, undefined],
    [{ HTTPS_PROXY: ' ' }, undefined],
    [
      { HTTPS_PROXY: 'http://p:3128', NO_PROXY: 'a,b' },
      { http: undefined, https: 'http://p:3128', exceptions: 'a,b' },
    ],
    [
      { http_proxy: 'p:3128', HTTP_PROXY: 'http://other', no_proxy: 'a' },
      { http: 'http://p:3128', https: undefined, exceptions: 'a' },
    ],
  ])('%j', (env, expected) => {
    expect(readProxySettings(env)).toEqual(expected);
  });

  test('an address that cannot be read is refused by its name, without its password', () => {
    expect(() => readProxySettings({ HTTPS_PROXY: 'socks5://me:hunter2@p' })).toThrow(
      expect.objectContaining({ message: 'HTTPS_PROXY is not an address.' }),
    );
  });
});

describe('the way to an address', () => {
  const settings = {
    http: 'http://plain:1',
    https: 'http://me:secret@safe:2',
    exceptions: 'corp.example .local db:8443,::1',
  };
  test.each([
    ['https://slack.com/api/', 'safe:2'],
    ['wss://wss-primary.slack.com/link', 'safe:2'],
    ['http://slack.com', 'plain:1'],
    ['ws://slack.com', 'plain:1'],
    ['https://corp.example', undefined],
    ['https://a.corp.example', undefined],
    ['https://notcorp.example', 'safe:2'],
    ['https://host.local', undefined],
    ['https://db:8443', undefined],
    ['https://db', 'safe:2'],
  ])('%s', (address, proxy) => {
    expect(findProxy(address, settings)).toBe(proxy);
  });

  test('* stands for all hosts, and each scheme has its own proxy', () => {
    expect(findProxy('https://slack.com', { ...settings, exceptions: '*' })).toBeUndefined();
    expect(findProxy('http://slack.com', { ...settings, http: undefined })).toBeUndefined();
    expect(findProxy('http://slack.com', undefined)).toBeUndefined();
  });
});

describe('a bot that a proxy alone lets out', () => {
  // Nobody listens at this address: only the proxy leads from it to this machine's Slack, CDN and collector.
  const host = '127.7.7.7';
  let proxy: Proxy;
  let undo: () => void;
  let bot: Bot | undefined;
  let collector: Collector | undefined;
  beforeEach(async () => {
    proxy = await startProxy();
    undo = await useProxy({ http: proxy.url, https: proxy.url, exceptions: '' });
  });
  afterEach(async () => {
    await bot?.stop();
    await collector?.close();
    undo();
    proxy.close();
  });

  test('goes every way through it', async () => {
    collector = await startCollector();
    const { slack, cdn, env, app } = (bot = await startBot({
      host,
      zones: 5,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.replace('127.0.0.1', host) },
    }));
    const person = slack.as(alice, ops);
    await connect(bot, alice, ops);
    await ask(person, 'errors');
    await saveSettings(slack, { operators: [alice] });
    await openForm(person);
    await submitForm(person);
    await waitForEnd(slack, `D${alice}`, says.posted());
    // Sends what is left of the trace.
    await app.stop();

    const called = (method: string) => slack.calls.filter((call) => call.method === method).length;
    const requested = (path: RegExp) => cdn.requests.filter((request) => path.test(request.path)).length;
    const ways: readonly (readonly [way: string, address: string | undefined, used: number])[] = [
      ['the Web API', slack.url, called('chat.update') + called('chat.postMessage')],
      // Its own sockets, two of them.
      ['the WebSocket of Socket Mode', slack.url, called('apps.connections.open')],
      ['response_url', slack.url, called('response_url')],
      ['uploads', slack.url, called('files.upload')],
      ['the CDN', env['CDN_API_URL'], requested(/^\/pullzone$/u)],
      [
        'origin errors',
        env['CDN_ORIGIN_LOGGING_URL'],
        cdn.requests.filter((one) => one.host === 'origin-logging').length,
      ],
      ['exports', env['CDN_API_URL'], requested(/export/u)],
      ['traces', env['OTEL_EXPORTER_OTLP_ENDPOINT'], collector.spans.length],
    ];
    const hosts = new Set(proxy.asked);
    const missed = ways.filter(([, address = '', used]) => used === 0 || !hosts.has(new URL(address).host));
    expect(missed).toEqual([]);
  });

  // What doctor says of each host: `proxy-tls.long`.
  test('that refuses says so, and names the setting', async () => {
    proxy.refuse(407);
    await expect(startBot({ host })).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The proxy 127\.0\.0\.1:\d+ does not let the bot through to 127\.7\.7\.7/u,
      ),
      hint: expect.stringContaining('HTTPS_PROXY'),
    });
  });
});
