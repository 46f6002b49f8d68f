import { describe, expect, test } from 'vitest';
import { createAudit, verifyChain } from '../../../src/auth/audit/audit.ts';
import { createPolicies, type Policies } from '../../../src/auth/policy/policies.ts';
import { initialPolicy, type Policy } from '../../../src/auth/policy/policy.ts';
import type { Database } from '../../../src/store/database.ts';
import { prepareEngines } from '../../support/engines.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const wallClock = (): Date => new Date();
const acme = 'T0ACME000';
const beta = 'T0BETA000';

function policiesOn({ db }: Database, now = wallClock): Policies {
  return createPolicies({ db, audit: createAudit({ db, now }), now });
}

const naming = (...operators: string[]): Policy => ({ ...initialPolicy, operators });
const change = (tenant: string, base: number, policy: Policy, by = 'U0ALICE00') => ({
  tenant,
  base,
  policy,
  by,
  difference: ['operators: +U0BOB0000'],
});

test('comes back as it was said, and every older version stays', async () => {
  const policies = policiesOn(await embedded.emptyDatabase());
  expect(await policies.current(acme)).toEqual(initialPolicy);
  const first: Policy = {
    ...naming('U0BOB0000'),
    approvalChannel: 'C0OPS0000',
    caps: { C0DEPLOY0: 'read' },
    destroyApprovals: 2,
  };
  await policies.save(change(acme, 0, first));
  await policies.save(change(acme, 1, naming()));
  expect(await policies.current(acme)).toEqual({ ...naming(), version: 2 });
  expect(await policies.version(acme, 1)).toMatchObject({
    policy: { ...first, version: 1 },
    by: 'U0ALICE00',
  });
  for (const version of [0, 3, -1]) expect(await policies.version(acme, version)).toBeUndefined();
});

test('a version that nobody saw before cannot be built upon', async () => {
  const policies = policiesOn(await embedded.emptyDatabase());
  expect(await policies.save(change(acme, 7, naming('U0EVIL000')))).toEqual({
    saved: false,
    meanwhile: undefined,
  });
  expect(await policies.current(acme)).toEqual(initialPolicy);
});

test('belongs to one workspace, though ids are equal in another', async () => {
  const database = await embedded.emptyDatabase();
  const policies = policiesOn(database);
  await Promise.all([
    policies.save(change(acme, 0, naming('U0ALICE00'))),
    policies.save(change(beta, 0, naming('U0BOB0000'))),
  ]);
  const both = await Promise.all([policies.current(acme), policies.current(beta)]);
  expect(both.map(({ operators }) => operators)).toEqual([['U0ALICE00'], ['U0BOB0000']]);
  expect((await createAudit({ db: database.db, now: wallClock }).recent(beta, 5)).length).toBe(1);
});

test('is not saved where it cannot be recorded', async () => {
  const { db } = await embedded.emptyDatabase();
  const now = wallClock;
  const audit = { ...createAudit({ db, now }), record: () => Promise.reject(new Error('disk full')) };
  const policies = createPolicies({ db, audit, now });
  await expect(policies.save(change(acme, 0, naming('U0BOB0000')))).rejects.toThrow('disk full');
  expect(await policies.current(acme)).toEqual(initialPolicy);
});

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('of twenty who save at once one does, and each other hears of whom', async () => {
    const database = await emptyDatabase();
    const [here, there] = [policiesOn(database), policiesOn(database)];
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? here : there).save(change(acme, 0, naming(`U${index}`), `U${index}`)),
      ),
    );
    const winners = outcomes.flatMap((outcome) => (outcome.saved ? [outcome.policy] : []));
    expect(winners).toHaveLength(1);
    const told = outcomes.flatMap((outcome) => (outcome.saved ? [] : [outcome.meanwhile?.by]));
    expect(told).toEqual(Array.from({ length: 19 }, () => winners[0]?.operators[0]));
    const recorded = await createAudit({ db: database.db, now: wallClock }).recent(acme, 50);
    expect(recorded).toHaveLength(1);
    expect(await verifyChain(database.db, acme)).toMatchObject({ ok: true, records: 1 });
  });
});

test('settings that cannot be read allow nothing', async () => {
  const database = await embedded.emptyDatabase();
  const row = { tenant: acme, version: 1, body: '{"operators":"everybody"}' };
  await database.db
    .insertInto('policies')
    .values({ ...row, changed_by: 'U0ALICE00', changed_at: new Date() })
    .execute();
  await expect(policiesOn(database).current(acme)).rejects.toThrow(/invalid_type/);
});
