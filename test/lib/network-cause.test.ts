import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeNetworkCause, findNetworkCause } from '../../src/lib/network-cause.ts';

/** What fetch fails with. */
async function failureOf(url: string): Promise<unknown> {
  return fetch(url).then(
    () => 'it answered',
    (error: unknown) => error,
  );
}

test('a certificate that nobody here trusts is told as such', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'certificate-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(directory, name)) as [string, string];
  const subject = ['-subj', '/CN=localhost', '-days', '1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const cause = findNetworkCause(
    await failureOf(`https://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
  expect(cause).toEqual({ kind: 'certificate', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});

test('an address where nobody listens is told as such', async () => {
  // The port of a server that has gone.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  expect(findNetworkCause(await failureOf(`http://127.0.0.1:${port}`))).toEqual({
    kind: 'refused',
    code: 'ECONNREFUSED',
  });
});

test('a name that nobody knows is told as such', async () => {
  expect(findNetworkCause(await failureOf('https://nowhere.invalid'))).toMatchObject({ kind: 'name' });
});

const withCode = (code: string): Error => Object.assign(new Error('inside'), { code });

test.each([
  [new TypeError('fetch failed', { cause: withCode('UND_ERR_CONNECT_TIMEOUT') }), 'timeout'],
  [new TypeError('fetch failed', { cause: new AggregateError([withCode('ETIMEDOUT')]) }), 'timeout'],
  [new TypeError('fetch failed', { cause: withCode('CERT_HAS_EXPIRED') }), 'certificate'],
  [new TypeError('fetch failed', { cause: withCode('ERR_TLS_CERT_ALTNAME_INVALID') }), 'certificate'],
  [new TypeError('fetch failed', { cause: withCode('UNABLE_TO_GET_ISSUER_CERT_LOCALLY') }), 'certificate'],
  [new TypeError('fetch failed', { cause: withCode('EAI_AGAIN') }), 'name'],
  [new TypeError('fetch failed', { cause: withCode('UND_ERR_SOCKET') }), 'other'],
  [new TypeError('fetch failed'), undefined],
  ['no error', undefined],
])('%s is %s', (error, kind) => {
  expect(findNetworkCause(error)?.kind).toBe(kind);
});

test('each cause is a sentence and a setting of its own, and none is about the key', () => {
  const kinds = ['certificate', 'name', 'refused', 'timeout', 'other'] as const;
  const told = kinds.map((kind) => describeNetworkCause({ kind, code: 'CODE' }, 'api.example'));
  expect(told).toMatchSnapshot();
  expect(new Set(told.map(({ message }) => message)).size).toBe(kinds.length);
  expect(JSON.stringify(told)).not.toMatch(/\bkey\b|token/u);
});
