import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../simulator/free-port.ts';
import { createTempDirectory } from '../support/temp-directory.ts';

const nginx = '/usr/sbin/nginx';

/** Runs the sample before a bot that notes what arrives; both end with the test. */
async function startProxy() {
  const directory = await createTempDirectory();
  const place = (name: string): string => join(directory, name);
  const arrived: string[] = [];
  const bot = createServer((incoming, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of incoming) parts.push(part as Buffer);
      arrived.push(`${incoming.method} ${incoming.url} ${Buffer.concat(parts).toString()}`);
      response.end('from the bot');
    })();
  });
  await new Promise<void>((resolve) => void bot.listen(0, '127.0.0.1', resolve));
  const closeBot = (): Promise<void> =>
    new Promise((resolve) => {
      bot.close(() => resolve());
      bot.closeAllConnections();
    });
  const words = `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=bot.example.com -keyout ${place('key')} -out ${place('cert')}`;
  execFileSync('openssl', words.split(' '), { stdio: 'pipe' });
  const port = await findFreePort();
  const sample = readFileSync(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8')
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${(bot.address() as AddressInfo).port}`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace(/\S+\.pem/u, place('cert'))
    .replace(/\S+\.key/u, place('key'))
    .replaceAll('/var/log/nginx/', `${directory}/`);
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${place(name)};`,
  );
  writeFileSync(
    place('nginx.conf'),
    `daemon off; master_process off; pid ${place('pid')};\nevents {}\nhttp {\n${temp.join('\n')}\n${sample}\n}\n`,
  );
  const proxy = spawn(nginx, ['-e', place('start.log'), '-p', directory, '-c', place('nginx.conf')]);
  onTestFinished(async () => {
    proxy.kill('SIGKILL');
    await closeBot();
  });
  const send = (method: string, path: string, body = ''): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const address = { host: '127.0.0.1', port, path, method, rejectUnauthorized: false, agent: false };
      const sent = request(address, (response) =>
        response.resume().on('end', () => resolve(response.statusCode)),
      );
      sent.on('error', reject).end(body);
    });
  await expect.poll(() => send('GET', '/').catch(() => undefined), { timeout: 5_000 }).toBe(404);
  const readLog = (): string =>
    ['bot.log', 'bot.error.log', 'start.log']
      .map((name) => (existsSync(place(name)) ? readFileSync(place(name), 'utf8') : ''))
      .join('\n');
  return { send, arrived, readLog, closeBot };
}

test.skipIf(!existsSync(nginx))(
  'nginx with the sample passes on what it should, and logs no secret',
  async () => {
    const { send, arrived, readLog, closeBot } = await startProxy();
    const body = `payload=${encodeURIComponent('{"text":"é €"}')}`;
    expect(await send('POST', '/slack/events', body)).toBe(200);
    expect(await send('POST', '/mcp', '{}')).toBe(200);
    expect(await send('GET', '/connect/SECRET')).toBe(200);
    expect(await send('GET', '/slack/oauth_redirect?code=SECRET')).toBe(200);
    expect(arrived).toEqual([
      `POST /slack/events ${body}`,
      'POST /mcp {}',
      'GET /connect/SECRET ',
      'GET /slack/oauth_redirect?code=SECRET ',
    ]);
    for (const path of ['/metrics', '/healthz', '/readyz', '/']) expect(await send('GET', path)).toBe(404);
    expect(await send('POST', '/slack/events', 'x'.repeat(5_000_000))).toBe(413);
    // An upstream that is gone would be logged with the address.
    await closeBot();
    expect(await send('GET', '/connect/SECRET')).toBe(502);
    expect(arrived).toHaveLength(4);
    await expect.poll(readLog).toContain('POST /slack/events');
    expect(readLog()).not.toContain('SECRET');
  },
);
