import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bot, connect, disconnect, startBot } from '../support/bot.ts';
import { alice, bob, ops } from './words.ts';

describe.each(['socket', 'http'] as const)('over %s', (transport) => {
  let bot: Bot;
  beforeAll(async () => {
    bot = await startBot({ transport, zones: 25 });
  });
  afterAll(() => bot.stop());

  test('a person links a key, lists the zones, narrows the list and opens one', async () => {
    const person = bot.slack.as(alice, ops);
    await connect(bot, alice, ops);

    const typed = await person.slash('zones');
    expect(typed).toMatchObject({ status: 200, timedOut: false });
    const list = await person.waitForMessage((message) => /25 zones.*\n?.*this month/.test(message.reads));
    expect(list.ephemeral).toBe(true);

    await person.choose('menu:more', 'zones:page:off sort=attention&only=off');
    const second = await person.waitForMessage((message) => /or suspended/.test(message.reads));
    expect(second.ts).toBe(list.ts);

    const [zone] = bot.cdn.data.zones;
    await person.suggest('zones:open', zone?.Name ?? '');
    await person.choose('zones:open', String(zone?.Id));
    await person.waitForMessage(
      (message) => message.reads.includes(`zone ${zone?.Id}`) && message.ts !== list.ts,
    );
    expect(bot.cdn.requests.every((request) => request.path.startsWith('/pullzone'))).toBe(true);
  });

  test('a key that the CDN refuses is not kept, and the form stays open for another try', async () => {
    const person = bot.slack.as(bob, ops);
    await person.slash('connect');
    await person.waitForModal(/key/i);
    await person.submit({ accessKey: 'not-the-right-key-0123456789' });
    await person.waitForModal(/refused/i);
    await person.submit({ accessKey: bot.cdn.key });
    await person.waitForModal(/connected|linked/i);
    await person.closeModal();
    await person.slash('whoami');
    await person.waitForMessage(/fingerprint/i);
  });

  test('after disconnect nothing of the key is left to act with', async () => {
    const person = bot.slack.as(bob, ops);
    await disconnect(person);
    const before = person.messages().length;
    await person.slash('zones');
    await person.waitForMessage(
      (message) => /not connected/i.test(message.reads) && person.messages().length > before,
    );
  });

  test('no key that was typed is in any log line', () => {
    expect(bot.logs.join('')).not.toContain(bot.cdn.key);
    expect(bot.logs.join('')).not.toContain('not-the-right-key');
  });
});
