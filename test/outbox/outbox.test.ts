import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { SlackSimulator } from '../../simulator/slack/server.ts';
import type { Ports } from '../../src/app/jobs.ts';
import { initialPolicy } from '../../src/auth/policy/policy.ts';
import { beginStepRun, completeStepJob, endStepRun } from '../../src/outbox/complete-step.ts';
import { createDeliverJob, sweepOutboxJob } from '../../src/outbox/deliver.ts';
import {
  defineMessage,
  deliverMessage,
  type Ended,
  type MessageKind,
  type NewMessage,
} from '../../src/outbox/outbox.ts';
import type { OpenSlack } from '../../src/outbox/slack-port.ts';
import { registerSecrets } from '../../src/secrets/secret.ts';
import type { JobContext } from '../../src/store/queue.ts';
import { limits, section } from '../../src/views/blocks/blocks.ts';
import { createPortsHarness, type PortsHarness } from '../slack/send/ports-harness.ts';
import { createFakeQueue } from '../store/queue/fake-queue.ts';
import { prepareEngines } from '../support/engines.ts';

const { embedded } = await prepareEngines();
const ops = 'C0OPS0000';
const alice = 'U0ALICE00';
const acme = { teamId: 'T0ACME000' };

interface About {
  readonly text: string;
}

let at = 0;
let harness: PortsHarness;
let context: JobContext<Ports>;
let queue: ReturnType<typeof createFakeQueue>;
let ended: Ended<About>[];
let shown: string | undefined;
let failedEdits: string[];
let untold: string[];

const note = defineMessage({
  kind: 'note',
  renderInstead: 'nothing',
  render: ({ text }: About) => ({ text: shown ?? text }),
  async ended(_trx, message: Ended<About>) {
    ended.push(message);
  },
  async editFailed(_trx, { code }) {
    failedEdits.push(code);
  },
});
const careful = defineMessage({
  ...note,
  kind: 'careful',
  renderInstead: (_, { code }) => ({ text: `not: ${code}` }),
});
const plain = defineMessage({ ...note, kind: 'plain', renderInstead: undefined });
let kinds: MessageKind<never, Ports>[];

beforeEach(async () => {
  at = Date.UTC(2026, 10, 23, 8, 0, 0);
  const now = () => new Date(at);
  queue = createFakeQueue(now);
  harness = await createPortsHarness({
    database: await embedded.emptyDatabase(),
    enqueue: queue.enqueue,
    now,
  });
  const { db, ports, log } = harness;
  untold = [];
  const counted = { ...ports, untold: (kind: string) => void untold.push(kind) };
  context = { db, ports: counted, log, now, signal: new AbortController().signal, attempt: 1 };
  ended = [];
  failedEdits = [];
  shown = undefined;
  kinds = [note, careful, plain];
});
afterEach(() => harness[Symbol.asyncDispose]());

async function put(id: string, more: Partial<NewMessage<About>> = {}): Promise<boolean> {
  return harness.db.transaction().execute((trx) =>
    harness.ports.outbox.put(trx, {
      id,
      kind: note,
      about: { text: id },
      installation: acme,
      to: { places: [ops] },
      doubt: 'look',
      ...more,
    }),
  );
}

const edit = (id: string, text: string) => {
  shown = text;
  return harness.db.transaction().execute((trx) => harness.ports.outbox.edit(trx, id));
};

/** Runs what is due, a quarter of a second at a time. */
async function run(seconds = 0): Promise<void> {
  const jobs = [createDeliverJob(kinds), sweepOutboxJob, completeStepJob];
  const until = at + seconds * 1000;
  for (;;) {
    while (await queue.runNext(jobs, context));
    if (at >= until) return;
    at += 250;
  }
}

function read(channel = ops, user = alice): (readonly [string, string | undefined])[] {
  const { slack } = harness;
  const all = slack.as(user, channel).messages();
  const texts = new Map(all.map(({ ts, text }) => [ts, text]));
  return all.map(({ text, threadTs }) => [text, threadTs && texts.get(threadTs)] as const);
}

const findCalls = (method: string): SlackSimulator['calls'] =>
  harness.slack.calls.filter((call) => call.method === method);

const putAside = async (id: string): Promise<void> => createDeliverJob(kinds).putAside?.({ id }, context);

describe('a message', () => {
  test('is posted once with its marker, however often it is put', async () => {
    expect(await put('one')).toBe(true);
    expect(await put('one')).toBe(false);
    await run(5);
    expect(read()).toEqual([['one', undefined]]);
    expect(ended).toMatchObject([{ id: 'one', state: 'sent', place: ops, posted: { channel: ops } }]);
    expect(await harness.ports.outbox.find(harness.db, 'one')).toMatchObject({
      state: 'sent',
      posted: { channel: ops },
    });
    expect(await harness.ports.outbox.find(harness.db, 'another')).toBeUndefined();
  });

  test('may have its words from the beginning, and goes out for the whole organization that it belongs to', async () => {
    const corp = { teamId: 'T0ACME000', enterpriseId: 'E0CORP000' };
    const asked: unknown[] = [];
    const slack: OpenSlack = (installation, signal) => {
      asked.push(installation);
      return harness.ports.slack(acme, signal);
    };
    context = { ...context, ports: { ...harness.ports, slack } };
    await put('one', { body: { text: 'given' }, installation: corp });
    await run();
    expect(read()).toEqual([['given', undefined]]);
    expect(asked).toEqual([corp]);
  });

  test('that is not there any more, or of an unknown kind, ends nothing', async () => {
    const job = createDeliverJob([careful]);
    for (const work of [job.run, job.putAside]) await work?.({ id: 'gone' }, context);
    await put('one');
    await expect(job.run({ id: 'one' }, context)).rejects.toThrow('no message kind note');
    expect(ended).toEqual([]);
  });

  test('that killed two processes has one more try, then it is put aside and its end is told', async () => {
    const sending = harness.db.updateTable('outbox').set({ state: 'sending', claim: 'x', place: 0 });
    // Another job may have ended both processes.
    await put('one');
    await putAside('one');
    await put('two', { kind: careful });
    await putAside('two');
    await run(5);
    expect(read().map(([text]) => text)).toEqual(['one', 'not: put_aside']);
    await put('three');
    await putAside('three');
    await putAside('three');
    expect(ended.at(-1)).toMatchObject({ id: 'three', state: 'dead', reason: 'refused', code: 'put_aside' });
    // Slack may have it: it is looked for.
    await put('four', { to: { places: [alice] } });
    await sending.where('id', '=', 'four').execute();
    await putAside('four');
    expect(ended.at(-1)?.id).toBe('three');
    await putAside('four');
    expect(ended.at(-1)).toMatchObject({ id: 'four', state: 'unknown' });
    await edit('one', 'changed');
    await putAside('one');
    await run(5);
    expect(read().map(([text]) => text)).toContain('changed');
    await edit('one', 'changed again');
    await putAside('one');
    await putAside('one');
    expect(failedEdits).toEqual(['put_aside']);
  });

  test('is not sent after it expired', async () => {
    await put('late', { expiresAt: new Date(at - 1) });
    await run(5);
    expect(read()).toEqual([]);
    expect(ended).toMatchObject([{ id: 'late', state: 'dead', reason: 'expired' }]);
    expect(await edit('late', 'changed')).toBe(false);
  });

  test('whose kind has nothing to tell any more is withdrawn', async () => {
    kinds = [defineMessage({ ...note, render: () => undefined })];
    await put('one');
    await run(5);
    expect(ended).toMatchObject([{ state: 'dead', reason: 'withdrawn' }]);
  });

  test('is not begun by a bot that stops', async () => {
    await put('one', { to: { places: [alice] } });
    const stopping = { ...context, signal: AbortSignal.abort() };
    await expect(createDeliverJob(kinds).run({ id: 'one' }, stopping)).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(await harness.ports.outbox.find(harness.db, 'one')).toMatchObject({ state: 'due' });
  });

  test('that failed before Slack was asked is tried again', async () => {
    let failures = 1;
    const slack: OpenSlack = (...installation) => {
      const port = harness.ports.slack(...installation);
      const post: typeof port.post = (...message) =>
        failures-- > 0 ? Promise.reject(new Error('the database is away')) : port.post(...message);
      return { ...port, post };
    };
    context = { ...context, ports: { ...context.ports, slack } };
    await put('one');
    await run(5);
    expect(ended).toMatchObject([{ state: 'sent' }]);
  });

  test('that cannot be rendered is tried again, less and less often, until it expires', async () => {
    kinds = [defineMessage({ ...note, render: () => Promise.reject(new Error('broken')) })];
    await put('one', { expiresAt: new Date(at + 60_000) });
    await run(70);
    expect(ended).toMatchObject([{ state: 'dead', reason: 'expired' }]);
    expect(harness.log.entries.filter(({ level }) => level === 'error').length).toBeLessThan(8);
  });
});

const two = { to: { places: [ops, alice] } };

test.each<[string, string[], Partial<NewMessage<About>>, Partial<Ended<About>>, number]>([
  [
    'goes to the next place where one refuses it',
    ['is_archived'],
    { to: { places: [ops, alice, 'U0BOB0000'] } },
    { state: 'sent', place: alice, code: 'is_archived' },
    2,
  ],
  [
    'ends with the word of the first place where all refuse it',
    ['not_in_channel', 'user_disabled'],
    two,
    { state: 'dead', reason: 'place-gone', code: 'not_in_channel' },
    2,
  ],
  [
    'ends in the first place after the app is gone',
    ['account_inactive'],
    two,
    { state: 'dead', reason: 'app-gone', code: 'account_inactive' },
    1,
  ],
  [
    'goes to the next place for what an admin can lift',
    ['ekm_access_denied'],
    two,
    { state: 'sent', place: alice, code: 'ekm_access_denied' },
    2,
  ],
  [
    'of as many blocks as Slack takes goes to the next place without a note',
    ['ekm_access_denied'],
    { ...two, body: { text: 'full', blocks: Array.from({ length: limits.blocks }, () => section('x')) } },
    { state: 'sent', place: alice },
    2,
  ],
  [
    'that is refused as it is, ends where its kind has nothing else to say',
    ['invalid_blocks'],
    {},
    { state: 'dead', reason: 'refused', code: 'invalid_blocks' },
    1,
  ],
  [
    'that is refused as it is, is replaced by what its kind says instead',
    ['invalid_blocks'],
    { kind: careful },
    { state: 'sent', code: 'invalid_blocks' },
    2,
  ],
  [
    'that is refused as it is, is replaced by its text where its kind says nothing else',
    ['invalid_blocks'],
    { kind: plain },
    { state: 'sent', code: 'invalid_blocks' },
    2,
  ],
  [
    'ends where what its kind says instead is refused, too',
    ['invalid_blocks', 'invalid_blocks'],
    { kind: careful },
    { state: 'dead', reason: 'refused', code: 'invalid_blocks' },
    2,
  ],
])('a message %s', async (_, codes, more, end, posts) => {
  for (const code of codes) harness.slack.script.fail('chat.postMessage', code);
  await put('one', more);
  await run(5);
  expect(ended).toMatchObject([end]);
  expect(untold).toHaveLength(end.state === 'dead' ? 1 : 0);
  expect(findCalls('chat.postMessage')).toHaveLength(posts);
  const texts: Readonly<Record<string, string>> = { careful: 'not: invalid_blocks', plain: 'one' };
  const text = end.state === 'sent' && texts[more.kind?.kind ?? ''];
  expect(read()).toEqual(text ? [[text, undefined]] : []);
});

test.each([ops, 'G0LEGACY0'])(
  'other organizations come to read %s: the next place gets it',
  async (place) => {
    const { channels } = harness.slack.world;
    const channel = channels.get(ops);
    if (channel) channels.set(place, { ...channel, id: place, shared: true });
    await put('one', { to: { places: [place, alice] } });
    await run(5);
    expect(ended).toMatchObject([{ state: 'sent', place: alice, code: 'channel_shared' }]);
    expect(read()).toEqual([]);
  },
);

const share = (shared = true) => Object.assign(harness.slack.world.channels.get(ops) ?? {}, { shared });

describe('a channel', () => {
  test.each<[string, () => unknown, string]>([
    [
      'whose readers the bot may not know',
      () => harness.slack.script.fail('conversations.info', 'missing_scope', 9),
      'missing_scope',
    ],
    [
      'whose readers Slack does not say for a minute',
      () => harness.slack.script.fail('conversations.info', 'internal_error', 6, 503),
      'http_503',
    ],
  ])('%s gets no message: the next place does, and says so', async (_, begin, code) => {
    begin();
    await put('one', two);
    await run(5);
    expect(ended).toHaveLength(code === 'missing_scope' ? 1 : 0);
    await run(135);
    expect(ended).toMatchObject([{ state: 'sent', place: alice, code }]);
    expect(read()).toEqual([]);
    expect(harness.slack.as(alice).messages().at(-1)?.reads).toContain(code);
  });

  test('that others come to read later gets no edit, and no reply', async () => {
    await put('one');
    await run();
    share();
    at += 3_600_000;
    await edit('one', 'changed');
    await put('reply', { to: { parent: 'one' } });
    await run(5);
    expect(failedEdits).toEqual(['channel_shared']);
    expect(ended.at(-1)).toMatchObject({ id: 'reply', state: 'dead', code: 'channel_shared' });
    expect(read()).toEqual([['one', undefined]]);
  });

  test('is asked about its readers again half a minute later, and trusted where an admin named it', async () => {
    await put('one');
    await run();
    share();
    at += 31_000;
    await put('two', two);
    await run(5);
    expect(ended.at(-1)).toMatchObject({ id: 'two', place: alice });
    share(false);
    harness.slack.script.fail('conversations.info', 'missing_scope', 9);
    at += 31_000;
    const policy = { ...initialPolicy, postChannels: [ops] };
    await harness.policies.save({ tenant: 'T0ACME000', base: 0, policy, by: alice, difference: [] });
    await put('three', two);
    await run(5);
    expect(ended.at(-1)).toMatchObject({ id: 'three', place: ops });
  });
});

describe('a refusal that passes', () => {
  test('where no other place takes the message: the first one gets it later', async () => {
    for (let nth = 0; nth < 6; nth += 1) harness.slack.script.rateLimit('chat.postMessage', 12);
    harness.slack.script.fail('chat.postMessage', 'user_disabled', 1);
    await put('one', two);
    await run(300);
    expect(ended).toMatchObject([{ state: 'sent', place: ops, code: undefined }]);
  });

  test('before one that does not: the last one says how the message ends', async () => {
    harness.slack.script.fail('chat.postMessage', 'rate_limited', 1);
    harness.slack.script.fail('chat.postMessage', 'not_in_channel', 1);
    await put('one');
    await run(10);
    expect(ended).toMatchObject([{ state: 'dead', reason: 'place-gone', code: 'not_in_channel' }]);
  });

  test('for longer than a minute: the next place gets the message, and the first one after that', async () => {
    harness.slack.script.fail('chat.postMessage', 'rate_limited', 7);
    await put('one', { to: { places: [ops, alice] } });
    await run(61);
    expect(findCalls('chat.postMessage').map(({ args }) => args['channel'])).toEqual(Array(5).fill(ops));
    await run(400);
    const channels = findCalls('chat.postMessage').map(({ args }) => args['channel']);
    expect(channels.slice(5)).toEqual([ops, alice, ops]);
    expect(ended).toMatchObject([{ state: 'sent', place: ops, code: undefined }]);
    expect(harness.slack.as(alice, ops).messages()[0]?.reads).toBe('one');
  });
});

describe('a refusal that an admin can lift', () => {
  test('in every place waits for it, says in the log what to change, and begins with the first place', async () => {
    harness.slack.script.fail('chat.postMessage', 'access_denied', 3);
    await put('one', { to: { places: [ops, alice] } });
    await run(20);
    expect(ended).toMatchObject([{ state: 'sent', place: alice, code: 'access_denied' }]);
    const waits = harness.log.entries.filter(({ message }) => message.includes('a setting in Slack'));
    expect(waits).toMatchObject([{ fields: { code: 'access_denied', fix: expect.any(String) } }]);
    // Each edit says so again.
    await edit('one', 'changed');
    await run(5);
    expect(harness.slack.as(alice).messages()[0]?.reads).toMatch(/changed[^]*access_denied/u);
  });

  test('in the first place is kept until the message is out of date, whatever the next one says', async () => {
    const { script } = harness.slack;
    script.fail('chat.postMessage', 'enterprise_is_restricted', 100, 200, `"channel":"${ops}"`);
    script.fail('chat.postMessage', 'user_disabled', 100, 200, `"channel":"${alice}"`);
    await put('one', { ...two, expiresAt: new Date(at + 600_000) });
    await run(500);
    expect(ended).toEqual([]);
    await run(110);
    expect(ended).toMatchObject([{ state: 'dead', reason: 'expired', code: 'enterprise_is_restricted' }]);
  });
});

test.each([
  ['Slack refuses its blocks: its text alone', 'invalid_blocks', 'one'],
  ['two processes ended over it: the whole', 'put_aside', 'one\nwith a block'],
])('of a message that may be text goes out where %s', async (_, code, reads) => {
  const blocks = [section('one\nwith a block')];
  await put('one', { kind: plain, body: { text: 'one', blocks } });
  if (code === 'put_aside') await putAside('one');
  else harness.slack.script.fail('chat.postMessage', code);
  await run(5);
  expect(harness.slack.as(alice, ops).messages()[0]?.reads).toBe(reads);
});

test('a message with a live secret never leaves', async () => {
  const release = registerSecrets({ 'cdn-key': ['live-secret-0123456789abcdef'] });
  await put('one', { kind: careful, about: { text: 'holds live-secret-0123456789abcdef' } });
  await run(5);
  release();
  expect(read()).toEqual([['not: held_back', undefined]]);
});

describe('edits', () => {
  test('before the post are all that is posted; afterwards only the newest is shown', async () => {
    await put('one');
    await put('another', { to: { places: [alice] } });
    await edit('one', 'edited before');
    await run();
    expect(read()).toEqual([['edited before', undefined]]);
    await edit('one', 'second');
    await edit('one', 'third');
    await run(5);
    expect(read()).toEqual([['third', undefined]]);
    expect(findCalls('chat.update').map(({ args }) => args['text'])).toEqual(['third']);
  });

  test('wait for their turn, and leave the message where nothing is left to tell', async () => {
    await put('one');
    await run();
    const pace = { tenant: acme.teamId, bucket: 'chat.update', free_at: new Date(at + 60_000) };
    await harness.db.insertInto('slack_pace').values(pace).execute();
    await edit('one', 'second');
    await run(30);
    expect(findCalls('chat.update')).toEqual([]);
    kinds = [defineMessage({ ...note, render: () => undefined })];
    await run(60);
    expect([findCalls('chat.update'), failedEdits, queue.waiting]).toEqual([[], [], []]);
  });

  test('are repeated where the answer was lost or Slack asks for a pause', async () => {
    await put('one');
    await run();
    harness.slack.script.rateLimit('chat.update', 3);
    harness.slack.script.fail('chat.update', 'internal_error', 1, 503);
    await edit('one', 'second');
    await run(2);
    expect(findCalls('chat.update')).toHaveLength(1);
    await run(20);
    expect(read()).toEqual([['second', undefined]]);
  });

  test('that come while one is on its way are shown after it', async () => {
    await put('one');
    await run();
    await edit('one', 'second');
    const held = harness.slack.script.hold('chat.update', 'after');
    const running = run();
    await held.reached;
    await edit('one', 'third');
    held.release();
    await running;
    await run(5);
    expect(read()).toEqual([['third', undefined]]);
  });

  test('that Slack never answers are given up', async () => {
    await put('one');
    await run();
    harness.slack.script.fail('chat.update', 'internal_error', 99, 503);
    await edit('one', 'second');
    for (let pauses = 0; pauses < 20; pauses += 1) {
      await run(1);
      at += 300_000;
    }
    expect(failedEdits).toEqual(['http_503']);
    expect(findCalls('chat.update')).toHaveLength(17);
  });

  test('of a message that was deleted are given up, once', async () => {
    await put('one');
    await run();
    harness.slack.script.fail('chat.update', 'message_not_found');
    await edit('one', 'second');
    await run(60);
    expect(failedEdits).toEqual(['message_not_found']);
    expect(findCalls('chat.update')).toHaveLength(1);
  });
});

describe('replies', () => {
  test('wait for their parent, go into its thread and keep their order', async () => {
    harness.slack.script.rateLimit('chat.postMessage', 2);
    await put('first reply', { to: { parent: 'top' } });
    await put('second reply', { to: { parent: 'top' } });
    await put('third reply', { to: { parent: 'top' } });
    await put('top');
    await run(1);
    expect(read()).toEqual([]);
    await run(10);
    expect(read()).toEqual([
      ['top', undefined],
      ['first reply', 'top'],
      ['second reply', 'top'],
      ['third reply', 'top'],
    ]);
  });

  test('wait for an earlier reply that Slack does not take yet', async () => {
    await put('top');
    await run(2);
    harness.slack.script.fail('chat.postMessage', 'rate_limited', 2, 200, 'first reply');
    await put('first reply', { to: { parent: 'top' } });
    await put('second reply', { to: { parent: 'top' } });
    await run(20);
    expect(read().map(([text]) => text)).toEqual(['top', 'first reply', 'second reply']);
  });

  test('wait for no reply to another message', async () => {
    for (const [parent, place] of [
      ['top', ops],
      ['slow', alice],
    ] as const)
      await put(parent, { to: { places: [place] }, ...(parent === 'slow' ? { kind: careful } : {}) });
    kinds = [note, { ...careful, render: () => Promise.reject(new Error('later')) }];
    await put('reply to slow', { to: { parent: 'slow' } });
    await put('reply', { to: { parent: 'top' } });
    await run(5);
    expect(read()).toContainEqual(['reply', 'top']);
  });

  test('are given up with their parent', async () => {
    harness.slack.script.fail('chat.postMessage', 'not_in_channel');
    await put('top');
    await put('reply', { to: { parent: 'top' } });
    await put('second reply', { to: { parent: 'top' } });
    await run(10);
    expect(ended.map(({ id, reason }) => [id, reason])).toEqual([
      ['top', 'place-gone'],
      ['reply', 'parent'],
      ['second reply', 'parent'],
    ]);
  });
});

describe('pace', () => {
  test('is one post a second in a channel, in the order of putting', async () => {
    for (let n = 0; n < 5; n += 1) await put(`${n}`);
    await run();
    expect(read()).toHaveLength(1);
    await run(1.5);
    expect(read()).toHaveLength(2);
    await run(3);
    expect(read().map(([text]) => text)).toEqual(['0', '1', '2', '3', '4']);
  });
});

test('what has its turn already waits as well while Slack asks for a pause', async () => {
  await put('one');
  await put('two');
  await run();
  harness.slack.script.rateLimit('chat.postMessage', 10);
  await put('direct', { to: { places: [alice] } });
  await run(9);
  expect(findCalls('chat.postMessage')).toHaveLength(2);
  await run(5);
  expect(ended).toHaveLength(3);
});

describe('a lost answer', () => {
  test('is looked for before anything is posted again, and taken where it is', async () => {
    harness.slack.script.drop('chat.postMessage');
    await put('one');
    await run(60);
    expect([findCalls('chat.postMessage').length, read().length]).toEqual([1, 1]);
    expect(ended).toMatchObject([{ state: 'sent' }]);
  });

  test('in direct messages ends as unknown, or is taken as sent where once is enough', async () => {
    harness.slack.script.fail('chat.postMessage', 'internal_error', 1, 503);
    await put('one', { to: { places: [alice] } });
    await run(30);
    harness.slack.script.fail('chat.postMessage', 'internal_error', 1, 503);
    await put('two', { to: { places: [alice] }, doubt: 'once' });
    await run(30);
    expect(ended).toMatchObject([
      { id: 'one', state: 'unknown', code: 'cannot_look' },
      { id: 'two', state: 'sent', posted: undefined },
    ]);
    expect(findCalls('chat.postMessage')).toHaveLength(2);
    // There is no message to reply to, nor to edit.
    const found = await harness.ports.outbox.find(harness.db, 'two');
    expect(found).toMatchObject({ state: 'sent', posted: undefined });
    await put('reply', { to: { parent: 'two' } });
    await edit('two', 'changed');
    await run(5);
    expect(ended.at(-1)).toMatchObject({ id: 'reply', state: 'dead', reason: 'parent' });
    expect(failedEdits).toEqual(['no_message']);
  });

  test('is not looked for before its time, and where it came the message stands once', async () => {
    await put('one');
    await run();
    const lost = {
      state: 'sending' as const,
      claim: 'lost',
      ts: null,
      posted_in: null,
      next_at: new Date(at + 20_000),
    };
    await harness.db.updateTable('outbox').set(lost).execute();
    await queue.enqueue(deliverMessage, { id: 'one' });
    await run(15);
    expect(findCalls('conversations.history')).toEqual([]);
    await run(10);
    expect([read(), findCalls('chat.postMessage').length]).toEqual([[['one', undefined]], 1]);
    expect(ended.map(({ state }) => state)).toEqual(['sent', 'sent']);
  });

  test.each<[string, string, number, Partial<Ended<About>>]>([
    ['the bot may not read ends as unknown at once', 'missing_scope', 1, { state: 'unknown' }],
    ['has put the bot out goes to the next place', 'not_in_channel', 1, { state: 'sent', place: alice }],
    ['cannot be read for long ends as unknown', 'too_often', 99, { state: 'unknown' }],
  ])('in a channel that %s', async (_, code, times, end) => {
    harness.slack.script.fail('chat.postMessage', 'internal_error', 1, 503);
    const said = code === 'too_often' ? 'internal_error' : code;
    harness.slack.script.fail('conversations.history', said, times);
    await put('one', two);
    await run(times > 1 ? 1_800 : 60);
    expect(ended).toMatchObject([{ ...end, code }]);
  });

  test('of a message that is never found in its channel goes to the next place, also where once is enough', async () => {
    harness.slack.script.fail('chat.postMessage', 'internal_error', 100, 503, `"channel":"${ops}"`);
    await put('one', { ...two, doubt: 'once' });
    await put('two', { doubt: 'once' });
    await run(600);
    expect(ended).toMatchObject([
      { id: 'one', state: 'sent', place: alice },
      { id: 'two', state: 'unknown', code: 'too_often' },
    ]);
    expect(untold).toEqual(['note']);
  });

  test('of a message that is better read twice is followed by two more posts, then by the next place, later too', async () => {
    harness.slack.script.fail('chat.postMessage', 'internal_error', 9, 503);
    await put('one', { doubt: 'retry', to: { places: [alice, 'U0BOB0000'] } });
    await run(130);
    const places = [...Array(3).fill(alice), ...Array(3).fill('U0BOB0000')];
    expect(findCalls('chat.postMessage').map(({ args }) => args['channel'])).toEqual(places);
    expect(ended).toEqual([]);
    await run(1_200);
    expect(findCalls('chat.postMessage')).toHaveLength(9);
    expect(ended).toMatchObject([{ state: 'unknown', place: 'U0BOB0000', code: 'no_answer' }]);
  });
});

describe('one row in several hands', () => {
  test('is posted once by two deliveries at the same time', async () => {
    await put('one');
    // Both have their turn.
    await harness.db
      .updateTable('outbox')
      .set({ slot: new Date(at) })
      .execute();
    const job = createDeliverJob(kinds);
    await Promise.all([job.run({ id: 'one' }, context), job.run({ id: 'one' }, context)]);
    expect(findCalls('chat.postMessage')).toHaveLength(1);
  });

  test('has one end, and what follows from it happens once', async () => {
    await put('one');
    const job = createDeliverJob(kinds);
    await job.putAside?.({ id: 'one' }, context);
    await Promise.all([job.putAside?.({ id: 'one' }, context), job.putAside?.({ id: 'one' }, context)]);
    expect(ended).toHaveLength(1);
  });

  test.each(['taken', 'rate_limited'])(
    'is neither ended nor let go by a process that lost it to another one (%s)',
    async (answer) => {
      await put('one');
      const held = harness.slack.script.hold('chat.postMessage', 'before');
      if (answer !== 'taken') harness.slack.script.fail('chat.postMessage', answer);
      const posting = createDeliverJob(kinds).run({ id: 'one' }, context);
      await held.reached;
      await harness.db.updateTable('outbox').set({ claim: 'of another one' }).execute();
      held.release();
      await posting;
      expect(ended).toEqual([]);
      const row = harness.db.selectFrom('outbox').select(['state', 'claim']);
      expect(await row.execute()).toEqual([{ state: 'sending', claim: 'of another one' }]);
    },
  );

  test('is not due again because one could not render it while another sent it', async () => {
    await put('one');
    const row = harness.db.updateTable('outbox');
    const broken = defineMessage({
      ...note,
      async render() {
        await row.set({ state: 'sent', next_at: null }).execute();
        throw new Error('broken');
      },
    });
    await createDeliverJob([broken]).run({ id: 'one' }, context);
    expect(await harness.ports.outbox.find(harness.db, 'one')).toMatchObject({ state: 'sent' });
  });

  test.each([{ state: 'sent' as const, next_at: null }, { place: 1 }])(
    'is not posted where another one has moved it on meanwhile (%j)',
    async (moved) => {
      await put('one', two);
      const row = harness.db.updateTable('outbox').set(moved);
      const slow = defineMessage({ ...note, render: async () => (await row.execute(), { text: 'late' }) });
      await createDeliverJob([slow]).run({ id: 'one' }, context);
      expect(findCalls('chat.postMessage')).toEqual([]);
    },
  );

  test('whose end cannot be stored at once has it a moment later, and is posted once', async () => {
    let failures = 1;
    const failing = defineMessage({
      ...note,
      async ended(_trx, message: Ended<About>) {
        if (failures-- > 0) throw new Error('the database is away');
        ended.push(message);
      },
    });
    kinds = [failing];
    await put('one');
    await run(1);
    expect(ended).toMatchObject([{ state: 'sent' }]);
    expect(read()).toHaveLength(1);
  });

  test('an edit that comes while it is on its way to Slack is shown', async () => {
    await put('one');
    const { db } = harness;
    const late = defineMessage({
      ...note,
      async render({ text }: About) {
        if (shown === undefined) await edit('one', 'edited meanwhile');
        return { text };
      },
    });
    const job = createDeliverJob([late]);
    await job.run({ id: 'one' }, context);
    kinds = [defineMessage({ ...note, render: () => ({ text: shown ?? '' }) })];
    await run(5);
    expect(read()).toEqual([['edited meanwhile', undefined]]);
    expect(await harness.ports.outbox.find(db, 'one')).toMatchObject({ state: 'sent' });
  });

  test('a process that was frozen while it claimed posts nothing', async () => {
    await put('one');
    let looked = performance.now() - 1_000_000;
    const clock = vi.spyOn(performance, 'now');
    // Six seconds pass between two looks at the clock.
    clock.mockImplementation(() => (looked += 6_000));
    await createDeliverJob(kinds).run({ id: 'one' }, context);
    expect(findCalls('chat.postMessage')).toEqual([]);
    clock.mockRestore();
    await run(60);
    expect(read()).toEqual([['one', undefined]]);
    expect(findCalls('chat.postMessage')).toHaveLength(1);
  });

  test('a message that is never found is not looked for without end', async () => {
    harness.slack.script.fail('chat.postMessage', 'internal_error', 100, 503);
    await put('one');
    await run(600);
    expect(ended).toMatchObject([{ state: 'unknown', code: 'too_often' }]);
    const looks = findCalls('conversations.history');
    expect(looks).toHaveLength(8);
    // From the first claim until two minutes after the last one: Slack may show a message late.
    expect(new Set(looks.map(({ args }) => args['oldest'])).size).toBe(1);
    const { claimed_at: claimed } = await harness.db
      .selectFrom('outbox')
      .select('claimed_at')
      .executeTakeFirstOrThrow();
    // It was claimed once more after the last look.
    expect(Number(looks.at(-1)?.args['latest']) * 1000).toBeGreaterThan(Number(claimed) + 60_000);
  });
});

test('a row whose job was lost is enqueued again within two minutes', async () => {
  await put('one');
  queue.clear();
  await sweepOutboxJob.run({}, context);
  expect(queue.waiting).toEqual([]);
  at += 61_000;
  await queue.enqueue(sweepOutboxJob, {});
  await run(5);
  expect(read()).toEqual([['one', undefined]]);
});

const step = { run: 'Fx0000000001', installation: acme };
const beginStep = () =>
  beginStepRun({ db: harness.db, enqueue: queue.enqueue }, step, { now: new Date(at), ifItDies: 'it died' });
const findEnds = () =>
  harness.slack.calls.map(({ method }) => method).filter((name) => name.startsWith('functions'));

test('a step that is delivered again begins once', async () => {
  expect([await beginStep(), await beginStep()]).toEqual([true, false]);
});

test.each([
  ['nobody knows whether Slack has it', 'internal_error', ['Success', 'Success']],
  ['Slack takes it later', 'team_added_to_org', ['Success', 'Success']],
  ['an admin of Slack can lift the refusal', 'missing_scope', ['Success', 'Success']],
  ['the app is gone', 'account_inactive', ['Success']],
  ['Slack takes no such outputs', 'invalid_arguments', ['Success', 'Error']],
])('the end of a step where %s', async (_, code, calls) => {
  harness.slack.script.fail('functions.completeSuccess', code);
  await beginStep();
  await endStepRun(queue.enqueue, step, { outputs: {} });
  await run(61);
  expect(findEnds()).toEqual(calls.map((end) => `functions.complete${end}`));
});

test('the end of a step that Slack refuses for a day is given up, which the log and a metric say', async () => {
  harness.slack.script.fail('functions.completeSuccess', 'team_added_to_org', 1_000);
  await beginStep();
  await endStepRun(queue.enqueue, step, { outputs: {} });
  // A person may have decided about its operation a day later.
  at += 30 * 3_600_000;
  await run();
  expect(findEnds()).toHaveLength(1);
  await run(61);
  expect(findEnds()).toHaveLength(2);
  for (let minutes = 0; minutes < 40 * 60; minutes += 10) {
    await run();
    at += 600_000;
  }
  expect(findEnds().length).toBeLessThan(30);
  expect([queue.waiting, untold]).toEqual([[], ['complete-step']]);
  expect(harness.log.entries.filter(({ level }) => level === 'error')).toHaveLength(1);
});

test.each([
  ['died', 1, sql`select 1`],
  ['is of no run that is still open', 0, sql`delete from step_runs where id = ${step.run}`],
  ['has asked for an operation', 0, sql`update step_runs set operation_id = 'any' where id = ${step.run}`],
])('the error of a step whose work %s', async (_, ends, change) => {
  await beginStep();
  const another = { ...step, run: 'Fx0000000002' };
  const about = { now: new Date(at), ifItDies: 'it died' };
  await beginStepRun({ db: harness.db, enqueue: async () => undefined }, another, about);
  // The operation itself does not matter here.
  await sql`alter table step_runs disable trigger all`.execute(harness.db);
  await change.execute(harness.db);
  at += 600_000;
  await run();
  expect(findEnds()).toHaveLength(ends);
});
