import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bot, connect, startBot } from '../../support/bot.ts';
import { readStable } from '../../support/words.ts';

const bob = 'U0BOB0000';
const carol = 'U0CAROL00';
const ops = 'C0OPS0000';
type Person = ReturnType<Bot['slack']['as']>;

async function ask(person: Person, words: string): Promise<string> {
  const before = new Set(person.messages().map(({ ts }) => ts));
  await person.slash(words);
  return (await person.waitForMessage(({ ts }) => !before.has(ts))).reads;
}

function stable(answer: string): string {
  const hashes = answer.replaceAll(/\b[\da-f]{12,64}\b/g, '<hash>');
  return readStable(hashes.replaceAll(/\b[A-Z\d]{8}$/gm, '<reference>'));
}

describe('the audit in Slack', () => {
  let bot: Bot;
  let admin: Person;
  let other: Person;
  beforeAll(async () => {
    bot = await startBot({ zones: 12, env: { ADMIN_USER_IDS: carol } });
    [admin, other] = [bot.slack.as(carol, ops), bot.slack.as(bob, ops)];
    await connect(bot, bob, ops);
  });
  afterAll(() => bot.stop());

  test('an admin reads who connected a key, others are refused, and that is recorded too', async () => {
    expect(stable(await ask(admin, 'audit'))).toMatchSnapshot('the newest records');
    const refused = await ask(other, 'audit');
    expect(stable(refused)).toMatchSnapshot('refused');
    const denied = await ask(admin, 'audit denied');
    expect(stable(denied)).toMatchSnapshot('the record of the refusal');
    // What somebody reads out on the phone is what stands in the record.
    expect(denied).toContain(`· ${/Reference (\w{8})/.exec(refused)?.[1]}`);
    const keys = await ask(admin, `audit 9 <@${bob}|bob> keys`);
    expect(stable(keys)).toMatchSnapshot('keys of a person');
  });

  test('the file comes to the admin’s own messages, and that is recorded', async () => {
    await ask(admin, 'audit');
    await admin.press('audit:file');
    const inDm = bot.slack.as(carol, 'DU0CAROL00');
    await inDm.waitForMessage(({ files }) => files.some(({ name }) => name.endsWith('.csv')), 10_000);
    expect(stable(await ask(admin, 'audit exported'))).toMatchSnapshot('the record of the export');
    expect(bot.slack.problems).toEqual([]);
  });
});
