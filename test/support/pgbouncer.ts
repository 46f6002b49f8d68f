import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '../../simulator/free-port.ts';
import { Secret } from '../../src/secrets/secret.ts';

const binary = '/usr/sbin/pgbouncer';

type Mode = 'session' | 'transaction' | 'statement';

/** Debian's PgBouncer, with its defaults but the mode and these settings. Where there is none, the reason in words. */
export async function findPgBouncer(): Promise<
  { start: (url: Secret, mode: Mode, settings?: readonly string[]) => Promise<PgBouncer> } | string
> {
  const isThere = await access(binary).then(
    () => true,
    () => false,
  );
  return isThere ? { start } : `there is no ${binary}`;
}

interface PgBouncer {
  readonly url: Secret;
  stop(): Promise<void>;
}

async function start(url: Secret, mode: Mode, settings: readonly string[] = []): Promise<PgBouncer> {
  const server = new URL(url.reveal());
  const directory = await mkdtemp(join(tmpdir(), 'chatops-pgbouncer-'));
  const port = await findFreePort();
  const lines = [
    '[databases]',
    `* = host=${server.hostname} port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    ...settings,
  ];
  // With `any` it logs in as one user, whoever asks.
  lines[1] += ` user=${server.username}`;
  await writeFile(join(directory, 'pgbouncer.ini'), lines.join('\n'));
  await chmod(directory, 0o755);
  const isRoot = process.getuid?.() === 0;
  // It refuses to run as root.
  const account = isRoot ? { uid: await findUid('postgres'), gid: await findUid('postgres') } : {};
  const child = spawn(binary, [join(directory, 'pgbouncer.ini')], { ...account, stdio: 'ignore' });
  const end = (): boolean => child.kill('SIGKILL');
  process.once('exit', end);
  for (;;) {
    if (await isListening(port)) break;
    if (child.exitCode !== null) throw new Error('PgBouncer ended at once');
    await setTimeout(20);
  }
  server.port = String(port);
  return {
    url: new Secret(server.href),
    async stop() {
      const gone = once(child, 'exit');
      end();
      await gone;
      process.removeListener('exit', end);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function findUid(name: string): Promise<number> {
  return Number((await promisify(execFile)('id', ['-u', name])).stdout);
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
