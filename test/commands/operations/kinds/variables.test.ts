import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../../../simulator/slack/world.ts';
import { ask, followMessages } from '../../../support/bot.ts';
import { readStable } from '../../../support/words.ts';
import { says } from '../words.ts';
import { type ApprovalWorkspace, configure, startApprovalWorkspace } from '../workspace.ts';

const secretValue = 'CANARY-variable-value-7f3a9c';

function findBlock(form: { readonly blocks: Json[] }, blockId: string): string {
  return JSON.stringify(form.blocks.find(({ block_id: id }) => id === blockId));
}

describe('a variable is set', () => {
  let team: ApprovalWorkspace;
  let scriptId: string;
  let variableId: string;
  beforeAll(async () => {
    team = await startApprovalWorkspace({ settings: { operators: ['U0ALICE00', 'U0BOB0000'] } });
    const [script] = team.bot.cdn.data.scripts;
    const [variable] = script?.variables ?? [];
    scriptId = String(script?.Id);
    variableId = String(variable?.Id);
  });
  afterEach(async () => {
    team.rest();
    for (const member of [team.alice, team.bob]) while (member.modal()) await member.closeModal();
  });
  afterAll(async () => {
    await team.bot.stop();
  });

  const findSentBodies = () =>
    team.bot.cdn.requests
      .filter(({ path }) => path.includes('/variables/'))
      .map(({ body }) => body as object);

  async function openForm() {
    await team.alice.slash(`variable ${scriptId} ${variableId}`);
    return team.alice.waitForModal('variables:submit');
  }

  async function fill(values: Record<string, unknown>): Promise<string> {
    await openForm();
    const { errors } = await team.alice.submit(values);
    expect(errors).toBeUndefined();
    return (await team.alice.waitForModal(says.answered)).reads;
  }

  test('the form shows the zones that run the script and says that the value is a secret', async () => {
    const form = await openForm();
    expect(readStable(form)).toMatchSnapshot();
  });

  test('only changed members are sent', async () => {
    expect(await fill({ required: 'true' })).toMatch(says.nowRequired);
    expect(findSentBodies().at(-1)).toEqual({ Required: true });
    expect(readStable(await fill({ defaultValue: secretValue }))).toMatchSnapshot();
    expect(findSentBodies().at(-1)).toEqual({ DefaultValue: secretValue });
  });

  test('the second value through the bot has an undo that restores the first', async () => {
    expect(readStable(await team.alice.waitForMessage(says.noUndo))).toMatchSnapshot('without undo');
    expect(readStable(await ask(team.alice, 'variable undo'))).toMatchSnapshot('nothing to undo');
    expect(readStable(await openForm())).toMatchSnapshot('the form, with undo');
    await team.alice.closeModal();
    await fill({ defaultValue: 'the second value' });
    const done = await team.alice.waitForMessage(({ blocks }) =>
      JSON.stringify(blocks).includes('variables:undo'),
    );
    expect(readStable(done)).toMatchSnapshot('with undo');
    const { next } = followMessages(team.alice);
    await team.alice.press('variables:undo', { ts: done.ts, value: 'another' });
    expect(readStable(await next())).toMatchSnapshot('undo of what is not stored');
    await team.alice.press('variables:undo', { ts: done.ts });
    await team.alice.waitForMessage(says.restored);
    expect(findSentBodies().at(-1)).toEqual({ DefaultValue: secretValue });
    // After its use the button is gone where it was pressed.
    await team.alice.waitForMessage(
      ({ ts, blocks }) => ts === done.ts && !JSON.stringify(blocks).includes('variables:undo'),
    );
  });

  test('the name that the CDN told stands on the form, and in what is said of later changes', async () => {
    const form = await openForm();
    expect(findBlock(form, 'variableId')).toContain('FEATURE_X');
    await team.alice.submit({ required: 'false' });
    expect(readStable(await team.alice.waitForModal(says.answered))).toMatchSnapshot();
    expect(team.bot.logs.join('')).toContain('operation executed');
  });

  test('after the script a name finds its variable; one that nobody has set opens the form that says so', async () => {
    await team.alice.slash('variable 301 FEATURE_X');
    expect(findBlock(await team.alice.waitForModal('variables:submit'), 'variableId')).toContain('FEATURE_X');
    await team.alice.closeModal();
    await team.alice.slash('variable 301 NEVER_SET');
    const { reads } = await team.alice.waitForModal('variables:submit');
    expect(reads).toContain('NEVER_SET');
    expect(reads).toContain('301');
    await team.alice.closeModal();
  });

  test('a name that two scripts have is refused with the IDs, and one that a variable had before is not its name', async () => {
    const [, other] = team.bot.cdn.data.scripts;
    const [split] = other?.variables ?? [];
    if (!other || !split) throw new Error('the CDN has too few variables');
    const { Name: before } = split;
    for (const name of [before, 'FEATURE_X']) {
      Object.assign(split, { Name: name });
      await team.alice.slash(`variable ${other.Id} ${split.Id}`);
      await team.alice.waitForModal('variables:submit');
      await team.alice.submit({ required: 'true' });
      await team.alice.waitForModal(says.answered);
      await team.alice.closeModal();
    }
    await team.alice.slash('variable FEATURE_X');
    expect(readStable(await team.alice.waitForModal(/301 12/u))).toMatchSnapshot('two scripts');
    await team.alice.closeModal();
    await team.alice.slash(`variable ${before}`);
    const { reads } = await team.alice.waitForModal('variables:submit');
    expect(reads).toContain(before);
    Object.assign(split, { Name: before });
  });

  test('a value of 4,096 characters is typed into two inputs', async () => {
    const [first, rest] = ['a'.repeat(3000), 'b'.repeat(1096)];
    await fill({ defaultValue: first, moreValue: rest });
    expect(findSentBodies().at(-1)).toEqual({ DefaultValue: first + rest });
    await team.alice.waitForMessage(({ reads }) =>
      reads.includes('a new value of 4,096 bytes (above 2,048 the CDN may refuse it)'),
    );
  });

  test('curly quotes are an error of their field until they are meant', async () => {
    await openForm();
    const before = findSentBodies().length;
    const { errors } = await team.alice.submit({ moreValue: '{“on”: true}' });
    expect(errors).toMatchSnapshot();
    expect(findSentBodies()).toHaveLength(before);
    await team.alice.submit({ moreValue: '{“on”: true}', empty: ['curly'] });
    await team.alice.waitForModal(says.answered);
    expect(findSentBodies().at(-1)).toEqual({ DefaultValue: '{“on”: true}' });
  });

  test('an empty value needs its own box; no change is an error', async () => {
    await openForm();
    expect((await team.alice.submit({})).errors).toMatchSnapshot();
    await team.alice.closeModal();
    await fill({ empty: ['empty'] });
    expect(findSentBodies().at(-1)).toEqual({ DefaultValue: '' });
  });

  test('a value typed into the command is refused and not repeated', async () => {
    await team.alice.slash(`variable ${scriptId} ${variableId} ${secretValue}`);
    const { reads } = await team.alice.waitForModal(says.valueTyped);
    expect(reads).not.toContain(secretValue);
  });

  test.each([403, 500])('the words of the CDN on a %i stand beside ours', async (status) => {
    const detail = `What the CDN says with ${status}`;
    const body = { title: 'Problem', status, detail };
    team.bot.cdn.faults.add({ match: { method: 'POST', path: /variables/ }, status, body });
    await openForm();
    await team.alice.submit({ required: 'true' });
    // In the form, where it was refused; else in what is left of it.
    const { reads } = await team.alice.waitForModal(detail);
    expect(reads).toContain(detail);
    await team.alice.closeModal();
  });

  test('a wrong id is answered in the modal, and the audit has no value', async () => {
    await team.alice.slash('variable 999999 1');
    await team.alice.waitForModal('variables:submit');
    await team.alice.submit({ defaultValue: 'x'.repeat(20) });
    const answer = await team.alice.waitForModal(says.noSuchVariable);
    expect(readStable(answer.reads.replace(/0{20}\w+/, '<request id>'))).toMatchSnapshot();
    await team.carol.slash('audit 50');
    const { reads } = await team.carol.waitForMessage(says.auditTable);
    expect(reads).toContain('FEATURE_X');
    expect(reads).not.toContain(secretValue);
  });

  test('with approvals a change waits like a deletion', async () => {
    await configure(team.carol, { changeApprovals: '1' });
    const before = findSentBodies().length;
    expect(await fill({ defaultValue: secretValue })).toMatch(says.needsOneApproval);
    const card = await team.bob.waitForMessage(says.asksToSet, 20_000);
    expect(readStable(card)).toMatchSnapshot();
    expect(card.reads).not.toContain(secretValue);
    expect(findSentBodies()).toHaveLength(before);
    await team.bob.press('approvals:approve', { ts: card.ts });
    await team.bob.waitForMessage(({ ts, reads }) => ts === card.ts && reads.includes(says.done));
    expect(findSentBodies().at(-1)).toEqual({ DefaultValue: secretValue });
  });

  test('the value is in no log and in nothing sent to Slack', () => {
    expect(team.bot.slack.problems).toEqual([]);
    expect(team.bot.logs.join('')).not.toContain(secretValue);
    expect(JSON.stringify(team.bot.slack.calls)).not.toContain(secretValue);
  });
});
