import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { appIds } from '../../../simulator/cdn/apps.ts';
import type { Actor } from '../../../simulator/slack/actor.ts';
import { dayMs } from '../../../src/lib/time.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createClients, createLibraryLog, createResponseUrls } from '../../../src/slack/send/clients.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { createNativeBlocks } from '../../../src/slack/send/native-blocks.ts';
import { createResponder } from '../../../src/slack/send/responder.ts';
import { message, section } from '../../../src/views/blocks/blocks.ts';
import { renderChart } from '../../../src/views/blocks/chart.ts';
import { renderTable } from '../../../src/views/blocks/table.ts';
import { followMessages, useBot } from '../../support/bot.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { readStable } from '../../support/words.ts';
import { alice, offers, ops } from '../words.ts';

let aheadMs = 0;
const bot = await useBot({ zones: 12, now: () => new Date(Date.now() + aheadMs) });
beforeEach(() => {
  bot.slack.script.refuseNativeBlocks([]);
  bot.slack.calls.length = 0;
});

/** Calls of a method with its blocks’ types: `chart` or `words`, and Slack's refusal. */
function calls(method: string): string[] {
  return bot.slack.calls
    .filter((call) => call.method === method && JSON.stringify(call.args).includes('6 errors'))
    .map(({ args, error }) => {
      const kind = JSON.stringify(args).includes('data_visualization') ? 'chart' : 'words';
      return error ? `${kind} ${error}` : kind;
    });
}

const answer = message('6 errors', [
  section('Six'),
  ...renderChart({
    kind: 'bar',
    title: '6 errors',
    unit: 'Errors an hour',
    labels: ['00', '01'],
    series: [{ name: 'Errors', values: [2, 4] }],
  }),
]);

async function createSender() {
  let at = Date.now();
  const now = () => new Date(at);
  const log = createMemoryLog();
  const egress = createEgress({ log });
  const sendNativeBlocks = createNativeBlocks({ log, now }).send;
  const clients = createClients({
    apiUrl: `${bot.slack.url}/api/`,
    logger: createLibraryLog(log),
    egress,
    sendNativeBlocks,
  });
  const client = clients.job(new Secret(bot.slack.botToken), 'T0ACME000');
  return {
    log,
    client,
    pass: (ms: number) => void (at += ms),
    respond: (route: { responseUrl?: string; channelId?: string }) =>
      createResponder({
        route: { ...route, userId: alice },
        client: async () => client,
        postToResponseUrl: createResponseUrls({ egress, apiUrl: bot.slack.url, sendNativeBlocks }),
        signal: new AbortController().signal,
        tenant: 'T0ACME000',
        log,
      }),
  };
}

test('where response_url takes no charts the answer comes with words, and the next one at once', async () => {
  const person = bot.slack.as(alice, ops);
  bot.slack.script.refuseNativeBlocks(['response_url']);
  await person.slash(`app ${appIds.api}`);
  const shown = await person.waitForMessage(/█/);
  expect(shown.reads).toMatch(/38\.2/);
  const countRefused = (): number =>
    bot.slack.calls.filter(({ method, error }) => method === 'response_url' && error === 'invalid_blocks')
      .length;
  expect(countRefused()).toBe(1);
  await person.slash('scanning 501');
  await person.waitForMessage(/13,474/);
  expect(countRefused()).toBe(1);
  expect(bot.logs.join('')).toMatch(/data_visualization: .*unsupported type: data_visualization/);
});

/** Types a command whose answer comes with the offer; a slow machine sees a sign of progress before it. */
async function askWords(person: Actor, typed: string) {
  const { next } = followMessages(person);
  await person.slash(typed);
  return next(offers('native:show'));
}

describe('where charts are refused', () => {
  // Refusals are forgotten.
  beforeAll(() => {
    aheadMs += 4 * dayMs;
  });

  test('the words come with a button that shows the chart in the conversation with the bot', async () => {
    const person = bot.slack.as(alice, ops);
    bot.slack.script.refuseNativeBlocks(['response_url', 'chat.postEphemeral']);
    const words = await askWords(person, `app ${appIds.api}`);
    expect(words.blocks.filter(({ type }) => type === 'actions')).toHaveLength(1);
    await person.press('native:show', { ts: words.ts });
    const chart = await bot.slack
      .as(alice, `D${alice}`)
      .waitForMessage(({ blocks }) => blocks.some(({ type }) => type === 'data_visualization'));
    expect(chart).toMatchObject({ ephemeral: false, channel: `D${alice}` });
    const told = await person.waitForMessage(({ ts }) => ts > words.ts);
    expect(readStable(told)).toMatchSnapshot();
    expect(person.messages().find(({ ts }) => ts === words.ts)?.reads).toBe(words.reads);
  });

  test('what fails says so where it was pressed', async () => {
    const person = bot.slack.as(alice, ops);
    bot.slack.script.refuseNativeBlocks(['response_url', 'chat.postEphemeral']);
    const words = await askWords(person, `app ${appIds.api}`);
    const direct = bot.slack.as(alice, `D${alice}`);
    const before = direct.messages().length;
    bot.slack.script.fail('chat.postMessage', 'internal_error');
    await person.press('native:show', { ts: words.ts });
    const failure = await person.waitForMessage(({ ts }) => ts > words.ts);
    expect(failure.reads).toMatch(/:warning:/);
    expect(direct.messages()).toHaveLength(before);
  });

  test('nothing is offered once that conversation has refused one too', async () => {
    const person = bot.slack.as(alice, ops);
    const direct = bot.slack.as(alice, `D${alice}`);
    bot.slack.script.refuseNativeBlocks(['*']);
    const words = await askWords(person, `app ${appIds.api}`);
    await person.press('native:show', { ts: words.ts });
    await direct.waitForMessage(/█/);
    const { next } = followMessages(person);
    await person.slash('scanning 501');
    const answer = await next(({ reads }) => reads.includes('13,474'));
    expect(offers('native:show')(answer)).toBe(false);
  });
});

test.each([
  [
    'chat.postMessage',
    async ({ client }) => void (await client.chat.postMessage({ channel: ops, ...answer })),
  ],
  ['chat.postEphemeral', ({ respond }) => respond({ channelId: ops })(answer)],
  [
    'chat.update',
    async ({ client }) => {
      const { ts = '' } = await client.chat.postMessage({ channel: ops, text: 'a message to edit' });
      await client.chat.update({ channel: ops, ts, ...answer });
    },
  ],
] as [string, (sender: Awaited<ReturnType<typeof createSender>>) => Promise<void>][])(
  'what %s refuses goes out once more in words, and for three days in words at once',
  async (method, send) => {
    const sender = await createSender();
    await send(sender);
    expect(calls(method)).toEqual(['chart']);
    bot.slack.script.refuseNativeBlocks([method], 'T0ACME000');
    await send(sender);
    expect(calls(method)).toEqual(['chart', 'chart invalid_blocks', 'words']);
    await send(sender);
    sender.pass(3 * 24 * 60 * 60_000);
    bot.slack.script.refuseNativeBlocks([], 'T0ACME000');
    await send(sender);
    expect(calls(method)).toEqual(['chart', 'chart invalid_blocks', 'words', 'words', 'chart']);
  },
);

test('a refused chart leaves the tables of later messages as they are', async () => {
  const { client } = await createSender();
  const rows = [['00', '2']];
  const table = renderTable({ caption: '6 errors in a table', columns: ['Hour', 'Errors'], rows });
  bot.slack.script.refuseNativeBlocks(['chat.postMessage'], 'T0ACME000');
  await client.chat.postMessage({ channel: ops, ...answer });
  bot.slack.script.refuseNativeBlocks([], 'T0ACME000');
  await client.chat.postMessage({ channel: ops, ...answer, blocks: [...(answer.blocks ?? []), ...table] });
  const [types] = bot.slack.calls
    .filter(({ method }) => method === 'chat.postMessage')
    .slice(-1)
    .map(({ args }) => JSON.stringify(args).match(/data_table|data_visualization/g));
  expect(types).toEqual(['data_table']);
});

test('another method, or another workspace, still gets charts', async () => {
  const { client, respond } = await createSender();
  bot.slack.script.refuseNativeBlocks(['chat.postEphemeral'], 'T0ACME000');
  await respond({ channelId: ops })(answer);
  await client.chat.postMessage({ channel: ops, ...answer });
  expect(calls('chat.postMessage')).toEqual(['chart']);
  bot.slack.script.refuseNativeBlocks(['*'], 'T0OTHER00');
  bot.slack.script.refuseNativeBlocks([], 'T0ACME000');
  await (await createSender()).respond({ channelId: ops })(answer);
  expect(calls('chat.postEphemeral').at(-1)).toBe('chart');
});

test('a message that is refused in words too was not refused for its chart, which is drawn the next time', async () => {
  const { client } = await createSender();
  bot.slack.script.fail('chat.postMessage', 'invalid_blocks', 2);
  await expect(client.chat.postMessage({ channel: ops, ...answer })).rejects.toThrow('invalid_blocks');
  await client.chat.postMessage({ channel: ops, ...answer });
  expect(calls('chat.postMessage')).toEqual(['chart invalid_blocks', 'words invalid_blocks', 'chart']);
});

test('other refusals are not tried again', async () => {
  const { client } = await createSender();
  bot.slack.script.fail('chat.postMessage', 'not_in_channel');
  await expect(client.chat.postMessage({ channel: ops, ...answer })).rejects.toThrow('not_in_channel');
  expect(calls('chat.postMessage')).toEqual(['chart not_in_channel']);
});

test('what Slack refused is tried again in the workspace that asks for it alone', async () => {
  const { send, forget } = createNativeBlocks({ log: createMemoryLog(), now: () => new Date() });
  const tryIn = async (tenant: string) => {
    const tried: string[] = [];
    await send({ tenant, method: 'chat.postMessage' }, answer, async (sent) => {
      tried.push(JSON.stringify(sent).includes('data_visualization') ? 'chart' : 'words');
      const data = { error: 'invalid_blocks', response_metadata: { messages: ['unsupported type'] } };
      if (tried.at(-1) === 'chart') throw Object.assign(new Error('refused'), { data });
    });
    return tried.join();
  };
  const tryBoth = async () => [await tryIn('T0ACME000'), await tryIn('T0OTHER00')];
  expect(await tryBoth()).toEqual(['chart,words', 'chart,words']);
  expect(await tryBoth()).toEqual(['words', 'words']);
  forget('T0ACME000');
  expect(await tryBoth()).toEqual(['chart,words', 'words']);
});
