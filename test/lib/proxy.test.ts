import { describe, expect, test } from 'vitest';
import { findProxy, readProxySettings } from '../../src/lib/proxy.ts';

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
    exceptions: 'corp.example .local db:8443,::1 *.Wild.example web:443,old:80',
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
    ['https://a.wild.example', undefined],
    ['https://web', undefined],
    ['http://old', undefined],
    ['https://old', 'safe:2'],
  ])('%s', (address, proxy) => {
    expect(findProxy(address, settings)).toBe(proxy);
  });

  test('* stands for all hosts, and each scheme has its own proxy', () => {
    expect(findProxy('https://slack.com', { ...settings, exceptions: '*' })).toBeUndefined();
    expect(findProxy('http://slack.com', { ...settings, http: undefined })).toBeUndefined();
    expect(findProxy('http://slack.com', undefined)).toBeUndefined();
  });
});
