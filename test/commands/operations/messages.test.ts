import { expect, test } from 'vitest';
import { cancel } from '../../../src/commands/operations/approvals.ts';
import { operationMessages } from '../../../src/commands/operations/messages.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  ben,
  carl,
  createLedgerHarness,
  deletion,
  makeProposal,
  olivia,
  policy,
} from './ledger-harness.ts';

const { embedded } = await prepareEngines();
const freely = { ...policy, destroyApprovals: 0 };
const inChannel = { ...policy, approvalChannel: 'C0DEPLOY0' };
const nobody = 'aaaaaaaaaaaaaaaa';

/** A request of Olivia that Ben and Carl may approve. */
async function start(rules = policy, channelId?: string) {
  const { ledger } = await createLedgerHarness(await embedded.emptyDatabase());
  const proposal = {
    ...makeProposal(deletion, olivia, rules),
    channelId,
    approvers: [ben.userId, carl.userId],
  };
  const { id } = await propose(ledger, proposal);
  const messages = async () => {
    const rows = await ledger.db.selectFrom('outbox').select('id').orderBy('id').execute();
    return rows.map((row) => row.id.replace(`operation:${id}:`, ''));
  };
  return { ledger, id, messages };
}

test.each([
  ['waits, to its approvers', policy, undefined, [`card:${ben.userId}`, `card:${carl.userId}`]],
  ['waits, where there is a channel for it, there', inChannel, 'C0OPS0000', ['card']],
  ['needs no approval, to the channel where it was asked for', freely, 'C0OPS0000', ['card']],
  ['needs no approval, outside of a channel to nobody', freely, undefined, []],
])('a request goes to its requester, and if it %s', async (_, rules, channelId, cards) => {
  expect(await (await start(rules, channelId)).messages()).toEqual([...cards, 'requester']);
});

const refused = { state: 'dead', reason: 'refused' } as const;
const untold = 'untold';

test.each<
  [
    what: string,
    of: string,
    ended: object,
    end: 'waits' | 'cancelled',
    about: string | undefined,
    made: string[],
  ]
>([
  ['a card that Slack refuses', 'card:U0BEN0000', refused, 'waits', undefined, [untold]],
  ['a card of a request that ended', 'card:U0BEN0000', refused, 'cancelled', undefined, []],
  ['a card that arrived', 'card:U0BEN0000', { state: 'sent' }, 'waits', undefined, []],
  [
    'a card while the app is gone',
    'card:U0BEN0000',
    { ...refused, reason: 'app-gone' },
    'waits',
    undefined,
    [],
  ],
  ['a card of no request', 'card:U0BEN0000', refused, 'waits', nobody, []],
  ['the message of a request that waits', 'requester', refused, 'waits', undefined, []],
  ['the message of a request that ended', 'requester', refused, 'cancelled', undefined, ['requester:again']],
  [
    'the message, while the app is gone',
    'requester',
    { ...refused, reason: 'app-gone' },
    'cancelled',
    undefined,
    [],
  ],
  ['the message of no request', 'requester', refused, 'cancelled', nobody, []],
])('%s is followed by what is still to be told', async (_, of, ended, end, about, made) => {
  const { ledger, id, messages } = await start();
  if (end === 'cancelled') await cancel(ledger, id, olivia);
  await ledger.db.updateTable('outbox').set({ state: 'dead' }).execute();
  const before = await messages();
  const kind = operationMessages.find((one) => one.kind === `operation-${of.split(':')[0]}`);
  const given = { id: `operation:${id}:${of}`, about: { tenant: acme, id: about ?? id }, ...ended };
  await ledger.db.transaction().execute(async (trx) => {
    await kind?.ended?.(trx, given as never, { ports: { ledger } } as never);
  });
  expect((await messages()).filter((one) => !before.includes(one))).toEqual(made);
});

test('a card that nobody needs to approve goes to no approver where its channel refuses it', async () => {
  const { ledger, id, messages } = await start(freely, 'C0OPS0000');
  const before = await messages();
  const ended = { id: `operation:${id}:card`, about: { tenant: acme, id }, ...refused };
  await ledger.db.transaction().execute(async (trx) => {
    const kind = operationMessages.find((one) => one.kind === 'operation-card');
    await kind?.ended?.(trx, ended as never, { ports: { ledger } } as never);
  });
  expect(await messages()).toEqual(before);
});

test('a message about a request that is not there any more is not sent', async () => {
  const { ledger } = await start();
  const about = { tenant: acme, id: nobody };
  const ofRequests = operationMessages.filter(({ kind }) => kind !== 'variable-form');
  const drawn = ofRequests.map(async ({ render }) =>
    render?.(about as never, { ports: { ledger }, db: ledger.db } as never),
  );
  expect(await Promise.all(drawn)).toEqual(ofRequests.map(() => undefined));
});
