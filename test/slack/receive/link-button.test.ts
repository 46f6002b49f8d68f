import { expect, test } from 'vitest';
import { createPublicUrl, requestConnectLink, startBot } from '../../support/bot.ts';
import { offers } from '../words.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';

test('a link button is followed in the browser: that it was pressed changes nothing in Slack', async () => {
  const bot = await startBot({ env: await createPublicUrl() });
  try {
    await requestConnectLink(bot.slack.as(alice, ops));
    const person = bot.slack.as(alice, ops);
    const before = person.messages().length;
    expect(await person.press('connect:link')).toMatchObject({ status: 200 });
    await person.slash('whoami');
    await person.waitForMessage(offers('connect:open'));
    expect(person.messages()).toHaveLength(before + 1);
  } finally {
    await bot.stop();
  }
});
