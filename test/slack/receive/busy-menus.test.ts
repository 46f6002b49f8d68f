import { expect, test } from 'vitest';
import { connect, startBot } from '../../support/bot.ts';
import { deliverSigned, interactionForm } from '../signed.ts';
import { alice, ops, says } from '../words.ts';

test('a menu counts until its work has ended, without the form around it', async () => {
  await using bot = await startBot({ transport: 'http', zones: 3 });
  await connect(bot, alice, ops);
  const cdnAnswers = Promise.withResolvers<void>();
  bot.cdn.faults.add({ times: Infinity, until: cdnAnswers.promise });
  const blocks = Array.from({ length: 50 }, () => ({ text: 'x'.repeat(2_400) }));
  const menu = { type: 'block_suggestion', action_id: 'zones:pick', view: { blocks } };
  const countBusy = async (): Promise<number> => {
    const searches = Array.from({ length: 300 }, (_, nth) =>
      deliverSigned(bot, interactionForm({ ...menu, value: `${nth}` })),
    );
    return (await Promise.all(searches)).filter((options) => options.includes(says.busyMenu)).length;
  };
  expect(await countBusy()).toBe(0);
  // All are acknowledged by now, and the CDN has answered none.
  expect(await countBusy()).toBeGreaterThan(0);
  cdnAnswers.resolve();
});
