import { describe, expect, test } from 'vitest';
import { features } from '../../../src/commands/registry.ts';
import { readAgain, writeAgain } from '../../../src/slack/receive/modals.ts';
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
