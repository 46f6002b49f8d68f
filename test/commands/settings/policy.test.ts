import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findElements } from '../../../simulator/slack/block-ids.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { RolesUnknown } from '../../../src/auth/policy/authorizer.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { ask, type Bot, connect, startBot } from '../../support/bot.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { alice, bob, carol, dave, deploys, ops, random } from '../../support/people.ts';
import { openSettings, saveSettings } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';

type Person = ReturnType<Bot['slack']['as']>;
type Message = ReturnType<Person['messages']>[number];
type View = NonNullable<ReturnType<Person['modal']>>;

/** The reason of a decision, as `/cdn why` names it for notifications. */
async function askWhy(person: Person, words: string): Promise<string | undefined> {
  return / can(?:’t)? run .*: ([a-z-]+)\.$/u.exec((await ask(person, `why ${words}`)).text)?.[1];
}

/** The values of the buttons: what each of them runs or is about. */
function listButtons({ blocks }: Pick<Message, 'blocks'>): string[] {
  return findElements(blocks).flatMap(({ element }) =>
    element['type'] === 'button' ? [String(element['value'])] : [],
  );
}

/** What buttons and the entries of menus run. */
function listOffers({ blocks }: Pick<Message, 'blocks'>): string[] {
  return [...JSON.stringify(blocks).matchAll(/"value":"(?:help:run:\d+ )?([^"]*)"/gu)].map(
    ([, words = '']) => words,
  );
}

/** What changed, and what is wrong with it. */
const readChanges = (view: View | Message): string[] =>
  readStable(view)
    .split('\n')
    .filter((line) => /^(?:•|:warning:)/u.test(line));

/** The modal that refuses what only admins may do. */
const refusesSettings = (view: View): boolean => listButtons(view).includes('why settings');

async function closeAll(person: Person): Promise<void> {
  while (person.modal()) await person.closeModal();
}

describe('a workspace and its settings', () => {
  let bot: Bot;
  let people: Record<'alice' | 'bob' | 'carol' | 'dave', Person>;
  beforeAll(async () => {
    bot = await startBot({ zones: 12, env: { ADMIN_USER_IDS: carol } });
    people = {
      alice: bot.slack.as(alice, ops),
      bob: bot.slack.as(bob, ops),
      carol: bot.slack.as(carol, ops),
      dave: bot.slack.as(dave, ops),
    };
    await connect(bot, bob, ops);
  });
  beforeEach(async () => {
    for (const person of Object.values(people)) await closeAll(person);
  });
  afterAll(async () => {
    await bot.stop();
  });

  test('before an admin has said anything everybody may read and nobody more', async () => {
    expect(await askWhy(people.bob, 'zones')).toBe('own-key');
    const why = await ask(people.bob, 'why volume delete 7c9e6679-7425-40de-944b-e07fc1f90ae7');
    expect(readStable(why)).toMatchSnapshot('why not, before there are operators');
    const which = readStable(await ask(people.bob, 'why'));
    expect(which).toMatchSnapshot('why, without a command');
    // It may be a key.
    expect(readStable(await ask(people.bob, 'why 7c9e6679-7425-40de-944b-e07fc1f90ae7'))).toBe(which);
  });

  test('the form opens as a skeleton before anybody is looked up, and is filled then', async () => {
    const before = bot.slack.calls.length;
    await people.alice.slash('settings');
    await people.alice.waitForModal('settings:summary');
    const methods = bot.slack.calls.slice(before).map(({ method }) => method);
    // Before it only the asker's own profile is read: a slash command does not say whose person they are.
    const opened = methods.indexOf('views.open');
    expect(methods.slice(0, opened)).toEqual(['users.info']);
    expect(methods.at(-1)).toBe('views.update');
  });

  test('the settings are four lines, each with the form that changes it', async () => {
    await people.alice.slash('settings');
    const summary = await people.alice.waitForModal('settings:summary');
    expect(readStable(summary)).toMatchSnapshot('the settings, never saved');
    for (const name of ['people', 'approvals', 'channels', 'keeping']) {
      await people.alice.press(`settings:edit:${name}`);
      const form = await people.alice.waitForModal('settings:submit');
      const inputs = form.blocks.filter(({ type }) => type === 'input');
      expect(inputs.length).toBeGreaterThanOrEqual(2);
      expect(inputs.length).toBeLessThanOrEqual(5);
      expect(people.alice.modals()).toHaveLength(2);
      await people.alice.closeModal();
    }
  });

  test('a form that is saved closes the lines below it too, and leaves the fields of other forms', async () => {
    await saveSettings(people.alice, { expiryMinutes: '31', approvalChannel: ops });
    await closeAll(people.alice);
    await people.alice.slash('settings');
    await people.alice.waitForModal('settings:summary');
    await people.alice.press('settings:edit:keeping');
    await people.alice.waitForModal('settings:submit');
    await people.alice.submit({ exportKeepDays: '7' });
    await people.alice.waitForModal('settings:done');
    await people.alice.closeModal();
    expect(people.alice.modal()).toBeUndefined();
    await people.alice.slash('settings');
    const summary = await people.alice.waitForModal('settings:summary');
    expect(readStable(summary)).toContain('within 31 min');
    expect(readStable(summary)).toContain('7 days');
    await closeAll(people.alice);
    await saveSettings(people.alice, { expiryMinutes: '30', approvalChannel: '' });
  });

  test('who is not an admin sees in the form why it stays closed', async () => {
    await people.bob.slash('settings');
    const refused = await people.bob.waitForModal(refusesSettings);
    expect(readStable(refused)).toMatchSnapshot('settings refused');
    await people.bob.press('help:run:0');
    const why = await people.bob.waitForModal((view) => listButtons(view).includes('whoami'));
    expect(readStable(why)).toMatchSnapshot('why the settings are refused');
  });

  test('an admin makes an operator: told is what changes and whose decisions, here and in the channel', async () => {
    await saveSettings(people.alice, { approvalChannel: ops });
    const outcome = await saveSettings(people.alice, { operators: [bob], approvers: [carol] });
    expect(readStable(outcome)).toMatchSnapshot('saved: an operator, an approver');
    const told = await people.dave.waitForMessage(({ text }) => text.includes('version 5'));
    expect(told.ephemeral).toBe(false);
    expect(readStable(told)).toMatchSnapshot('told in the approval channel');
    expect(await askWhy(people.bob, 'volume delete')).toBe('operator');
    expect(readStable(await ask(people.bob, 'whoami'))).toMatchSnapshot('whoami of an operator');
    expect(readStable(await ask(people.carol, 'whoami'))).toMatchSnapshot(
      'whoami of an admin who may approve',
    );
  });

  test('a look before saving shows the same, and saves nothing', async () => {
    await openSettings(people.alice, 'capRead');
    people.alice.type({ capRead: [deploys] });
    await people.alice.press('settings:review');
    const review = await people.alice.waitForModal('settings:reviewed');
    expect(readStable(review)).toMatchSnapshot('review of a cap');
    await people.alice.closeModal();
    expect((await people.alice.waitForModal('settings:submit')).state.values['capRead']).toBeDefined();
    expect(readStable(await ask(people.bob, 'why change'))).toMatchSnapshot('why no command');
    const there = bot.slack.as(bob, deploys);
    expect(await askWhy(there, 'variable')).toBe('operator');
    people.alice.type({ capRead: [deploys], capChange: [deploys] });
    await people.alice.press('settings:review');
    const wrong = await people.alice.waitForModal((view) => readStable(view).includes('one field'));
    expect(readStable(wrong)).toMatchSnapshot('review of what cannot be saved');
  });

  test('a capped channel holds for an operator, and for what is typed there only', async () => {
    await saveSettings(people.alice, { capRead: [deploys], capNone: [random] });
    const there = bot.slack.as(bob, deploys);
    expect(await askWhy(there, 'variable')).toBe('channel-cap');
    expect(await askWhy(people.bob, 'variable')).toBe('operator');
    const nowhere = bot.slack.as(bob, random);
    const refused = await ask(nowhere, 'zones');
    expect(readStable(refused)).toMatchSnapshot('refused where nothing is allowed');
    // An admin who capped a channel can take it back there.
    const admin = bot.slack.as(alice, random);
    expect(readChanges(await saveSettings(admin, { capNone: [] }))).toMatchSnapshot('saved: a cap withdrawn');
  });

  test('of two admins who save at once the second looks again', async () => {
    await openSettings(people.alice, 'expiryMinutes');
    await openSettings(people.carol, 'expiryMinutes');
    await people.alice.submit({ expiryMinutes: '45' });
    await people.alice.waitForModal('settings:done');
    await people.carol.submit({ expiryMinutes: '60' });
    const refused = await people.carol.waitForModal('settings:done');
    expect(readStable(refused)).toMatchSnapshot('not saved: changed meanwhile');
    await people.carol.press('help:run:0');
    const again = await people.carol.waitForModal('settings:summary');
    expect(again.reads).toContain('within 45 min');
  });

  test('a refusal names the admins, and opens the settings for one of them', async () => {
    const ofDave = await ask(people.dave, 'variable undo');
    expect(readStable(ofDave)).toMatchSnapshot('refused, with the admins');
    expect(listOffers(ofDave)).not.toContain('settings');
    const ofCarol = await ask(people.carol, 'variable undo');
    expect(readStable(ofCarol)).toMatchSnapshot('refused, to an admin');
    expect(listOffers(ofCarol)).toContain('settings');
  });

  test('an approval channel that people of another organization read is refused', async () => {
    await openSettings(people.carol, 'approvalChannel');
    await people.carol.submit({ approvalChannel: 'C0SHARED0' });
    const refused = await people.carol.waitForModal((view) => readStable(view).includes('is shared with'));
    expect(readChanges(refused)).toMatchSnapshot('a shared approval channel is refused');
  });

  test('the last change is undone by a button, once', async () => {
    const saved = await saveSettings(people.alice, { changeApprovals: '2' });
    expect(readStable(saved)).toMatchSnapshot('saved: more approvals than approvers');
    await people.alice.closeModal();
    const longer = await saveSettings(people.alice, { expiryMinutes: '50' });
    const [version = ''] = listButtons(longer);
    await people.alice.press('settings:undo');
    const next = String(Number(version) + 1);
    const undone = await people.alice.waitForModal((view) => listButtons(view).includes(next));
    expect(readChanges(undone)).toMatchSnapshot('undone');
    await people.alice.press('settings:undo', { value: version });
    await people.alice.waitForModal((view) => listButtons(view).includes('settings'));
  });

  test('an emptied approval channel is empty, an untouched field stays', async () => {
    const emptied = await saveSettings(people.alice, { approvalChannel: '' });
    expect(readChanges(emptied)).toMatchSnapshot('saved: no approval channel');
    const moved = await saveSettings(people.alice, { approvalChannel: random });
    expect(readChanges(moved)).toMatchSnapshot('saved: a channel without the bot');
    const [saved, same] = [moved, await saveSettings(people.alice, { approvalChannel: random })].map(
      listButtons,
    );
    // The button of an undo has the version.
    expect([saved, same].map((values) => values?.some((value) => /^\d+$/u.test(value)))).toEqual([
      true,
      false,
    ]);
  });

  test.each<[Record<string, unknown>, string]>([
    [{ destroyApprovals: '9' }, 'destroyApprovals'],
    [{ expiryMinutes: '0' }, 'expiryMinutes'],
    [{ capRead: [ops], capChange: [ops] }, 'capChange'],
    [{ exportChannels: ['D0SOMEONE'] }, 'exportChannels'],
  ])('a field that is wrong says so: %j', async (values, field) => {
    await openSettings(people.alice, field);
    const { errors = {} } = await people.alice.submit(values);
    expect(Object.keys(errors)).toEqual([field]);
    expect(errors[field]).toMatchSnapshot('field error');
  });

  test('user groups are picked from a menu, and their members have the role', async () => {
    await openSettings(people.alice, 'operatorGroups');
    const options = await people.alice.suggest('operatorGroups', 'oper');
    expect(options.map(({ value }) => value)).toEqual(['S0OPERATE']);
    await people.alice.choose('operatorGroups', ['S0OPERATE']);
    await people.alice.submit({ operators: [] });
    // Bob was named before and is a member now: no decision changes.
    const saved = await people.alice.waitForModal('settings:done');
    expect(readChanges(saved)).toMatchSnapshot('saved: a group in place of its only member');
    expect(await askWhy(people.bob, 'export')).toBe('operator');
  });

  test('admins may ask about somebody else, others about themselves', async () => {
    const why = await ask(people.alice, `why <@${bob}|bob> export`);
    expect(readStable(why)).toMatchSnapshot('why somebody else may');
    expect(await askWhy(people.alice, `export <@${dave}|dave>`)).toBe('not-operator');
    expect(await askWhy(people.bob, `zones <@${bob}|bob>`)).toBe('own-key');
    const typed = await ask(people.alice, 'why export @bobby');
    expect(JSON.stringify(typed.blocks)).toContain('why:person:export');
    const asked = await ask(people.alice, 'why can’t bob export?');
    expect(readStable(asked)).toMatchSnapshot('why somebody, by a name');
    await people.alice.choose('why:person:export', bob, { ts: asked.ts });
    await people.alice.waitForMessage(({ ts, reads }) => ts > asked.ts && reads.includes('can run'));
    const refused = await ask(people.bob, `why export <@${dave}|dave>`);
    expect(readStable(refused)).toMatchSnapshot('why somebody else, asked by others');
    expect(JSON.stringify(refused.blocks)).toContain('"why export"');
    const named = await ask(people.bob, 'can dave export');
    expect(readStable(named)).toBe(readStable(refused));
  });

  test('settings are saved by those who are admins in Slack at that moment', async () => {
    await openSettings(people.alice, 'expiryMinutes');
    const record = bot.slack.world.people.find(({ id }) => id === alice);
    Object.assign(record ?? {}, { admin: false });
    await people.alice.submit({ expiryMinutes: '90' });
    const refused = await people.alice.waitForModal(refusesSettings);
    Object.assign(record ?? {}, { admin: true });
    expect(readStable(refused)).toContain('Not allowed');
  });
});

test('without users.info nobody is an admin but the configured ones', async () => {
  const env = { ADMIN_USER_IDS: `T0ACME000/${carol}, T0BETA000/${dave}` };
  await using bot = await startBot({ zones: 1, env });
  bot.slack.script.fail('users.info', 'missing_scope', 100);
  const admin = bot.slack.as(alice, ops);
  await admin.slash('settings');
  const refused = await admin.waitForModal(refusesSettings);
  expect(readStable(refused)).toMatchSnapshot('settings refused, the reason unknown');
  expect(readStable(await ask(admin, 'why settings'))).toMatchSnapshot('why, the reason unknown');
  expect(await askWhy(bot.slack.as(dave, ops), 'settings')).toBe('not-admin');
  const configured = bot.slack.as(carol, ops);
  await configured.slash('settings');
  await configured.waitForModal('settings:summary');
  const told = bot.logs.filter((line) => line.includes('cannot read Slack roles'));
  expect(told).toHaveLength(1);
});

describe('with one admin', () => {
  let bot: Bot;
  let admin: Person;
  let operator: Person;
  beforeAll(async () => {
    bot = await startBot({ zones: 1 });
    [admin, operator] = [bot.slack.as(alice, ops), bot.slack.as(bob, ops)];
    await connect(bot, bob, ops);
  });
  afterAll(() => bot.stop());

  test('user groups that Slack does not tell have no members, and settings, why and the menu say so', async () => {
    bot.slack.script.fail('usergroups.users.list', 'missing_scope', 100);
    await openSettings(admin, 'operatorGroups');
    await admin.suggest('operatorGroups', '');
    await admin.choose('operatorGroups', ['S0OPERATE']);
    await admin.submit({});
    expect(readChanges(await admin.waitForModal('settings:done'))).toMatchSnapshot('saved, a group unread');
    await admin.closeModal();
    expect(readStable(await ask(operator, 'why export'))).toMatchSnapshot('why not, a group unread');
    await admin.slash('settings');
    const form = await admin.waitForModal('settings:summary');
    expect(readStable(form).split('\n').slice(0, 3)).toMatchSnapshot('the form, a group unread');
  });

  test('while Slack cannot tell who is in a group nothing is saved, since it may need a second admin', async () => {
    bot.slack.script.clear();
    bot.slack.script.fail('usergroups.users.list', 'internal_error', 100);
    await openSettings(admin, 'approvers');
    await admin.submit({ approvers: [carol] });
    const refused = await admin.waitForModal(({ reads }) => reads.includes(new RolesUnknown().message));
    expect(refused.callback_id).not.toBe('settings:done');
    await admin.closeModal();
    bot.slack.script.clear();
    await saveSettings(admin, { secondAdmin: [] });
    bot.slack.script.fail('usergroups.users.list', 'internal_error', 100);
    await saveSettings(admin, { expiryMinutes: '31' });
    bot.slack.script.clear();
  });

  // The last: the bot stops.
  test('what is denied is in the record once a minute, each change of settings with its difference', async () => {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await operator.slash('settings');
      await operator.waitForModal(refusesSettings);
      await operator.closeModal();
    }
    await saveSettings(admin, { operators: [bob], approvers: [carol] });
    await bot.app.stop();
    const database = await openDatabase({ dataDir: bot.env['DATA_DIR'] ?? '', log: createMemoryLog() });
    const records = await createAudit({ db: database.db, now: () => new Date() }).recent('T0ACME000', 20);
    await database.close();
    // One, or two where a minute ended between them.
    const denied = records.filter(({ event }) => event === 'denied');
    expect(denied.length).toBeLessThanOrEqual(2);
    expect(denied[0]).toMatchObject({
      actor: bob,
      subject: 'settings',
      detail: { reason: 'not-admin', channel: ops },
    });
    // The newest first.
    expect(records.find(({ event }) => event === 'policy-changed')).toMatchObject({
      actor: alice,
      detail: { change1: 'operators: +U0BOB0000', change2: 'approvers: +U0CAROL00' },
    });
  });
});
