import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { appIds } from '../../simulator/cdn/apps.ts';
import { splitTarget } from '../../src/commands/share.ts';
import { parseWords } from '../../src/commands/words.ts';
import { registerSecrets } from '../../src/secrets/secret.ts';
import { says } from '../slack/words.ts';
import { connect, followMessages, useBot } from '../support/bot.ts';
import { alice, bob, deploys, ops, random, shared } from '../support/people.ts';
import { configure } from '../support/settings.ts';
import { readStable } from '../support/words.ts';
import { download } from './exports/bot.ts';

const app = appIds.api;

describe('the target of typed words', () => {
  test.each([
    ['errors shop here', 'errors shop', undefined],
    ['errors shop  Here ', 'errors shop', undefined],
    ['errors shop yesterday in <#C0OPS0000|ops>', 'errors shop yesterday', ops],
    ['errors shop to <#C0OPS0000>', 'errors shop', ops],
    ['zones "my shop" in #deploy-eu', 'zones my shop', '#deploy-eu'],
    ['errors shop in #größe', 'errors shop', '#größe'],
  ])('%s', (typed, words, channel) => {
    const found = splitTarget(parseWords(typed));
    expect(found?.words.text).toBe(words);
    expect(found?.target.channel).toBe(channel);
  });

  test.each([
    'errors shop',
    'errors <#C0OPS0000|ops>',
    'zones in',
    'zones in ops',
    'errors here today',
    'errors here #ops',
    'zones #ops',
  ])('%s has none', (typed) => {
    expect(splitTarget(parseWords(typed))).toBeUndefined();
  });

  test('a file and what was shown come behind it', () => {
    expect(
      splitTarget(parseWords('errors 1001 today in <#C0OPS0000|ops> with:CSV shown:ab12'))?.target,
    ).toEqual({ channel: ops, file: 'csv', shown: 'ab12', words: 'in <#C0OPS0000> with:csv shown:ab12' });
    expect(splitTarget(parseWords('zones in #ops'))?.target.words).toBe('in #ops');
  });
});

// Charts and logs are of the days before today.
const began = Date.now();
const now = (): Date => new Date(Date.parse('2026-11-23T12:00:00Z') + Date.now() - began);
const bot = await useBot({ zones: 12, now, cdnNow: now });
beforeEach(() => {
  bot.slack.script.refuseNativeBlocks([]);
  bot.slack.script.withholdScopes([]);
});

/** What all read in a channel: the posts of the bot that are not for one person. */
function posts(channel: string) {
  return bot.slack
    .as(bob, channel)
    .messages()
    .filter((message) => message.bot && !message.ephemeral);
}

/** Types a command and waits for the private answer that comes of it. */
async function type(channel: string, words: string) {
  const person = bot.slack.as(alice, channel);
  const { next } = followMessages(person);
  await person.slash(words);
  return next(({ reads, ephemeral }) => ephemeral && !reads.includes(says.working));
}

/** Waits until an answer says where it was shown. */
const waitUntilShown = (answer: { readonly ts: string }, name = '#ops', person = bot.slack.as(alice)) =>
  person.waitForMessage(({ ts, reads }) => ts === answer.ts && reads.includes(name));

const actionsOf = (message: { readonly blocks: readonly object[] }): string[] =>
  [...JSON.stringify(message.blocks).matchAll(/"action_id":"([^"]+)"/g)].map(([, id = '']) => id);
const findFileChoice = (message: { readonly blocks: readonly object[] }): string =>
  /"value":"(share:post:csv [^"]*)"/.exec(JSON.stringify(message.blocks))?.[1] ?? '';
const hasChart = (message: { readonly blocks: readonly object[] } | undefined): boolean =>
  JSON.stringify(message?.blocks).includes('data_visualization');

test('Share asks first, and shows to all what was shown, with who showed it and as of when', async () => {
  const before = posts(ops).length;
  const asked = bot.cdn.requests.length;
  const answer = await type(ops, `app ${app}`);
  const read = bot.cdn.requests.length;
  const confirm = /"confirm":\{.*?"text":\{"type":"mrkdwn","text":"([^"]*)"/.exec(
    JSON.stringify(answer.blocks),
  );
  expect(confirm?.[1]).toMatchSnapshot('asks');
  await bot.slack.as(alice, ops).press('share:post', { ts: answer.ts });
  const shown = await waitUntilShown(answer);
  expect(shown.ephemeral).toBe(true);
  expect(actionsOf(shown)).not.toContain('share:post');
  expect(read - asked).toBe(1);
  expect(bot.cdn.requests).toHaveLength(read);
  const [copy, ...more] = posts(ops).slice(before);
  expect(more).toEqual([]);
  expect(hasChart(copy)).toBe(true);
  expect(actionsOf(copy ?? { blocks: [] })).toEqual(['help:run:0']);
  expect(readStable(copy)).toMatchSnapshot('to all');
});

test.each(['keys', 'audit', 'whoami'])(
  '%s is for its asker alone: named with a channel it is refused',
  async (name) => {
    const before = posts(ops).length;
    const refused = await type(ops, `${name} in <#${ops}|ops>`);
    expect(refused.ephemeral).toBe(true);
    expect(actionsOf(refused)).toEqual(['help:run:0']);
    expect(posts(ops)).toHaveLength(before);
  },
);

test('Open with my key answers its presser privately, with their own key', async () => {
  const person = bot.slack.as(bob, ops);
  const { ts } = posts(ops).at(-1) ?? {};
  await person.press('help:run:0', ts === undefined ? {} : { ts });
  const refused = await person.waitForMessage(
    ({ ephemeral, blocks }) => ephemeral && actionsOf({ blocks }).includes('connect:open'),
  );
  expect(refused.reads).not.toContain(app);
  await connect(bot, bob, ops);
  await person.press('help:run:0', ts === undefined ? {} : { ts });
  const own = await person.waitForMessage(({ ephemeral, reads }) => ephemeral && reads.includes(app));
  expect(actionsOf(own)).toContain('share:post');
});

test('two presses at once show it once', async () => {
  const before = posts(ops).length;
  const answer = await type(ops, `app ${app}`);
  const person = bot.slack.as(alice, ops);
  await Promise.all([
    person.press('share:post', { ts: answer.ts }),
    person.press('share:post', { ts: answer.ts }),
  ]);
  const told = await person.waitForMessage(
    ({ ts, ephemeral, reads }) => ephemeral && ts > answer.ts && !reads.includes(app),
  );
  expect(readStable(told)).toMatchSnapshot();
  expect(posts(ops)).toHaveLength(before + 1);
});

test('a share that Slack did not answer is not repeated by a second press', async () => {
  const answer = await type(ops, `app ${app}`);
  const person = bot.slack.as(alice, ops);
  const before = posts(ops).length;
  bot.slack.script.drop('chat.postMessage');
  await person.press('share:post', { ts: answer.ts });
  const told = await person.waitForMessage(({ ts, ephemeral }) => ephemeral && ts > answer.ts);
  expect(readStable(told)).toMatchSnapshot();
  await person.press('share:post', { ts: answer.ts });
  await person.waitForMessage(({ ts, ephemeral }) => ephemeral && ts > told.ts);
  expect(posts(ops)).toHaveLength(before + 1);
});

test('typed, an answer is shown in another channel and says so', async () => {
  const before = posts(deploys).length;
  const answer = await type(ops, `app ${app} in <#${deploys}|deploys>`);
  expect(answer.reads).toContain('#deploys');
  expect(posts(deploys)).toHaveLength(before + 1);
  const named = await type(ops, `app ${app} in #deploys`);
  expect(named.reads).toContain('#deploys');
  expect(posts(deploys)).toHaveLength(before + 2);
});

test('a channel without the bot gets nothing from elsewhere, and the answer says how to invite it', async () => {
  const before = posts(random).length;
  const refused = await type(ops, `app ${app} in <#${random}|random>`);
  expect(readStable(refused)).toMatchSnapshot();
  expect(posts(random)).toHaveLength(before);
});

test.each([
  ['shared with another organization', shared, undefined],
  ['that Slack does not tell of', ops, 'missing_scope'],
  ['that is private and without the bot', ops, 'channel_not_found'],
  ['that Slack does not tell of right now', ops, 'ratelimited'],
  ['whose key management shuts the bot out', ops, 'ekm_access_denied'],
])('a channel %s gets nothing', async (_, channel, failure) => {
  const before = posts(channel).length;
  if (failure === 'missing_scope') bot.slack.script.withholdScopes(['channels:read', 'groups:read']);
  else if (failure) bot.slack.script.fail('conversations.info', failure);
  const refused = await type(channel, `app ${app} here`);
  expect(readStable(refused)).toMatchSnapshot();
  expect(posts(channel)).toHaveLength(before);
});

test.each(['conversations.list', 'conversations.members'])(
  'a channel that Slack does not look for right now (%s) is not told as unknown',
  async (method) => {
    const channel = bot.slack.world.channels.get(deploys);
    if (channel) Object.assign(channel, { isPrivate: true });
    bot.slack.script.fail(method, 'internal_error');
    expect((await type(ops, `app ${app} in #deploys`)).reads).toMatch(/internal_error/u);
    if (channel) Object.assign(channel, { isPrivate: false });
  },
);

test.each([
  ['ekm_access_denied', /Enterprise Key Management/u],
  ['rate_limited', /rate limiting/u],
  ['not_in_channel', /invite @cdn/u],
  ['is_archived', /is archived/u],
])('a share that Slack refuses with %s says what to do', async (code, words) => {
  bot.slack.script.fail('chat.postMessage', code);
  expect((await type(ops, `app ${app} in <#${deploys}|deploys>`)).reads).toMatch(words);
});

test('a private channel is found by its members alone, and nobody else learns that it exists', async () => {
  const { channels } = bot.slack.world;
  const channel = channels.get(ops);
  if (!channel) throw new Error('there is no #ops');
  const plans = {
    ...channel,
    id: 'C0PLANS00',
    name: 'plans',
    isPrivate: true,
    members: new Set([`T0ACME000/${bob}`]),
  };
  channels.set(plans.id, plans);
  const readRefusal = async (place: string): Promise<string> =>
    readStable(await type(random, `app ${app} in ${place}`)).replaceAll(
      place.replaceAll(/[<#>]/gu, ''),
      'it',
    );
  const refusal = await readRefusal('#nowhere');
  expect(refusal).toMatchSnapshot();
  expect(await readRefusal('#plans')).toBe(refusal);
  expect(await readRefusal('<#C0PLANS00>')).toBe(await readRefusal('<#C0NOWHERE>'));
  expect(posts(plans.id)).toEqual([]);
  plans.members.add(`T0ACME000/${alice}`);
  await type(random, `app ${app} in #plans`);
  await type(random, `app ${app} in <#C0PLANS00>`);
  expect(posts(plans.id)).toHaveLength(2);
  channels.delete(plans.id);
});

test('in a thread it is shown in the thread, by a press and by words', async () => {
  const person = bot.slack.as(alice, ops);
  const { ts: thread } = person.say('The shop is slow');
  const before = posts(ops).length;
  person.say(`<@U0CDNBOT0> app ${app}`, { thread });
  const answer = await person.waitForMessage(({ threadTs, ephemeral }) => ephemeral && threadTs === thread);
  await person.press('share:post', { ts: answer.ts });
  await waitUntilShown(answer);
  person.say(`<@U0CDNBOT0> app ${app} here`, { thread });
  await person.waitForMessage(
    ({ ts, threadTs, ephemeral }) => ephemeral && threadTs === thread && ts > answer.ts,
  );
  const elsewhere = posts(deploys).length;
  for (const place of [`<#${ops}|ops>`, `<#${deploys}|deploys>`]) {
    const { ts: typed } = person.say(`<@U0CDNBOT0> app ${app} in ${place}`, { thread });
    await person.waitForMessage(
      ({ ts, threadTs, ephemeral }) => ephemeral && threadTs === thread && ts > typed,
    );
  }
  expect(
    posts(ops)
      .slice(before)
      .map(({ threadTs }) => threadTs),
  ).toEqual([thread, thread, thread]);
  expect(
    posts(deploys)
      .slice(elsewhere)
      .map(({ threadTs }) => threadTs),
  ).toEqual([undefined]);
});

test('from the conversation with the bot it goes to a channel of a menu', async () => {
  const person = bot.slack.as(alice, `D${alice}`);
  person.say(`app ${app}`);
  const answer = await person.waitForMessage(({ bot: isBot, reads }) => isBot && reads.includes(app));
  const menu = actionsOf(answer).find((id) => id.startsWith('share:to')) ?? '';
  const before = posts(deploys).length;
  await person.choose(menu, deploys, { ts: answer.ts });
  const shown = await waitUntilShown(answer, '#deploys', person);
  expect(actionsOf(shown)).not.toContain(menu);
  expect(posts(deploys)).toHaveLength(before + 1);
  person.say(`app ${app} here`);
  const refused = await person.waitForMessage(({ bot: isBot, ts }) => isBot && ts > answer.ts);
  expect(readStable(refused)).toMatchSnapshot();
});

describe('origin errors with their file', () => {
  test('come by one press, the file in the thread of the post', async () => {
    const before = posts(ops).length;
    const answer = await type(ops, 'errors checkout yesterday UTC');
    const person = bot.slack.as(alice, ops);
    await person.choose('menu:more', findFileChoice(answer), { ts: answer.ts });
    await waitUntilShown(answer);
    const [copy, file, ...more] = posts(ops).slice(before);
    expect(more).toEqual([]);
    expect(readStable(copy)).toMatchSnapshot();
    expect(file).toMatchObject({
      threadTs: copy?.ts,
      files: [{ name: expect.stringMatching(/^origin-errors-checkout-.*\.csv$/u) }],
    });
  });

  test('that were shown can be shown once more with their file, and what has no file without one', async () => {
    const before = posts(ops).length;
    const words = 'errors checkout yesterday UTC';
    const [, key = ''] = /shown:(\w+)/u.exec(JSON.stringify((await type(ops, words)).blocks)) ?? [];
    await type(ops, `${words} here shown:${key}`);
    await type(ops, `${words} here with:csv shown:${key}`);
    const posted = posts(ops).slice(before);
    expect(posted.map(({ files }) => files?.length ?? 0)).toEqual([0, 0, 1]);
    await type(ops, `app ${app} here with:csv`);
    expect(posts(ops)).toHaveLength(before + 4);
  });

  test('are shown without the file that Slack does not take, and say so', async () => {
    const before = posts(deploys).length;
    bot.slack.script.fail('files.getUploadURLExternal', 'file_uploads_disabled');
    const answer = await type(deploys, 'errors checkout yesterday UTC here with:csv');
    expect(answer.reads).toMatch(/#deploys, without/);
    expect(posts(deploys)).toHaveLength(before + 1);
  });

  test('leave no file behind', async () => {
    expect(await readdir(join(bot.env['DATA_DIR'] ?? '', 'spool'))).toEqual([]);
  });
});

test('a live secret in an answer is not shown, and once it is none the same press shows it', async () => {
  const answer = await type(ops, 'errors checkout yesterday UTC');
  const person = bot.slack.as(alice, ops);
  const before = posts(ops).length;
  const release = registerSecrets({ 'slack-token': ['network_socket_exception'] });
  try {
    await person.press('share:post', { ts: answer.ts });
    const held = await person.waitForMessage(({ ts, ephemeral }) => ephemeral && ts > answer.ts);
    expect(readStable(held)).toMatchSnapshot();
  } finally {
    release();
  }
  expect(posts(ops)).toHaveLength(before);
  await person.press('share:post', { ts: answer.ts });
  await waitUntilShown(answer);
  expect(posts(ops)).toHaveLength(before + 1);
});

test('an answer that is no longer kept is read again', async () => {
  const [before, asked] = [posts(ops).length, bot.cdn.requests.length];
  await type(ops, `app ${app} here shown:gone`);
  expect(posts(ops)).toHaveLength(before + 1);
  expect(bot.cdn.requests).toHaveLength(asked + 1);
});

test('an answer without anything to share is not shown', async () => {
  const before = posts(ops).length;
  const answer = await type(ops, 'zones nosuchname here');
  expect(posts(ops)).toHaveLength(before);
  expect(readStable(answer)).toMatchSnapshot();
});

test('without anything to show it asks what', async () => {
  expect(readStable(await type(ops, 'app here'))).toMatchSnapshot();
});

describe('where charts are refused', () => {
  test.each([
    ['by the response_url, the bot posts the chart itself', ops, 'response_url', true],
    ['by the response_url and without the bot, all read its words', random, 'response_url', false],
    ['everywhere, all read its words', ops, '*', false],
  ])('%s', async (_, channel, method, isDrawn) => {
    bot.slack.script.refuseNativeBlocks([method]);
    const before = posts(channel).length;
    const answer = await type(channel, `app ${app}`);
    await bot.slack.as(alice, channel).press('share:post', { ts: answer.ts });
    await waitUntilShown(answer, channel === ops ? '#ops' : '#random');
    const [copy, ...more] = posts(channel).slice(before);
    expect(more).toEqual([]);
    expect(hasChart(copy)).toBe(isDrawn);
    expect(copy?.reads).toContain(app);
  });
});

test('what was shown to all is in the audit, and admins allow it by channel', async () => {
  const record = await type(ops, 'audit');
  expect(record.reads).toMatch(new RegExp(`shared app ${app} in #ops`, 'iu'));
  await bot.slack.as(alice, ops).press('audit:file', { ts: record.ts });
  const { files } = await bot.slack
    .as(alice, `D${alice}`)
    .waitForMessage((message) => message.files.length > 0);
  const csv = (await download(bot.slack, files[0]?.url ?? '')).toString();
  // The others had no file, or Slack did not take it.
  expect(csv.match(/""file"":""csv""/gu)).toHaveLength(2);
  await configure(bot.slack.as(alice, ops), { postChannels: [deploys] });
  const before = posts(ops).length;
  const refused = await type(ops, `app ${app} here`);
  expect(readStable(refused)).toMatchSnapshot();
  expect(posts(ops)).toHaveLength(before);
  // An admin named it, so nothing has to be known of it.
  bot.slack.script.withholdScopes(['channels:read', 'groups:read']);
  const asked = posts(deploys).length;
  await type(deploys, `app ${app} here`);
  expect(posts(deploys)).toHaveLength(asked + 1);
});
