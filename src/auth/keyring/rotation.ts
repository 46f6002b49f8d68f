import { UserError } from '../../errors.ts';
import type { WithLock } from '../../store/database.ts';
import type { Db } from '../../store/schema.ts';
import { type Audit, deployment } from '../audit/audit.ts';
import type { SealedTable } from '../keys/sealed-rows.ts';
import { createSealer } from '../keys/sealing.ts';
import { checkKeyring, findMissingKeys, forgetCheckValue } from './check.ts';
import {
  createKey,
  createKeyId,
  isKeyId,
  type KeyringSource,
  type ReadKeyring,
  readKeyring,
  replaceKeyFile,
} from './keyring.ts';
import { countKeyUse, describeUse, destroyRowsByKey, rewrap } from './sealed-tables.ts';
import { findLiveMembers, listMembers, refuseUnlessKnown } from './watch.ts';

interface KeysOptions {
  readonly db: Db;
  readonly tables: readonly SealedTable[];
  readonly withLock: WithLock;
  readonly source: KeyringSource;
  readonly audit: Audit;
  readonly now: () => Date;
  /** Prints a line in the operator's terminal. */
  readonly print: (line: string) => void;
}

const usage =
  'Usage: npm run keys -- status | add [kid] | promote <kid> | rewrap | retire <kid> [--destroy-rows]';

type Step = KeysOptions & ReadKeyring & { readonly id: string };

interface Command {
  readonly id: 'none' | 'optional' | 'required';
  readonly run: (step: Step) => Promise<void>;
}

const commands: Readonly<Record<string, Command>> = {
  status: { id: 'none', run: printStatus },
  add: { id: 'optional', run: addKey },
  promote: { id: 'required', run: promoteKey },
  rewrap: { id: 'none', run: rewrapAllRows },
  retire: { id: 'required', run: retireKey },
};

/**
 * Runs `npm run keys -- …` (docs/operating.md, “Rotation”). Prints key ids, never keys, with one exception: `add` prints
 * the new key where the keyring is in the environment, since only an operator can put it there.
 *
 * @throws UserError where a step is refused, with why and what to do first.
 */
export async function runKeys(words: readonly string[], options: KeysOptions): Promise<void> {
  const [word = 'status', ...rest] = words;
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (!command) throw misuse(`There is no “keys ${word}”.`);
  const flags = rest.filter((one) => one.startsWith('--'));
  const [id, ...more] = rest.filter((one) => !one.startsWith('--'));
  const destroys = word === 'retire' && flags.join() === '--destroy-rows';
  if (more.length > 0 || (flags.length > 0 && !destroys)) throw misuse('Too many words.');
  if (command.id === 'none' && id !== undefined) throw misuse(`“${word}” takes no key id.`);
  if (command.id === 'required' && id === undefined) throw misuse(`Which key? “${word}” needs its id.`);
  if (id !== undefined && !isKeyId(id)) throw misuse('A key id has 1 to 32 letters, digits, - or _.');

  const run = async <T>(step: (context: Step) => Promise<T>): Promise<T> => {
    const ring = await readKeyring({ ...options.source, inUse: true });
    return step({ ...options, ...ring, id: id ?? createKeyId() });
  };
  if (destroys && !(await run(destroyRemainingRows))) return;
  // One operator at a time: each step checks first and acts then. Two rewraps at once do no harm.
  await (command.id === 'none' ? run(command.run) : options.withLock('keys', () => run(command.run)));
}

function misuse(problem: string): UserError {
  return new UserError(problem, usage);
}

async function printStatus({ db, tables, print, keyring, path }: Step): Promise<void> {
  const use = await countKeyUse(db, tables);
  print(`Keys in ${path ?? 'ENCRYPTION_KEYS'}:`);
  for (const id of keyring.ids) {
    const role = id === keyring.primary.id ? 'primary, seals and opens' : 'opens';
    print(`  ${id}  ${role}: ${describeUse(use, id) ?? 'nothing'}`);
  }
  const missing = findMissingKeys(use, keyring);
  if (missing.length > 0) print('Not in the keyring, so these do not open:');
  for (const id of missing) print(`  ${id}  ${describeUse(use, id)}`);
  const members = await findLiveMembers(db);
  print(members.length === 0 ? 'Running processes: none' : 'Running processes:');
  for (const member of members) print(`  ${member.words}, ${member.seenSecondsAgo} s ago`);
  if (keyring.ids.some((id) => id !== keyring.primary.id && describeUse(use, id)))
    print('Next: npm run keys -- rewrap');
}

/** Adds a key that opens and does not seal yet. */
async function addKey(step: Step): Promise<void> {
  const { id, db, tables, source, print, keyring, keys, path } = step;
  if (keyring.find(id)) throw new UserError(`There already is a key ${id}.`);
  const use = describeUse(await countKeyUse(db, tables), id);
  if (use)
    throw new UserError(
      `Rows are sealed under another key named ${id}: ${use}.`,
      'Give the new key another id.',
    );
  const added = createKey(id);
  if (path === undefined) {
    print(`Put this at the END of ENCRYPTION_KEYS, in every process, and restart them one by one:`);
    print(`  ,${added.entry.reveal()}`);
    print(
      'This is the one time that a key is printed: it is kept nowhere. Put it into your secret store now.',
    );
    print(`Then: npm run keys -- promote ${id}`);
    return;
  }
  await replaceKeyFile(path, [...keys, added]);
  // Stores the check value now, so that a copy of the file that was damaged on the way is noticed where it is read.
  await checkKeyring(db, (await readKeyring(source)).keyring, tables);
  await recordChange(step, 'added');
  print(`Added ${id} to ${path}. It opens, and does not seal yet.`);
  print('Back the file up. Where processes run on several machines, copy it to each.');
  print(`Running processes take it over within seconds. Then: npm run keys -- promote ${id}`);
}

/** Makes a key that every running process knows the primary one: it seals from now on. */
async function promoteKey(step: Step): Promise<void> {
  const { id, db, tables, print, keyring, keys, path } = step;
  const promoted = keyring.find(id);
  if (!promoted) throw missingKey(id);
  const members = await findLiveMembers(db);
  refuseUnlessKnown(members, id, `${id} cannot become the primary key yet`);
  if (keyring.primary.id === id && members.every(({ primaryId }) => primaryId === id)) {
    print(`${id} is the primary key already. Next: npm run keys -- rewrap`);
    return;
  }
  await checkKeyring(db, keyring, tables);
  const ordered = [promoted, ...keys.filter((key) => key !== promoted)];
  if (path === undefined) {
    print(`Every running process knows ${id}. Put its entry FIRST in ENCRYPTION_KEYS, in every process:`);
    print(`  ${formatOrder(ordered)}`);
    print('Restart them one by one. Then: npm run keys -- rewrap');
    return;
  }
  await replaceKeyFile(path, ordered);
  await recordChange(step, 'promoted');
  print(`${id} is the primary key in ${path}; running processes take that over within seconds.`);
  print('Where processes run on several machines, copy the file to each. Then: npm run keys -- rewrap');
}

/** Puts every row under the primary key. */
async function rewrapAllRows(step: Step): Promise<void> {
  const { db, tables, print, keyring } = step;
  const { id } = keyring.primary;
  const members = await findLiveMembers(db);
  refuseUnlessKnown(members, id, `Nothing can be put under ${id} yet`);
  await checkKeyring(db, keyring, tables);
  const progress = (line: string): void => print(`  ${line}`);
  const { moved, overtaken, broken } = await rewrap({ db, sealer: createSealer(keyring), tables, progress });
  await recordChange({ ...step, id }, 'rewrapped', moved);
  const overtook = overtaken > 0 ? `, ${overtaken} changed meanwhile by their owners` : '';
  print(`${moved} put under ${id}${overtook}, ${broken.length} left that do not open.`);
  for (const whose of broken.slice(0, 20)) print(`  does not open: ${whose}`);
  const behind = members.filter(({ primaryId }) => primaryId !== id);
  if (behind.length > 0)
    print('These processes still seal under another key; run this again when they have changed:');
  for (const member of behind) print(`  ${member.words}`);
  const use = await countKeyUse(db, tables);
  for (const other of keyring.ids.filter((one) => one !== id)) {
    const left = describeUse(use, other);
    print(left ? `Still under ${other}: ${left}` : `Next: npm run keys -- retire ${other}`);
  }
}

/** Removes a key that nothing needs any more. */
async function retireKey(step: Step): Promise<void> {
  const { id, db, tables, print, keyring, keys, path } = step;
  await refuseWhileSealing(step);
  const use = describeUse(await countKeyUse(db, tables), id);
  const isThere = keyring.find(id) !== undefined;
  if (use) {
    const otherwise = `npm run keys -- retire ${id} --destroy-rows destroys: their owners connect again.`;
    throw new UserError(
      `${id} is still needed: ${use}.`,
      isThere
        ? `npm run keys -- rewrap puts them under the primary key. What it cannot open, ${otherwise}`
        : `It is not in the keyring: put it back from your backup. What is lost for good, ${otherwise}`,
    );
  }
  if (!isThere) throw missingKey(id);
  const others = keys.filter((key) => key.id !== id);
  if (path !== undefined) await replaceKeyFile(path, others);
  await forgetCheckValue(db, id);
  if (path === undefined) {
    print(`Nothing needs ${id}. Take its entry out of ENCRYPTION_KEYS and restart the processes one by one:`);
    print(`  ${formatOrder(others)}`);
    return;
  }
  await recordChange(step, 'retired');
  print(`Took ${id} out of ${path}. Keep your backup of it as long as backups of the database need it.`);
}

/** Destroys the rows that only this key opens; true = the key is still in the keyring and can be removed now. */
async function destroyRemainingRows(step: Step): Promise<boolean> {
  const { id, db, print, keyring } = step;
  await refuseWhileSealing(step);
  const destroyed = await destroyRowsByKey({ ...step, sealer: createSealer(keyring), keyId: id });
  await recordChange(step, 'destroyed', destroyed);
  print(`Rows destroyed under ${id}: ${destroyed}. Their owners connect again.`);
  if (keyring.find(id)) return true;
  await forgetCheckValue(db, id);
  return false;
}

async function refuseWhileSealing({ id, db, keyring }: Step): Promise<void> {
  if (keyring.primary.id === id)
    throw new UserError(`${id} is the primary key: it seals what is stored.`, 'Promote another key first.');
  const sealing = (await findLiveMembers(db)).filter(({ primaryId }) => primaryId === id);
  if (sealing.length === 0) return;
  throw new UserError(
    `${id} is still the primary key of running processes:\n${listMembers(sealing)}`,
    'Wait until they have taken over the changed file, or restart them with the changed ENCRYPTION_KEYS.',
  );
}

/** The order of the entries, without the keys. */
function formatOrder(keys: ReadKeyring['keys']): string {
  return keys.map(({ id }) => `${id}:…`).join(',');
}

function missingKey(id: string): UserError {
  return new UserError(
    `There is no key ${id} in the keyring.`,
    'npm run keys -- status shows which there are.',
  );
}

async function recordChange({ audit, id }: Step, step: string, rows?: number): Promise<void> {
  const about = { tenant: deployment, actor: 'system', subject: id };
  await audit.record({ ...about, event: 'keyring-changed', detail: { step, rows } });
}
