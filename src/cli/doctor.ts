import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createCdn } from '../api/cdn.ts';
import type { Config } from '../app/config.ts';
import { type AskedFor, checkDeployment } from '../app/doctor/deployment.ts';
import { checkKey } from '../app/doctor/network.ts';
import { checkRoom, checkStores } from '../app/doctor/stores.ts';
import { openInstallations } from '../app/keyring-service.ts';
import { UserError } from '../errors.ts';
import { type Database, openDatabase } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';
import type { Finding } from '../views/doctor.ts';
import { readKeyFile } from './key-file.ts';
import { parseWords } from './words.ts';

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
  const {
    json,
    probe,
    team,
    'key-file': keyFile,
  } = parseWords('doctor', words, {
    json: { type: 'boolean', default: false },
    'key-file': { type: 'string' },
    probe: { type: 'string' },
    team: { type: 'string' },
  }).values;
  const { config, fetch, print } = options;
  const key = keyFile === undefined ? undefined : await readKeyFile(keyFile);
  const findings = await examine(options, { probe, team });
  // The key stays in this process.
  if (key) findings.push(await checkKey(createCdn({ ...config.cdn, fetch }), key));
  if (json) print(JSON.stringify(findings, undefined, 2));
  else for (const finding of findings) printFinding(finding, print);
  return findings.some(({ state }) => state === 'failed') ? 'ill' : 'healthy';
}

async function examine(options: Options, about: AskedFor): Promise<Finding[]> {
  const { config, fetch, now } = options;
  const { database, found } = await openStores(options);
  try {
    const isReadable = database && !found.some(({ state }) => state === 'failed');
    const isOAuth = config.slack.installing.kind === 'oauth';
    const installations = isReadable && isOAuth ? await openInstallations(database, config, now) : undefined;
    const deployment = { config, fetch, slackFetch: fetch, now, database, installations };
    return [...found, ...(await checkDeployment(deployment, about))];
  } finally {
    await database?.close();
  }
}

function printFinding({ check, state, says, fix }: Finding, print: Options['print']): void {
  print(`${state.padEnd(8)} ${check}: ${says}`);
  if (fix !== undefined && state !== 'ok') print(`         → ${fix}`);
}

/** Database, keyring and room, as far as they can be opened; a current database stays open. */
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
    const says = error.message;
    // The embedded database serves one process.
    const finding: Finding = databaseUrl
      ? { check: 'database', state: 'failed', says, ...(error.hint ? { fix: error.hint } : {}) }
      : {
          check: 'database',
          state: 'skipped',
          says,
          fix: 'Ask /cdn doctor in Slack, or stop the bot first.',
        };
    return { found: [...room, finding] };
  }
}
