import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { initialPolicy } from '../../../src/auth/policy/policy.ts';
import { SlackFailure, type SlackPort } from '../../../src/outbox/slack-port.ts';
import { openSlack } from '../../../src/slack/send/slack-port.ts';
import { prepareEngines } from '../../support/engines.ts';
import { createPortsHarness } from './ports-harness.ts';

const { embedded } = await prepareEngines();
const acme = { teamId: 'T0ACME000' };
const id = 'digest:k7f3q:0';
/** Everything that these tests post. */
const anytime = { since: new Date(0), until: new Date(Date.now() + 3_600_000) };

let port: SlackPort;
async function enqueue(): Promise<void> {
  throw new Error('nothing here enqueues');
}
let broken: Response | undefined;
const fetch: typeof globalThis.fetch = async (...about) => broken ?? globalThis.fetch(...about);
const harness = await createPortsHarness({ database: await embedded.emptyDatabase(), enqueue, fetch });
afterAll(async () => harness[Symbol.asyncDispose]());
beforeEach(() => {
  broken = undefined;
  harness.slack.calls.length = 0;
  port = harness.ports.slack(acme, AbortSignal.timeout(20_000));
});

/** How a call failed. */
async function failing(call: Promise<unknown>): Promise<SlackFailure> {
  const error = await call.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SlackFailure)) throw error;
  return error;
}

function inOps() {
  return harness.slack.as('U0ALICE00', 'C0OPS0000').messages();
}

test('shares a file in a thread, and takes it out again, also twice', async () => {
  const posted = await port.post('C0OPS0000', { text: 'With a file' }, { id: 'any' });
  const content = new TextEncoder().encode('a,b\n1,2\n');
  let fileIds: readonly string[] = [];
  await port.share([{ name: 'report.csv', title: 'Report', mimetype: 'text/csv', content }], {
    channel: posted.channel,
    thread: posted.ts,
    comment: 'The numbers',
    beforeShare: async (ids) => void (fileIds = ids),
  });
  const shared = inOps().find(({ files }) => files.length > 0);
  expect(shared).toMatchObject({ threadTs: posted.ts, text: 'The numbers' });
  await port.deleteFile(fileIds[0] ?? '');
  await port.deleteFile(fileIds[0] ?? '');
  expect(harness.slack.calls.filter(({ method }) => method === 'files.delete')).toHaveLength(2);
});

describe('finding a message by its id', () => {
  test('in a channel and in a thread, never a thread’s in the channel', async () => {
    const first = 'digest:aaaaa:0';
    const second = 'digest:aaaaa:1';
    const top = await port.post('C0OPS0000', { text: 'one' }, { id: first });
    const reply = await port.post('C0OPS0000', { text: 'two' }, { id: second, thread: top.ts });
    const channel = 'C0OPS0000';
    expect(await port.find(first, { channel, ...anytime })).toEqual(top);
    expect(await port.find(second, { channel, ...anytime })).toBeUndefined();
    expect(await port.find(second, { channel, ...anytime, thread: top.ts })).toEqual(reply);
  });

  test('posted between two moments of Slack’s clock, by one request', async () => {
    const marked = 'digest:bbbbb:0';
    const channel = 'C0OPS0000';
    await port.post(channel, { text: 'old' }, { id: marked });
    const findBetween = (fromMinutes: number, toMinutes: number) => {
      const [since, until] = [fromMinutes, toMinutes].map((by) => new Date(Date.now() + by * 60_000));
      return since && until && blind.find(marked, { channel, since, until });
    };
    const blind = harness.ports.slack(acme, AbortSignal.timeout(20_000));
    expect(await findBetween(-1, 1)).toBeDefined();
    const asked = harness.slack.calls.filter(({ method }) => method === 'conversations.history');
    expect(asked).toMatchObject([{ args: { oldest: expect.anything(), latest: expect.anything() } }]);
    expect(await findBetween(1, 3)).toBeUndefined();
    expect(await findBetween(-3, -1)).toBeUndefined();
  });

  test.each([
    [undefined, -120_000, 120_000],
    [60, -65_000, -55_000],
  ])('where this machine is %s seconds ahead of Slack', async (skew, since, until) => {
    const at = new Date();
    const about = { clock: { skew: () => skew } } as unknown as Parameters<typeof openSlack>[0];
    const found = openSlack(about, acme, AbortSignal.timeout(1)).toSlackTime(at);
    expect([found.since, found.until].map((moment) => moment.getTime() - at.getTime())).toEqual([
      since,
      until,
    ]);
  });

  test('among more messages than one answer holds, it cannot say that it is not there', async () => {
    const deep = 'digest:ccccc:0';
    await port.post('C0DEPLOY0', { text: 'deep' }, { id: deep });
    for (let n = 0; n < 230; n += 1) await port.post('C0DEPLOY0', { text: `noise ${n}` }, { id: 'any' });
    const failure = await failing(port.find(deep, { channel: 'C0DEPLOY0', ...anytime }));
    expect(failure).toMatchObject({ outcome: 'refused', code: 'too_much' });
    const asked = harness.slack.calls.filter(({ method }) => method === 'conversations.history');
    expect(asked).toHaveLength(1);
  });

  test('without the scope to read, a search fails instead of finding nothing', async () => {
    harness.slack.script.fail('conversations.history', 'missing_scope');
    const failure = await failing(port.find(id, { channel: 'C0OPS0000', ...anytime }));
    expect(failure).toMatchObject({ outcome: 'refused', code: 'missing_scope' });
  });
});

test('a token that may not read metadata finds nothing, and says that it cannot know', async () => {
  const scopes = 'chat:write,channels:history';
  const fetch: typeof globalThis.fetch = async (...about) => {
    const answer = await globalThis.fetch(...about);
    const headers = new Headers(answer.headers);
    headers.set('x-oauth-scopes', scopes);
    return new Response(answer.body, { status: answer.status, headers });
  };
  await using narrow = await createPortsHarness({ database: await embedded.emptyDatabase(), enqueue, fetch });
  const blind = narrow.ports.slack(acme, AbortSignal.timeout(20_000));
  const failure = await failing(blind.find(id, { channel: 'C0OPS0000', ...anytime }));
  expect(failure).toMatchObject({ outcome: 'refused', code: 'missing_scope' });
});

const page = '<html>Slack is down for maintenance</html>';
const cut = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) });

test.each([
  ['a page in the place of JSON', page, {}, 'no_answer'],
  ['an answer that is cut off', cut, {}, 'no_answer'],
  ['JSON of another form', 'null', {}, 'no_answer'],
  ['a refusal without a code', '{"ok":false}', {}, 'no_answer'],
  ['a limit without a pause', '', { status: 429 }, 'ratelimited'],
  ['a limit until a date', '', { status: 429, headers: { 'retry-after': 'soon' } }, 'ratelimited'],
])('%s is a failure of Slack that passes', async (_, body, init, code) => {
  broken = new Response(body, init);
  expect(await failing(port.post('C0OPS0000', { text: 'x' }, { id: 'any' }))).toMatchObject({ code });
});

test.each(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'])(
  'after %s the outcome is unknown',
  async (code) => {
    harness.slack.script.fail('chat.postMessage', code);
    const failure = await failing(port.post('C0OPS0000', { text: 'x' }, { id: 'any' }));
    expect(failure).toMatchObject({ outcome: 'unknown', code });
  },
);

const countQuestions = () =>
  harness.slack.calls.filter(({ method }) => method === 'conversations.info').length;

describe('who reads a channel', () => {
  const channel = 'C0OPS0000';
  const ask = (knownMs: number) =>
    harness.ports.readAudience(acme, channel, { signal: AbortSignal.timeout(20_000), knownMs });
  const open = (shared: boolean) =>
    Object.assign(harness.slack.world.channels.get(channel) ?? {}, { shared });

  test('is known as long as the asker allows, and only that nobody else does', async () => {
    expect([await ask(0), await ask(60_000), countQuestions()]).toEqual(['own', 'own', 1]);
    open(true);
    expect([await ask(-1), await ask(60_000), countQuestions()]).toEqual(['others', 'others', 3]);
    open(false);
    await ask(-1);
    // A clock that is set back by an hour.
    open(true);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    const answer = await ask(60_000).finally(() => vi.useRealTimers());
    open(false);
    expect(answer).toBe('others');
  });

  test('is unknown, by its code, where Slack fails', async () => {
    harness.slack.script.fail('conversations.info', 'internal_error', 9);
    expect(await ask(-1)).toEqual({ unknown: 'internal_error' });
    harness.slack.script.clear();
  });

  test.each(['approvalChannel', 'exportChannels', 'postChannels'])(
    'counts as known where Slack does not say it and an admin named the channel: %s',
    async (list) => {
      harness.slack.script.fail('conversations.info', 'missing_scope', 9);
      expect(await ask(-1)).toEqual({ unknown: 'missing_scope' });
      const current = { ...initialPolicy, [list]: list === 'approvalChannel' ? channel : [channel] };
      const base = (await harness.policies.current(acme.teamId)).version;
      const by = 'U0ALICE00';
      const change = { tenant: acme.teamId, by, difference: [] };
      await harness.policies.save({ ...change, base, policy: current });
      expect(await ask(-1)).toBe('own');
      await harness.policies.save({ ...change, base: base + 1, policy: initialPolicy });
      harness.slack.script.clear();
    },
  );
});

test.each([
  ['is cut', () => harness.slack.script.drop('chat.postMessage')],
  ['is a 503', () => harness.slack.script.fail('chat.postMessage', 'oops', 1, 503)],
])('a post of a job whose answer %s is not repeated', async (_, breaks) => {
  breaks();
  await failing(port.post('C0OPS0000', { text: 'x' }, { id: 'any' }));
  expect(harness.slack.calls.filter(({ method }) => method === 'chat.postMessage')).toHaveLength(1);
});
