import type { KeyObject } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { StoreConfig } from '../app/config.ts';
import { keyringSource } from '../app/keyring-service.ts';
import {
  type Checkpoint,
  publicKeyId,
  readCheckpoints,
  readPublicKey,
  writePublicKey,
} from '../auth/audit/checkpoint.ts';
import { loadPublicSigningKey } from '../auth/audit/checkpoints.ts';
import { type AuditReport, checkDatabase, checkFile } from '../auth/audit/verify.ts';
import { readKeyring } from '../auth/keyring/keyring.ts';
import { createSealer } from '../auth/keys/sealing.ts';
import { UserError } from '../errors.ts';
import { type Database, hasTable } from '../store/database.ts';
import type { Log } from '../telemetry/log.ts';
import { describeBroken } from '../views/audit/audit.ts';
import { pluralize } from '../views/blocks/format.ts';
import { openExisting } from './open-existing.ts';
import { describeUsage } from './words.ts';

const usage = describeUsage('audit');

/** `broken`: a fault was found and printed. A record that cannot be checked throws. */
export type AuditVerdict = 'whole' | 'broken';

type Print = (line: string) => void;

interface Options {
  /** Called only where it is needed: a file can be checked anywhere. */
  readonly config: () => StoreConfig;
  readonly log: Log;
  readonly print: Print;
}

/**
 * `npm run audit:verify`: checks the record offline, in the database or in an exported file, and whether it still holds
 * what checkpoints say. Changes nothing.
 *
 * @throws UserError where it cannot be checked.
 */
export async function auditCommand(words: readonly string[], options: Options): Promise<AuditVerdict> {
  const { tenant, file, ...given } = parseWords(words);
  const checkpoints = (await Promise.all(given.checkpoint.map(findCheckpoints))).flat();
  const key = given.key === undefined ? undefined : await readKey(given.key);
  if (file !== undefined) {
    if (given['public-key']) throw new UserError('The public key is in the database, not in a file.', usage);
    if (checkpoints.length > 0 && !key) {
      throw new UserError(
        'Whether a checkpoint is genuine cannot be told without the public key.',
        'Add --key: each checkpoint in Slack names it, and npm run audit:verify -- --public-key prints it.',
      );
    }
    return printReports([await checkFile(file, { tenant, checkpoints, key })], options.print);
  }
  const config = options.config();
  const database = await openExisting(config, options.log, {
    missing: 'check an exported file with --file',
    taken: 'stop the bot, check, start it again. Or check a file that /cdn audit exports',
  });
  try {
    const ownKey = loadOwnKey(database, config);
    if (given['public-key']) return printKey(await ownKey, options.print);
    const own = await ownKey.catch((error: unknown) => {
      // The chain is checked without the keyring; given checkpoints cannot be told from forged ones without a key.
      if (checkpoints.length > 0 && key === undefined) throw error;
      return undefined;
    });
    const reports = await checkDatabase(database.db, { tenant, checkpoints, key: key ?? own });
    return printReports(reports, options.print);
  } finally {
    await database.close();
  }
}

function printReports(reports: readonly AuditReport[], print: Print): AuditVerdict {
  for (const report of reports) printReport(report, print);
  const wrong = reports.filter(
    ({ broken, malformed, checkpoints }) =>
      broken || malformed || checkpoints.some(({ genuine }) => genuine === 'no'),
  );
  if (reports.length === 0) print('There are no records yet.');
  else if (wrong.length === 0) print('The record is whole.');
  else print(`The record is NOT whole: ${pluralize(wrong.length, 'chain')} of ${reports.length}.`);
  return wrong.length === 0 ? 'whole' : 'broken';
}

function printReport(report: AuditReport, print: Print): void {
  const { tenant, records, head, broken, malformed, checkpoints } = report;
  const whose = /^[\w-]{1,64}$/u.test(tenant) ? tenant : JSON.stringify(tenant);
  if (malformed)
    print(`${whose}: BROKEN at record ${malformed.seq} (line ${malformed.line}): ${malformed.why}`);
  else if (broken)
    print(`${whose}: BROKEN at record ${broken.seq} (${broken.problem}): ${describeBroken(broken)}`);
  else print(`${whose}: whole, ${pluralize(records, 'record')}${head === undefined ? '' : `, head ${head}`}`);
  if (broken?.noted) print(`  the checkpoint says record ${broken.noted.seq} has hash ${broken.noted.hash}`);
  for (const { checkpoint, genuine } of checkpoints) {
    const { seq, at, kid } = checkpoint;
    const name = `checkpoint of ${at.toISOString()}, record ${seq}, key ${kid}`;
    const signature = genuine === 'yes' ? 'signature good' : 'signature NOT checked (no key)';
    if (genuine === 'no') print(`  ${name}: FORGED or altered: its signature is not of the key given`);
    else if (!broken && !malformed) print(`  ${name}: contained, ${signature}`);
  }
}

function parseWords(words: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        file: { type: 'string' },
        tenant: { type: 'string' },
        checkpoint: { type: 'string', multiple: true, default: [] },
        key: { type: 'string' },
        'public-key': { type: 'boolean', default: false },
      },
    });
    if (positionals.join(' ') === 'verify') return values;
  } catch (error) {
    throw new UserError(error instanceof Error ? error.message : 'These words cannot be read.', usage);
  }
  throw new UserError('Say what to do: verify.', usage);
}

const largestText = 64 * 1024 * 1024;

/** A file where there is one of that name, else the text itself. */
async function readText(word: string): Promise<string> {
  const found = word.length < 4096 ? await stat(word).catch(() => undefined) : undefined;
  if (!found?.isFile()) return word;
  if (found.size > largestText) throw new UserError(`The file ${word} is larger than 64 MB.`);
  return readFile(word, 'utf8');
}

async function findCheckpoints(word: string): Promise<Checkpoint[]> {
  const found = readCheckpoints(await readText(word));
  if (found.length > 0) return found;
  throw new UserError(
    'There is no whole checkpoint in what was given: neither a file of that name, nor its line.',
    'Copy the line from Slack, from “cdn-chatops audit checkpoint” to the end, and put it in quotes.',
  );
}

async function readKey(word: string): Promise<KeyObject> {
  const key = readPublicKey(await readText(word));
  if (key) return key;
  throw new UserError(
    'That is no Ed25519 public key.',
    'Give a PEM file, or the 44 characters that stand in each checkpoint’s message.',
  );
}

async function loadOwnKey({ db }: Database, config: StoreConfig): Promise<KeyObject | undefined> {
  if (!(await hasTable(db, 'audit_signing_keys'))) return undefined;
  const { keyring } = await readKeyring({ ...keyringSource(config), inUse: true });
  return loadPublicSigningKey(db, createSealer(keyring));
}

function printKey(key: KeyObject | undefined, print: Print): AuditVerdict {
  if (!key) {
    throw new UserError(
      'No checkpoint was ever signed, so there is no key yet.',
      'Name a channel for checkpoints in /cdn settings; the key is made with the first one.',
    );
  }
  print(`Key ${publicKeyId(key)}: ${writePublicKey(key)}`);
  print(key.export({ type: 'spki', format: 'pem' }).toString().trimEnd());
  return 'whole';
}
