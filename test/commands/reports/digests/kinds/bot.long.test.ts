import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { MessageBlock } from '../../../../../src/views/blocks/blocks.ts';
import { isChart } from '../../../../../src/views/blocks/native.ts';
import { connect, startBot } from '../../../../support/bot.ts';
import { says } from '../words.ts';

test('a digest of every kind: a few lines in the channel, the detail in its thread, a chart in each, then what changed', async () => {
  const bot = await startBot({ zones: 6 });
  try {
    await connect(bot, 'U0ALICE00', 'C0OPS0000');
    const alice = bot.slack.as('U0ALICE00', 'C0OPS0000');
    const [shop, checkout] = ['shop', 'checkout'].map(
      (wanted) => bot.cdn.data.zones.find(({ Name }) => Name === wanted)?.Id ?? 0,
    );
    await alice.slash('digest new');
    await alice.waitForModal('digests:submit');
    await alice.choose('kind', ['zones', 'errors', 'scanning', 'apps']);
    for (const typed of ['shop', 'checkout', '501', 'app0api00000001']) await alice.suggest('target', typed);
    await alice.choose('target', [`zone:${shop}`, `zone:${checkout}`, 'shield:501', 'app:app0api00000001']);
    const outcome = await alice.submit();
    expect(outcome.errors).toBeUndefined();
    const saved = await alice.waitForModal('digests:done');
    const [id = ''] = /(?<=Digest )\w{5}/u.exec(saved.reads) ?? [];
    await alice.press('digests:run');
    await alice.closeModal();

    const isPost = ({ ephemeral, threadTs, reads }: ReturnType<typeof alice.messages>[number]) =>
      !ephemeral && threadTs === undefined && says.askedForBy().test(reads);
    const post = await alice.waitForMessage(isPost, 30_000);
    expect(post.reads).toMatch(/^2 zones? · .*\b1 needs attention/mu);
    expect(post.reads).toMatch(/ in 2 of 2 zones$/mu);
    expect(post.reads).toMatch(/^1 app · cost 3\.57 a month · latency 38\.2$/mu);
    // The line of each kind; what follows depends on the day.
    const lines = post.reads.split('\n').slice(0, 4).join('\n');
    const words = lines.replaceAll(/\d+ [A-Z][a-z]{2}\b/g, '<day>').replaceAll(/\d[\d,.]*/g, '<n>');
    expect(words).toMatchSnapshot();
    const inThread = () => alice.messages().filter(({ threadTs }) => threadTs === post.ts);
    await alice.waitForMessage(() => inThread().some(({ reads }) => reads.includes('App usage')), 30_000);
    // The chart of what is most urgent stands in the channel, the others in the thread.
    const chartsIn = ({ blocks }: typeof post) => (blocks as unknown as MessageBlock[]).filter(isChart);
    expect([post, ...inThread()].map((one) => chartsIn(one).map(({ title }) => title))).toEqual([
      [expect.stringContaining(': 31 ')],
      [],
      [expect.stringMatching(/^\d+ origin errors$/u)],
      [],
      [],
    ]);
    expect(inThread().flatMap(({ files }) => files)).toEqual([]);

    const first = bot.cdn.data.zones.find(({ Id }) => Id === shop);
    if (first) first.Suspended = true;
    // Presses within five seconds are one request.
    await sleep(5_000);
    await alice.choose('menu:more', `digests:run ${id}`, { ts: post.ts });
    const second = await alice.waitForMessage((message) => isPost(message) && message.ts !== post.ts, 30_000);
    expect(second.reads).toMatch(says.newly('suspended', 'shop'));
    expect(bot.slack.problems).toEqual([]);
  } finally {
    await bot.stop();
  }
}, 120_000);
