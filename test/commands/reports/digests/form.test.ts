import { expect, test } from 'vitest';
import type { VisibleView } from '../../../../simulator/slack/views.ts';
import { connect, startBot } from '../../../support/bot.ts';
import { readStable } from '../../../support/words.ts';

/** What stands below an input. */
function readHint({ blocks }: VisibleView, block: string): unknown {
  const hint = blocks.find(({ block_id: id }) => id === block)?.['hint'];
  return (hint as { text?: string } | undefined)?.text;
}

test('a form asks for the number above which it posts, and what is saved says when it runs', async () => {
  await using bot = await startBot({ zones: 3 });
  await connect(bot, 'U0ALICE00', 'C0OPS0000');
  const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
  await alice.slash('digest new');
  const opened = await alice.waitForModal('digests:submit');
  expect(readHint(opened, 'above')).toBeUndefined();
  // Each is chosen in a form that was drawn anew: nothing that was chosen before is lost.
  await alice.choose('days', ['sat']);
  await alice.suggest('timezone', 'kolkata');
  await alice.choose('timezone', 'Asia/Kolkata');
  await alice.choose('time', '07:30');
  await alice.choose('only', 'above');
  const one = await alice.waitForModal((view) => readHint(view, 'above') !== undefined);
  await alice.choose('kind', ['zones', 'apps']);
  const two = await alice.waitForModal((view) => readHint(view, 'above') !== readHint(one, 'above'));
  expect([one, two].map((view) => readHint(view, 'above'))).toMatchSnapshot('what is counted');
  const { errors } = await alice.submit({ above: '1000000000' });
  expect(JSON.stringify(errors)).toMatch(/above/);
  await alice.submit({ above: '2500' });
  const saved = await alice.waitForModal('digests:done');
  expect(saved.reads).toMatch(/ 07:30, Asia\/\w+,.* 2,500 /);
  const [id = '', zone = ''] = [/(?<=Digest )\w{5}/u, /Asia\/\w+/].map((one) => one.exec(saved.reads)?.[0]);
  expect(readStable(saved, { id, zone })).toMatchSnapshot('saved');
  expect(bot.slack.problems).toEqual([]);
});
