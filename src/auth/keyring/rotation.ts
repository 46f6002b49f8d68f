import { UserError } from '../../errors.ts';
import { isKeyId, readKeyring } from './keyring.ts';
import {
  addKey,
  describeMember,
  destroyRemainingRows,
  type KeysOptions,
  promoteKey,
  retireKey,
  rewrapAllRows,
} from './rotation-steps.ts';
import { countKeyUse, describeUse } from './sealed-tables.ts';
import { findLiveMembers } from './watch.ts';

const keysUsage =
  'Usage: npm run keys -- status | add [kid] | promote <kid> | rewrap | retire <kid> [--destroy-rows]';

/**
 * Runs `npm run keys -- …` (docs/operating.md, “Rotation”). Prints key ids, never keys, with one exception: `add` prints
 * the new key where the keyring is in the environment, since only an operator can put it there.
 *
 * @throws UserError where a step is refused, with why and what to do first.
 */
export async function runKeys(words: readonly string[], options: KeysOptions): Promise<void> {
  const [word = 'status', ...rest] = words;
  const flags = rest.filter((one) => one.startsWith('--'));
  const [id, ...more] = rest.filter((one) => !one.startsWith('--'));
  const destroy = word === 'retire' && flags.length === 1 && flags[0] === '--destroy-rows';
  if (more.length > 0 || (flags.length > 0 && !destroy)) throw new UserError('Too many words.', keysUsage);
  const requireId = (): string => {
    if (id === undefined) throw new UserError(`Which key? “${word}” needs its id.`, keysUsage);
    if (!isKeyId(id)) throw new UserError('A key id has 1 to 32 letters, digits, - or _.', keysUsage);
    return id;
  };
  const refuseId = (): void => {
    if (id !== undefined) throw new UserError(`“${word}” takes no key id.`, keysUsage);
  };
  // One operator at a time: each step checks first and acts then.
  const exclusively = (step: () => Promise<void>): Promise<void> => options.withLock('keys', step);
  switch (word) {
    case 'status':
      refuseId();
      return printStatus(options);
    case 'add': {
      const wanted = id === undefined ? undefined : requireId();
      return exclusively(() => addKey(options, wanted));
    }
    case 'promote': {
      const wanted = requireId();
      return exclusively(() => promoteKey(options, wanted));
    }
    case 'rewrap':
      refuseId();
      // Not exclusive: two at once do no harm, and it may take longer than the lock is held.
      return rewrapAllRows(options);
    case 'retire': {
      const wanted = requireId();
      if (destroy && !(await destroyRemainingRows(options, wanted))) return;
      return exclusively(() => retireKey(options, wanted));
    }
    default:
      throw new UserError(`There is no “keys ${word}”.`, keysUsage);
  }
}

async function printStatus({ db, tables, source, print }: KeysOptions): Promise<void> {
  const { keyring, path } = await readKeyring({ ...source, inUse: true });
  const use = await countKeyUse(db, tables);
  print(`Keys in ${path ?? 'ENCRYPTION_KEYS'}:`);
  for (const id of keyring.ids) {
    const role = id === keyring.primary.id ? 'primary, seals and opens' : 'opens';
    print(`  ${id}  ${role}: ${describeUse(use, id) ?? 'nothing'}`);
  }
  const missing = [...new Set(use.map(({ keyId }) => keyId))].filter((id) => !keyring.find(id));
  if (missing.length > 0) print('Not in the keyring, so these do not open:');
  for (const id of missing) print(`  ${id}  ${describeUse(use, id)}`);
  const members = await findLiveMembers(db);
  print(members.length === 0 ? 'Running processes: none' : 'Running processes:');
  for (const member of members) print(`  ${describeMember(member)}, ${member.seenSecondsAgo} s ago`);
  const others = keyring.ids.filter((id) => id !== keyring.primary.id);
  if (others.some((id) => describeUse(use, id))) print('Next: npm run keys -- rewrap');
}
