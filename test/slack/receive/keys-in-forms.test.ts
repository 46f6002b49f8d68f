import { describe, expect, test } from 'vitest';
import { features } from '../../../src/commands/registry.ts';
import { SecretLeakBlocked } from '../../../src/errors.ts';
import {
  listTyped,
  readAgain,
  readFieldsWithoutKeys,
  readModalState,
  showInForm,
  writeAgain,
} from '../../../src/slack/receive/modals.ts';
import { readForm } from '../../../src/slack/receive/requests.ts';
import { says } from '../words.ts';

// Made up for this test, in the shapes that real keys have.
const keys = {
  account: '1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b86e04-a1f7-4c5b-93d2-70be81c4fa65',
  storage: '1b7e0f4c-92ad-4d13-8e605f3a7c21-9b86-6e04',
  named: 'main-access-key-1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b8',
};
const typed = [
  keys.account,
  keys.storage,
  keys.named,
  `AccessKey: ${keys.account.toUpperCase()}`,
  `country in DE\nurl contains /login?key=${keys.storage}`,
  `“${keys.account.replaceAll('-', '–')}”`,
];
const forms = features.flatMap(({ forms: own = [] }) => own);

/** The errors of a form with this text in its second field, by block id. */
function errorsOf(callbackId: string, text: string): Readonly<Record<string, string>> {
  const inputs = { first: { first: { type: 'plain_text_input', value: 'fine' } } };
  const state = { values: { ...inputs, second: { second: { type: 'plain_text_input', value: text } } } };
  const { reply } = readForm({ id: 'V0', callback_id: callbackId, state }, new Date());
  return reply && 'errors' in reply ? (reply.errors as Record<string, string>) : {};
}

describe.each(forms.filter(({ takesKeys }) => !takesKeys).map(({ id }) => id))('%s', (id) => {
  test('a key in any field is an error of that field, without the key in it', () => {
    for (const text of typed) expect(errorsOf(id, text)).toEqual({ second: says.noKeysHere });
  });
});

test('keys are typed into the form for them, and into no other', () => {
  expect(forms.filter(({ takesKeys }) => takesKeys).map(({ id }) => id)).toEqual(['connect:submit']);
  expect(errorsOf('connect:submit', keys.account)).not.toHaveProperty('second');
});

test.each([
  '1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b8',
  '/API/v1/1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b8/list',
  't13d1516h2_8daaf6152771_b186095e22b6',
  '5d41402abc4b2a76b9719d911017c592',
  '01hqz8kx2m3n4p5q6r7s8t9v0w',
  '2001:db8:0:1:1:1:1:1, 203.0.113.0/24',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36',
])('ids, fingerprints and parts of URLs are no keys: %s', (text) => {
  expect(errorsOf('event-logs:submit', text)).not.toHaveProperty('second');
});

const text = (value: string) => ({ type: 'plain_text_input', value });

test('every form but those that are typed at once opens again with what was typed, without secrets', () => {
  const option = { text: { type: 'plain_text' as const, text: 'Required' }, value: 'true' };
  const inputs = {
    scriptId: text('301'),
    defaultValue: text('hush'),
    moreValue: text('hush'),
    reason: text(keys.account),
  };
  const values = Object.fromEntries(
    Object.entries(inputs).map(([id, input]) => [`${id}:2`, { [id]: input }]),
  );
  const chosen = { required: { required: { type: 'static_select', selected_option: option } } };
  const view = (id: string) => ({ id: 'V0', callback_id: id, state: { values: { ...values, ...chosen } } });
  const opened = forms.filter(({ again }) => again).map(({ id }) => [id, writeAgain(view(id)) ?? '']);
  expect(forms.filter(({ again }) => !again).map(({ id }) => id)).toEqual(['connect:submit']);
  for (const [id, value = ''] of opened)
    expect([id, value.length > 0, value.includes(keys.account)]).toEqual([id, true, false]);
  const { 'variables:submit': variable = '' } = Object.fromEntries(opened) as Record<string, string>;
  expect(variable).not.toContain('hush');
  expect(readAgain('forms:again', variable)?.fields).toMatchObject({ scriptId: '301', required: 'true' });
});

const input = (id: string) => ({
  type: 'input',
  block_id: id,
  label: { type: 'plain_text', text: id },
  element: { type: 'plain_text_input', action_id: id },
});

/** A form with two texts, one of which is a secret. */
function fill(callbackId: string, block: string, value: string) {
  return {
    id: 'V1',
    callback_id: callbackId,
    title: { type: 'plain_text', text: 'CDN' },
    blocks: [input('first'), input(block)],
    state: { values: { first: { first: text('fine') }, [block]: { [block]: text(value) } } },
  } as unknown as Parameters<typeof showInForm>[0];
}

/** The form as it is shown after a failure; Slack's scanner blocks what holds one of these. */
async function showAfterFailure(view: ReturnType<typeof fill>, ...blocked: string[]): Promise<string> {
  let shown = '';
  const update = async (content: object): Promise<void> => {
    const sent = JSON.stringify(content);
    if (blocked.some((secret) => sent.includes(secret))) throw new SecretLeakBlocked('slack', 'abcd1234');
    shown = sent;
  };
  const client = async () => ({ views: { update } });
  const failure = { message: 'It failed.', hint: 'Try again.', reference: 'abcd1234' };
  const failed = { client, failure, message: { text: 'It failed.' } };
  expect(await showInForm(view, failed as unknown as Parameters<typeof showInForm>[1])).toBe(true);
  return shown;
}

test.each([
  ['a key in any form', 'event-logs:submit', 'second', keys.account],
  ['what is typed into the form for keys', 'connect:submit', 'accessKey', 'of-no-known-shape'],
  ['the value of a variable', 'variables:submit', 'defaultValue', 'hush'],
])(
  'after a failure %s is not shown again, nor listed, nor handed on; the rest is',
  async (_, id, block, secret) => {
    const view = fill(id, block, secret);
    const shown = await showAfterFailure(view);
    const isForKeys = id === 'connect:submit';
    expect([shown.includes('fine'), shown.includes(secret)]).toEqual([!isForKeys, false]);
    expect(listTyped(view)).toEqual(isForKeys ? [] : [['first', 'fine']]);
  },
);

test('a press in a form hands on what was typed there, but for keys', () => {
  expect(readFieldsWithoutKeys(fill('event-logs:submit', 'second:2', keys.account))).toEqual({
    first: 'fine',
  });
});

test('a secret that only the scanner knows empties the form that is shown again', async () => {
  const shown = await showAfterFailure(fill('event-logs:submit', 'second', 'my-own'), 'my-own');
  expect([shown.includes('V1'), shown.includes('fine')]).toEqual([true, false]);
});

test('what is too long for a button is not offered again, and a state that is none is no place', () => {
  expect(writeAgain(fill('event-logs:submit', 'second', 'x'.repeat(3_000)))).toBeUndefined();
  for (const state of ['no JSON', '{"channel":7}', 'null'])
    expect(readModalState(state)).toEqual({ channelId: undefined, threadTs: undefined, metadata: undefined });
});
