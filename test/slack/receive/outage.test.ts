import { expect, test } from 'vitest';
import { startBot } from '../../support/bot.ts';
import { alice, ops } from '../words.ts';

test('commands while Slack takes no answer write each line once a minute, with a count', async () => {
  let at = Date.now();
  const bot = await startBot({ transport: 'http', zones: 1, now: () => new Date(at) });
  const person = bot.slack.as(alice, ops);
  for (const method of ['response_url', 'chat.postEphemeral', 'chat.postMessage'])
    bot.slack.script.fail(method, 'gone', 999, 503);
  for (let minute = 0; minute < 2; minute += 1) {
    await Promise.all(Array.from({ length: 12 }, () => person.slash('help')));
    await expect
      .poll(() => bot.logs.filter((line) => line.includes('"delivery done"')).length)
      .toBe(12 * (minute + 1));
    at += 61_000;
  }
  await bot.stop();
  const lines = bot.logs.map((line) => JSON.parse(line) as { msg: string; count?: number });
  const counts = (words: string) =>
    lines.flatMap(({ msg, count }) => (msg.startsWith(words) ? (count ?? 'each') : []));
  // The answer and its failure.
  expect(counts('Slack refused a response_url')).toEqual([1, 24]);
  expect(counts('ephemeral answer refused')).toEqual([1, 24]);
  expect(counts('cannot show a failure')).toEqual([1, 12]);
});
