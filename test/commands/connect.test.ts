import { expect, test } from 'vitest';
import { findAction, findCommand } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';
import { alice, bob, buttons, createCommandHarness, readText } from '../support/command-harness.ts';
import { findViewProblems } from '../support/slack-limits.ts';

test('connect opens the form at once, typed or pressed', () => {
  const typed = findCommand(parseWords('connect'));
  const form = typed.command.modal?.(typed.words, { keyPage: undefined });
  expect(form).toMatchObject({ type: 'modal', callback_id: 'connect:submit' });
  expect(findViewProblems(form as { type: 'modal' })).toEqual([]);
  expect(JSON.stringify(form)).toContain('passes through Slack');
  const [input] = (form?.blocks ?? []).filter((block) => block.type === 'input');
  expect(input).toMatchObject({
    block_id: 'accessKey',
    element: { action_id: 'accessKey', type: 'plain_text_input' },
  });
  expect(findAction('connect:open')?.modal?.('open', { keyPage: undefined })).toEqual(form);
});

test.each([
  ['nothing', undefined, 'Paste the key here.'],
  ['an empty field', '', 'Paste the key here.'],
  ['spaces only', '   ', 'Paste the key here.'],
  ['spaces inside', 'abcd efgh ijkl', 'A key has no spaces or line breaks in it. Copy it once more.'],
  ['a line break inside', 'abcdefgh\nijkl', 'A key has no spaces or line breaks in it. Copy it once more.'],
  [
    'letters no header can carry',
    'abcdéfghijkl',
    'A key has only letters, digits and signs. Copy it once more.',
  ],
])('the form says what is wrong with %s, in its field', async (_, typed, sentence) => {
  await using office = await createCommandHarness({ zones: 3 });
  const result = await office.person(alice, 'none').submit('connect:submit', { accessKey: typed });
  expect(result).toEqual({ errors: { accessKey: sentence } });
  expect(office.cdn.requests).toEqual([]);
});

test('a key that works is linked after one cheap read, and shown by its fingerprint only', async () => {
  await using office = await createCommandHarness({ zones: 60 });
  const person = office.person(alice, 'none');
  const result = await person.submit('connect:submit', { accessKey: `  ${office.cdn.key}\n` });
  expect(JSON.stringify(result)).toContain('It sees 60 zones.');
  expect(JSON.stringify(result)).toContain('f1a9c0de');
  expect(JSON.stringify(result)).not.toContain(office.cdn.key);
  expect(office.cdn.requests.map(({ method, path, query }) => ({ method, path, query }))).toEqual([
    { method: 'GET', path: '/pullzone', query: { page: '1', perPage: '5' } },
  ]);
  expect([...office.linked.values()].map((key) => key.reveal())).toEqual([office.cdn.key]);
  expect(readText((await person.run('whoami'))[0])).toContain('your CDN key is connected');
});

test('a key that the CDN refuses is not stored; the form comes back empty, saying why', async () => {
  await using office = await createCommandHarness({ zones: 3 });
  const wrong = 'some-key-that-nobody-made';
  const result = await office.person(alice, 'none').submit('connect:submit', { accessKey: wrong });
  expect(result).toMatchObject({ modal: { callback_id: 'connect:submit' } });
  expect(JSON.stringify(result)).toContain('The CDN refused this key.');
  expect(JSON.stringify(result)).not.toContain(wrong);
  expect(office.linked.size).toBe(0);
});

test.each([
  ['is down', { status: 502, times: 9 }],
  ['answers with a web page', { body: 'html', times: 9 }],
  ['hangs up', { drop: 'before-headers', times: 9 }],
] as const)('when the CDN %s, nothing is stored and the form comes back', async (_, fault) => {
  await using office = await createCommandHarness({ zones: 3 });
  office.cdn.faults.add({ ...fault });
  const result = await office.person(alice, 'none').submit('connect:submit', { accessKey: office.cdn.key });
  expect(result).toMatchObject({ modal: { callback_id: 'connect:submit' } });
  expect(JSON.stringify(result)).toContain('could not be checked, so nothing was stored');
  expect(office.linked.size).toBe(0);
});

test('words behind connect are refused, whatever they are, and never said again', async () => {
  await using office = await createCommandHarness({ zones: 3 });
  const person = office.person(alice, 'none');
  for (const typed of [
    'connect hunter2',
    `connect ${office.cdn.key}`,
    office.cdn.key,
    `zones ${office.cdn.key}`,
  ]) {
    const [answer] = await person.run(typed);
    expect(readText(answer)).toContain('counts as exposed');
    expect(buttons(answer).get('Connect the new key')).toEqual(['connect:open', 'open']);
    expect(JSON.stringify(answer)).not.toMatch(/hunter2|CANARY/u);
  }
  expect(office.linked.size).toBe(0);
  expect(office.cdn.requests).toEqual([]);
});

test('whoami says whether a key is linked, since when, and what it may do', async () => {
  await using office = await createCommandHarness({ zones: 3 });
  const [unlinked] = await office.person(bob, 'none').run('whoami');
  expect(readText(unlinked)).toContain('no CDN key is connected');
  expect(buttons(unlinked).has('Connect your key')).toBe(true);
  const [linked] = await office.person().run('whoami');
  expect(readText(linked)).toMatch(/f1a9c0de.*<!date\^1795262400\^.*2026-11-21 12:00 UTC>.*rights: read/su);
});

test('disconnect forgets the key and the zones that were read with it, at once', async () => {
  await using office = await createCommandHarness({ zones: 3 });
  const person = office.person();
  await person.run('zones');
  const [action = '', value = ''] = buttons((await person.run('whoami'))[0]).get('Forget my key') ?? [];
  expect(office.linked.size).toBe(1);
  const [done] = await person.run('disconnect');
  expect(readText(done)).toContain('is forgotten');
  expect(office.linked.size).toBe(0);
  expect(office.zoneCache.forPerson(alice).get()).toBeUndefined();
  expect(readText((await person.press(action, value))[0])).toContain('There was no CDN key to forget');
  expect(readText((await person.run('disconnect'))[0])).toContain('There was no CDN key to forget');
});
