import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createCdn } from '../api/cdn.ts';
import type { Config } from '../app/config.ts';
import { checkAddresses, checkCdn } from '../app/doctor/network.ts';
import { checkSlack } from '../app/doctor/slack.ts';
import { checkRoom, checkStores, findChannels } from '../app/doctor/stores.ts';
import { UserError } from '../errors.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { createNativeSupport } from '../store/native-support.ts';
import type { Log } from '../telemetry/log.ts';
import type { Finding } from '../views/doctor.ts';
import { readKeyFile } from './key-file.ts';

const usage = 'Usage: npm run doctor -- [--json] [--key-file <file>] [--probe <user id>]';

interface Options {
  readonly config: Config;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => Date;
  readonly log: Log;
  readonly print: (line: string) => void;
}

/**
 * `npm run doctor`: looks at everything that the bot needs and prints what it found with the fix for each fault. Changes
 * nothing; `--probe` posts a chart and a table to a person and takes them back.
 *
 * @throws UserError for words or a key file that cannot be read.
 */
export async function doctorCommand(words: readonly string[], options: Options): Promise<'healthy' | 'ill'> {
  const { json, probe, 'key-file': keyFile } = parseWords(words);
  const findings: Finding[] = [];
  const { database, found } = await openStores(options);
  findings.push(...found);
  try {
    findings.push(...(await checkRest(options, { database, probe, keyFile })));
  } finally {
    await database?.close();
  }
  if (json) options.print(JSON.stringify(findings, undefined, 2));
  else for (const finding of findings) printFinding(finding, options.print);
  return findings.some(({ state }) => state === 'failed') ? 'ill' : 'healthy';
}

/** All but the stores; `database` is missing where it cannot be opened. */
async function checkRest(
  { config, fetch, now }: Options,
  about: {
    readonly database?: Database | undefined;
    readonly probe?: string | undefined;
    readonly keyFile?: string | undefined;
  },
): Promise<Finding[]> {
  const { database, probe, keyFile } = about;
  const { installing } = config.slack;
  const inSlack = await checkSlack({
    ...config.slack,
    fetch,
    now,
    token: installing.kind === 'single' ? installing.botToken : undefined,
    channels: database ? await findChannels(database) : [],
    probe,
    support: database && createNativeSupport({ db: database.db, now }),
  });
  const key = keyFile === undefined ? undefined : await readKeyFile(keyFile);
  const cdn = createCdn({ ...config.cdn, fetch });
  return [
    ...inSlack,
    ...(await checkAddresses({ config, fetch })),
    ...(await checkCdn({ config, fetch, cdn }, key)),
  ];
}

function printFinding({ check, state, says, fix }: Finding, print: Options['print']): void {
  print(`${state.padEnd(8)} ${check}: ${says}`);
  if (fix !== undefined && state !== 'ok') print(`         → ${fix}`);
}

/** Database, keyring and room, as far as they can be opened beside a running bot; current ones stay open. */
async function openStores({ config, log }: Options): Promise<{ database?: Database; found: Finding[] }> {
  const { databaseUrl, dataDir } = config.store;
  const room: Finding[] = databaseUrl ? [] : [await checkRoom(dataDir)];
  if (!databaseUrl && !existsSync(join(dataDir, 'database'))) {
    const says = `none in ${dataDir} yet; the first start makes it`;
    return { found: [...room, { check: 'database', state: 'ok', says }] };
  }
  let database: Database | undefined;
  try {
    database = await openDatabase({ ...config.store, log });
    const found = await checkStores(database, config);
    // Tables of another version are not read.
    if (found.every(({ check, state }) => check !== 'database' || state === 'ok')) return { database, found };
    await database.close();
    return { found };
  } catch (error) {
    await database?.close();
    if (!(error instanceof UserError)) throw error;
    // The embedded database serves one process: the bot itself.
    const state = databaseUrl ? 'failed' : 'skipped';
    const says = error.message;
    return {
      found: [...room, { check: 'database', state, says, ...(error.hint ? { fix: error.hint } : {}) }],
    };
  }
}

function parseWords(words: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    const options = { json: { type: 'boolean', default: false }, 'key-file': text, probe: text } as const;
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    throw new UserError(error instanceof Error ? error.message : 'These words cannot be read.', usage);
  }
}
