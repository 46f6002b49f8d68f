import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bot, connect, createPublicUrl, install, startBot } from '../../../support/bot.ts';
import { readStable } from '../../../support/words.ts';
import { says } from './words.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';

let bot: Bot;
beforeAll(async () => {
  bot = await startBot({ transport: 'http', install: 'oauth', zones: 3, env: await createPublicUrl() });
  const { acme } = bot.slack.workspaces;
  await install(bot, acme.id);
  await connect(bot, alice, ops, bot.cdn.key, acme.id);
});
afterAll(async () => bot.stop());

/** As an admin of the workspace does in Slack's settings: the bot learns of it by an event. */
async function uninstall(token: string): Promise<void> {
  const { clientId, clientSecret, url } = bot.slack;
  const body = new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret });
  const answer = await fetch(`${url}/api/apps.uninstall`, { method: 'POST', body });
  expect(await answer.json()).toMatchObject({ ok: true });
}

async function order(channel: string): Promise<string> {
  const person = bot.slack.as(alice, channel);
  await person.slash('digest new');
  await person.waitForModal('digests:submit');
  await person.submit();
  const saved = await person.waitForModal('digests:done');
  await person.closeModal();
  return /Digest (\w{5})/u.exec(saved.reads)?.[1] ?? '';
}

const isBack = ({ reads }: { readonly reads: string }): boolean => says.paused('uninstalled').test(reads);

test('removed and installed again: an owner is told once of what is paused', async () => {
  const { acme } = bot.slack.workspaces;
  const mine = [await order(ops), await order('C0DEPLOY0')];
  await uninstall(acme.botToken);
  // Its answers need no token: it goes on when what runs for people has ended.
  await expect.poll(() => bot.logs.some((line) => line.includes('access ended'))).toBe(true);
  const dm = bot.slack.as(alice, `D${alice}`);
  expect(dm.messages().filter(isBack)).toEqual([]);

  await install(bot, acme.id);
  const noticeOf = (id: string) => dm.waitForMessage((one) => isBack(one) && one.reads.includes(id), 15_000);
  const notices = await Promise.all(mine.map(noticeOf));
  expect(readStable(notices[0] ?? '', { id: mine[0] ?? '' })).toMatchSnapshot();
  // Once more, and again: nobody is told twice.
  for (let times = 0; times < 2; times += 1) await install(bot, acme.id);

  expect(dm.messages().filter(isBack)).toHaveLength(2);
  expect(bot.slack.problems).toEqual([]);
}, 90_000);
