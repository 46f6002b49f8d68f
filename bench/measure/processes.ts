import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from '../../build.ts';
import { findOwnPostgres } from '../../test/support/postgres.ts';
import { logProgress } from './report.ts';

/** A program under measurement: a process of its own, so that its heap and its event loop are its own. */
export interface Subject {
  readonly pid: number;
  /** Where it listens; 0 where it does not. */
  readonly port: number;
  /** From its start to the line that says it is ready, ms. */
  readonly readyMs: number;
  readonly stop: () => Promise<void>;
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
  before: readonly string[] = [],
): Promise<Subject> {
  const { child, line, afterMs, stop } = await start([...before, process.execPath, ...args], env, isReady);
  return { pid: child.pid ?? 0, port: Number(line['port'] ?? 0), readyMs: afterMs, stop };
}

/** The whole bot, with the flags that `npm start` gives to Node; on one core with `core`. */
export async function startBot(env: Readonly<Record<string, string>>, core?: number): Promise<Subject> {
  const pinned = core === undefined ? [] : ['taskset', '-c', String(core)];
  return startSubject(await readBotCommand(), env, pinned);
}

let built: Promise<void> | undefined;

/** What Node is started with: flags, file and role. */
export async function readBotCommand(): Promise<readonly string[]> {
  await (built ??= build());
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: { start: string } };
  const words = /\bnode ((?:--\S+ )*dist\/bot\/main\.js \w+)/.exec(scripts.start)?.[1];
  if (words === undefined) throw new Error(`npm start is not understood: ${scripts.start}`);
  return words.split(' ');
}

function isReady(printed: Record<string, unknown>): boolean {
  return printed['msg'] === 'ready';
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
  const { child } = await start([process.execPath, ...args], env, (printed) => {
    last = printed;
    return true;
  });
  if (child.exitCode === null) await once(child, 'exit');
  return last;
}

async function start(
  [command = process.execPath, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  wanted: (printed: Record<string, unknown>) => boolean,
): Promise<Running> {
  const began = performance.now();
  const child = spawn(command, args, {
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

/** Runs with a bot on the embedded database, and then with one on PostgreSQL where this machine has it. */
export async function withEachEngine(
  env: Readonly<Record<string, string>>,
  run: (engine: 'embedded' | 'PostgreSQL', bot: Subject, databaseUrl?: string) => Promise<void>,
): Promise<void> {
  await withTempDirectory(async (dataDir) => {
    const bot = await startBot({ ...env, DATA_DIR: dataDir });
    await run('embedded', bot);
    await bot.stop();
  });
  const postgres = await startPostgres();
  if (typeof postgres === 'string') return logProgress(`PostgreSQL left out: ${postgres}`);
  const bot = await startBot({ ...env, ...postgres.environment });
  await run('PostgreSQL', bot, postgres.environment['DATABASE_URL']);
  await bot.stop();
  await postgres.stop();
}
