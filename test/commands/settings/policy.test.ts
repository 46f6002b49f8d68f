import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { type Bot, connect, startBot } from '../../support/bot.ts';
import { createMemoryLog } from '../../support/engines.ts';

const alice = 'U0ALICE00';
const bob = 'U0BOB0000';
const carol = 'U0CAROL00';
const dave = 'U0DAVE000';
const eve = 'U0EVE0000';
const ops = 'C0OPS0000';
const deploys = 'C0DEPLOY0';
const random = 'C0RANDOM0';

type Person = ReturnType<Bot['slack']['as']>;

/** Opens the settings, fills what is given and saves; answers with what the form says then. */
async function save(person: Person, values: Record<string, unknown>): Promise<string> {
  await person.slash('settings');
  await person.waitForModal('settings:submit');
  const submitted = await person.submit(values);
  expect(submitted.errors).toBeUndefined();
  const { reads } = await person.waitForModal('settings:done');
  return reads;
}

async function ask(person: Person, words: string): Promise<string> {
  const before = new Set(person.messages().map(({ ts }) => ts));
  await person.slash(words);
  return (await person.waitForMessage(({ ts }) => !before.has(ts))).reads;
}

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
    expect(await ask(people.bob, 'why zones')).toMatch(/You may run \/cdn zones/);
    const why = await ask(people.bob, 'why volume delete 7c9e6679-7425-40de-944b-e07fc1f90ae7');
    expect(why).toMatch(/You may not run \/cdn volume delete/);
    expect(why).toMatch(/Role.*not an operator: nobody is one yet/);
    expect(why).toMatch(/Key.*a CDN key is connected/);
  });

  test('the form opens as a skeleton before anybody is looked up, and is filled then', async () => {
    const before = bot.slack.calls.length;
    await people.alice.slash('settings');
    await people.alice.waitForModal('settings:submit');
    const methods = bot.slack.calls.slice(before).map(({ method }) => method);
    expect(methods[0]).toBe('views.open');
    expect(methods.indexOf('users.info')).toBeGreaterThan(0);
    expect(methods.at(-1)).toBe('views.update');
  });

  test('who is not an admin sees in the form why it stays closed', async () => {
    await people.bob.slash('settings');
    const refused = await people.bob.waitForModal(/Only admins may do this/);
    expect(refused.reads).toMatch(/Why\?/);
    await people.bob.press('help:run:0');
    await people.bob.waitForModal(/not run \/cdn settings.*\n?.*\n?[\s\S]*Role.*not an admin/);
  });

  test('an admin makes an operator: told is what changes and whose decisions, here and in the channel', async () => {
    const outcome = await save(people.alice, { operators: [bob], approvers: [carol], approvalChannel: ops });
    expect(outcome).toMatch(/Saved: version 1/);
    expect(outcome).toMatch(/Bob Brown.*: gains export, change, destroy/);
    expect(outcome).toMatch(/Carol Clark.*: gains approve/);
    const told = await people.dave.waitForMessage(/Alice Adams.* changed the settings/);
    expect(told.ephemeral).toBe(false);
    expect(told.reads).toMatch(/Operators: added @Bob Brown/);
    expect(await ask(people.bob, 'why volume delete')).toMatch(
      /You may run \/cdn volume delete[\s\S]*named in the settings[\s\S]*1 other person has to approve within 30 min/,
    );
    expect(await ask(people.bob, 'whoami')).toMatch(/rights: read, export, change, destroy · operator/);
    expect(await ask(people.carol, 'whoami')).toMatch(/rights: none · may approve · admin/);
  });

  test('admins are no operators by being admins', async () => {
    expect(await ask(people.alice, 'why export')).toMatch(/not run \/cdn export[\s\S]*not an operator/);
  });

  test('a look before saving shows the same, and saves nothing', async () => {
    await people.alice.slash('settings');
    await people.alice.waitForModal('settings:submit');
    people.alice.type({ capRead: [deploys] });
    await people.alice.press('settings:review');
    const review = await people.alice.waitForModal('settings:reviewed');
    expect(review.reads).toMatch(/#deploys: no cap → up to read/);
    await people.alice.closeModal();
    expect((await people.alice.waitForModal('settings:submit')).state.values['capRead']).toBeDefined();
    expect(await ask(people.bob, 'why change')).toMatch(/not a command/);
    const there = bot.slack.as(bob, deploys);
    expect(await ask(there, 'why variable')).toMatch(/You may run/);
  });

  test('a capped channel holds for an operator, and for what is typed there only', async () => {
    await save(people.alice, { capRead: [deploys], capNone: [random] });
    const there = bot.slack.as(bob, deploys);
    expect(await ask(there, 'why variable')).toMatch(/not run[\s\S]*#deploys nothing above read/);
    expect(await ask(people.bob, 'why variable')).toMatch(/You may run/);
    const nowhere = bot.slack.as(bob, random);
    const refused = await ask(nowhere, 'zones');
    expect(refused).toMatch(/not allowed here.*#random nothing of the CDN/);
    // An admin who capped a channel can take it back there.
    const admin = bot.slack.as(alice, random);
    expect(await save(admin, { capNone: [] })).toMatch(/#random: nothing allowed → no cap/);
  });

  test('of two admins who save at once the second looks again', async () => {
    await people.alice.slash('settings');
    await people.alice.waitForModal('settings:submit');
    await people.carol.slash('settings');
    await people.carol.waitForModal('settings:submit');
    await people.alice.submit({ expiryMinutes: '45' });
    await people.alice.waitForModal('settings:done');
    await people.carol.submit({ expiryMinutes: '60' });
    const refused = await people.carol.waitForModal(/Changed meanwhile by @Alice Adams/);
    expect(refused.reads).toMatch(/Yours was not saved/);
    await people.carol.press('help:run:0');
    const again = await people.carol.waitForModal('settings:submit');
    expect(again.state.values['expiryMinutes']?.['expiryMinutes']).toMatchObject({ value: '45' });
  });

  test('the last change is undone by a button, once', async () => {
    await save(people.alice, { changeApprovals: '2' });
    const stale = people.alice.modal();
    expect(stale?.reads).toMatch(/Changes need 2 approvals, but there is only 1 approver/);
    await people.alice.press('settings:undo');
    await people.alice.waitForModal(/Approvals for a change: 2 → 0/);
    await people.alice.press('settings:undo', { value: '1' });
    await people.alice.waitForModal(/Changed meanwhile by/);
  });

  test('an emptied approval channel is empty, an untouched field stays', async () => {
    const outcome = await save(people.alice, { approvalChannel: '' });
    expect(outcome).toMatch(/Approval channel: #ops → none/);
    expect(outcome).not.toMatch(/Operators/);
    await save(people.alice, { approvalChannel: random });
    expect(people.alice.modal()?.reads).toMatch(/#random could not be told: invite the bot/);
  });

  test.each<[Record<string, unknown>, string, RegExp]>([
    [{ destroyApprovals: '9' }, 'destroyApprovals', /whole number from 0 to 5/],
    [{ expiryMinutes: '0' }, 'expiryMinutes', /whole number from 1 to 1440/],
    [{ capRead: [ops], capChange: [ops] }, 'capChange', /one cap only/],
    [{ exportChannels: ['D0SOMEONE'] }, 'exportChannels', /Pick channels/],
  ])('a field that is wrong says so: %j', async (values, field, says) => {
    await people.alice.slash('settings');
    await people.alice.waitForModal('settings:submit');
    const { errors } = await people.alice.submit(values);
    expect(errors?.[field]).toMatch(says);
    expect(Object.keys(errors ?? {})).toEqual([field]);
  });

  test('user groups are picked from a menu, and their members have the role', async () => {
    await people.alice.slash('settings');
    await people.alice.waitForModal('settings:submit');
    const options = await people.alice.suggest('operatorGroups', 'oper');
    expect(options.map(({ value }) => value)).toEqual(['S0OPERATE']);
    await people.alice.choose('operatorGroups', ['S0OPERATE']);
    await people.alice.submit({ operators: [] });
    const outcome = (await people.alice.waitForModal('settings:done')).reads;
    expect(outcome).toMatch(/Operator groups: added @operators/);
    // Bob was named before and is a member now.
    expect(outcome).toMatch(/No decision changes/);
    expect(await ask(people.bob, 'why export')).toMatch(/You may run[\s\S]*as a member of/);
  });

  test('admins may ask about somebody else, others about themselves', async () => {
    expect(await ask(people.alice, `why <@${bob}|bob> export`)).toMatch(/Bob Brown.* may run \/cdn export/);
    expect(await ask(people.alice, `why export <@${dave}|dave>`)).toMatch(/Dave Dunn.* may not run/);
    expect(await ask(people.bob, `why export <@${dave}|dave>`)).toMatch(/Only admins may ask about somebody/);
  });

  test('help shows what one may run, help all the rest with the reason', async () => {
    expect(await ask(people.bob, 'help')).not.toMatch(/cdn settings/);
    expect(await ask(people.bob, 'help all')).toMatch(
      /2 commands you may not run[\s\S]*cdn settings[\s\S]*not an admin/,
    );
    expect(await ask(people.alice, 'help')).toMatch(/cdn settings/);
    expect(await ask(people.alice, 'help all')).toMatch(/may run every command|connected/);
  });

  test('somebody of another organisation is refused everywhere, and learns nothing of the settings', async () => {
    const visitor = bot.slack.as(eve, 'C0SHARED0');
    for (const words of ['help', 'zones', 'why export', 'whoami', 'settings']) {
      const said = await ask(visitor, words);
      expect(said).toMatch(/its own organisation only/);
      expect(said).not.toMatch(/operator|admin/i);
    }
    expect(visitor.modal()).toBeUndefined();
  });

  test('Slack is asked nothing for what needs no more than read', async () => {
    const before = bot.slack.calls.length;
    await people.bob.slash('zones');
    await people.bob.waitForMessage(/12 zones/);
    expect(bot.slack.calls.slice(before).map(({ method }) => method)).toEqual(['response_url']);
  });

  test('the Home tab shows roles and rights', async () => {
    await people.bob.openHome();
    const { reads } = await people.bob.waitForHome(/export, change, destroy · operator/);
    expect(reads).toMatch(/rights/);
  });

  test('nothing that was shown broke a limit of Slack', () => {
    expect(bot.slack.problems).toEqual([]);
  });
});

describe('where Slack does not tell', () => {
  test.each([
    ['users.info', 'missing_scope'],
    ['users.info', 'unknown_method'],
  ])('%s answering %s makes nobody an admin but the configured ones', async (method, error) => {
    const bot = await startBot({
      zones: 1,
      env: { ADMIN_USER_IDS: `T0ACME000/${carol}, T0BETA000/${dave}` },
    });
    bot.slack.script.fail(method, error, 100);
    const admin = bot.slack.as(alice, ops);
    await admin.slash('settings');
    await admin.waitForModal(/Only admins may do this[\s\S]*The bot cannot read who is a workspace admin/);
    expect(await ask(admin, 'why settings')).toMatch(/The bot cannot read who is a workspace admin/);
    expect(await ask(bot.slack.as(dave, ops), 'why settings')).toMatch(/not run/);
    const configured = bot.slack.as(carol, ops);
    await configured.slash('settings');
    await configured.waitForModal('settings:submit');
    const told = bot.logs.filter((line) => line.includes('treating everyone as non-admin'));
    expect(told).toHaveLength(1);
    expect(bot.slack.problems).toEqual([]);
    await bot.stop();
  });

  test.each([
    ['missing_scope', /the scope usergroups:read was not granted/],
    ['plan_upgrade_required', /this Slack plan has no user groups/],
  ])('user groups with %s have no members, and settings, why and the menu say so', async (error, says) => {
    const bot = await startBot({ zones: 1 });
    bot.slack.script.fail('usergroups.users.list', error, 100);
    const [admin, operator] = [bot.slack.as(alice, ops), bot.slack.as(bob, ops)];
    await connect(bot, bob, ops);
    await admin.slash('settings');
    await admin.waitForModal('settings:submit');
    await admin.suggest('operatorGroups', '');
    await admin.choose('operatorGroups', ['S0OPERATE']);
    await admin.submit({});
    expect((await admin.waitForModal('settings:done')).reads).toMatch(says);
    await admin.closeModal();
    const why = await ask(operator, 'why export');
    expect(why).toMatch(/may not run[\s\S]*not an operator/);
    expect(why).toMatch(says);
    await admin.slash('settings');
    expect((await admin.waitForModal('settings:submit')).reads).toMatch(says);
    expect(bot.slack.problems).toEqual([]);
    await bot.stop();
  });
});

test('settings are saved by those who are admins in Slack at that moment', async () => {
  const bot = await startBot({ zones: 1 });
  const admin = bot.slack.as(alice, ops);
  await admin.slash('settings');
  await admin.waitForModal('settings:submit');
  for (const record of bot.slack.world.people) Object.assign(record, { admin: false });
  await admin.submit({ expiryMinutes: '90' });
  await admin.waitForModal(/Only admins may do this/);
  for (const record of bot.slack.world.people) Object.assign(record, { admin: true });
  expect(await save(bot.slack.as(bob, ops), { expiryMinutes: '90' })).toMatch(/30 → 90/);
  await bot.stop();
});

test('what is denied is in the record once a minute, each change of settings with its difference', async () => {
  const bot = await startBot({ zones: 1 });
  const { env } = bot;
  const person = bot.slack.as(bob, ops);
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await person.slash('settings');
    await person.waitForModal(/Only admins/);
    await person.closeModal();
  }
  await save(bot.slack.as(alice, ops), { operators: [bob], capRead: [deploys] });
  await bot.app.stop();
  const database = await openDatabase({ dataDir: env['DATA_DIR'] ?? '', log: createMemoryLog() });
  const records = await createAudit({ db: database.db, now: () => new Date() }).recent('T0ACME000', 20);
  await database.close();
  await bot.stop();
  // One, or two where a minute ended between them.
  const denied = records.filter(({ event }) => event === 'denied');
  expect(denied.length).toBeLessThanOrEqual(2);
  expect(denied[0]).toMatchObject({
    actor: bob,
    subject: 'settings',
    detail: { reason: 'not-admin', channel: ops },
  });
  expect(records.find(({ event }) => event === 'policy-changed')).toMatchObject({
    actor: alice,
    detail: { change1: 'operators: +U0BOB0000', change2: 'cap of C0DEPLOY0: uncapped -> read' },
  });
});
