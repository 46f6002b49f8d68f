import type { Role } from './app/config.ts';
import type { ChatApp } from './app/wire.ts';
import type { Command, Word } from './cli/terminal.ts';
import { UserError } from './errors.ts';

// The only file that reads the environment, ends the process and listens to its signals. It imports on demand what a word needs,
// and nothing before it knows that this Node can run it.

/** `engines` in package.json. */
const oldestNode = [24, 12] as const;

async function main(word: string, rest: readonly string[]): Promise<void> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]))
    throw new UserError(
      `This is Node ${process.versions.node}, and the bot needs ${oldestNode.join('.')} or newer: https://nodejs.org/en/download`,
    );
  const { describeUsage, usages } = await import('./cli/terminal.ts');
  const isKnown = (given: string): given is Word => Object.hasOwn(usages, given);
  if (word === 'help' || isHelp(word)) return console.log(describeUsage());
  if (!isKnown(word)) throw new UserError(`Unknown command “${word}”.`, describeUsage());
  if (rest.some(isHelp)) return console.log(describeUsage(word));
  const { findAuthorityProblem, takeOffQuotes } = await import('./lib/environment.ts');
  takeOffQuotes(process.env);
  const authorityProblem = findAuthorityProblem(process.env);
  if (authorityProblem !== undefined) console.error(authorityProblem);
  const { readProxySettings, useProxy } = await import('./lib/proxy.ts');
  const proxy = readProxySettings(process.env);
  if (proxy) await useProxy(proxy);
  if (word === 'all' || word === 'web' || word === 'worker') return serve(word);
  await runTool(word, rest);
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
  // Node would print all members of the error, such as the headers of a request.
  process.on('uncaughtException', (error) => fail(error));

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

const tools: Readonly<Record<Exclude<Word, Role>, () => Promise<Command>>> = {
  migrate: async () => (await import('./cli/db.ts')).migrateCommand,
  keys: async () => (await import('./cli/keys.ts')).keysCommand,
  tenant: async () => (await import('./cli/tenant.ts')).tenantCommand,
  audit: async () => (await import('./cli/audit.ts')).auditCommand,
  db: async () => (await import('./cli/db.ts')).dbCommand,
  smoke: async () => (await import('./cli/smoke.ts')).smokeCommand,
  doctor: async () => (await import('./cli/doctor.ts')).doctorCommand,
};

/** Where 1 says that something was found, 2 says that it could not look. */
const looks: readonly Word[] = ['audit', 'db', 'smoke', 'doctor'];

/** Commands of an operator print their own lines, and warnings and errors of the log. */
async function runTool(word: keyof typeof tools, words: readonly string[]): Promise<void> {
  const { createLogger } = await import('./telemetry/log.ts');
  const { readStoreConfig } = await import('./app/config.ts');
  const level = word === 'migrate' ? readStoreConfig(process.env).logLevel : 'warn';
  const log = createLogger(['doctor', 'smoke'].includes(word) ? 'error' : level);
  const run = await tools[word]();
  const isWell = await run(words, {
    env: process.env,
    fetch,
    now: () => new Date(),
    log,
    print: console.log,
  }).catch((error: unknown) => fail(error, looks.includes(word) ? 2 : 1));
  process.exitCode = isWell ? 0 : 1;
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
