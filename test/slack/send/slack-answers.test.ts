import { describe, expect, test, vi } from 'vitest';
import { SecretLeakBlocked } from '../../../src/errors.ts';
import { SlackFailure } from '../../../src/outbox/slack-port.ts';
import { registerSecret, Secret, withSecrets } from '../../../src/secrets/secret.ts';
import { readSlackError } from '../../../src/slack/installations.ts';
import {
  createClients,
  createLibraryLog,
  createSlackClock,
  waitOutLimits,
} from '../../../src/slack/send/clients.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { createResponder, type Respond } from '../../../src/slack/send/responder.ts';
import { createSharing, withShare } from '../../../src/slack/send/sharing.ts';
import { openSlack } from '../../../src/slack/send/slack-port.ts';
import { actions, type Message, section } from '../../../src/views/blocks/blocks.ts';
import { shareButton } from '../../../src/views/share.ts';
import { createMemoryLog } from '../../support/engines.ts';

/** What Slack answers by method: its code, or the members of its answer. `cut`: the answer is lost. */
type Answers = Readonly<Record<string, string | object>>;

/** A Slack that gives these answers, and the bot beside it. The person is U1, who asks in C1. */
function openSlackOf(answers: Answers, teamId?: string) {
  const asked: string[] = [];
  const bodies: URLSearchParams[] = [];
  // What asks without end fails.
  const mostCalls = 20;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const method = new URL(input instanceof Request ? input.url : input).pathname.replace('/api/', '');
    asked.push(method);
    bodies.push(new URLSearchParams(init?.body as string));
    if (asked.length > mostCalls) return Response.json({ ok: false, error: 'too_many_calls' });
    const answer = answers[method] ?? {};
    if (answer === 'cut') throw new TypeError('fetch failed');
    return Response.json(typeof answer === 'string' ? { ok: false, error: answer } : { ok: true, ...answer });
  };
  const log = createMemoryLog();
  const egress = createEgress({ log });
  const apiUrl = 'https://slack.test/api/';
  const clients = createClients({
    apiUrl,
    logger: createLibraryLog(log),
    egress,
    sendNativeBlocks: (_way, content, send) => send(content),
    fetch,
  });
  const access = { token: async () => new Secret('xoxb-of-a-test') };
  const slack = openSlack({ access, clients, apiUrl, egress }, { teamId: 'T1' }, AbortSignal.timeout(9_000));
  const byUrl: object[] = [];
  const claimed = new Set<string>();
  const sharing = createSharing({
    route: { responseUrl: 'https://hooks.slack.test/1', channelId: 'C1' },
    slack,
    postToResponseUrl: async (_tenant, _url, content) => void byUrl.push(content),
    tenant: 'T1',
    userId: 'U1',
    teamId,
    recall: () => undefined,
    claimOnce: async (id) => !claimed.has(id) && Boolean(claimed.add(id)),
    release: async (id) => void claimed.delete(id),
    log,
  });
  return { slack, sharing, asked, bodies, byUrl };
}

test('a call of a job whose answer is lost is not made again', async () => {
  const { slack, asked } = openSlackOf({ 'chat.postMessage': 'cut' });
  const posting = slack.post('C1', { text: 'x' }, { id: 'any' });
  await expect(posting).rejects.toMatchObject({ code: 'no_answer', outcome: 'unknown' });
  expect(asked).toEqual(['chat.postMessage']);
});

test.each([
  ['the bot’s message with this id', { bot_id: 'B1' }, 'cdn_chatops', '2.2'],
  ['the same of another app, which can copy the id', { bot_id: 'B2' }, 'cdn_chatops', undefined],
  ['the same of a person', {}, 'cdn_chatops', undefined],
  ['another mark of the bot', { bot_id: 'B1' }, 'other', undefined],
])('a lost post is %s, or not', async (_, by, type, ts) => {
  const marked = { ts: '2.2', ...by, metadata: { event_type: type, event_payload: { id: 'a' } } };
  const { slack } = openSlackOf({
    'auth.test': { bot_id: 'B1' },
    'conversations.history': { messages: [{ ...marked, ts: '1.1', metadata: {} }, marked] },
  });
  const found = await slack.find('a', { channel: 'C1', since: new Date(0), until: new Date() });
  expect(found?.ts).toBe(ts);
});

test.each([
  ['file_not_found', undefined],
  ['internal_error', 'internal_error'],
  ['missing_scope', 'missing_scope'],
])('a file whose deletion Slack answers with %s is gone, or it failed', async (code, failure) => {
  const { slack } = openSlackOf({ 'files.delete': code });
  const failed = await slack.deleteFile('F1').then(
    () => undefined,
    (error: unknown) => (error as SlackFailure).code,
  );
  expect(failed).toBe(failure);
});

describe('who reads a channel', () => {
  test.each<[string | object, unknown]>([
    [{ channel: {} }, 'own'],
    [{ channel: { is_ext_shared: true } }, 'others'],
    [{ channel: { is_pending_ext_shared: true } }, 'others'],
    ['channel_not_found', { unknown: 'channel_not_found' }],
    ['ratelimited', { unknown: 'ratelimited' }],
  ])('%j', async (answer, audience) => {
    const { sharing } = openSlackOf({ 'conversations.info': answer });
    expect(await sharing.readAudience('C1')).toEqual(audience);
  });
});

describe('an answer that is shared', () => {
  const file = { name: 'a.csv', title: 'A', mimetype: 'text/csv', content: new TextEncoder().encode('a') };

  test.each<[string, Answers, { to?: string; files?: [typeof file] }, unknown, number, unknown]>([
    ['is posted once', {}, {}, 'posted', 0, 'repeated'],
    [
      'comes by response_url where it was asked',
      { 'chat.postMessage': 'not_in_channel' },
      {},
      'posted',
      1,
      'repeated',
    ],
    [
      'is refused elsewhere, and may be shared again',
      { 'chat.postMessage': 'not_in_channel' },
      { to: 'C2' },
      { refused: 'not_in_channel' },
      0,
      { refused: 'not_in_channel' },
    ],
    [
      'with a file is never shared by response_url',
      { 'chat.postMessage': 'not_in_channel' },
      { files: [file] },
      { refused: 'not_in_channel' },
      0,
      { refused: 'not_in_channel' },
    ],
    [
      'that may stand there is not posted again',
      { 'chat.postMessage': 'internal_error' },
      {},
      'unknown',
      0,
      'repeated',
    ],
    [
      'stays without its file where Slack takes none',
      { 'files.getUploadURLExternal': 'missing_scope' },
      { files: [file] },
      'post-only',
      0,
      'repeated',
    ],
  ])('%s', async (_, answers, { to = 'C1', files = [] }, outcome, byUrlCount, again) => {
    const { sharing, byUrl } = openSlackOf({ 'chat.postMessage': { ts: '1.1' }, ...answers });
    const share = () =>
      sharing.post({ text: 'x' }, { channel: to, threadTs: undefined, files, once: 'answer' });
    expect(await share()).toEqual(outcome);
    expect(byUrl).toHaveLength(byUrlCount);
    // Else the answer with the button would be overwritten.
    for (const content of byUrl)
      expect(content).toMatchObject({ response_type: 'in_channel', replace_original: false });
    expect(await share()).toEqual(again);
  });

  test('and holds a secret goes in no way', async () => {
    const { sharing, asked, byUrl } = openSlackOf({});
    await withSecrets(async () => {
      registerSecret('zone-key', 'a1B2-very-much-a-secret-77');
      const to = { channel: 'C1', threadTs: undefined, files: [], once: undefined };
      await expect(sharing.post({ text: 'a1B2-very-much-a-secret-77' }, to)).rejects.toMatchObject({
        code: 'held_back',
      });
    });
    expect([asked, byUrl]).toEqual([[], []]);
  });
});

const members = (...ids: string[]): Answers => ({ 'conversations.members': { members: ids } });

describe('a channel', () => {
  const channels = [
    { id: 'C7', name: 'secret', is_private: true },
    { id: 'C8', name: 'open', is_private: false },
  ];
  const listed = { 'conversations.list': { channels } };

  test.each<[string, Answers, string | undefined]>([
    ['Open', listed, 'C8'],
    ['other', listed, undefined],
    ['secret', { ...listed, ...members('U1') }, 'C7'],
    ['secret', { ...listed, ...members('U2') }, undefined],
    ['secret', { ...listed, 'conversations.members': 'missing_scope' }, undefined],
    ['open', { 'conversations.list': 'missing_scope' }, undefined],
  ])('that is called %s is found only where the person sees it: %j', async (name, answers, found) => {
    expect(await openSlackOf(answers).sharing.findChannel(name)).toBe(found);
  });

  test('is looked for on five pages, and again where Slack may say it later', async () => {
    const endless = { channels: [], response_metadata: { next_cursor: 'more' } };
    const { sharing, asked } = openSlackOf({ 'conversations.list': endless });
    expect(await sharing.findChannel('open')).toBeUndefined();
    expect(asked).toHaveLength(5);
    const failing = openSlackOf({ 'conversations.list': 'internal_error' }).sharing;
    await expect(failing.findChannel('open')).rejects.toThrow('internal_error');
  });

  test.each<[string | object, Answers, boolean, boolean]>([
    [{ channel: { is_member: true } }, {}, true, true],
    [{ channel: { is_member: false } }, {}, true, false],
    [{ channel: { is_private: true } }, members('U1'), true, true],
    [{ channel: { is_private: true } }, members('U2'), false, true],
    ['channel_not_found', {}, false, true],
    ['missing_scope', {}, true, true],
  ])(
    'that Slack calls %j is seen by the person, and the bot is in it',
    async (answer, more, isSeen, hasBot) => {
      const { sharing } = openSlackOf({ 'conversations.info': answer, ...more });
      expect([await sharing.isSeen('C9'), await sharing.hasBot('C9')]).toEqual([isSeen, hasBot]);
    },
  );
});

test('a channel of which Slack may say it later is not taken for one that the person sees', async () => {
  const { sharing } = openSlackOf({ 'conversations.info': 'internal_error' });
  await expect(sharing.isSeen('C9')).rejects.toThrow('internal_error');
  expect(await sharing.hasBot('C9')).toBe(true);
});

test.each([undefined, 'T2'])(
  'in an organization channels are looked for in one workspace (%s)',
  async (teamId) => {
    const { sharing, bodies } = openSlackOf({ 'conversations.list': { channels: [] } }, teamId);
    await sharing.findChannel('open');
    expect(bodies.at(-1)?.get('team_id') ?? undefined).toBe(teamId);
  },
);

test.each([
  ['a short pause', new SlackFailure('ratelimited', { retryAfterSeconds: 0.01 }), 2],
  ['a pause that nobody waits for', new SlackFailure('ratelimited', { retryAfterSeconds: 40 }), 1],
  ['a refusal', new SlackFailure('not_in_channel'), 1],
  ['a lost answer', new SlackFailure('no_answer'), 1],
])('after %s a call is made again, or not', async (_, failure, calls) => {
  let made = 0;
  const call = async (): Promise<void> => {
    made += 1;
    if (made === 1) throw failure;
  };
  await waitOutLimits(call, new AbortController().signal).catch(() => undefined);
  expect(made).toBe(calls);
});

test('pauses grow where Slack asks for none and refuses again', async () => {
  let made = 0;
  const call = (): Promise<never> => {
    made += 1;
    return Promise.reject(new SlackFailure('ratelimited', { retryAfterSeconds: 0 }));
  };
  await waitOutLimits(call, new AbortController().signal, 3_000).catch(() => undefined);
  expect(made).toBe(2);
});

test('a bot that stops waits for no pause of Slack', async () => {
  const stopping = new AbortController();
  const failure = new SlackFailure('ratelimited', { retryAfterSeconds: 20 });
  const waiting = waitOutLimits(() => Promise.reject(failure), stopping.signal);
  stopping.abort();
  await expect(waiting).rejects.toBe(failure);
});

/** Sends these messages; the ones that went by response_url, and the methods that Slack was asked. */
async function sendByUrl(
  route: { replaces?: boolean; separate?: boolean },
  ...messages: readonly ('interim' | 'progress' | 'failure' | undefined)[]
) {
  const byUrl: object[] = [];
  const { slack, asked } = openSlackOf({});
  const respond = createResponder({
    route: { responseUrl: 'https://hooks.slack.test/1', channelId: 'C1', userId: 'U1', ...route },
    client: slack.client,
    postToResponseUrl: async (_tenant, _url, content) => void byUrl.push(content),
    signal: new AbortController().signal,
    tenant: 'T1',
    log: createMemoryLog(),
  });
  const sent: boolean[] = [];
  for (const as of messages) sent.push(await respond({ text: 'x' }, as));
  return { byUrl, asked, sent };
}

/** Sends these messages into a conversation; what Slack was asked, what went to the pressed button, and what was sent. */
async function sendInConversation(
  conversation: { readonly replaces?: string; readonly isElsewhere?: true },
  answers: Answers,
  ...messages: readonly ('progress' | 'failure' | undefined)[]
) {
  const byUrl: object[] = [];
  const { slack, asked } = openSlackOf({ 'chat.postMessage': { ts: '2.2' }, ...answers });
  const respond = createResponder({
    route: {
      responseUrl: 'https://hooks.slack.test/1',
      userId: 'U1',
      inConversation: { channel: 'D1', ...conversation },
    },
    client: slack.client,
    postToResponseUrl: async (_tenant, _url, content) => void byUrl.push(content),
    tenant: 'T1',
    log: createMemoryLog(),
    signal: AbortSignal.timeout(9_000),
  });
  const sent: unknown[] = [];
  for (const as of messages)
    sent.push(await respond({ text: 'x' }, as).catch((error: unknown) => readSlackError(error)));
  return [asked.map((method) => method.replace('chat.', '')), byUrl.length, sent];
}

test.each<[string, object, Answers, string[]]>([
  ['is a direct message where no channel is known', {}, {}, ['postMessage']],
  ['is for its person alone in a channel', { channelId: 'C1' }, {}, ['postEphemeral']],
  [
    'is a direct message where the bot may not write',
    { channelId: 'C1' },
    { 'chat.postEphemeral': 'channel_not_found' },
    ['postEphemeral', 'postMessage'],
  ],
  [
    'is a direct message where Slack does not say that it took it',
    { channelId: 'C1' },
    { 'chat.postEphemeral': 'cut' },
    ['postEphemeral', 'postMessage'],
  ],
  [
    'takes the next way once its response_url has ended',
    { channelId: 'C1', responseUrl: 'https://hooks.slack.test/ended' },
    {},
    ['postEphemeral'],
  ],
])('an answer %s, and with a secret in it goes nowhere', async (_, route, answers, ways) => {
  const { slack, asked } = openSlackOf(answers);
  const respond = createResponder({
    route: { userId: 'U1', ...route },
    client: slack.client,
    postToResponseUrl: () =>
      Promise.reject(Object.assign(new Error('ended'), { data: { error: 'expired_url' } })),
    tenant: 'T1',
    log: createMemoryLog(),
    signal: AbortSignal.timeout(9_000),
  });
  expect(await respond({ text: 'x' })).toBe(true);
  expect(asked).toEqual(ways.map((way) => `chat.${way}`));
  asked.length = 0;
  await withSecrets(async () => {
    registerSecret('zone-key', 'a1B2-very-much-a-secret-77');
    await expect(respond({ text: 'a1B2-very-much-a-secret-77' })).rejects.toThrow(SecretLeakBlocked);
  });
  expect(asked).toEqual([]);
});

test('an answer that others may have is kept for it, and offers it where it stands', async () => {
  const said: Message[] = [];
  const kept = new Map<string, Message>();
  const respond: Respond = async (message) => Boolean(said.push(message));
  const place = { channelId: 'C1', threadTs: undefined };
  const share = withShare(respond, place, (key, message) => void kept.set(key, message));
  const own = { text: 'own', blocks: [section('own')] };
  const shared = { text: 'x', blocks: [actions(shareButton('zones'))] };
  await share(own);
  await share(shared);
  const [[key = '', answer] = []] = kept;
  expect([said[0], answer, kept.size]).toEqual([own, shared, 1]);
  expect(JSON.stringify(said[1])).toContain(`shown:${key}`);
});

describe('answers in a conversation', () => {
  const pressed = { replaces: '1.1' };
  const elsewhere = { isElsewhere: true } as const;
  test.each<
    [
      string,
      Parameters<typeof sendInConversation>[0],
      Answers,
      ('progress' | 'failure' | undefined)[],
      unknown,
    ]
  >([
    [
      'post once and are edited then',
      {},
      {},
      [undefined, undefined],
      [['postMessage', 'update'], 0, [true, true]],
    ],
    [
      'replace the sign of progress',
      {},
      {},
      ['progress', undefined],
      [['postMessage', 'update'], 0, [true, true]],
    ],
    [
      'replace the message with the button',
      pressed,
      {},
      ['progress', undefined],
      [['update'], 0, [false, true]],
    ],
    ['leave the pressed button where they failed', pressed, {}, ['failure'], [['postMessage'], 0, [true]]],
    [
      'replace it by a failure after an answer',
      pressed,
      {},
      [undefined, 'failure'],
      [['update', 'update'], 0, [true, true]],
    ],
    [
      'come again where the message was deleted',
      pressed,
      { 'chat.update': 'message_not_found' },
      [undefined],
      [['update', 'postMessage'], 0, [true]],
    ],
    [
      'come no second time where Slack may have edited it',
      pressed,
      { 'chat.update': 'internal_error' },
      [undefined],
      [['update'], 0, ['internal_error']],
    ],
    ['fail where the button is', elsewhere, {}, ['failure'], [[], 1, [true]]],
    [
      'are noted once where the button is',
      elsewhere,
      {},
      [undefined, undefined, 'failure'],
      [['postMessage', 'update', 'update'], 1, [true, true, true]],
    ],
  ])('%s', async (_, conversation, answers, messages, expected) => {
    expect(await sendInConversation(conversation, answers, ...messages)).toEqual(expected);
  });
});

describe('answers by response_url', () => {
  test('are five, of which the last is no interim one; what follows is a message', async () => {
    const { byUrl, asked, sent } = await sendByUrl(
      {},
      ...Array.from({ length: 5 }, () => 'interim' as const),
      undefined,
      undefined,
    );
    expect(sent).toEqual([true, true, true, true, false, true, true]);
    expect(byUrl).toHaveLength(5);
    expect(asked).toEqual(['chat.postEphemeral']);
  });

  test.each([
    ['replace the sign of progress', {}, ['progress', undefined], [false, true]],
    ['leave the button readable until they come', { replaces: true }, ['progress', undefined], [true]],
    ['stand beside the message with the button', { separate: true }, [undefined, undefined], [false, false]],
    ['replace the message with the button', { replaces: true }, [undefined], [true]],
    ['leave the pressed button where they failed', { replaces: true }, ['failure'], [false]],
  ] as const)('%s', async (_, route, messages, replaced) => {
    const { byUrl } = await sendByUrl(route, ...messages);
    expect(byUrl.map((content) => (content as { replace_original: boolean }).replace_original)).toEqual(
      replaced,
    );
    // What replaces a direct message must not become ephemeral; everything else is for one person.
    expect(byUrl.map((content) => 'response_type' in content)).toEqual(
      replaced.map((one, nth) => !one || nth > 0),
    );
  });
});

test('Slack’s clock is read from its answers, and asked for once that is a minute old', async () => {
  let date: string | undefined;
  let asked = 0;
  const clock = createSlackClock({
    apiUrl: 'https://slack.test/api/',
    now: () => new Date('2026-11-20T10:00:30Z'),
    async fetch() {
      asked += 1;
      if (date === 'cut') throw new TypeError('fetch failed');
      return new Response('', { headers: date === undefined ? {} : { date } });
    },
  });
  await clock.fetch('https://slack.test/api/any');
  expect(clock.skew()).toBeUndefined();
  date = 'Fri, 20 Nov 2026 10:00:00 GMT';
  // Whole seconds, cut off.
  expect([await clock.refresh(), await clock.refresh(), asked]).toEqual([29.5, 29.5, 2]);
  date = 'Fri, 20 Nov 2026 10:00:20 GMT';
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
  expect([await clock.refresh(), asked]).toEqual([9.5, 3]);
  date = 'cut';
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
  expect([await clock.refresh(), asked]).toEqual([9.5, 4]);
});
