import { execFile } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { migrateCommand } from '../../src/cli/db.ts';
import { UserError } from '../../src/errors.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { createQueue, defineJob, type Queue } from '../../src/store/queue.ts';
import { generateKeys } from '../auth/keyring/keyrings.ts';
import { createMemoryLog } from '../support/engines.ts';
import { findPgBouncer } from '../support/pgbouncer.ts';
import { findClusters, findPostgres, type PostgresServer } from '../support/postgres.ts';
import { createTempDirectory } from '../support/temp-directory.ts';
import { createTerminal } from '../support/terminal.ts';

// PostgreSQL as people are given it, with the real parts.

const [found, clusters, pooler] = [await findPostgres(), await findClusters(), await findPgBouncer()];
let server: PostgresServer;
if (typeof found !== 'string') server = await found.start();
afterAll(() => server?.stop());

async function open(databaseUrl: Secret): Promise<Database> {
  const database = await openDatabase({ databaseUrl, dataDir: '', log: createMemoryLog() });
  onTestFinished(() => database.close());
  return database;
}

/** What an operator reads, without what differs from run to run. */
async function refusal(work: Promise<unknown>, url: Secret): Promise<string> {
  const error = await work.then(
    () => new UserError('It was not refused.'),
    (failure: unknown) => failure,
  );
  if (!(error instanceof UserError)) throw error;
  const { host, pathname } = new URL(url.reveal());
  return `${error.message}\n${error.hint}`
    .replaceAll(host, '<host>')
    .replaceAll(pathname.slice(1), '<database>')
    .replaceAll(/_[0-9a-f]{12}/gu, '_<id>')
    .replaceAll(/and \d+ more/gu, 'and <n> more');
}

const migrate = (databaseUrl: Secret): Promise<boolean> =>
  migrateCommand(
    [],
    createTerminal({ DATABASE_URL: databaseUrl.reveal(), ENCRYPTION_KEYS: generateKeys('k1') }).terminal,
  );

function withQuery(url: Secret, query: string): Secret {
  const address = new URL(url.reveal());
  address.search = query;
  return new Secret(address.href);
}

const skipsClusters = typeof clusters === 'string';

test.skipIf(skipsClusters)('a server that takes only TLS says so and how; encrypted it works', async () => {
  if (typeof clusters === 'string') throw new Error(clusters);
  const tls = await clusters.start({ tlsOnly: true });
  onTestFinished(() => tls.stop());
  const url = await tls.createDatabase({ empty: true });
  expect({
    'without sslmode': await refusal(open(withQuery(url, '')), url),
    'with an unknown CA': await refusal(open(withQuery(url, 'sslmode=verify-full')), url),
  }).toMatchSnapshot();
  await migrate(withQuery(url, 'sslmode=no-verify'));
  // The address that a platform gives cannot always be changed, and its authority may be its own.
  const authority = join(await createTempDirectory(), 'authority.pem');
  await copyFile(tls.authority ?? '', authority);
  for (const env of [
    { PGSSLMODE: 'no-verify' },
    { PGSSLMODE: '"verify-full"', NODE_EXTRA_CA_CERTS: authority },
  ]) {
    const { stderr } = await promisify(execFile)(process.execPath, ['dist/bot/main.js', 'migrate'], {
      env: {
        DATABASE_URL: withQuery(url, '').reveal(),
        ENCRYPTION_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
        ...env,
      },
    });
    expect(stderr).toBe('');
  }
});

async function startPooler(...settings: Parameters<Exclude<typeof pooler, string>['start']>) {
  if (typeof pooler === 'string') throw new Error(pooler);
  const started = await pooler.start(...settings);
  onTestFinished(() => started.stop());
  return started.url;
}

describe.skipIf(typeof found === 'string')('with PostgreSQL', () => {
  test('sslmode at a server without TLS is refused in words', async () => {
    const url = await server.createDatabase({ empty: true });
    expect({
      'no TLS': await refusal(open(withQuery(url, 'sslmode=verify-full')), url),
      'no such file': await refusal(open(withQuery(url, 'sslmode=verify-full&sslrootcert=/none.pem')), url),
    }).toMatchSnapshot();
  });

  test('a user with few rights is told the GRANT to run, and with it the bot starts', async () => {
    const url = await server.createDatabase({ empty: true });
    const owner = await open(url);
    const roles: string[] = [];
    const createRole = async (prefix: string): Promise<Secret> => {
      const role = `${prefix}_${new URL(url.reveal()).pathname.slice(-12)}`;
      roles.push(role);
      await sql`create role ${sql.id(role)} login`.execute(owner.db);
      const address = new URL(url.reveal());
      address.username = role;
      return new Secret(address.href);
    };
    onTestFinished(async () => {
      for (const role of roles) {
        await sql`drop owned by ${sql.id(role)} cascade`.execute(owner.db);
        await sql`drop role ${sql.id(role)}`.execute(owner.db);
      }
    });
    /** Runs the statements that the refusal names. */
    const grant = async (work: Promise<unknown>): Promise<string> => {
      const error = await work.catch((failure: unknown) => failure);
      if (!(error instanceof UserError)) throw error;
      const statements = error.hint?.match(/^ {2}.*;$/gmu) ?? [];
      for (const statement of statements) await sql.raw(statement).execute(owner.db);
      return refusal(Promise.reject(error), url);
    };

    const [migrator, bot] = [await createRole('migrator'), await createRole('bot')];
    expect(await grant(migrate(migrator))).toMatchSnapshot('to migrate');
    await migrate(migrator);
    const start = async (): Promise<void> => {
      const database = await open(bot);
      await database.migrate();
      const queue = createQueue({ database, log: createMemoryLog(), now: () => new Date() });
      const ran = Promise.withResolvers<void>();
      const job = defineJob({ name: 'granted', data: z.object({}), run: async () => ran.resolve() });
      await queue.start({ jobs: [job], ports: {} });
      await queue.enqueue(job, {});
      await ran.promise;
      await queue.stop();
      await database.ping();
    };
    expect(await grant(start())).toMatchSnapshot('to start');
    await start();
  });

  describe.skipIf(typeof pooler === 'string')('behind PgBouncer', () => {
    test('two processes work with its defaults, and neither leaves a prepared statement to the other', async () => {
      const url = await server.createDatabase({ empty: true });
      const pooled = await startPooler(url, 'session');
      await migrate(pooled);
      const ran: string[] = [];
      const job = defineJob({
        name: 'pooled',
        data: z.object({ of: z.string() }),
        run: async ({ of }) => void ran.push(of),
      });
      const startProcess = async (): Promise<Database & { readonly queue: Queue }> => {
        const database = await open(pooled);
        const queue = createQueue({ database, log: createMemoryLog(), now: () => new Date() });
        await queue.start({ jobs: [job], ports: {} });
        return { ...database, queue };
      };
      const stopProcess = async (one: Awaited<ReturnType<typeof startProcess>>): Promise<void> => {
        await one.queue.stop();
        await one.close();
      };
      const [first, second] = [await startProcess(), await startProcess()];
      const work = async ({ db, queue }: typeof first, of: string): Promise<void> => {
        await Promise.all([
          queue.enqueue(job, { of }),
          ...Array.from({ length: 8 }, (_, n) => sql`select ${n}::int`.execute(db)),
        ]);
      };
      await Promise.all([work(first, 'first'), work(second, 'second')]);
      await expect.poll(() => ran.toSorted()).toEqual(['first', 'second']);
      expect((await sql`show statement_timeout`.execute(first.db)).rows).toEqual([
        { statement_timeout: '5s' },
      ]);
      // Its connections go to whoever asks next.
      await stopProcess(first);
      const third = await startProcess();
      await work(third, 'third');
      await expect.poll(() => ran).toContain('third');
      const statements = Array.from({ length: 8 }, () =>
        third.db.transaction().execute(async (trx) => {
          await sql`select pg_sleep(0.05)`.execute(trx);
          return (await sql`select name from pg_prepared_statements`.execute(trx)).rows;
        }),
      );
      expect((await Promise.all(statements)).flat()).toEqual([]);
      await stopProcess(second);
      await stopProcess(third);
    });

    test.each([
      ['transaction', [], 3],
      ['transaction', ['default_pool_size = 2'], 1],
      ['transaction', ['server_round_robin = 1'], 3],
      ['statement', [], 3],
    ] as const)('in %s mode (%j) each of %i starts is refused in words', async (mode, settings, count) => {
      const url = await server.createDatabase({ empty: true });
      const pooled = await startPooler(url, mode, settings);
      const starts = Array.from({ length: count }, () => refusal(open(pooled), pooled));
      const told = new Set([...(await Promise.all(starts)), await refusal(open(pooled), pooled)]);
      expect([...told]).toMatchSnapshot('refused');
    });

    test('what it refuses itself is told as what it is', async () => {
      const url = await server.createDatabase({ empty: true });
      const told: Record<string, string> = {};
      for (const setting of ['auth_type = scram-sha-256', 'max_client_conn = 0', 'max_client_conn = 1']) {
        const pooled = await startPooler(url, 'session', [setting]);
        told[setting] = await refusal(open(pooled), pooled);
      }
      expect(told).toMatchSnapshot('its own refusals');
    });

    test('that gives a single connection is refused in words, not waited for', async () => {
      const url = await server.createDatabase({ empty: true });
      const told = await Promise.all(
        (['session', 'transaction'] as const).map(async (mode) => {
          const pooled = await startPooler(url, mode, ['default_pool_size = 1']);
          return refusal(open(pooled), pooled);
        }),
      );
      expect(told).toMatchSnapshot('a single connection');
    });
  });
});
