import type { Role } from './app/config.ts';
import type { ChatApp } from './app/lifecycle.ts';
import type { Word } from './cli/words.ts';
import { UserError } from './errors.ts';

// The only file that reads the environment, ends the process and listens to its signals. It imports on demand what a word needs,
// and nothing before it knows that this Node can run it.

/** `engines` in package.json. */
const oldestNode = [24, 12] as const;

const commands: Readonly<Record<Word, (words: readonly string[]) => Promise<void>>> = {
  all: () => serve('all'),
  web: () => serve('web'),
  worker: () => serve('worker'),
  migrate,
  keys,
  audit,
  db,
  tenant,
  smoke,
  doctor,
};

async function main(word: string, rest: readonly string[]): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]))
    throw new UserError(
      `This is Node ${process.versions.node}, and the bot needs ${oldestNode.join('.')} or newer: https://nodejs.org/en/download`,
    );
  const { describeUsage, usages } = await import('./cli/words.ts');
  const isKnown = (given: string): given is Word => Object.hasOwn(usages, given);
  if (word === 'help' || isHelp(word)) return console.log(describeUsage());
  if (!isKnown(word)) throw new UserError(`There is no “${word}”.`, describeUsage());
  if (rest.some(isHelp)) return console.log(describeUsage(word));
  const { readProxySettings, useProxy } = await import('./lib/proxy.ts');
  const proxy = readProxySettings(process.env);
  if (proxy) await useProxy(proxy);
  await commands[word](rest);
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
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
  // Without its database it could only refuse. It stops, and a supervisor starts it again.
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
function onSignals(app: ChatApp, onStop: () => void): void {
  let askedAt: number | undefined;
  const stop = (): void => {
    if (askedAt !== undefined) {
      if (performance.now() - askedAt > echoMs) process.exit(1);
      return;
    }
    askedAt = performance.now();
    onStop();
    app.stop().then(() => process.exit(0), fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

async function migrate(): Promise<void> {
  const { readStoreConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { migrateCommand } = await import('./cli/migrate.ts');
  const config = readStoreConfig(process.env);
  await migrateCommand(config, createLogger(config.logLevel));
}

// The commands below print their own lines, and warnings and errors of the log.

async function keys(words: readonly string[]): Promise<void> {
  const { readStoreConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { keysCommand } = await import('./cli/keys.ts');
  const config = () => readStoreConfig(process.env);
  await keysCommand(words, { config, log: createLogger('warn'), print: console.log });
}

/** Exit code 0 where the audit is intact, 1 where it is not, 2 where it cannot be checked. */
async function audit(words: readonly string[]): Promise<void> {
  const { readStoreConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { auditCommand } = await import('./cli/audit.ts');
  const options = { log: createLogger('warn'), print: console.log };
  await exitWith(async () => {
    const config = readStoreConfig(process.env, { needsKeyring: false });
    return (await auditCommand(words, { ...options, config })) === 'intact';
  });
}

/** Exit code 0 where it is done, 1 where what was imported has faults, 2 where it is refused. */
async function db(words: readonly string[]): Promise<void> {
  const { readStoreConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { dbCommand } = await import('./cli/db.ts');
  const options = { log: createLogger('warn'), print: console.log };
  await exitWith(async () => {
    const config = readStoreConfig(process.env, { needsKeyring: false });
    return (await dbCommand(words, { ...options, config })) === 'done';
  });
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
  await exitWith(
    async () =>
      (await smokeCommand(words, { ...options, cdn: readCdnConfig(process.env) })) === 'as specified',
  );
}

/** Exit code 0 where nothing is wrong, 1 where something is, 2 where it cannot look. */
async function doctor(words: readonly string[]): Promise<void> {
  const { readConfig } = await import('./app/config.ts');
  const { createLogger } = await import('./telemetry/log.ts');
  const { doctorCommand } = await import('./cli/doctor.ts');
  const options = { fetch, now: () => new Date(), log: createLogger('error'), print: console.log };
  await exitWith(
    async () => (await doctorCommand(words, { ...options, config: readConfig(process.env) })) === 'healthy',
  );
}

async function exitWith(isGood: () => Promise<boolean>): Promise<void> {
  process.exitCode = (await isGood().catch((error: unknown) => fail(error, 2))) ? 0 : 1;
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
