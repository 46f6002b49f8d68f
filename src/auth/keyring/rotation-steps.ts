import type { Kysely } from 'kysely';
import { UserError } from '../../errors.ts';
import type { WithLock } from '../../store/database.ts';
import type { Schema } from '../../store/schema.ts';
import { type Audit, deployment } from '../audit/audit.ts';
import type { SealedTable } from '../keys/sealed-rows.ts';
import { createSealer } from '../keys/sealing.ts';
import { checkKeyring, forgetCheckValue } from './check.ts';
import { createKeyEntry, replaceKeyFile } from './key-file.ts';
import { type Keyring, type KeyringSource, readKeyring } from './keyring.ts';
import { destroyRowsByKey, rewrap } from './rewrap.ts';
import { countKeyUse, describeUse } from './sealed-tables.ts';
import { findLiveMembers, type KeyringMember } from './watch.ts';

export interface KeysOptions {
  readonly db: Kysely<Schema>;
  readonly tables: readonly SealedTable[];
  readonly withLock: WithLock;
  readonly source: KeyringSource;
  readonly audit: Audit;
  readonly now: () => Date;
  /** Prints a line in the operator's terminal. */
  readonly print: (line: string) => void;
}

/** Adds a key that opens and does not seal yet. */
export async function addKey(
  { db, tables, source, audit, print }: KeysOptions,
  wanted: string | undefined,
): Promise<void> {
  const { keyring, entries, path } = await readKeyring({ ...source, inUse: true });
  if (wanted !== undefined && keyring.find(wanted)) throw new UserError(`There already is a key ${wanted}.`);
  const use = wanted === undefined ? undefined : describeUse(await countKeyUse(db, tables), wanted);
  if (use) {
    throw new UserError(
      `Rows are sealed under another key named ${wanted}: ${use}.`,
      'Give the new key another id.',
    );
  }
  const { id, entry } = createKeyEntry(wanted);
  if (path === undefined) {
    print(`Put this at the END of ENCRYPTION_KEYS, in every process, and restart them one by one:`);
    print(`  ,${entry.reveal()}`);
    print(
      'This is the one time that a key is printed: it is kept nowhere. Put it into your secret store now.',
    );
    print(`Then: npm run keys -- promote ${id}`);
    return;
  }
  await replaceKeyFile(path, [...entries, entry]);
  // Stores the check value now, so that a copy of the file that was damaged on the way is noticed where it is read.
  await checkKeyring(db, (await readKeyring(source)).keyring, tables);
  await audit.record(changeRecord(id, 'added'));
  print(`Added ${id} to ${path}. It opens, and does not seal yet.`);
  print('Back the file up. Where processes run on several machines, copy it to each.');
  print(`Running processes take it over within seconds. Then: npm run keys -- promote ${id}`);
}

/** Makes a key that every running process knows the primary one: it seals from now on. */
export async function promoteKey(
  { db, tables, source, audit, print }: KeysOptions,
  id: string,
): Promise<void> {
  const { keyring, entries, path } = await readKeyring({ ...source, inUse: true });
  if (!keyring.find(id)) throw missingKey(id);
  const members = await findLiveMembers(db);
  refuseUnlessKnown(members, id, `${id} cannot become the primary key yet`);
  if (keyring.primary.id === id && members.every(({ primaryId }) => primaryId === id)) {
    print(`${id} is the primary key already. Next: npm run keys -- rewrap`);
    return;
  }
  await checkKeyring(db, keyring, tables);
  const order = [id, ...keyring.ids.filter((other) => other !== id)];
  if (path === undefined) {
    print(`Every running process knows ${id}. Put its entry FIRST in ENCRYPTION_KEYS, in every process:`);
    print(`  ${formatOrder(order)}`);
    print('Restart them one by one. Then: npm run keys -- rewrap');
    return;
  }
  const byId = new Map(keyring.ids.map((each, index) => [each, entries[index]]));
  await replaceKeyFile(
    path,
    order.map((each) => byId.get(each)).filter((entry) => entry !== undefined),
  );
  await audit.record(changeRecord(id, 'promoted'));
  print(`${id} is the primary key in ${path}; running processes take that over within seconds.`);
  print('Where processes run on several machines, copy the file to each. Then: npm run keys -- rewrap');
}

/** Puts every row under the primary key. */
export async function rewrapAllRows({ db, tables, source, audit, print }: KeysOptions): Promise<void> {
  const { keyring } = await readKeyring({ ...source, inUse: true });
  const { id } = keyring.primary;
  const members = await findLiveMembers(db);
  refuseUnlessKnown(members, id, `Nothing can be put under ${id} yet`);
  await checkKeyring(db, keyring, tables);
  const { moved, overtaken, broken } = await rewrap({
    db,
    sealer: createSealer(keyring),
    tables,
    progress: (line) => print(`  ${line}`),
  });
  await audit.record(changeRecord(id, 'rewrapped', moved));
  const overtook = overtaken > 0 ? `, ${overtaken} changed meanwhile by their owners` : '';
  print(`${moved} put under ${id}${overtook}, ${broken.length} left that do not open.`);
  for (const whose of broken.slice(0, 20)) print(`  does not open: ${whose}`);
  const behind = members.filter(({ primaryId }) => primaryId !== id);
  if (behind.length > 0) {
    print('These processes still seal under another key; run this again when they have changed:');
    for (const member of behind) print(`  ${describeMember(member)}`);
  }
  const others = keyring.ids.filter((other) => other !== id);
  const use = await countKeyUse(db, tables);
  for (const other of others) {
    const left = describeUse(use, other);
    print(left ? `Still under ${other}: ${left}` : `Next: npm run keys -- retire ${other}`);
  }
}

/** Removes a key that nothing needs any more. */
export async function retireKey(
  { db, tables, source, audit, print }: KeysOptions,
  id: string,
): Promise<void> {
  const { keyring, entries, path } = await readKeyring({ ...source, inUse: true });
  await refuseWhileSealing(db, keyring, id);
  const use = describeUse(await countKeyUse(db, tables), id);
  const there = keyring.find(id) !== undefined;
  if (use) {
    const otherwise = `npm run keys -- retire ${id} --destroy-rows destroys: their owners connect again.`;
    throw new UserError(
      `${id} is still needed: ${use}.`,
      there
        ? `npm run keys -- rewrap puts them under the primary key. What it cannot open, ${otherwise}`
        : `It is not in the keyring: put it back from your backup. What is lost for good, ${otherwise}`,
    );
  }
  if (!there) throw missingKey(id);
  if (path === undefined) {
    await forgetCheckValue(db, id);
    print(`Nothing needs ${id}. Take its entry out of ENCRYPTION_KEYS and restart the processes one by one:`);
    print(`  ${formatOrder(keyring.ids.filter((other) => other !== id))}`);
    return;
  }
  await replaceKeyFile(
    path,
    entries.filter((_, index) => keyring.ids[index] !== id),
  );
  await forgetCheckValue(db, id);
  await audit.record(changeRecord(id, 'retired'));
  print(`Took ${id} out of ${path}. Keep your backup of it as long as backups of the database need it.`);
}

/** Destroys the rows that only this key opens; true = the key is still in the keyring and can be removed now. */
export async function destroyRemainingRows(
  { db, tables, source, audit, now, print }: KeysOptions,
  keyId: string,
): Promise<boolean> {
  const { keyring } = await readKeyring({ ...source, inUse: true });
  await refuseWhileSealing(db, keyring, keyId);
  const destroyed = await destroyRowsByKey({ db, sealer: createSealer(keyring), tables, audit, now, keyId });
  await audit.record(changeRecord(keyId, 'destroyed', destroyed));
  print(`Destroyed what was under ${keyId}: ${destroyed} rows. Their owners connect again.`);
  if (keyring.find(keyId)) return true;
  await forgetCheckValue(db, keyId);
  return false;
}

async function refuseWhileSealing(db: Kysely<Schema>, keyring: Keyring, id: string): Promise<void> {
  if (keyring.primary.id === id) {
    throw new UserError(`${id} is the primary key: it seals what is stored.`, 'Promote another key first.');
  }
  const sealing = (await findLiveMembers(db)).filter(({ primaryId }) => primaryId === id);
  if (sealing.length > 0) {
    throw new UserError(
      `${id} is still the primary key of running processes:\n${formatMembers(sealing)}`,
      'Wait until they have taken over the changed file, or restart them with the changed ENCRYPTION_KEYS.',
    );
  }
}

/** An order of entries, without the keys. */
function formatOrder(ids: readonly string[]): string {
  return ids.map((id) => `${id}:…`).join(',');
}

function refuseUnlessKnown(members: readonly KeyringMember[], id: string, problem: string): void {
  const unaware = members.filter(({ keyIds }) => !keyIds.includes(id));
  if (unaware.length === 0) return;
  throw new UserError(
    `${problem}: these processes do not know it, and could not open what is sealed under it:\n${formatMembers(unaware)}`,
    'A key file that changed is taken over within seconds; with ENCRYPTION_KEYS a process has to be restarted. ' +
      'One that was killed leaves this list after two minutes.',
  );
}

function formatMembers(members: readonly KeyringMember[]): string {
  return members.map((member) => `  - ${describeMember(member)}`).join('\n');
}

/** Its label and the keys it knows. */
export function describeMember({ label, keyIds, primaryId }: KeyringMember): string {
  const keys = keyIds.map((id) => (id === primaryId ? `${id} (primary)` : id)).join(', ');
  return `${label}: ${keys}`;
}

function missingKey(id: string): UserError {
  return new UserError(
    `There is no key ${id} in the keyring.`,
    'npm run keys -- status shows which there are.',
  );
}

function changeRecord(id: string, step: string, rows?: number): Parameters<Audit['record']>[0] {
  const detail = rows === undefined ? { step } : { step, rows };
  return { tenant: deployment, actor: 'system', event: 'keyring-changed', subject: id, detail };
}
