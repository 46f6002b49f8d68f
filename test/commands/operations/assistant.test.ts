import { expect, test } from 'vitest';
import { approve } from '../../../src/commands/operations/approvals.ts';
import { findWaitingFor } from '../../../src/commands/operations/model.ts';
import {
  propose,
  proposeByAssistant,
  sendFormByAssistant,
} from '../../../src/commands/operations/propose.ts';
import { UserError } from '../../../src/errors.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  approveNow,
  ben,
  createLedgerHarness,
  deletion,
  makeContext,
  makeProposal,
  olivia,
  policy,
} from './ledger-harness.ts';

const { both } = await prepareEngines();
// Others may approve, and nobody has to.
const freely = { ...policy, destroyApprovals: 0 };
const asked = { ...makeProposal(deletion, olivia, freely), via: 'assistant' };

async function start() {
  const [embedded] = both;
  if (!embedded) throw new Error('there is no engine');
  return createLedgerHarness(await embedded.emptyDatabase());
}

test('what an assistant asks for waits for its own person, whoever else presses', async () => {
  const { ledger } = await start();
  const operation = await proposeByAssistant(ledger, asked);
  expect(operation.state).toBe('proposed');
  expect(await findWaitingFor(ledger, ben)).toEqual([]);
  const pressed = await approveNow(ledger, operation.id, ben, { ...freely, version: policy.version });
  expect(pressed).toMatchObject({ kind: 'not-requester', operation: { state: 'proposed' } });
  const context = makeContext(olivia, operation, { ...freely, version: policy.version });
  const confirmed = await approve(ledger, operation.id, olivia, context);
  expect(confirmed).toMatchObject({ kind: 'approved', operation: { state: 'approved' } });
});

test('forms and requests together are three that are open, and ten a day', async () => {
  const { ledger, advance } = await start();
  const sendForm = (variableId: number) =>
    sendFormByAssistant(ledger, {
      requester: olivia,
      path: `/compute/script/301/variables/${variableId}`,
      message: { text: 'Type the value' },
      minutes: 30,
    });
  // Those of workflows do not count.
  for (let nth = 0; nth < 3; nth += 1) await propose(ledger, { ...asked, via: 'workflow' });
  await proposeByAssistant(ledger, asked);
  // Side by side one form of a variable is sent.
  expect((await Promise.all([sendForm(1), sendForm(1), sendForm(2)])).toSorted()).toEqual([
    false,
    true,
    true,
  ]);
  await expect(sendForm(3)).rejects.toThrow(UserError);
  for (let variableId = 3; variableId < 10; variableId += 1) {
    advance(31);
    expect(await sendForm(variableId)).toBe(true);
  }
  advance(31);
  await expect(sendForm(10)).rejects.toThrow(UserError);
  await expect(proposeByAssistant(ledger, asked)).rejects.toThrow(UserError);
  advance(24 * 60);
  expect(await sendForm(10)).toBe(true);
});
