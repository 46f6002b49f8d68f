import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { type Bot, createPublicUrl, install, startBot, useBot } from '../../support/bot.ts';
import { bob, carol, ops } from '../../support/people.ts';

const bot = await useBot({ zones: 12, env: { ADMIN_USER_IDS: carol } }, [carol]);

beforeEach(() => {
  bot.slack.script.refuseNativeBlocks([]);
  bot.slack.script.withholdScopes([]);
});

const ended = /\d+ checks?/;

/** Types the command and gives its last answer by lines; what is fine stands in one, of which each part is one here. */
async function examine(of: Bot = bot): Promise<string[]> {
  const person = of.slack.as(carol, ops);
  const before = new Set(person.messages().map(({ ts, reads }) => `${ts} ${reads}`));
  await person.slash('doctor');
  const { reads } = await person.waitForMessage(
    (seen) => !before.has(`${seen.ts} ${seen.reads}`) && ended.test(seen.text),
    10_000,
  );
  return reads.split(/\n|(?<=\)), /u).map((line) =>
    line
      .replace(/127\.0\.0\.1:\d+/gu, '<host>')
      .replace(/[\d.]+ [kMGT]B/gu, '<size>')
      .replace(/-?\d+ s from/u, '<n> s from')
      .replace(/with k\w+/u, 'with <key id>')
      .replace(/PostgreSQL [\d.]+/u, 'PostgreSQL <version>')
      .replace(/as of .*/u, 'as of <moment>'),
  );
}

const findLines = (lines: readonly string[], word: RegExp): string[] =>
  lines.filter((line) => word.test(line));

test('an admin reads what the bot needs, and nothing of the check stays', async () => {
  expect(await examine()).toMatchSnapshot();
  const left = bot.slack.as(carol, ops).messages();
  expect(left.filter(({ text }) => text.startsWith('Trying'))).toEqual([]);
  expect(bot.slack.problems).toEqual([]);
});

test('somebody who is no admin is refused', async () => {
  const person = bot.slack.as(bob, ops);
  await person.slash('doctor');
  const { reads } = await person.waitForMessage(/admin/);
  expect(reads).not.toMatch(/charts/);
});

test('what Slack refuses is named by its way and kind, and used from then on', async () => {
  bot.slack.script.refuseNativeBlocks(['response_url']);
  const lines = findLines(await examine(), /charts and tables/);
  expect(lines).toMatchSnapshot();
  const refused = () => bot.slack.calls.filter(({ error }) => error === 'invalid_blocks').length;
  const before = refused();
  await bot.slack.as(carol, ops).slash('keys');
  await bot.slack.as(carol, ops).waitForMessage(/API key/);
  expect(refused()).toBe(before);
  bot.slack.script.refuseNativeBlocks([]);
  expect(findLines(await examine(), /take no/)).toEqual([]);
});

test('scopes that are withheld are named with what is lost, and the manifest that mends all of them once', async () => {
  bot.slack.script.withholdScopes(['app_mentions:read', 'im:history', 'usergroups:read']);
  expect(findLines(await examine(), /scope |manifest\.yml|wrong/u)).toMatchSnapshot();
});

test('membership of a digest’s channel, with and without the scope that tells it', async () => {
  const person = bot.slack.as(carol, ops);
  await person.slash('digest new');
  await person.waitForModal('digests:submit');
  await person.submit({ channel: ops });
  await person.waitForModal('digests:done');
  await person.closeModal();
  const channel = bot.slack.world.channels.get(ops);
  if (!channel) throw new Error('no channel');
  const look = async (withheld: readonly string[]): Promise<string[]> => {
    bot.slack.script.withholdScopes(withheld);
    return findLines(await examine(), /channel \S*ops/);
  };
  const before = { 'as a member': await look([]), 'without the scope': await look(['channels:read']) };
  channel.botIsMember = false;
  onTestFinished(() => void (channel.botIsMember = true));
  expect({ ...before, 'after it has left': await look([]) }).toMatchSnapshot();
});

test('where the bot serves many workspaces, its own database and keyring are left out', async () => {
  const env = { ...(await createPublicUrl()), ADMIN_USER_IDS: carol };
  await using shared = await startBot({ transport: 'http', install: 'oauth', env });
  await install(shared, shared.slack.workspaces.acme.id);
  const lines = await examine(shared);
  expect(findLines(lines, /slack token/i)).not.toEqual([]);
  expect(findLines(lines, /keyring|database|public address/)).toEqual([]);
});
