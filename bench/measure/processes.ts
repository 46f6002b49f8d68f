import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from '../../build.ts';
import { findOwnPostgres } from '../../test/support/postgres.ts';
import { registerBot } from './metrics.ts';

/** A program under measurement: a process of its own, so that its heap and its event loop are its own. */
export interface Subject {
  readonly pid: number;
  /** Where it listens; 0 where it does not. */
  readonly port: number;
  /** From its start to the line that says it is ready, ms. */
  readonly readyMs: number;
  readonly stop: () => Promise<void>;
  /** Ends it at once, as a machine that fails does. */
  readonly kill: () => void;
}

interface Running {
  readonly child: ChildProcess;
  /** The first line of JSON that `wanted` accepts. */
  readonly line: Record<string, unknown>;
  readonly afterMs: number;
  readonly stop: () => Promise<void>;
}

const patienceMs = 30_000;

/** Starts a program and waits for the line of JSON with `"msg":"ready"`, which the bot and all its peers print. */
export async function startSubject(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  directory?: string,
): Promise<Subject> {
  const { child, line, afterMs, stop } = await start(pin(args), env, isReady, directory);
  const kill = (): void => void child.kill('SIGKILL');
  return { pid: child.pid ?? 0, port: Number(line['port'] ?? 0), readyMs: afterMs, stop, kill };
}

/**
 * The whole bot, as `npm start` starts it, with its limits of the heap, of this checkout or of another one; or one of its
 * roles, as `npm run web` and `npm run worker` do.
 */
export async function startBot(
  env: Readonly<Record<string, string>>,
  checkout = '.',
  script: 'start' | 'web' | 'worker' = 'start',
): Promise<Subject> {
  const { args, environment } = await readBotCommand(checkout, script);
  const bot = await startSubject(args, { ...environment, ...env }, checkout);
  registerBot(bot.port);
  return bot;
}

let built: Promise<void> | undefined;

/** What Node is started with there: flags, file and role; and what is set for it. */
export async function readBotCommand(
  checkout = '.',
  script: 'start' | 'web' | 'worker' = 'start',
): Promise<{ readonly args: readonly string[]; readonly environment: Readonly<Record<string, string>> }> {
  // Another checkout was built when its packages were installed.
  if (checkout === '.') await (built ??= build());
  const { scripts } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')) as {
    scripts: Record<typeof script, string>;
  };
  const role = script === 'start' ? 'all' : script;
  // Older checkouts set variables, and replace the shell.
  const [, set = '', words] = /^((?:\w+=\S+ )*)(?:exec )?node (.*?)(?: \|\||$)/.exec(scripts[script]) ?? [];
  const environment = [...set.matchAll(/(\w+)=(\S+) /gu)].map(([, name, value]) => [name, value]);
  return {
    args: words?.split(' ') ?? ['dist/bot/main.js', role],
    environment: Object.fromEntries(environment),
  };
}

function isReady(printed: Record<string, unknown>): boolean {
  return printed['msg'] === 'ready';
}

/** Where the exports of all programs under measurement are sent. */
export async function startSink(): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const { line, stop } = await start([process.execPath, 'bench/export-sink.ts'], {}, isReady);
  return { url: `http://127.0.0.1:${Number(line['port'])}/upload`, stop };
}

export interface Cdn {
  readonly url: string;
  readonly originLoggingUrl: string;
  readonly key: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** The simulated CDN, with so many zones in it. */
export async function startCdn(
  zones: number,
  members: 'few' | 'all',
  more: readonly string[] = [],
): Promise<Cdn> {
  const args = ['simulator/cdn/process.ts', '--zones', String(zones), '--members', members, ...more];
  const { child, line, stop } = await start(
    [process.execPath, ...args],
    {},
    (printed) => typeof printed['url'] === 'string',
  );
  const [url, originLoggingUrl] = [String(line['url']), String(line['originLoggingUrl'])];
  return { url, originLoggingUrl, key: String(line['key']), pid: child.pid ?? 0, stop };
}

/** Runs a program to its end and gives the last line it printed, parsed. */
export async function runToEnd(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  let last: Record<string, unknown> = {};
  const { child } = await start(pin(args), env, (printed) => {
    last = printed;
    return true;
  });
  if (child.exitCode === null) await once(child, 'exit');
  return last;
}

/** With a core of its own, as `npm run bench -- --pinned` wants it for what is measured. */
function pin(args: readonly string[]): string[] {
  const core = process.env['BENCH_CORE'];
  return [...(core === undefined ? [] : ['taskset', '-c', core]), process.execPath, ...args];
}

async function start(
  [command = process.execPath, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  wanted: (printed: Record<string, unknown>) => boolean,
  directory?: string,
): Promise<Running> {
  const began = performance.now();
  const child = spawn(command, args, {
    cwd: directory,
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', (code, signal) => {
    // A program that fails must not look like a slow one.
    if (code !== 0 && !child.killed)
      console.error(`${args.join(' ')} ended by itself: ${code ?? signal}\n${said}`);
  });
  const exited = once(child, 'exit').finally(() => process.removeListener('exit', kill));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000);
  });
  const line = await new Promise<Record<string, unknown>>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${args.join(' ')}: ${why}\n${said}`));
    const timer = setTimeout(() => fail('was not ready in time'), patienceMs);
    // The stream is read on after that line, so that a program that logs is never blocked by a full pipe.
    createInterface({ input: child.stdout }).on('line', (text) => {
      const printed = parseJsonObject(text);
      if (!printed) said = `${said}${text}\n`.slice(-4000);
      else if (wanted(printed)) {
        clearTimeout(timer);
        resolve(printed);
      } else if (Number(printed['level']) >= 50 || printed['level'] === 'error') said += `${text}\n`;
    });
    void exited.then(() => fail('ended before it was ready'));
  });
  return {
    child,
    line,
    afterMs: performance.now() - began,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(kill, 10_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

function parseJsonObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Resident memory of a process, bytes. */
export async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Counts the peak of resident memory anew: man 5 proc. */
export function resetPeakMemory(pid: number): Promise<void> {
  return writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** Peak of resident memory since it was reset, bytes. */
export async function readPeakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Time a process spent on a processor since it started, all its threads, ms. */
export async function processorTime(pid: number): Promise<number> {
  let nanoseconds = 0;
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    const line = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
    nanoseconds += Number(line.split(' ', 1)[0]);
  }
  return nanoseconds / 1e6;
}

/** The same with the threads that have ended, in steps of 10 ms: man 5 proc. */
export async function processorTimeOfAll(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Runs with an empty directory that is gone afterwards. */
export async function withTempDirectory<T>(run: (path: string) => Promise<T>): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), 'chatops-bench-'));
  try {
    return await run(path);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/** An empty PostgreSQL database for the bot, where this machine has a server. */
export interface Postgres {
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** Starts one; where there is none, says why in words. */
export async function startPostgres(): Promise<Postgres | string> {
  const found = await findOwnPostgres();
  if (typeof found === 'string') return found;
  const server = await found.start();
  const url = await server.createDatabase({ empty: true });
  return {
    environment: {
      DATABASE_URL: url.reveal(),
      ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    },
    stop: () => server.stop(),
  };
}
