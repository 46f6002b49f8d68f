import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyEmbeddedDatabase } from '../support/database-templates.ts';

const script = join(import.meta.dirname, '../../simulator/playground.ts');
let directory: string;
let child: ChildProcess | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'playground-'));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

/** Starts it as `npm run playground` does, in the test's directory; resolves with what it printed until `until`. */
async function start(args: string[], until: RegExp): Promise<{ printed: string; ended: Promise<number> }> {
  const started = spawn(process.execPath, [script, ...args], { cwd: directory });
  child = started;
  const ended = once(started, 'exit').then(([code]) => Number(code));
  let printed = '';
  await new Promise<void>((resolve) => {
    const hear = (part: Buffer): void => {
      printed += part.toString();
      if (until.test(printed)) resolve();
    };
    started.stdout.on('data', hear);
    started.stderr.on('data', hear);
    started.on('exit', () => resolve());
  });
  return { printed, ended };
}

/** Spares a playground its first start. */
async function copyDatabase(): Promise<void> {
  const dataDir = join(directory, '.playground');
  await mkdir(dataDir);
  await copyEmbeddedDatabase(dataDir);
}

const post = async (url: string, deed: string, body: object): Promise<void> => {
  const answer = await fetch(`${url}/ui/${deed}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
};

test.each([['Socket Mode'], ['signed HTTP', '--http']])(
  'the playground runs over %s and ends cleanly',
  async (name, ...flags) => {
    if (flags.includes('--http')) await copyDatabase();
    const { printed, ended } = await start(['--port', '0', ...flags], /Ctrl-C/);
    expect(printed).toContain(name);
    expect(printed).toContain('/cdn connect');
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? '';
    expect(await (await fetch(url)).text()).toContain('<title>CDN playground</title>');
    expect((await fetch(`${url}/..%2f..%2fetc%2fpasswd`)).status).toBe(404);
    await post(url, 'slash', { user: 'U0ALICE00', channel: 'C0OPS0000', text: '/cdn help' });
    const state = async () => await (await fetch(`${url}/ui/state?user=U0ALICE00&channel=C0OPS0000`)).text();
    await expect.poll(state, { timeout: 10_000 }).toContain('connect:open');
    expect((await stat(join(directory, '.playground'))).isDirectory()).toBe(true);
    child?.kill('SIGINT');
    expect(await ended).toBe(0);
  },
);

/** Starts it and answers with its address. */
const restart = async (...flags: string[]): Promise<string> => {
  const { printed } = await start(['--port', '0', ...flags], /Ctrl-C/);
  return /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? '';
};
const read = async (url: string) =>
  await (await fetch(`${url}/ui/state?user=U0ALICE00&channel=C0OPS0000`)).text();
const end = async (signal: NodeJS.Signals) => {
  const ended = child && once(child, 'exit');
  child?.kill(signal);
  await ended;
};

test('its messages survive a restart, and a fresh start has none', async () => {
  await copyDatabase();
  const url = await restart();
  await post(url, 'say', { user: 'U0ALICE00', channel: 'C0OPS0000', text: 'still here' });
  const kept = join(directory, '.playground/messages.json');
  await expect.poll(() => readFile(kept, 'utf8').catch(() => ''), { timeout: 5000 }).toContain('still here');
  await end('SIGKILL');
  expect(await read(await restart())).toContain('still here');
  await end('SIGINT');
  expect(await read(await restart('--fresh'))).not.toContain('still here');
});

test('a port that is taken is replaced by a free one, and it says so', async () => {
  await copyDatabase();
  const squatter = createServer();
  await new Promise<void>((resolve) => void squatter.listen(0, '127.0.0.1', resolve));
  const { port } = squatter.address() as AddressInfo;
  const { printed } = await start(['--port', String(port)], /Ctrl-C/);
  expect(printed).toContain(`port ${port} is taken`);
  squatter.close();
});
