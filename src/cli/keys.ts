import { readStoreConfig } from '../app/config.ts';
import { keyringSource, sealedTables } from '../app/keyring-service.ts';
import { createAudit, deployment } from '../auth/audit/audit.ts';
import { createKeyEntry, isKeyId, type ReadKeyring, readKeyring } from '../auth/keyring/keyring.ts';
import {
  countKeyUse,
  describeUse,
  destroyRowsByKey,
  findMissingKeys,
  rewrap,
} from '../auth/keyring/rewrap.ts';
import { createSealer } from '../auth/keys/sealing.ts';
import { UserError } from '../errors.ts';
import type { Db } from '../store/schema.ts';
import { type Command, describeUsage, parseWords, type Terminal, withDatabase } from './terminal.ts';

/** `npm run keys -- …`: prints key ids, and no key but the one that `new` makes. @throws UserError */
export const keysCommand: Command = async (words, { env, log, print }) => {
  const { values, positionals } = parseWords('keys', words, { yes: { type: 'string' } }, true);
  const [word = 'status', id, ...more] = positionals;
  if (!['status', 'new', 'destroy'].includes(word)) throw misused(`Unknown command “keys ${word}”.`);
  if (more.length > 0 || (word === 'status' && id !== undefined)) throw misused('Too many words.');
  if (id !== undefined && !isKeyId(id)) throw misused('A key ID has 1 to 32 letters, digits, - or _.');
  if (word === 'new') {
    // Anywhere, also where nothing is configured.
    print(createKeyEntry(id).reveal());
    return true;
  }
  if (word === 'destroy' && (id === undefined || values.yes !== id))
    throw misused('Name the key twice: this cannot be undone.');

  const config = readStoreConfig(env);
  return withDatabase(config, log, 'stop the bot, and type it again', async (database) => {
    await database.migrate();
    const read = await readKeyring({ ...keyringSource(config), inUse: true });
    const step = { db: database.db, read, print };
    await (id === undefined ? printStatus(step) : destroyRows(id, step));
    return true;
  });
};

function misused(problem: string): UserError {
  return new UserError(problem, describeUsage('keys'));
}

const now = (): Date => new Date();

interface Step {
  readonly db: Db;
  readonly read: Pick<ReadKeyring, 'keyring' | 'source'>;
  readonly print: Terminal['print'];
}

export async function printStatus({ db, read: { keyring, source }, print }: Step): Promise<void> {
  const use = await countKeyUse(db, sealedTables);
  const { id } = keyring.primary;
  print(`Keys of ${source}: the first one seals, all of them open.`);
  for (const one of keyring.ids) {
    const rows = describeUse(use, one);
    print(`  ${one}  ${rows ?? (one === id ? 'nothing yet' : 'not needed: it can be removed')}`);
  }
  const missing = findMissingKeys(use, keyring);
  if (missing.length > 0) print('Missing, so these rows do not open:');
  for (const one of missing) print(`  ${one}  ${describeUse(use, one)}`);
  const waiting = keyring.ids.some((one) => one !== id && describeUse(use, one) !== undefined);
  if (waiting)
    print(`Running processes reseal everything under ${id} within minutes. What stays does not open.`);
  if (keyring.ids.length > 1)
    print(
      'Remove a key once every process runs with this list: requests that wait since before become void. Keep it with the backups that need it.',
    );
}

/** Destroys the rows that only this key could open, where it is lost or they are altered. */
export async function destroyRows(keyId: string, { db, read: { keyring }, print }: Step): Promise<void> {
  if (keyring.primary.id === keyId)
    throw new UserError(`${keyId} is the first key: it seals what is stored.`, 'Put another key first.');
  const audit = createAudit({ db, now });
  // What still opens stays.
  if (keyring.find(keyId)) await rewrap({ db, sealer: createSealer(keyring), tables: sealedTables });
  const rows = await destroyRowsByKey({ db, tables: sealedTables, audit, keyId });
  const about = { tenant: deployment, actor: 'system', subject: keyId };
  await audit.record({ ...about, event: 'keyring-changed', detail: { step: 'destroyed', rows } });
  print(`Rows destroyed under ${keyId}: ${rows}. Their owners must connect again.`);
}
