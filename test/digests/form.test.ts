import { expect, test } from 'vitest';
import { connect, startBot } from '../support/bot.ts';

test('a form that is filled in says when it would run, and asks for the number above which it posts', async () => {
  const bot = await startBot({ zones: 3 });
  try {
    await connect(bot, 'U0ALICE00', 'C0OPS0000');
    const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
    await alice.slash('digest new');
    const opened = await alice.waitForModal(/Next: /);
    expect(opened.reads).not.toMatch(/How many/);
    // Each is chosen in a form that was drawn anew: nothing that was chosen before is lost.
    await alice.choose('days', ['sat']);
    await alice.waitForModal(/Next: Sat \d+ \w+ 09:00, Sat \d+ \w+ 09:00 and Sat \d+ \w+ 09:00/);
    await alice.suggest('timezone', 'kolkata');
    await alice.choose('timezone', 'Asia/Kolkata');
    await alice.choose('time', '07:30');
    await alice.waitForModal(/Next: Sat \d+ \w+ 07:30/);
    await alice.choose('only', 'above');
    await alice.waitForModal(/How many zones that need attention:/);
    await alice.choose('kind', ['zones', 'apps']);
    await alice.waitForModal(/How many zones that need attention and failing apps together/);
    const { errors } = await alice.submit({ above: '1000000000' });
    expect(JSON.stringify(errors)).toMatch(/above/);
    await alice.submit({ above: '2500' });
    const saved = await alice.waitForModal(/Saved/);
    expect(saved.reads).toMatch(
      /Zones overview, app usage every Saturday at 07:30, Asia\/\w+, only above 2,500 zones that need attention and failing apps together/,
    );
    expect(bot.slack.problems).toEqual([]);
  } finally {
    await bot.stop();
  }
});
