import type { ModalView } from '@slack/types';
import { expect, test } from 'vitest';
import type { Person } from '../../src/auth/identity.ts';
import { RolesUnknown } from '../../src/auth/policy/authorizer.ts';
import { type Context, findLast } from '../../src/commands/define.ts';
import { findAction, findCommand, findForm } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';
import { UserError } from '../../src/errors.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { alice, bob, buttons, createCommandHarness, readText, setup } from '../support/command-harness.ts';
import { findViewProblems } from '../support/slack-limits.ts';
import { readStable } from '../support/words.ts';

/** The modal that a form is answered with. */
function shownIn(result: object) {
  return 'modal' in result ? (result.modal as ModalView) : undefined;
}

test('connect opens the form at once, typed or pressed', () => {
  const typed = findCommand(parseWords('connect'));
  const form = typed.command.modal?.(typed.words, setup);
  expect(form).toMatchObject({ type: 'modal', callback_id: 'connect:submit' });
  expect(findViewProblems(form as { type: 'modal' })).toEqual([]);
  expect(readStable(form)).toMatchSnapshot();
  const [input] = (form?.blocks ?? []).filter((block) => block.type === 'input');
  expect(input).toMatchObject({
    block_id: 'accessKey',
    element: { action_id: 'accessKey', type: 'plain_text_input' },
  });
  expect(findAction('connect:open')?.modal?.('open', setup)).toEqual(form);
});

test('where no page for keys is configured, the form names the panel alone', () => {
  const panel = { ...setup.panel, keys: undefined };
  const form = findAction('connect:open')?.modal?.('open', { ...setup, panel });
  expect(readStable(form)).not.toContain('https:');
  expect(readStable(form)).toMatchSnapshot();
});

test.each([
  ['nothing', undefined],
  ['an empty field', ''],
  ['spaces only', '   '],
  ['spaces inside', 'abcd efgh ijkl'],
  ['a line break inside', 'abcdefgh\nijkl'],
  ['letters no header can carry', 'abcdéfghijkl'],
])('the form says what is wrong with %s, in its field', async (_, typed) => {
  await using harness = await createCommandHarness({ zones: 3 });
  const result = await harness.person(alice, 'none').submit('connect:submit', { accessKey: typed });
  expect(result).toMatchSnapshot();
  expect(harness.cdn.requests).toEqual([]);
});

test('a key that works is linked after one cheap read, and shown by its fingerprint only', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const person = harness.person(alice, 'none');
  const result = await person.submit('connect:submit', { accessKey: `  ${harness.cdn.key}\n` });
  expect(readStable(shownIn(result))).toMatchSnapshot();
  expect(JSON.stringify(result)).not.toContain(harness.cdn.key);
  expect(harness.cdn.requests.map(({ method, path, query }) => ({ method, path, query }))).toEqual([
    { method: 'GET', path: '/pullzone', query: { page: '1', perPage: '10' } },
  ]);
  expect([...harness.linked.values()].map((key) => key.reveal())).toEqual([harness.cdn.key]);
  expect(buttons((await person.run('whoami'))[0]).has('Forget my key')).toBe(true);
});

test.each([
  ['the CDN refuses the key', {}],
  ['the CDN is down', { status: 502, times: 9 }],
  ['the account is suspended', { status: 401, body: { Message: 'Your account is suspended' } }],
  ['a right is missing', { status: 403, body: { Message: 'You have no permission to list zones.' } }],
  ['the key expired', { status: 401, body: { Message: 'Your API key expired 3 days ago.' } }],
])('where %s nothing is stored, and the form comes back empty, saying why', async (_, fault) => {
  await using harness = await createCommandHarness({ zones: 3 });
  const isDown = 'status' in fault;
  if (isDown) harness.cdn.faults.add(fault);
  const accessKey = isDown ? harness.cdn.key : 'some-key-that-nobody-made';
  const result = await harness.person(alice, 'none').submit('connect:submit', { accessKey });
  expect(result).toMatchObject({ modal: { callback_id: 'connect:submit' } });
  expect(readStable(shownIn(result))).toMatchSnapshot();
  expect(JSON.stringify(result)).not.toContain(accessKey);
  expect(harness.linked.size).toBe(0);
});

/** A key that was connected before says that they belong here, but not for this. */
const decide: Context['decide'] = async (_, { fresh = false } = {}) => {
  return { allowed: !fresh, reason: fresh ? 'unknown' : 'open-to-all', trace: [] };
};

test('while Slack does not say whose people they are, nobody gets a link, and no key is taken', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  let links = 0;
  const keyPage = {
    offer: async () => ({ url: 'https://page.example', minutes: (links += 1) }),
    close: async () => undefined,
  };
  const context = { ...harness.person(alice, 'none').context, keyPage, decide };
  const ask = async () => findAction('connect:open')?.run?.('', context);
  const send = async () =>
    findForm('connect:submit')?.run({ accessKey: new Secret(harness.cdn.key) }, context);
  await expect(ask()).rejects.toBeInstanceOf(RolesUnknown);
  await expect(send()).rejects.toBeInstanceOf(RolesUnknown);
  expect([links, harness.linked.size, harness.cdn.requests.length]).toEqual([0, 0, 0]);
});

test('words behind connect are refused, whatever they are, and never said again', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person(alice, 'none');
  const answers = new Set<string>();
  for (const typed of [
    'connect hunter2',
    `connect ${harness.cdn.key}`,
    harness.cdn.key,
    `zones ${harness.cdn.key}`,
  ]) {
    const [answer] = await person.run(typed);
    answers.add(readStable(answer));
    expect(buttons(answer).get('Connect the new key')).toEqual(['connect:open', 'open']);
    expect(JSON.stringify(answer)).not.toMatch(/hunter2|CANARY/u);
  }
  expect([...answers]).toMatchSnapshot();
  expect(harness.linked.size).toBe(0);
  expect(harness.cdn.requests).toEqual([]);
});

test('whoami says whether a key is linked, since when, and what it may do', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const [unlinked] = await harness.person(bob, 'none').run('whoami');
  expect(readStable(unlinked)).toMatchSnapshot('no key');
  expect(buttons(unlinked).has('Connect your key')).toBe(true);
  const [linked] = await harness.person().run('whoami');
  expect(readText(linked)).toMatch(/<!date\^1795262400\^.*2026-11-21 12:00 UTC>/);
  expect(readStable(linked)).toMatchSnapshot('key');
});

test('disconnect asks, and then forgets the key and the zones that were read with it', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  await person.run('zones');
  const [question] = await person.run('disconnect');
  expect(harness.linked.size).toBe(1);
  const [action = '', value = ''] = buttons(question).get('Disconnect') ?? [];
  const [done] = await person.press(action, value);
  expect(readStable(done)).toMatchSnapshot('forgotten');
  expect(harness.linked.size).toBe(0);
  expect(harness.zoneCache.forPerson(alice).get()).toBeUndefined();
  const [pressed] = await person.press(action, value);
  expect(readStable(pressed)).toMatchSnapshot('nothing to forget');
  expect(await harness.person(alice, 'none').run('disconnect')).toEqual([pressed]);
});

test('disconnect closes the links to the page first, and drops what was read with the key', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const done: string[] = [];
  const { context } = harness.person();
  const keyPage = {
    offer: async () => ({ url: 'https://page.example', minutes: 15 }),
    close: async () => void done.push(`links, keys left: ${harness.linked.size}`),
  };
  const drop = async () => void done.push('readings');
  const accounts = { ...context.accounts, drop };
  await findLast(findAction('connect:forget')?.run?.('', { ...context, keyPage, accounts }));
  expect(done).toEqual(['links, keys left: 1', 'readings']);
});

test('what was read with an earlier key is not shown with a new one', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  await person.run('zones');
  expect(harness.zoneCache.forPerson(alice).get()).toBeDefined();
  await person.submit('connect:submit', { accessKey: harness.cdn.key });
  expect(harness.zoneCache.forPerson(alice).get()).toBeUndefined();
});

function report(id: string, kind: 'digest' | 'alert', owner: Person, more: object = {}) {
  const label = 'Zones overview';
  const subject = kind === 'alert' ? { condition: { label } } : { kinds: [{ label }], called: { 7: 'shop' } };
  return { id, kind, owner, subject, channel: 'C0OPS0000', ...more };
}

test('disconnect says which digests and alerts of the person pause, and none of others or paused ones', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const stored = [
    report('D1', 'digest', alice),
    report('D2', 'digest', bob),
    report('D3', 'digest', alice, { paused: { reason: 'by-hand' } }),
    report('A1', 'alert', alice, { channel: alice.userId }),
  ];
  const context = {
    ...harness.person().context,
    reports: { list: async () => stored } as unknown as Context['reports'],
  };
  const { command, words } = findCommand(parseWords('disconnect'));
  expect(readStable(await findLast(command.run?.(words, context)))).toMatchSnapshot('asked');
  const done = await findLast(findAction('connect:forget')?.run?.('', context));
  expect(readStable(done)).toMatchSnapshot('done');
});

test.each([
  [true, ['token-ended']],
  [false, []],
])('revoking a token is recorded where there was one: %s', async (hasEnded, events) => {
  const recorded: string[] = [];
  const context = {
    person: alice,
    keyPage: setup.keyPage,
    clientTokens: { end: async () => hasEnded },
    audit: { record: async ({ event }: { event: string }) => void recorded.push(event) },
  } as unknown as Context;
  await expect(findLast(findAction('tokens:end')?.run?.('0123456789ab', context))).rejects.toBeInstanceOf(
    UserError,
  );
  expect(recorded).toEqual(events);
});
