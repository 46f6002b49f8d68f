import { describe, expect, test } from 'vitest';
import { sealedTables } from '../../../src/app/keyring-service.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { countKeyUse, destroyRowsByKey, rewrap } from '../../../src/auth/keyring/rewrap.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { begin, settle } from '../../../src/commands/operations/execute.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { findOperation } from '../../../src/commands/operations/queries.ts';
import { findPreviousValue } from '../../../src/commands/operations/values.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createKeyring, generateKeys } from '../../auth/keyring/keyrings.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  beginNow,
  createLedgerHarness,
  makeContext,
  makeProposal,
  olivia,
  policy,
} from './ledger-harness.ts';

const engines = await prepareEngines();
const now = (): Date => new Date('2026-11-21T08:00:00.000Z');
const freely = { ...policy, changeApprovals: 0 };
const edit = (value: string) =>
  ({ kind: 'variable-update', scriptId: '301', variableId: '12', value: new Secret(value) }) as const;

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  describe.skipIf(skip)('the values of variables', () => {
    test.each([
      ['a workspace', olivia],
      ['an organisation', { ...olivia, enterpriseId: 'E0CORP000' }],
    ])('values follow the rotation of the keyring, in %s', async (_where, requester) => {
      const database = await emptyDatabase();
      const { db } = database;
      const [k1, k2] = [generateKeys('k1'), generateKeys('k2')];
      const { openReplica, advance } = await createLedgerHarness(database);
      const before = openReplica(database, await createKeyring(k1));
      const { id } = await propose(before, makeProposal(edit('first'), requester, freely));

      const both = await createKeyring(`${k2},${k1}`);
      const done = await rewrap({
        db,
        sealer: createSealer(both),
        tables: sealedTables,
      });
      expect(done).toMatchObject({ moved: 1, unopened: 0 });
      expect(await countKeyUse(db, sealedTables)).toMatchObject([
        { table: 'operation_values', keyId: 'k2', rows: 1 },
      ]);
      const ledger = openReplica(database, both);
      const operation = await findOperation(ledger, requester === olivia ? acme : 'E0CORP000', id);
      if (!operation) throw new Error('It is there.');
      const facts = makeContext(olivia, operation, freely);
      const begun = await begin(ledger, id, facts);
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      expect(begun.request.value?.reveal()).toBe('first');

      // And afterwards, without the old key, an undo still has it.
      await settle(ledger, id, { state: 'succeeded', outcome: { word: 'done' } });
      const after = openReplica(database, await createKeyring(k2));
      advance(1);
      const next = await propose(after, makeProposal(edit('second'), requester, freely));
      await begin(after, next.id, facts);
      await settle(after, next.id, { state: 'succeeded', outcome: { word: 'done' } });
      const previous = await findPreviousValue(after, next.id);
      expect('value' in previous && previous.value.reveal()).toBe('first');
      expect(await findPreviousValue(after, id)).toEqual({ problem: 'overtaken' });
    });

    test('values under a lost key are destroyed, and operations that need them are void', async () => {
      const database = await emptyDatabase();
      const { db } = database;
      const { openReplica } = await createLedgerHarness(database);
      const [k1, k2] = [generateKeys('k1'), generateKeys('k2')];
      const { id } = await propose(
        openReplica(database, await createKeyring(k1)),
        makeProposal(edit('lost'), olivia, freely),
      );
      const keyring = await createKeyring(k2);
      expect(
        await destroyRowsByKey({
          db,
          tables: sealedTables,
          audit: createAudit({ db, now }),
          now,
          keyId: 'k1',
        }),
      ).toBe(1);
      expect(await beginNow(openReplica(database, keyring), id, freely)).toMatchObject({
        kind: 'void',
        why: 'key-gone',
      });
    });
  });
});
