import * as fc from 'fast-check';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { approve } from '../../../src/commands/operations/approvals.ts';
import { begin } from '../../../src/commands/operations/execute.ts';
import {
  findKind,
  indexKinds,
  type OperationRow,
  type SealedRequest,
} from '../../../src/commands/operations/kinds/kind.ts';
import { operationKinds } from '../../../src/commands/operations/kinds/list.ts';
import { readRequest } from '../../../src/commands/operations/model.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { collectSignedParts, computeSeal, findSealProblem } from '../../../src/commands/operations/seal.ts';
import { commitToValue, openValue, storeValue } from '../../../src/commands/operations/values.ts';
import { UserError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createKeyring, generateKeys } from '../../auth/keyring/keyrings.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  anna,
  approveNow,
  ben,
  brief,
  carl,
  deletion,
  findEvents,
  makeContext,
  makeProposal,
  olivia,
  policy,
  startLedger,
  type TestRequest,
  toRequested,
} from './ledger-harness.ts';

const { embedded } = await prepareEngines();
const start = async () => startLedger(await embedded.emptyDatabase());
type Bot = Awaited<ReturnType<typeof start>>;
const rules = { ...policy, changeApprovals: 1 };
const freely = { ...policy, changeApprovals: 0 };
const twoOfThree = { ...policy, destroyApprovals: 2 };
const edit = (value: string) =>
  ({
    kind: 'variable-update',
    scriptId: '301',
    variableId: '12',
    required: true,
    value: new Secret(value),
  }) as const;

/** For every column that is sealed what somebody with the database makes of it. */
const mutations: Readonly<Record<string, string>> = {
  tenant: `'T0BETA000'`,
  kind: `'volume-delete'`,
  enterprise_id: `'E0CORP000'`,
  team_id: `'T0OTHER00'`,
  user_id: `'U0ANNA000'`,
  channel_id: 'null',
  method: `'DELETE'`,
  path: `'/compute/script/301/variables/13'`,
  body: `'{"Required":false}'`,
  value_mac: `'${'0'.repeat(64)}'`,
  cdn_key: `'9 1f2e3d4c'`,
  reason: `'another reason'`,
  snapshot: `'{"zones":[]}'`,
  policy_version: '8',
  approvals_needed: '0',
  attempt_of: 'id',
  via: `'assistant'`,
  created_at: `created_at + interval '1 millisecond'`,
  expires_at: `expires_at + interval '1 day'`,
  seal: `'${'0'.repeat(64)}'`,
  mac: `'${'0'.repeat(64)}'`,
  key_id: `'k0'`,
};
// What moves with an operation. Where it differs from the log, that voids too.
const moving = ['id', 'state', 'seq', 'moved_by', 'moved_at', 'outcome', 'approvers', 'reminded_at'];

describe('a changed column', () => {
  let bot: Bot;
  beforeAll(async () => {
    bot = await start();
  });

  const askFor = () => bot.ask(edit('one'), olivia, rules);

  test('every column is sealed or changes with transitions', async () => {
    const { rows } = await sql<{ name: string }>`
      select column_name as name from information_schema.columns where table_name = 'operations'`.execute(
      bot.database.db,
    );
    expect(rows.map(({ name }) => name).toSorted()).toEqual(
      [...Object.keys(mutations), ...moving].toSorted(),
    );
  });

  test.each(Object.entries(mutations))('%s voids it, at the click and when it runs', async (column, to) => {
    const { ledger, enqueued, tamper } = bot;
    const isVoid = column === 'key_id' ? 'void key-gone' : 'void changed';
    const clicked = await askFor();
    const facts = makeContext(ben, await bot.find(clicked), rules);
    await tamper(`update operations set ${column} = ${to} where id = '${clicked}'`);
    const clicker = column === 'tenant' ? { teamId: 'T0BETA000', userId: ben.userId } : ben;
    const press = await approve(ledger, clicked, clicker, facts);
    expect(brief(press)).toBe(isVoid);
    expect(press).toMatchObject({ operation: { state: 'failed', movedBy: 'system' } });
    expect(brief(await approve(ledger, clicked, clicker, facts))).toBe('already failed');

    const running = await askFor();
    await approveNow(ledger, running, ben, rules);
    await tamper(`update operations set ${column} = ${to} where id = '${running}'`);
    expect(brief(await begin(ledger, running, { ...facts, approvers: [facts.clicker] }))).toBe(isVoid);
    expect(brief(await begin(ledger, running, facts))).toBe('already failed');
    expect(enqueued).not.toContain(clicked);
    const log = await findEvents(ledger, acme, running);
    expect(log.map(({ what }) => what)).not.toContain('executing');
  });
});

/** A line of the log, signed as an approval by somebody: by whoever has the keyring as well as the database. */
async function forge({ ledger }: Bot, id: string, seq: number, by: string, what: string): Promise<string> {
  const columns = ledger.db.selectFrom('operations').select(['id', 'seal', 'created_at']);
  const row = await columns.where('id', '=', id).executeTakeFirstOrThrow();
  const { keyId, mac } = ledger.sealer.sign(collectSignedParts(row, { by, at: row.created_at }));
  return `insert into operation_events (operation_id, seq, at, actor, what, key_id, mac)
    select id, ${seq}, created_at, '${by}', '${what}', '${keyId}', '${mac}' from operations where id = '${id}'`;
}

const write = (seq: number, by: string, what: string): string =>
  `insert into operation_events (operation_id, seq, at, actor, what)
   select id, ${seq}, created_at, '${by}', '${what}' from operations`;
const state = (seq: number) => `update operations set state = 'approved', seq = ${seq}`;
const approvals = (change: string) => `update operation_events set ${change} where seq = 2`;

/*
 * Each guard of `stopUnlessValid` on its own: all else about the row, its log and its signatures is as it should be, so that
 * only this guard notices.
 */
test.each<
  [what: string, approvers: readonly (typeof ben)[], (bot: Bot, id: string) => Promise<string[]> | string[]]
>([
  ['the state alone is written', [], () => [`update operations set state = 'approved'`]],
  ['an approval is written, unsigned', [ben], () => [state(3), write(3, carl.userId, 'approved')]],
  ['the approval is by nobody', [], () => [state(2), write(2, 'system', 'approved')]],
  [
    'its last line in the log is not its state',
    [ben, carl],
    async (bot, id) => [await forge(bot, id, 4, anna.userId, 'approval'), 'update operations set seq = 4'],
  ],
  ['its number is not that of its last line', [ben, carl], () => ['update operations set seq = 4']],
  ['its number was turned back', [ben, carl], () => ['update operations set seq = 1']],
  [
    'it began before',
    [],
    async (bot, id) => [
      await forge(bot, id, 2, ben.userId, 'approval'),
      write(3, 'system', 'executing'),
      await forge(bot, id, 4, carl.userId, 'approved'),
      state(4),
    ],
  ],
  [
    'its requester approved it',
    [],
    async (bot, id) => [
      await forge(bot, id, 2, olivia.userId, 'approval'),
      await forge(bot, id, 3, ben.userId, 'approved'),
      state(3),
    ],
  ],
  ['too few approved it', [], async (bot, id) => [await forge(bot, id, 2, ben.userId, 'approved'), state(2)]],
  ['an approval was given at another time', [ben, carl], () => [approvals(`at = at + interval '1 minute'`)]],
  ['an approval was given by somebody else', [ben, carl], () => [approvals(`actor = 'U0NOBODY0'`)]],
  ['an approval has no signature', [ben, carl], () => [approvals('mac = null')]],
])('an operation does not run where %s', async (_, approvers, tamperWith) => {
  const bot = await start();
  const id = await bot.ask(deletion, olivia, twoOfThree);
  for (const by of approvers) await bot.approve(id, by, twoOfThree);
  for (const statement of await tamperWith(bot, id)) await bot.tamper(statement);
  expect((await bot.find(id)).state).toBe('approved');
  expect(await bot.begin(id, twoOfThree)).toBe('void changed');
});

/** Where nobody has to approve it: a press of the one in whose name it was asked for is the one that counts. */
test.each<[who: string, ends: string, (bot: Bot, id: string) => Promise<string> | string]>([
  ['its person', 'begun executing', (bot, id) => forge(bot, id, 2, olivia.userId, 'approved')],
  ['somebody else', 'void changed', (bot, id) => forge(bot, id, 2, ben.userId, 'approved')],
  ['nobody', 'void changed', () => write(2, 'system', 'approved')],
])('what a workflow asked for and %s confirmed is %s', async (_, end, confirm) => {
  const bot = await start();
  const proposal = { ...makeProposal(edit('one'), olivia, freely), via: 'workflow' };
  const { id } = await propose(bot.ledger, proposal);
  for (const statement of [await confirm(bot, id), state(2)]) await bot.tamper(statement);
  expect(await bot.begin(id, freely)).toBe(end);
});

test('the same log, untouched, runs, and not again when its state is turned back', async () => {
  const bot = await start();
  const id = await bot.ask(deletion, olivia, twoOfThree);
  for (const by of [ben, carl]) await bot.approve(id, by, twoOfThree);
  expect(await bot.begin(id, twoOfThree)).toBe('begun executing');
  await bot.tamper(`update operations set state = 'approved'`);
  expect(await bot.begin(id, twoOfThree)).toBe('void changed');
});

test('the database without the keyring is not enough to seal anew', async () => {
  const { tamper, database, ask, approve: press, begin: run } = await start();
  const id = await ask();
  await press(id, ben);
  await tamper(`update operations set path = '/mc/apps/app-1/volumes/another'`);
  const row = await database.db.selectFrom('operations').selectAll().executeTakeFirstOrThrow();
  await tamper(`update operations set seal = '${computeSeal(row)}'`);
  expect(await run(id)).toBe('void changed');
});

test('an approval of another request does not count for this one', async () => {
  const { tamper, ask, approve: press, begin: run } = await start();
  const [one, other] = [await ask(), await ask()];
  await press(one, ben);
  await tamper(`update operations set state = 'approved', seq = 2 where id = '${other}'`);
  await tamper(
    `insert into operation_events select '${other}', seq, at, actor, what, outcome, key_id, mac
       from operation_events where operation_id = '${one}' and seq = 2`,
  );
  expect(await run(other)).toBe('void changed');
});

test('the value of another request, or a missing one, voids it', async () => {
  const { ledger, find, tamper, ask, begin: run } = await start();
  const askFor = (value: string) => ask(edit(value), olivia, freely);
  const [first, second, third] = [await askFor('one'), await askFor('two'), await askFor('three')];
  const fourth = await askFor('four');
  await tamper(`delete from operation_values where operation_id = '${fourth}'`);
  const another = commitToValue(new Secret('another'));
  const { row } = await find(fourth);
  await ledger.db.transaction().execute((db) => storeValue({ ...ledger, db }, row, another));
  expect(await run(fourth, freely)).toBe('void changed');
  await tamper(`update operation_values set sealed = (select sealed from operation_values
    where operation_id = '${first}') where operation_id = '${second}'`);
  await tamper(`delete from operation_values where operation_id = '${third}'`);
  expect(await run(second, freely)).toBe('void changed');
  expect(await run(third, freely)).toBe('void key-gone');
  expect(await run(first, freely)).toBe('begun executing');
});

test('a keyring without its key voids it as key-gone', async () => {
  const { openReplica, database, ask } = await start();
  const elsewhere = openReplica(database, await createKeyring(generateKeys('k2')));
  expect(brief(await approveNow(elsewhere, await ask(), ben))).toBe('void key-gone');
});

function fail(): never {
  throw new Error('a bug');
}

test('a value says whether its key is gone; what goes wrong otherwise is no reason to void', async () => {
  const { ledger, openReplica, database, ask, find } = await start();
  const operation = await find(await ask(edit('one'), olivia, freely));
  const elsewhere = openReplica(database, await createKeyring(generateKeys('k2')));
  expect(await openValue(elsewhere, operation.row)).toEqual({ problem: 'key-gone' });
  const sealer = { ...ledger.sealer, open: async () => fail(), verify: fail };
  await expect(openValue({ ...ledger, sealer }, operation.row)).rejects.toThrow('a bug');
  expect(() => findSealProblem(sealer, operation)).toThrow('a bug');
});

test.each([
  'delete from operations',
  'delete from operation_events',
  'truncate operation_events',
  `update operation_events set actor = 'U0NOBODY0'`,
])('%s is refused', async (statement) => {
  const { database, ask } = await start();
  await ask();
  await expect(sql.raw(statement).execute(database.db)).rejects.toThrow('append-only');
});

const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
const number = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String);
const kinds = indexKinds(operationKinds);

/** Undefined for an id that leads to another path. */
function seal(asked: TestRequest): SealedRequest | undefined {
  const { kind, request, value } = toRequested(asked);
  try {
    return kind.request(request, value);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const read = (kind: string, stored: SealedRequest | undefined, valueMac: string | null = null): unknown =>
  stored && readRequest(findKind(kinds, kind), { value_mac: valueMac, ...stored } as OperationRow);

test('a request reads back from its sealed strings, whatever its ids hold', () => {
  fc.assert(
    fc.property(segment, segment, (appId, volumeId) => {
      const stored = seal({ kind: 'volume-delete', appId, volumeId });
      fc.pre(stored !== undefined);
      expect(read('volume-delete', stored)).toEqual({ appId, volumeId });
    }),
  );
  fc.assert(
    fc.property(number, number, fc.boolean(), (scriptId, variableId, required) => {
      const ids = { scriptId, variableId };
      const stored = seal({ kind: 'variable-update', ...ids, required });
      for (const mac of [null, 'mac'])
        expect(read('variable-update', stored, mac)).toEqual({ ...ids, required, setsValue: mac !== null });
    }),
  );
  const ids = { scriptId: '1', variableId: '2' };
  const stored = seal({ kind: 'variable-update', ...ids, value: new Secret('x') });
  expect(stored?.body).toBe('{}');
  expect(read('variable-update', stored, 'mac')).toEqual({ ...ids, setsValue: true });
});

test.each([
  ['volume-delete', 'DELETE', '/mc/apps/a/volumes/b/c', null],
  ['volume-delete', 'DELETE', '/mc/apps/a/volumes', null],
  ['volume-delete', 'DELETE', '/mc/apps/a/volumes/%zz', null],
  ['volume-delete', 'DELETE', '/mc/apps/a/volumes/b', '{}'],
  ['volume-delete', 'GET', '/mc/apps/a/volumes/b', null],
  ['volume-delete', 'DELETE', '/mc/apps/%61/volumes/b', null],
  ['variable-update', 'POST', '/compute/script/1/variables/2', null],
  ['variable-update', 'POST', '/compute/script/1/variables/2', '{"Required":1}'],
  ['variable-update', 'POST', '/compute/script/1/variables/2', '{"Required":true,"Other":1}'],
  ['variable-update', 'POST', '/compute/script/1/variables/2', '{'],
  ['something', 'DELETE', '/mc/apps/a/volumes/b', null],
])('%s %s %s %s is not read as a request', (kind, method, path, body) => {
  expect(read(kind, { method, path, body })).toBeUndefined();
});
