import { expect, test } from 'vitest';
import { connect, startBot } from '../../support/bot.ts';
import { deliverSigned, interactionForm } from '../signed.ts';
import { alice, ops, says } from '../words.ts';

test('a menu counts until its work has ended, without the form around it', async () => {
  await using bot = await startBot({ transport: 'http', zones: 3 });
  await connect(bot, alice, ops);
  const cdnAnswers = Promise.withResolvers<void>();
  bot.cdn.faults.add({ times: Infinity, until: cdnAnswers.promise });
  const countBusy = async (count: number, more: object): Promise<number> => {
    const menu = { type: 'block_suggestion', action_id: 'zones:pick', value: 'sh', ...more };
    const searches = Array.from({ length: count }, () => deliverSigned(bot, interactionForm(menu)));
    return (await Promise.all(searches)).filter((options) => options.includes(says.busyMenu)).length;
  };
  // One person may have 16 MB.
  expect(await countBusy(20, { view: { blocks: [{ text: 'x'.repeat(1_000_000) }] } })).toBe(0);
  const kept = 'x'.repeat(150_000);
  expect(await countBusy(90, { kept })).toBe(0);
  // All are acknowledged by now, and most of them wait for their turn.
  expect(await countBusy(90, { kept })).toBeGreaterThan(0);
  cdnAnswers.resolve();
});
