import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { appIds } from '../../../simulator/cdn/apps.ts';
import type { Actor } from '../../../simulator/slack/actor.ts';
import { ask, connect, followMessages, useBot } from '../../support/bot.ts';
import { buttons } from '../../support/command-harness.ts';
import { readStable } from '../../support/words.ts';
import { alice, offers, ops } from '../words.ts';

const cdn = '<@U0CDNBOT0>';
const direct = `D${alice}`;

const bot = await useBot({ zones: 12, transport: 'http' });
beforeEach(() => {
  bot.slack.calls.length = 0;
});
afterEach(() => bot.slack.script.withholdScopes([]));

/** Writes to the bot and returns its answer. */
async function write(person: Actor, text: string, options?: { thread: string }) {
  const { next } = followMessages(person);
  person.say(text, options);
  return next((message) => message.bot);
}

/** A thread with a reply, by its first message. */
function startThread(person: Actor): string {
  const { ts } = person.say('The shop is slow');
  person.say('Since when?', { thread: ts });
  return ts;
}

/** The event of a message that a person wrote, with other members. */
function event(more: object, id?: string) {
  const inner = { type: 'app_mention', user: alice, channel: ops, ts: '1.1', text: `${cdn} zones`, ...more };
  return bot.slack.event(inner, id === undefined ? {} : { eventId: id });
}

const countAnswers = (): number =>
  bot.slack.calls.filter(({ method }) => /^chat\.|^response_url/u.test(method)).length;

describe('a mention', () => {
  test('in a channel is answered there, for its writer alone, after a pause that Slack asks for', async () => {
    bot.slack.script.rateLimit('chat.postEphemeral', 1);
    const answer = await write(bot.slack.as(alice, ops), `${cdn} app ${appIds.api}`);
    expect(answer).toMatchObject({ ephemeral: true, channel: ops });
    expect(answer.threadTs).toBeUndefined();
    expect(answer.blocks).toContainEqual(expect.objectContaining({ type: 'data_visualization' }));
  });

  test('in a thread is answered in the thread, and so are the buttons of the answer', async () => {
    const person = bot.slack.as(alice, ops);
    const thread = startThread(person);
    const answer = await write(person, `Let me ask ${cdn} why errors shop`, { thread });
    expect(answer).toMatchObject({ ephemeral: true, threadTs: thread });
    const typo = await write(person, `${cdn} whoamy`, { thread });
    expect(typo).toMatchObject({ ephemeral: true, threadTs: thread });
    await person.press('help:run:0', { ts: typo.ts, value: 'whoami' });
    const next = await person.waitForMessage(offers('connect:forget'));
    expect(next).toMatchObject({ ephemeral: true, threadTs: thread });
    // A failure as well.
    await person.press('help:run:0', { ts: typo.ts, value: 'zone nothing-of-this-name' });
    const failure = await person.waitForMessage(/nothing-of-this-name/);
    expect(failure).toMatchObject({ ephemeral: true, threadTs: thread });
  });

  // How a line is decorated: `commands/words.test.ts`.
  test.each([
    ['behind other words', `could you ${cdn} whoami`],
    ['before the mention', `whoami ${cdn}`],
    ['below, in a list', `${cdn}\n- whoami`],
    ['behind two mentions', `${cdn} ${cdn} whoami`],
    ['in a code block of its own lines', `${cdn}\n\`\`\`\n/cdn whoami\n\`\`\``],
    ['with thanks on the next line', `${cdn} whoami\nthanks!`],
    ['with the name of the bot', '<@U0CDNBOT0|cdn> whoami'],
  ])('takes its command %s', async (_, text) => {
    const answer = await write(bot.slack.as(alice, ops), text);
    expect(offers('connect:forget')(answer)).toBe(true);
  });

  test.each(['• ', '- ', '1) '])('behind %j is also taken from a slash command', async (mark) => {
    const person = bot.slack.as(alice, ops);
    const seen = new Set(person.messages().map(({ ts }) => ts));
    await person.slash(`${mark}app ${appIds.api}`);
    const answer = await person.waitForMessage(({ ts }) => !seen.has(ts));
    expect(answer.blocks).toContainEqual(expect.objectContaining({ type: 'data_visualization' }));
  });

  test('as long as Slack allows is answered, however it is decorated', async () => {
    const decorated = `${'_'.repeat(50)}a `.repeat(700);
    const answer = await write(bot.slack.as(alice, ops), `${cdn} ${decorated}`);
    expect(answer.ephemeral).toBe(true);
  });

  test('without words is asked what to do', async () => {
    const answer = await write(bot.slack.as(alice, ops), cdn);
    expect(offers('help:run:0')(answer) || offers('help:run')(answer)).toBe(true);
  });

  test('of a form gets a button that opens it; the answer of the form comes to the thread', async () => {
    const person = bot.slack.as(alice, ops);
    const thread = startThread(person);
    const offer = await write(person, `${cdn} app`, { thread });
    expect(readStable(offer)).toMatchSnapshot();
    expect(person.modal()).toBeUndefined();
    await person.press('help:run:0', { ts: offer.ts });
    await person.waitForModal('apps:submit');
    await person.suggest('apps:pick', appIds.worker);
    await person.choose('apps:pick', appIds.worker);
    await person.submit();
    const answer = await person.waitForMessage(
      (message) => message.reads.includes(appIds.worker) && message.ts !== offer.ts,
    );
    expect(answer).toMatchObject({ ephemeral: true, threadTs: thread });
  });
});

test.each([
  ['a reading', `app ${appIds.api}`, true],
  ['an answer that others see', `app ${appIds.api} here`, false],
])('what the CDN fails to answer is offered again, or not: %s', async (_, words, isOffered) => {
  const person = bot.slack.as(alice, ops);
  const findButtons = async (begin: () => Promise<unknown>) => {
    const { next } = followMessages(person);
    await begin();
    const failure = await next(({ reads }) => reads.includes('Reference'));
    return { ts: failure.ts, offered: [...buttons(failure).values()] };
  };
  bot.cdn.faults.add({ status: 400, times: Infinity });
  const { ts, offered } = await findButtons(() => person.slash(words));
  expect(offered).toEqual(isOffered ? [['help:run', words]] : []);
  // A press as well.
  const press = () => (isOffered ? person.press('help:run', { ts, value: words }) : person.slash(words));
  expect((await findButtons(press)).offered).toEqual(offered);
  bot.cdn.faults.clear();
});

test('a step of a workflow ends with what it found, and is in the audit', async () => {
  const step = await bot.slack.step('zones_needing_attention', {}, { by: alice });
  expect(await step.ended(15_000)).toMatchObject({ outputs: expect.anything() });
  const audit = await ask(bot.slack.as(alice, ops), 'audit');
  expect(audit.reads).toContain('zones_needing_attention');
});

describe('a key in a message', () => {
  const ownKey = 'our_shop_key_2024';

  test.each([
    ['behind a command', (key: string) => `${cdn} zones ${key}`],
    ['on another line', (key: string) => `${cdn} zones\n${key}`],
    ['before the mention', (key: string) => `here is ${key} ${cdn} zones`],
  ])('%s is refused and never repeated', async (_, put) => {
    bot.cdn.data.accessKeys.set(ownKey, 'full');
    await connect(bot, alice, ops, ownKey);
    const from = bot.slack.calls.length;
    for (const key of [ownKey, bot.cdn.key]) {
      const answer = await write(bot.slack.as(alice, ops), put(key));
      expect([key, offers('connect:open')(answer)]).toEqual([key, true]);
    }
    const sent = JSON.stringify(bot.slack.calls.slice(from));
    for (const key of [ownKey, bot.cdn.key]) {
      expect(sent).not.toContain(key);
      expect(bot.logs.join('')).not.toContain(key);
    }
    await connect(bot, alice, ops);
  });
});

describe('in the conversation with the bot', () => {
  test('words are answered without /cdn, by a message that stays', async () => {
    const person = bot.slack.as(alice, direct);
    const answer = await write(person, 'whoami');
    expect(answer).toMatchObject({ ephemeral: false, bot: true, channel: direct });
    const thread = answer.ts;
    expect(await write(person, `${cdn} whoami`, { thread })).toMatchObject({ threadTs: thread });
  });

  test.each(['file_share', 'thread_broadcast', 'me_message'] as const)(
    'words are answered in a message that is a %s',
    async (subtype) => {
      const person = bot.slack.as(alice, direct);
      const { next } = followMessages(person);
      await person.say('whoami', { subtype }).heard;
      const answer = await next((message) => message.bot);
      expect(offers('connect:forget')(answer)).toBe(true);
    },
  );

  test('a long answer replaces the sign of progress', async () => {
    const person = bot.slack.as(alice, direct);
    const held = Promise.withResolvers<void>();
    bot.cdn.faults.add({ match: { path: new RegExp(appIds.worker, 'u') }, until: held.promise });
    const { ts } = await write(person, `app ${appIds.worker}`);
    held.resolve();
    const shown = await person.waitForMessage((message) => message.ts === ts && message.blocks.length > 1);
    expect(shown).toMatchObject({ ephemeral: false, edited: true });
    expect(countAnswers()).toBe(2);
  });

  test('a button that answers beside its message leaves a message that stays', async () => {
    const person = bot.slack.as(alice, direct);
    const typo = await write(person, 'whoamy');
    const { next } = followMessages(person);
    await person.press('help:run:0', { ts: typo.ts, value: 'whoami' });
    expect(await next()).toMatchObject({ ephemeral: false, channel: direct });
    expect(person.messages().find(({ ts }) => ts === typo.ts)?.reads).toBe(typo.reads);
  });
});

describe('nothing is answered to', () => {
  test.each([
    ['the bot’s own messages', { bot_id: 'B0CDNBOT0', channel: direct, type: 'message', channel_type: 'im' }],
    ['the bot itself, without its mark', { user: 'U0CDNBOT0' }],
    ['another bot’s mention', { bot_id: 'B0OTHER00' }],
    ['an edited mention', { edited: { user: alice, ts: '1.2' } }],
    [
      'a changed message',
      { type: 'message', subtype: 'message_changed', channel: direct, channel_type: 'im', message: {} },
    ],
    [
      'a deleted message',
      { type: 'message', subtype: 'message_deleted', channel: direct, channel_type: 'im', hidden: true },
    ],
    [
      'a message that the bot joined',
      { type: 'message', subtype: 'channel_join', channel: direct, channel_type: 'im' },
    ],
    ['a message without text', { text: undefined }],
    ['a message without a writer', { user: undefined }],
  ])('%s', async (_, more) => {
    expect((await event(more)).status).toBe(200);
    // What is answered comes after what is not.
    await write(bot.slack.as(alice, ops), `${cdn} whoami`);
    expect(countAnswers()).toBe(1);
  });
});
