import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { promisify } from 'node:util';
import { build } from '../../build.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createQueue } from '../../src/store/queue.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { findOwnPostgres, type PostgresServer } from './postgres.ts';

/**
 * Global setup of vitest: the bot is built; one PostgreSQL server and one template of each engine a run, made when the first test asks.
 * Making a database takes seconds of processor time, copying one does not.
 */
export default async function serveTemplates(): Promise<() => Promise<void>> {
  await build();
  let embedded: Promise<string> | undefined;
  let postgres: Promise<PostgresServer> | undefined;
  const server = createServer((request, response) => {
    const made =
      request.url === '/embedded'
        ? (embedded ??= makeEmbeddedTemplate())
        : (postgres ??= startPostgresWithTemplate()).then(({ adminUrl }) => adminUrl);
    made.then(
      (location) => response.end(location),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The workers inherit it.
  env['TEST_TEMPLATES_URL'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    server.close();
    await (await postgres)?.stop();
  };
}

/** Puts an empty database, as the first start of the bot leaves it, into this directory. */
export async function copyEmbeddedDatabase(dataDir: string): Promise<void> {
  template ??= fetchTemplate('embedded');
  await promisify(execFile)('cp', ['-R', `${await template}/.`, dataDir]);
}

let template: Promise<string> | undefined;

/** The path of the embedded template, or the URL of the PostgreSQL server that has one. */
export async function fetchTemplate(engine: 'embedded' | 'postgres'): Promise<string> {
  const response = await fetch(`${env['TEST_TEMPLATES_URL']}/${engine}`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

async function startPostgresWithTemplate(): Promise<PostgresServer> {
  const found = await findOwnPostgres();
  if (typeof found === 'string') throw new Error(found);
  const server = await found.start();
  await server.createTemplate(async (databaseUrl) => {
    await (await prepareDatabase({ databaseUrl, dataDir: '' })).close();
  });
  return server;
}

/** Kept among the machine's temporary files, under a name that changes with everything it is made from. */
async function makeEmbeddedTemplate(): Promise<string> {
  const store = await readdir(new URL('../../src/store/', import.meta.url), { recursive: true });
  const sources = [
    ...store.filter((name) => name.endsWith('.ts')).map((name) => `src/store/${name}`),
    'src/app/jobs.ts',
    'test/support/database-templates.ts',
    'build.ts',
    'package-lock.json',
  ].sort();
  const hash = createHash('sha256').update(String(process.getuid?.()));
  for (const source of sources) hash.update(await readFile(new URL(`../../${source}`, import.meta.url)));
  const path = join(tmpdir(), `chatops-template-${hash.digest('hex').slice(0, 16)}`);
  if (await stat(path).catch(() => undefined)) return path;
  const unfinished = await mkdtemp(`${path}-`);
  const database = await prepareDatabase({ databaseUrl: undefined, dataDir: unfinished });
  await database.close();
  // Another run may have been quicker; either will do.
  await rename(unfinished, path).catch(() => rm(unfinished, { recursive: true, force: true }));
  return path;
}

/** A database as the first start of the bot leaves it. */
async function prepareDatabase(at: { databaseUrl: Secret | undefined; dataDir: string }): Promise<Database> {
  const log = createLogger('silent');
  const database = await openDatabase({ ...at, log });
  await database.migrate();
  const { jobs } = await import('../../src/app/jobs.ts');
  const queue = createQueue({ database, log, now: () => new Date() });
  await queue.start({ jobs, ports: {} as never, work: false });
  await queue.stop();
  return database;
}
