import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bot, connect, startBot } from '../support/bot.ts';

let bot: Bot;
beforeAll(async () => {
  bot = await startBot({ zones: 8, env: { ADMIN_USER_IDS: 'U0CAROL00' } });
  await connect(bot, 'U0ALICE00', 'C0OPS0000');
  await connect(bot, 'U0BOB0000', 'C0OPS0000');
});
afterAll(async () => bot.stop());

/** Orders a digest as Alice and gives its id. */
async function order(values: Record<string, unknown> = {}): Promise<string> {
  const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
  await alice.slash('digest new');
  await alice.waitForModal((view) => view.reads.includes('Time zone'));
  await alice.submit(values);
  const saved = await alice.waitForModal(/Saved/);
  await alice.closeModal();
  return /Digest (\w{5})/u.exec(saved.reads)?.[1] ?? '';
}

test('a digest is ordered in a form, previewed privately, announced, and run at once', async () => {
  const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
  await alice.slash('digest new');
  await alice.waitForModal((view) => view.reads.includes('Time zone'));
  await alice.press('digests:preview');
  await alice.waitForModal(/Only you see this/);
  await alice.closeModal();
  await alice.suggest('timezone', 'vienna');
  await alice.choose('timezone', 'Europe/Vienna');
  const outcome = await alice.submit({ days: ['mon', '31'], time: '02:30' });
  expect(outcome.errors).toBeUndefined();
  const saved = await alice.waitForModal(/Saved/);
  expect(saved.reads).toMatch(
    /Zones overview every Monday and on day 31 of the month \(the last day where a month is shorter\) at 02:30, Europe\/Vienna/,
  );
  // The time of the schedule, and that of the next three runs.
  expect(saved.reads.match(/02:30/gu)).toHaveLength(4);
  await alice.waitForMessage(({ reads, ephemeral }) => !ephemeral && /sends a digest here/.test(reads));
  await alice.press('digests:run');
  await alice.closeModal();
  const post = await alice.waitForMessage(
    ({ reads, ephemeral }) => !ephemeral && /asked for by/.test(reads),
    10_000,
  );
  expect(post.reads).toMatch(/8 zones/);
  expect(bot.slack.problems).toEqual([]);
});

test('where the bot cannot write nothing is saved, and the form keeps what was filled in', async () => {
  const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
  await alice.slash('digest new');
  await alice.waitForModal((view) => view.reads.includes('Time zone'));
  await alice.submit({ channel: 'C0RANDOM0', time: '07:15' });
  const again = await alice.waitForModal(/nothing was saved/);
  expect(again.reads).toMatch(/Invite it there/);
  await alice.submit({ channel: 'C0DEPLOY0' });
  const saved = await alice.waitForModal(/Saved/);
  expect(saved.reads).toMatch(/at 07:15/);
  await alice.closeModal();
});

test.each([
  [{ kind: ['scanning'] }, 'target', /shield zone/],
  [{ channel: 'DU0ALICE00' }, 'channel', /Pick a channel/],
])('a form that is wrong says so at its field: %j', async (values, field, says) => {
  const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
  await alice.slash('digest new');
  await alice.waitForModal((view) => view.reads.includes('Time zone'));
  const { errors } = await alice.submit(values);
  expect(errors?.[field]).toMatch(says);
  await alice.closeModal();
});

test('it is paused, resumed, deleted and brought back by its owner and by admins, by nobody else', async () => {
  const id = await order();
  const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
  const bob = bot.slack.as('U0BOB0000', 'C0OPS0000');
  await bob.slash(`digest pause ${id}`);
  await bob.waitForMessage(/whose digest this is, and admins/);
  await alice.slash(`digest pause ${id}`);
  await alice.waitForMessage(/is paused by @Alice Adams/);
  await alice.press('digests:resume');
  await alice.waitForMessage(({ reads }) => reads.includes(id) && /Next: /.test(reads));
  await alice.slash(`digest delete ${id}`);
  await alice.waitForMessage(/is deleted/);
  await alice.slash(`digest run ${id}`);
  await alice.waitForMessage(/There is no digest .* any more/);
  await alice.press('digests:undo');
  await alice.waitForMessage(/is back/);
  await alice.slash('digest list');
  const list = await alice.waitForMessage(({ reads }) => /\d digests?\./.test(reads) && reads.includes(id));
  expect(list.reads).toMatch(/next /);
  expect(bot.slack.problems).toEqual([]);
});

test('an admin without a key runs, pauses, resumes and deletes; without a key nobody takes over or edits', async () => {
  const id = await order();
  const carol = bot.slack.as('U0CAROL00', 'C0OPS0000');
  await carol.slash(`digest run ${id}`);
  await carol.waitForMessage(
    ({ reads, ephemeral }) => !ephemeral && reads.includes(id) && /asked for by @Carol Clark/.test(reads),
    10_000,
  );
  await carol.slash(`digest pause ${id}`);
  await carol.waitForMessage(/is paused by @Carol Clark/);
  await carol.press('digests:resume');
  await carol.waitForMessage(({ reads }) => reads.includes(id) && /runs .*every workday/.test(reads));
  await carol.slash('digest list');
  const list = await carol.waitForMessage(({ reads }) => /as of/.test(reads) && reads.includes(id));
  await carol.choose(`digests:menu:${id}`, `edit|${id}`, { ts: list.ts });
  await carol.waitForModal(/not connected a CDN key/);
  await carol.closeModal();
  await carol.choose(`digests:menu:${id}`, `delete|${id}`, { ts: list.ts });
  await carol.waitForMessage(/is deleted/);
  await carol.press('digests:undo');
  await carol.waitForMessage(/is back/);
  expect(bot.slack.problems).toEqual([]);
});

function isRemoval({ reads }: { reads: string }, id: string): boolean {
  return reads.includes(id) && /the bot was removed from its channel/.test(reads);
}

test('removed from its channel: its owner is told, an admin sees it at home and takes it over, and is told what is missing', async () => {
  const id = await order({ channel: 'C0DEPLOY0' });
  const other = await order({ channel: 'C0DEPLOY0' });
  const deploys = bot.slack.world.channels.get('C0DEPLOY0');
  const alice = bot.slack.as('U0ALICE00', 'DU0ALICE00');
  if (deploys) deploys.botIsMember = false;
  for (const one of [id, other]) await alice.slash(`digest run ${one}`);
  const notice = await alice.waitForMessage((message) => isRemoval(message, id), 40_000);
  const otherNotice = await alice.waitForMessage((message) => isRemoval(message, other), 40_000);
  expect(notice.reads).not.toMatch(/Take over/);
  expect(alice.messages().filter((message) => isRemoval(message, id))).toHaveLength(1);
  await alice.press('digests:resume', { ts: notice.ts });
  await alice.waitForMessage(/I cannot write into #deploys/);
  await connect(bot, 'U0CAROL00', 'C0OPS0000');
  const carol = bot.slack.as('U0CAROL00', 'C0OPS0000');
  await carol.openHome();
  await carol.waitForHome(({ reads }) => reads.includes(id) && /Take over/.test(reads));
  await carol.slash('digest list');
  const list = await carol.waitForMessage(({ reads }) => /as of/.test(reads) && reads.includes(id));
  await carol.press('digests:take-over', { ts: list.ts, value: id });
  await carol.waitForMessage(/is yours now, but I cannot write into #deploys/);
  if (deploys) deploys.botIsMember = true;
  await carol.slash(`digest run ${id}`);
  const inDeploys = bot.slack.as('U0CAROL00', 'C0DEPLOY0');
  await inDeploys.waitForMessage(
    ({ reads }) => reads.includes(id) && /asked for by @Carol Clark/.test(reads),
    10_000,
  );
  await alice.press('digests:resume', { ts: otherNotice.ts });
  await inDeploys.waitForMessage(
    ({ reads }) => reads.includes(other) && /@Alice Adams resumed[\s\S]*comes here again/.test(reads),
  );
  expect(bot.slack.problems).toEqual([]);
});

test('when its owner leaves it pauses in the channel, and somebody else takes it over', async () => {
  const id = await order();
  const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
  const bob = bot.slack.as('U0BOB0000', 'C0OPS0000');
  const isPost = ({ reads, ephemeral }: { reads: string; ephemeral: boolean }): boolean =>
    !ephemeral && reads.includes(id) && /asked for by/.test(reads);
  // Asked for twice, it is posted once.
  await Promise.all([alice.slash(`digest run ${id}`), alice.slash(`digest run ${id}`)]);
  await alice.waitForMessage(
    ({ reads }) => reads.includes(id) && /is already on its way/.test(reads),
    10_000,
  );
  await alice.waitForMessage(isPost, 10_000);
  expect(alice.messages().filter(isPost)).toHaveLength(1);
  await bot.slack.event({
    type: 'user_change',
    user: { id: 'U0ALICE00', team_id: 'T0ACME000', deleted: true },
  });
  const isNotice = ({ reads, ephemeral }: { reads: string; ephemeral: boolean }): boolean =>
    !ephemeral && reads.includes(id) && /its owner has left/.test(reads);
  const notice = await bob.waitForMessage(isNotice, 40_000);
  await bob.press('digests:take-over', { ts: notice.ts });
  await bob.waitForMessage(({ ts, reads }) => ts === notice.ts && /@Bob Brown took over/.test(reads));
  await bob.slash(`digest run ${id}`);
  await bob.waitForMessage(
    ({ reads, ephemeral }) => !ephemeral && reads.includes(id) && /asked for by @Bob/.test(reads),
    10_000,
  );
  expect(bot.slack.problems).toEqual([]);
});
