import type { Role } from './app/config.ts';
import type { ChatApp } from './app/lifecycle.ts';
import { findOwnNode } from './app/own-node.ts';
import { UserError } from './errors.ts';

// The same process goes on with the machine's own Node: same id, flags, words and environment.
const ownNode = findOwnNode({ execPath: process.execPath, path: process.env['PATH'] });
if (ownNode !== undefined)
  process.execve?.(ownNode, [ownNode, ...process.execArgv, ...process.argv.slice(1)], process.env);

// The only file that reads the environment, ends the process and listens to its signals. It imports on demand what a word needs.

const usage =
  'Usage: node dist/bot/main.js web | worker | all | migrate | keys | audit | db | tenant | smoke | doctor';

async function main(word: string, rest: readonly string[]): Promise<void> {
  switch (word) {
    case 'web':
    case 'worker':
    case 'all':
      return serve(word);
    case 'migrate':
      return migrate();
    case 'keys':
      return keys(rest);
    case 'audit':
      return audit(rest);
    case 'db':
      return db(rest);
    case 'tenant':
      return tenant(rest);
    case 'smoke':
      return smoke(rest);
    case 'doctor':
      return doctor(rest);
    default:
      throw new UserError(`There is no “${word}”.`, usage);
  }
}

async function serve(role: Role): Promise<void> {
  const { readConfig } = await import('./app/config.ts');
  const config = readConfig(process.env);
  const { createLogger } = await import('./telemetry/log.ts');
  const { buildApp } = await import('./app/build-app.ts');
  const log = createLogger(config.logLevel);
  // Slack's Socket Mode client rejects unhandled on `app_rate_limited`: that must not end the process.
  process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));

  const app = await buildApp({ config, log, role });
  onSignals(app, () => log.info({}, 'stopping'));
  // It could only refuse from then on. Those who wait are told, and a supervisor starts it again.
  void app.ended?.then((error) => app.stop().finally(() => fail(error)));
  try {
    await app.start();
  } catch (error) {
    await app.stop();
    throw error;
  }
}

// Ctrl-C reaches the process from the terminal and once more from npm: within this time it counts once.
const echoMs = 2_000;

/** The first signal stops gracefully, a second one at once. */
function onSignals(app: ChatApp, stopping: () => void): void {
  let askedAt: number | undefined;
  const stop = (): void => {
    if (askedAt !== undefined) {
      if (performance.now() - askedAt > echoMs) process.exit(1);
      return;
    }
    askedAt = performance.now();
    stopping();
    app.stop().then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

async function migrate(): Promise<void> {
  const { readStoreConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { openDatabase } = await import('./store/database.ts');
  const config = readStoreConfig(process.env);
  const log = createLogger(config.logLevel);
  const database = await openDatabase({ ...config.store, log });
  try {
    await database.migrate();
    log.info({ store: database.engine }, 'database is up to date');
  } finally {
    await database.close();
  }
}

// Prints its own lines in the terminal, and warnings and errors of the log.
async function keys(words: readonly string[]): Promise<void> {
  const { readStoreConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { keysCommand } = await import('./cli/keys.ts');
  await keysCommand(words, readStoreConfig(process.env), createLogger('warn'), console.log);
}

/** Exit code 0 where the record is whole, 1 where it is not, 2 where it cannot be checked. */
async function audit(words: readonly string[]): Promise<void> {
  const { readStoreConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { auditCommand } = await import('./cli/audit.ts');
  const config = () => readStoreConfig(process.env, { needsKeyring: false });
  const options = { config, log: createLogger('warn'), print: console.log };
  const verdict = await auditCommand(words, options).catch((error: unknown) => fail(error, 2));
  process.exitCode = verdict === 'whole' ? 0 : 1;
}

/** Exit code 0 where it is done, 1 where what was imported has faults, 2 where it is refused. */
async function db(words: readonly string[]): Promise<void> {
  const { readStoreConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { dbCommand } = await import('./cli/db.ts');
  const options = { log: createLogger('warn'), print: console.log };
  const run = async () =>
    dbCommand(words, { ...options, config: readStoreConfig(process.env, { needsKeyring: false }) });
  const verdict = await run().catch((error: unknown) => fail(error, 2));
  process.exitCode = verdict === 'done' ? 0 : 1;
}

async function tenant(words: readonly string[]): Promise<void> {
  const { readConfig, readStoreConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { tenantCommand } = await import('./cli/tenant.ts');
  await tenantCommand(words, {
    config: readStoreConfig(process.env, { needsKeyring: false }),
    fullConfig: () => readConfig(process.env),
    fetch,
    now: () => new Date(),
    log: createLogger('warn'),
    print: console.log,
  });
}

/** Exit code 0 where every answer is as specified, 1 where one differs or failed, 2 where it cannot begin. */
async function smoke(words: readonly string[]): Promise<void> {
  const { readCdnConfig } = await import('./app/config.ts');
  const { smokeCommand } = await import('./cli/smoke.ts');
  const options = { fetch, now: () => new Date(), print: console.log };
  const run = async () => smokeCommand(words, { ...options, cdn: readCdnConfig(process.env) });
  const verdict = await run().catch((error: unknown) => fail(error, 2));
  process.exitCode = verdict === 'as specified' ? 0 : 1;
}

/** Exit code 0 where nothing is wrong, 1 where something is, 2 where it cannot look. */
async function doctor(words: readonly string[]): Promise<void> {
  const { readConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { doctorCommand } = await import('./cli/doctor.ts');
  const options = { fetch, now: () => new Date(), log: createLogger('error'), print: console.log };
  const run = async () => doctorCommand(words, { ...options, config: readConfig(process.env) });
  const verdict = await run().catch((error: unknown) => fail(error, 2));
  process.exitCode = verdict === 'healthy' ? 0 : 1;
}

function fail(error: unknown, code = 1): never {
  if (error instanceof UserError) console.error([error.message, error.hint].filter(Boolean).join('\n'));
  else console.error('The bot failed:', describe(error));
  process.exit(code);
}

/** The stacks of an error and its causes. Their other members may hold secrets. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return error.cause === undefined ? stack : `${stack}\nCaused by: ${describe(error.cause)}`;
}

main(process.argv[2] ?? 'all', process.argv.slice(3)).catch((error: unknown) => fail(error));
