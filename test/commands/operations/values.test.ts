import { expect, test } from 'vitest';
import { sealedTables } from '../../../src/app/keyring-service.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { countKeyUse, destroyRowsByKey, rewrap } from '../../../src/auth/keyring/rewrap.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { begin, settle } from '../../../src/commands/operations/execute.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { findUndo } from '../../../src/commands/operations/values.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createKeyring, generateKeys } from '../../auth/keyring/keyrings.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  beginNow,
  brief,
  createLedgerHarness,
  findNow,
  makeContext,
  makeProposal,
  olivia,
  policy,
} from './ledger-harness.ts';

const { embedded } = await prepareEngines();
const now = (): Date => new Date('2026-11-21T08:00:00.000Z');
const freely = { ...policy, changeApprovals: 0 };
const propose12 = (value: string, requester = olivia) => {
  const ids = { kind: 'variable-update', scriptId: '301', variableId: '12' } as const;
  return makeProposal({ ...ids, value: new Secret(value) }, requester, freely);
};

test.each([
  ['a workspace', olivia, acme],
  ['an organization', { ...olivia, enterpriseId: 'E0CORP000' }, 'E0CORP000'],
])('values follow the rotation of the keyring, in %s', async (_where, requester, tenant) => {
  const database = await embedded.emptyDatabase();
  const { db } = database;
  const [k1, k2] = [generateKeys('k1'), generateKeys('k2')];
  const { openReplica, advance } = await createLedgerHarness(database);
  const before = openReplica(database, await createKeyring(k1));
  const { id } = await propose(before, propose12('first', requester));

  const both = await createKeyring(`${k2},${k1}`);
  const done = await rewrap({ db, sealer: createSealer(both), tables: sealedTables });
  expect(done).toMatchObject({ moved: 1, unopened: 0 });
  expect(await countKeyUse(db, sealedTables)).toMatchObject([
    { table: 'operation_values', keyId: 'k2', rows: 1 },
  ]);
  const ledger = openReplica(database, both);
  const facts = makeContext(olivia, await findNow(ledger, id, tenant), freely);
  const begun = await begin(ledger, id, facts);
  expect(begun.kind === 'begun' && begun.value?.reveal()).toBe('first');

  // And afterwards, without the old key, an undo still has it.
  const succeeded = { state: 'succeeded', outcome: { word: 'done' } } as const;
  await settle(ledger, id, succeeded);
  const after = openReplica(database, await createKeyring(k2));
  advance(1);
  const next = await propose(after, propose12('second', requester));
  await begin(after, next.id, facts);
  await settle(after, next.id, succeeded);
  const previous = await findUndo(after, await findNow(after, next.id, tenant));
  expect(typeof previous === 'object' && previous.value.reveal()).toBe('first');
});

test('values under a lost key are destroyed, and operations that need them are void', async () => {
  const database = await embedded.emptyDatabase();
  const { db } = database;
  const { openReplica } = await createLedgerHarness(database);
  const [k1, k2] = [await createKeyring(generateKeys('k1')), await createKeyring(generateKeys('k2'))];
  const { id } = await propose(openReplica(database, k1), propose12('lost'));
  const audit = createAudit({ db, now });
  expect(await destroyRowsByKey({ db, tables: sealedTables, audit, keyId: 'k1' })).toBe(1);
  expect(brief(await beginNow(openReplica(database, k2), id, freely))).toBe('void key-gone');
});
