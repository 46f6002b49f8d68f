import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { canary } from '../../../simulator/cdn/canaries.ts';
import { type CdnSimulator, startCdn } from '../../../simulator/cdn/server.ts';
import { findFreePort } from '../../../simulator/free-port.ts';
import { readManifest } from '../../../simulator/slack/manifest.ts';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { buildApp } from '../../../src/app/build-app.ts';
import { readConfig } from '../../../src/app/config.ts';
import type { ChatApp } from '../../../src/app/wire.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createLogger, type Log, type LogLevel } from '../../../src/telemetry/log.ts';
import { environment } from '../bot.ts';
import { startCollector } from '../collector.ts';
import { copyEmbeddedDatabase } from '../database-templates.ts';
import { plantSecrets } from './plant-secrets.ts';

/** The real bot in a world where everything secret carries the mark. */
export interface CanaryBot {
  readonly slack: SlackSimulator;
  readonly cdn: CdnSimulator;
  readonly app: ChatApp;
  /** Lines by the level they were logged for: all levels listen to one run. */
  readonly logs: ReadonlyMap<LogLevel, string[]>;
  /** Secrets that cannot carry the mark: Slack's own, and what is random. */
  readonly others: readonly string[];
  /** Notes what Slack got as an answer to a delivery. */
  readonly recordAnswer: (answer: unknown) => void;
  /** Waits until nothing that was asked for is still being worked on. */
  readonly waitUntilIdle: () => Promise<void>;
  /** Makes the requests of the bot fail in ways no server can. */
  readonly breakFetch: (how: ((url: string, init: RequestInit | undefined) => never) | undefined) => void;
  /** Everything that left the bot, by where it went. Stops it: the database is read when it is closed. */
  readonly collectOutput: () => Promise<Map<string, string>>;
  readonly stop: () => Promise<void>;
}

const levels: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

export async function startCanaryBot(options: {
  transport: 'socket' | 'http';
  install: 'token' | 'oauth';
  databaseUrl?: string;
  env?: Record<string, string>;
}): Promise<CanaryBot> {
  const [slack, cdn, dataDir] = await Promise.all([
    startSlack({ steps: readManifest().steps }),
    startCdn({ zones: 12 }),
    mkdtemp(join(tmpdir(), 'chatops-')),
  ]);
  plantSecrets(cdn);
  const collector = await startCollector();
  const { transport, install } = options;
  if (options.databaseUrl === undefined) await copyEmbeddedDatabase(dataDir);
  const encryptionKey = randomBytes(32).toString('base64');
  const env: Record<string, string> = {
    ...environment({ slack, cdn, dataDir, transport, install }),
    ENCRYPTION_KEYS: `k1:${encryptionKey}`,
    ...(install === 'oauth' ? { SLACK_STATE_SECRET: canary('env-state-secret', 'x') } : {}),
    ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
    LOG_LEVEL: 'trace',
    METRICS_PORT: String(await findFreePort()),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${canary('env-collector-key', 'x')}`,
    ...options.env,
  };
  const config = readConfig(env);
  const logs = new Map<LogLevel, string[]>(levels.map((level) => [level, []]));
  const loggers = levels.map((level) =>
    createLogger(level, { write: (line) => void logs.get(level)?.push(line) }),
  );
  const at =
    (level: keyof Log) =>
    (fields: object, message: string): void => {
      for (const logger of loggers) logger[level](fields, message);
    };
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  let broken: ((url: string, init: RequestInit | undefined) => never) | undefined;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (broken) broken(input instanceof Request ? input.url : input.toString(), init);
    return globalThis.fetch(input, init);
  };
  const app = await buildApp({ config, log, fetch, cdnFetch: fetch });
  await app.start();
  const base = `http://127.0.0.1:${app.port()}`;
  const metricsUrl = `http://127.0.0.1:${env['METRICS_PORT']}/metrics`;
  if (transport === 'http') slack.deliverTo(`${base}/slack/events`);
  const answers: unknown[] = [];
  const pages: string[] = [];
  let stopped: Promise<void> | undefined;
  const stopBot = (): Promise<void> => (stopped ??= app.stop());

  const visit = async (path: string): Promise<string> => {
    const url = path === '/metrics' ? metricsUrl : base + path;
    const response = await globalThis.fetch(url, { redirect: 'manual' });
    const text = await response.text();
    pages.push(`${path} ${response.status} ${JSON.stringify([...response.headers])} ${text}`);
    return text;
  };

  return {
    slack,
    cdn,
    app,
    logs,
    others: [
      slack.botToken,
      slack.appToken,
      slack.signingSecret,
      slack.clientSecret,
      encryptionKey,
      Buffer.from(encryptionKey, 'base64').toString('hex'),
    ],
    recordAnswer: (answer) => answers.push(answer),
    breakFetch: (how) => {
      broken = how;
    },
    async waitUntilIdle() {
      // The gauge falls when the last answer was sent; asking for it lets the bot go on meanwhile.
      for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
        const metrics = await (await globalThis.fetch(metricsUrl)).text();
        if (/^chatops_in_flight 0$/mu.test(metrics)) return;
      }
      throw new Error('the bot is still at work');
    },
    async collectOutput() {
      for (const path of [
        '/metrics',
        '/healthz',
        '/readyz',
        '/slack/install',
        '/slack/oauth_redirect',
        '/nothing',
      ])
        await visit(path);
      await stopBot();
      const database = await openDatabase({ ...config.store, log });
      const tables = await dump(database);
      await database.close();
      const sinks = new Map<string, string>();
      for (const [level, lines] of logs) sinks.set(`log at ${level}`, lines.join(''));
      sinks.set(
        'calls of Slack',
        JSON.stringify(slack.calls.filter(({ method }) => method !== 'oauth.v2.access')),
      );
      sinks.set('acknowledgements', JSON.stringify(answers));
      sinks.set('HTTP answers', pages.join('\n'));
      sinks.set('database', tables);
      sinks.set('spans', collector.bodies.join('\n'));
      sinks.set('problems', slack.problems.join('\n'));
      sinks.set(
        'addresses asked of the CDN',
        JSON.stringify(cdn.requests.map(({ path, query }) => [path, query])),
      );
      if (options.databaseUrl === undefined) sinks.set('files', await readAll(dataDir));
      return sinks;
    },
    async stop() {
      await stopBot();
      await Promise.all([slack.close(), cdn.close(), collector.close()]);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Every row of every table, as text. */
async function dump({ db }: Database): Promise<string> {
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`.execute(db);
  const texts: string[] = [];
  for (const { schema, name } of tables) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.id(schema, name)} t`.execute(
      db,
    );
    texts.push(`${schema}.${name}`, ...rows.map(({ row }) => row));
  }
  return texts.join('\n');
}

/** What is on the disk, the write-ahead log and freed pages included. */
async function readAll(directory: string): Promise<string> {
  const texts: string[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) texts.push(await readFile(join(entry.parentPath, entry.name), 'latin1'));
  }
  return texts.join('\n');
}
