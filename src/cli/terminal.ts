import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { StoreConfig } from '../app/config.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../secrets/secret.ts';
import { type Database, openDatabase } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => Date;
  readonly log: Log;
  readonly print: (line: string) => void;
}

export type Command = (words: readonly string[], terminal: Terminal) => Promise<boolean>;

/** What each word of the terminal takes. `npm run doctor -- --help` prints its lines. */
export const usages = {
  all: ['npm start                     answers Slack and runs jobs, in one process'],
  web: ['npm run web                   answers Slack'],
  worker: ['npm run worker                runs jobs'],
  migrate: ['npm run migrate               creates or updates the tables that this version needs'],
  keys: [
    'npm run keys -- status                    which keys are in use, and which can be removed',
    'npm run keys -- new [key id]              prints a new entry for the list',
    'npm run keys -- destroy <key id> --yes <key id>   destroys the rows of a key that is lost',
  ],
  audit: ['npm run audit:verify -- [--tenant <id>] [--heads <log file or line>]…'],
  db: ['npm run db -- export <file>', 'npm run db -- import <file>'],
  tenant: [
    'npm run tenant -- list',
    'npm run tenant -- export <tenant> <file>',
    'npm run tenant -- erase <tenant> --yes <tenant>',
  ],
  smoke: ['npm run smoke -- --key-file <file> [--zone <pull zone id>] [--app <app id>] [--shield-zone <id>]'],
  doctor: ['npm run doctor -- [--json] [--key-file <file>]'],
} as const satisfies Record<string, readonly string[]>;

export type Word = keyof typeof usages;

export function describeUsage(word?: Word): string {
  const lines = word ? usages[word] : Object.values(usages).flat();
  return lines.map((line, index) => `${index === 0 ? 'Usage:' : '      '} ${line}`).join('\n');
}

/** Reads the words that follow a word of the terminal. @throws UserError with its usage. */
export function parseWords<Options extends NonNullable<ParseArgsConfig['options']>>(
  word: Word,
  words: readonly string[],
  options: Options,
  allowPositionals = false,
) {
  try {
    return parseArgs({ args: [...words], allowPositionals, options });
  } catch (error) {
    throw new UserError(
      error instanceof Error ? error.message : 'I don’t understand these arguments.',
      describeUsage(word),
    );
  }
}

/** Runs work on the database unchanged. `taken`: what to do while the bot runs on it. @throws UserError where it cannot be opened */
export async function withDatabase<T>(
  { store }: StoreConfig,
  log: Log,
  taken: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const { databaseUrl, dataDir } = store;
  if (!databaseUrl && !existsSync(join(dataDir, 'database'))) {
    throw new UserError(
      `There is no database in ${dataDir}.`,
      'Set DATA_DIR or DATABASE_URL to the bot’s values.',
    );
  }
  const database = await openDatabase({ ...store, log, isPatient: true }).catch((error: unknown) => {
    if (databaseUrl || !(error instanceof UserError)) throw error;
    throw new UserError(error.message, `The embedded database serves one process: ${taken}.`);
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** @throws UserError where it cannot be read, others can read it, or it holds anything else */
export async function readKeyFile(path: string): Promise<Secret> {
  const [{ mode }, text] = await Promise.all([stat(path), readFile(path, 'utf8')]).catch(() => {
    throw new UserError(
      `The key file ${path} cannot be read.`,
      'Name one that holds the key and nothing else.',
    );
  });
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new UserError(`The key file ${path} can be read by others on this machine.`, `chmod 600 ${path}`);
  const key = text.trim();
  if (key === '' || /\s/u.test(key))
    throw new UserError(`The key file ${path} must hold one key and nothing else.`);
  return new Secret(key, 'cdn-key');
}
