import { existsSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { createCdn } from '../api/cdn.ts';
import { ApiError } from '../api/http/errors.ts';
import type { Config } from '../app/config.ts';
import { keyringSource, sealedTables } from '../app/keyring-service.ts';
import { checkSlack, type Finding } from '../app/slack-checks.ts';
import { checkKeyring } from '../auth/keyring/check.ts';
import { readKeyring } from '../auth/keyring/keyring.ts';
import { UserError } from '../errors.ts';
import { Secret } from '../secrets/secret.ts';
import { type Database, findSchemaState, openDatabase } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';
import { formatBytes } from '../views/blocks/format.ts';

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
 * @throws UserError for words that cannot be read.
 */
export async function doctorCommand(words: readonly string[], options: Options): Promise<'healthy' | 'ill'> {
  const { json, probe, 'key-file': keyFile } = parseWords(words);
  const { findings, channels } = await checkStores(options);
  const { slack } = options.config;
  findings.push(...(await checkSlack({ ...options, slack, channels, probe })));
  findings.push(await checkPublicUrl(options), ...(await checkCdn(options, keyFile)));
  if (json) options.print(JSON.stringify(findings, undefined, 2));
  else for (const finding of findings) printFinding(finding, options.print);
  return findings.some(({ state }) => state === 'failed') ? 'ill' : 'healthy';
}

function printFinding({ check, state, says, fix }: Finding, print: Options['print']): void {
  print(`${state.padEnd(8)} ${check}: ${says}`);
  if (fix !== undefined && state !== 'ok') print(`         → ${fix}`);
}

/** Database, keyring and room, as far as they can be opened beside a running bot. */
async function checkStores({ config, log }: Options): Promise<{ findings: Finding[]; channels: string[] }> {
  const { databaseUrl, dataDir } = config.store;
  const room: Finding[] = databaseUrl ? [] : [await checkRoom(dataDir)];
  if (!databaseUrl && !existsSync(join(dataDir, 'database'))) {
    const says = `none in ${dataDir} yet; the first start makes it`;
    return { findings: [...room, { check: 'database', state: 'ok', says }], channels: [] };
  }
  let database: Database | undefined;
  try {
    database = await openDatabase({ ...config.store, log });
    const schema = await checkSchema(database);
    if (schema.state === 'failed') return { findings: [...room, schema], channels: [] };
    const keyring = await checkKeys(database, config);
    return { findings: [...room, schema, keyring], channels: await findChannels(database) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // The embedded database serves one process: the bot itself.
    const state = databaseUrl ? 'failed' : 'skipped';
    const finding: Finding = {
      check: 'database',
      state,
      says: error.message,
      ...(error.hint ? { fix: error.hint } : {}),
    };
    return { findings: [...room, finding], channels: [] };
  } finally {
    await database?.close();
  }
}

// The embedded database keeps two copies of itself beside it.
const leastRoom = 1e9;

async function checkRoom(dataDir: string): Promise<Finding> {
  const check = 'room';
  const disk = await statfs(existsSync(dataDir) ? dataDir : '.').catch(() => undefined);
  if (!disk) return { check, state: 'skipped', says: 'the system does not say' };
  const free = disk.bavail * disk.bsize;
  const says = `${formatBytes(free)} free for DATA_DIR`;
  return free >= leastRoom
    ? { check, state: 'ok', says }
    : { check, state: 'limited', says, fix: 'Make room: 1 GB or more.' };
}

async function checkSchema(database: Database): Promise<Finding> {
  const check = 'database';
  const { engine, db } = database;
  const state = await findSchemaState(db);
  if (state === 'newer')
    return {
      check,
      state: 'failed',
      says: 'written by a newer version of the bot',
      fix: 'Run that version or a later one.',
    };
  const { rows } = await sql<{
    bytes: number;
  }>`select pg_database_size(current_database())::float8 as bytes`.execute(db);
  const says = `${engine}, ${formatBytes(rows[0]?.bytes ?? 0)}, ${state === 'current' ? 'up to date' : 'of an older version'}`;
  return state === 'current'
    ? { check, state: 'ok', says }
    : {
        check,
        state: 'limited',
        says,
        fix: 'The next start changes it; with several processes run npm run migrate first.',
      };
}

async function checkKeys({ db }: Database, config: Config): Promise<Finding> {
  const check = 'keyring';
  try {
    const { keyring, warning } = await readKeyring({ ...keyringSource(config), inUse: true });
    await checkKeyring(db, keyring, sealedTables);
    const says = `opens every row, with ${[...keyring.ids].join(', ')}`;
    return warning ? { check, state: 'limited', says, fix: warning } : { check, state: 'ok', says };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { check, state: 'failed', says: error.message, ...(error.hint ? { fix: error.hint } : {}) };
  }
}

const mostChannels = 20;

async function findChannels({ db }: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('digests')
    .select('channel')
    .distinct()
    .where('deleted_at', 'is', null)
    .orderBy('channel')
    .limit(mostChannels)
    .execute();
  return rows.map(({ channel }) => channel);
}

async function checkPublicUrl({ config, fetch }: Options): Promise<Finding> {
  const check = 'public address';
  const { publicUrl } = config.web;
  if (publicUrl === undefined) return { check, state: 'skipped', says: 'PUBLIC_URL is not set' };
  const answer = await fetch(`${publicUrl.replace(/\/+$/u, '')}/healthz`, {
    signal: AbortSignal.timeout(5_000),
  })
    .then(async (response) => (response.ok ? await response.text() : `HTTP ${response.status}`))
    .catch(() => 'no answer');
  if (answer.startsWith('ok')) return { check, state: 'ok', says: 'reaches the bot' };
  const fix = 'Start the bot, and have the proxy pass requests of PUBLIC_URL to its PORT.';
  return { check, state: 'failed', says: `does not reach the bot (${answer.slice(0, 60)})`, fix };
}

async function checkCdn({ config, fetch }: Options, keyFile: string | undefined): Promise<Finding[]> {
  const hosts = await Promise.all(
    Object.entries({
      CDN_API_URL: config.cdn.apiUrl,
      CDN_ORIGIN_LOGGING_URL: config.cdn.originLoggingUrl,
    }).map(async ([variable, url]): Promise<Finding> => {
      const check = `cdn ${new URL(url).host}`;
      // Without a key any answer will do.
      const answers = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
        () => true,
        () => false,
      );
      if (answers) return { check, state: 'ok', says: 'answers' };
      return {
        check,
        state: 'failed',
        says: 'does not answer',
        fix: `Allow https to it, or check ${variable}.`,
      };
    }),
  );
  if (keyFile === undefined) return hosts;
  const check = 'cdn key';
  const key = new Secret((await readFile(keyFile, 'utf8')).trim(), 'cdn-key');
  try {
    const { total, zones } = await createCdn({ ...config.cdn, fetch })
      .withKey(key)
      .pullZones.firstPage();
    return [...hosts, { check, state: 'ok', says: `sees ${total ?? zones.length} pull zones` }];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [
      ...hosts,
      { check, state: 'failed', says: error.message, fix: 'Copy the key from the control panel again.' },
    ];
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
