import { expect, test } from 'vitest';
import { connect, useBot } from '../../../support/bot.ts';
import { answers, offers, readDigest, says } from './words.ts';

const env = { ADMIN_USER_IDS: 'U0CAROL00' };
const bot = await useBot({ zones: 8, env }, ['U0ALICE00', 'U0BOB0000']);
const [alice, bob, carol] = ['U0ALICE00', 'U0BOB0000', 'U0CAROL00'].map((id) =>
  bot.slack.as(id, 'C0OPS0000'),
) as [Person, Person, Person];

type Person = ReturnType<typeof bot.slack.as>;

/** Orders a digest as Alice and gives its id. */
async function order(values: Record<string, unknown> = {}): Promise<string> {
  await alice.slash('digest new');
  await alice.waitForModal('digests:submit');
  await alice.submit(values);
  const saved = await alice.waitForModal('digests:done');
  await alice.closeModal();
  return /Digest (\w{5})/u.exec(saved.reads)?.[1] ?? '';
}

test('a digest is ordered in a form, previewed privately, announced, and run at once', async () => {
  await alice.slash('digest new');
  await alice.waitForModal('digests:submit');
  await alice.press('digests:preview');
  await alice.waitForModal('digests:previewed');
  await alice.closeModal();
  await alice.suggest('timezone', 'vienna');
  await alice.choose('timezone', 'Europe/Vienna');
  const outcome = await alice.submit({ days: ['mon', '31'], time: '02:30' });
  expect(outcome.errors).toBeUndefined();
  const saved = await alice.waitForModal('digests:done');
  const [id = ''] = /(?<=Digest )\w{5}/u.exec(saved.reads) ?? [];
  expect(readDigest(saved, id)).toMatchSnapshot('saved');
  // The time of the schedule, and that of the next three runs.
  expect(saved.reads.match(/02:30/gu)).toHaveLength(4);
  const announced = await alice.waitForMessage(
    ({ reads, ephemeral }) => !ephemeral && answers.announced.test(reads),
  );
  expect(readDigest(announced, id)).toMatchSnapshot('announced in its channel');
  await alice.press('digests:run');
  await alice.closeModal();
  const post = await alice.waitForMessage(
    ({ reads, ephemeral }) => !ephemeral && says.askedForBy().test(reads),
    10_000,
  );
  expect(post.reads).toMatch(/8 zones/);
  // The same, for another person alone, with their own key.
  await bob.press('digests:look', { ts: post.ts });
  expect((await bob.waitForModal('digests:previewed')).reads).toMatch(/8 zones/);
  expect(bot.slack.problems).toEqual([]);
});

test('its owner and an admin without a key pause, resume, run and delete it; nobody else does', async () => {
  const id = await order();
  await bob.slash(`digest pause ${id}`);
  expect(readDigest(await bob.waitForMessage(answers.ofAnother), id)).toMatchSnapshot('refused');
  await carol.slash(`digest pause ${id}`);
  const paused = await carol.waitForMessage((message) => offers(message, 'digests:resume', id));
  expect(readDigest(paused, id)).toMatchSnapshot('paused');
  await carol.press('digests:resume');
  await carol.waitForMessage(({ reads }) => reads.includes(id) && /posts .*every workday/.test(reads));
  await carol.slash(`digest run ${id}`);
  await carol.waitForMessage(
    ({ reads, ephemeral }) => !ephemeral && reads.includes(id) && says.askedForBy('Carol Clark').test(reads),
    10_000,
  );
  await carol.slash(`digest edit ${id}`);
  await carol.waitForModal(answers.withoutKey);
  await carol.closeModal();
  await alice.slash(`digest delete ${id}`);
  const deleted = await alice.waitForMessage((message) => offers(message, 'digests:undo', id));
  expect(readDigest(deleted, id)).toMatchSnapshot('deleted');
  await alice.slash(`digest run ${id}`);
  expect(readDigest(await alice.waitForMessage(answers.gone), id)).toMatchSnapshot('run all the same');
  await alice.press('digests:undo');
  await alice.waitForMessage(answers.restored);
  await alice.slash('digest list');
  const list = await alice.waitForMessage(({ reads }) => answers.list.test(reads) && reads.includes(id));
  const lines = readDigest(list, id).split('\n');
  const first = lines.findIndex((line) => line.includes('<id>'));
  expect(lines.slice(first, first + 2).join('\n')).toMatchSnapshot('in the list');
  expect(bot.slack.problems).toEqual([]);
});

function isRemoval({ reads }: { reads: string }, id: string): boolean {
  return reads.includes(id) && says.paused('bot-removed').test(reads);
}

test('removed from its channel: its owner is told, an admin sees it at home and takes it over once it is back', async () => {
  const id = await order({ channel: 'C0DEPLOY0' });
  const deploys = bot.slack.world.channels.get('C0DEPLOY0');
  const inbox = bot.slack.as('U0ALICE00', 'DU0ALICE00');
  if (deploys) deploys.botIsMember = false;
  await alice.slash(`digest run ${id}`);
  const notice = await inbox.waitForMessage((message) => isRemoval(message, id), 40_000);
  expect(offers(notice, `digests:take-over:${id}`, id)).toBe(false);
  expect(inbox.messages().filter((message) => isRemoval(message, id))).toHaveLength(1);
  await inbox.press('digests:resume', { ts: notice.ts });
  await inbox.waitForMessage(answers.cannotWrite);
  await connect(bot, 'U0CAROL00', 'C0OPS0000');
  await carol.openHome();
  await carol.waitForHome((home) => offers(home, `digests:take-over:${id}`, id));
  if (deploys) deploys.botIsMember = true;
  await carol.slash('digest list');
  const list = await carol.waitForMessage(({ reads }) => answers.list.test(reads) && reads.includes(id));
  await carol.press(`digests:take-over:${id}`, { ts: list.ts, value: id });
  await carol.waitForMessage(({ reads }) => answers.takenOver('Carol Clark').test(reads));
  await carol.slash(`digest run ${id}`);
  await bot.slack
    .as('U0CAROL00', 'C0DEPLOY0')
    .waitForMessage(({ reads }) => reads.includes(id) && says.askedForBy('Carol Clark').test(reads), 10_000);
  expect(bot.slack.problems).toEqual([]);
});
