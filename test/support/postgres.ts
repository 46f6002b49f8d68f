import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findFreePort } from '../../simulator/free-port.ts';
import { Secret } from '../../src/secrets/secret.ts';

export interface PostgresServer {
  readonly adminUrl: string;
  /** A new database, as the first start of the bot leaves it; with `empty` as a server makes one. */
  createDatabase(options?: { readonly empty?: boolean }): Promise<Secret>;
  /** The file of the certificate that it has with `tlsOnly`, which is its own authority. */
  readonly authority?: string;
  /** Runs a statement as the administrator. */
  run(statement: string): Promise<void>;
  /** Makes the database that others are copies of. */
  createTemplate(fill: (url: Secret) => Promise<void>): Promise<void>;
  /** A server that follows this one and takes no writes until it is promoted; of throw-away clusters only. */
  createStandby?(): Promise<PostgresServer>;
  /** Ends every connection of that database, as a server that restarts does. */
  breakConnections(url: Secret): Promise<void>;
  stop(): Promise<void>;
}

const templateName = 'chatops_test_template';

/**
 * A PostgreSQL server: the one in TEST_DATABASE_URL, else a throw-away cluster from the machine's binaries. Where there
 * is neither, the reason in words.
 */
export async function findOwnPostgres(): Promise<{ start: () => Promise<PostgresServer> } | string> {
  const given = env['TEST_DATABASE_URL'];
  if (given) return { start: async () => connectTo(given, async () => undefined) };
  return findClusters();
}

interface ClusterOptions {
  /** With a certificate of its own, and no connection without it. */
  readonly tlsOnly?: boolean;
}

/** Throw-away clusters from the machine's binaries. Where there are none, the reason in words. */
export async function findClusters(): Promise<
  { start: (options?: ClusterOptions) => Promise<PostgresServer> } | string
> {
  const binaries = await findBinaries();
  if (!binaries) return 'no TEST_DATABASE_URL and no PostgreSQL binaries in /usr/lib/postgresql';
  const account = await findAccount();
  if (account === undefined) return 'PostgreSQL refuses to run as root and there is no user postgres';
  return { start: (options = {}) => startCluster(binaries, account, options) };
}

/** The server that all tests of a run share; `stop` drops the databases made through it. */
export async function findPostgres(): Promise<{ start: () => Promise<PostgresServer> } | string> {
  const found = await findOwnPostgres();
  if (typeof found === 'string') return found;
  return {
    async start() {
      const response = await fetch(`${env['TEST_TEMPLATES_URL']}/postgres`);
      if (!response.ok) throw new Error(await response.text());
      return connectTo(await response.text(), async () => undefined);
    },
  };
}

function connectTo(adminUrl: string, stop: () => Promise<void>): PostgresServer {
  const ask = async (sql: string, values: unknown[] = []): Promise<void> => {
    const client = new Client({ connectionString: adminUrl });
    await client.connect();
    try {
      await client.query(sql, values);
    } finally {
      await client.end();
    }
  };
  const made: string[] = [];
  const create = async (name: string, template?: string): Promise<Secret> => {
    await ask(`create database ${name}${template === undefined ? '' : ` template ${template}`}`);
    made.push(name);
    const url = new URL(adminUrl);
    url.pathname = `/${name}`;
    return new Secret(url.href);
  };
  return {
    adminUrl,
    run: ask,
    createDatabase: ({ empty = false } = {}) =>
      create(`chatops_test_${randomBytes(6).toString('hex')}`, empty ? undefined : templateName),
    async createTemplate(fill) {
      await ask(`drop database if exists ${templateName} with (force)`);
      await fill(await create(templateName));
    },
    breakConnections: (url) =>
      ask('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
        new URL(url.reveal()).pathname.slice(1),
      ]),
    async stop() {
      for (const name of made) await ask(`drop database if exists ${name} with (force)`);
      await stop();
    },
  };
}

async function findBinaries(): Promise<string | undefined> {
  const root = '/usr/lib/postgresql';
  const versions = await namesIn(root);
  const newest = versions.toSorted((a, b) => Number(a) - Number(b)).at(-1);
  if (newest === undefined) return undefined;
  const folder = join(root, newest, 'bin');
  return (await namesIn(folder)).includes('initdb') ? folder : undefined;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/** PostgreSQL refuses root: then it runs as its own user, which Debian's packages make. */
async function findAccount(): Promise<{ uid: number; gid: number } | 'own' | undefined> {
  if (process.getuid?.() !== 0) return 'own';
  const run = promisify(execFile);
  const id = (what: string): Promise<number> =>
    run('id', [what, 'postgres']).then(({ stdout }) => Number(stdout));
  return Promise.all([id('-u'), id('-g')]).then(
    ([uid, gid]) => ({ uid, gid }),
    () => undefined,
  );
}

async function startCluster(
  binaries: string,
  account: { uid: number; gid: number } | 'own',
  { tlsOnly = false }: ClusterOptions,
): Promise<PostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), 'chatops-postgres-'));
  const as = account === 'own' ? {} : account;
  if (account !== 'own') await chown(directory, account.uid, account.gid);
  const data = join(directory, 'data');
  const options = { ...as, cwd: directory, env: { LC_ALL: 'C', PATH: env['PATH'] } };
  await promisify(execFile)(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'chatops', '--auth=trust', '--no-sync', '-E', 'UTF8'],
    options,
  );
  if (tlsOnly) {
    const words =
      'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=database -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.crt';
    await promisify(execFile)('openssl', words.split(' '), { ...options, cwd: data });
    await promisify(execFile)('chmod', ['600', 'server.key'], { ...options, cwd: data });
    await writeFile(join(data, 'pg_hba.conf'), 'local all all trust\nhostssl all all all trust\n');
  }
  return serve(binaries, options, data, tlsOnly);
}

/** Runs a cluster from its directory, which is deleted at the end. */
async function serve(
  binaries: string,
  options: { readonly cwd: string } & Parameters<typeof spawn>[2],
  data: string,
  tlsOnly = false,
): Promise<PostgresServer> {
  const directory = options.cwd;
  const port = await findFreePort();
  const settings = ['max_connections=200', `ssl=${tlsOnly ? 'on' : 'off'}`].flatMap((one) => ['-c', one]);
  const places = ['-D', data, '-p', String(port), '-k', directory, '-h', '127.0.0.1'];
  const server = spawn(join(binaries, 'postgres'), [...places, '-F', ...settings], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = (): boolean => server.kill('SIGQUIT');
  process.once('exit', end);
  await ready(server);
  const query = tlsOnly ? '?sslmode=no-verify' : '';
  const stop = async (): Promise<void> => {
    const gone = once(server, 'exit');
    end();
    await gone;
    process.removeListener('exit', end);
    await rm(directory, { recursive: true, force: true });
  };
  return {
    ...connectTo(`postgres://chatops@127.0.0.1:${port}/postgres${query}`, stop),
    authority: join(data, 'server.crt'),
    async createStandby() {
      const cwd = await mkdtemp(join(tmpdir(), 'chatops-postgres-'));
      const { uid, gid } = options;
      if (uid !== undefined && gid !== undefined) await chown(cwd, uid, gid);
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'chatops'];
      const copy = join(cwd, 'data');
      await promisify(execFile)(
        join(binaries, 'pg_basebackup'),
        ['-D', copy, ...from, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'],
        { ...options, cwd, stdio: undefined } as object,
      );
      return serve(binaries, { ...options, cwd }, copy);
    },
  };
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      // A standby says `read-only` in between.
      if (/ready to accept (?:read-only )?connections/u.test(said)) resolve();
    });
    server.once('exit', () => reject(new Error(`PostgreSQL ended at once: ${said}`)));
    server.once('error', reject);
  });
}
