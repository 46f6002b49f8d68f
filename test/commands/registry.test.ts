import { expect, test } from 'vitest';
import { features, findAction, findCommand, findForm, findPicker } from '../../src/commands/registry.ts';
import { parseWords } from '../../src/commands/words.ts';

const commands = features.flatMap((feature) => feature.commands);

test('no two commands answer to the same word', () => {
  const words = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  expect(words.every((word) => /^[a-z?][a-z-]*$/u.test(word))).toBe(true);
});

test('ids of actions, forms and pickers are `feature:verb` and name their own feature', () => {
  const ids = features.flatMap(({ name, actions = [], forms = [], pickers = [] }) =>
    [...actions, ...forms, ...pickers].map(({ id }) => ({ name, id })),
  );
  expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
  for (const { name, id } of ids) expect(id).toMatch(new RegExp(`^${name}:[a-z-]+$`, 'u'));
});

const stable = {
  actions:
    'zones:page zones:show origin-errors:day origin-errors:file connect:open connect:forget help:run alerts:acknowledge alerts:snooze',
  forms: 'connect:submit digests:submit settings:submit alerts:submit zones:submit',
  pickers: 'zones:pick operatorGroups approverGroups',
};

test('names that stand in messages of yesterday are found', () => {
  const missing = [
    ...stable.actions.split(' ').filter((id) => findAction(id)?.id !== id),
    ...stable.forms.split(' ').filter((id) => findForm(id)?.id !== id),
    ...stable.pickers.split(' ').filter((id) => !findPicker(id)),
  ];
  expect(missing).toEqual([]);
  expect(findPicker('operatorGroups')?.id).toBe('settings:groups');
});

test('each command runs or opens a form, says what it does, and its examples are its own', () => {
  for (const command of commands) {
    expect(command.run ?? command.modal).toBeDefined();
    expect(command.usage.startsWith(command.name)).toBe(true);
    expect(command.summary.length).toBeGreaterThan(10);
    for (const example of command.examples) expect(findCommand(parseWords(example)).command).toBe(command);
  }
});

test.each([
  ['', 'help', ''],
  ['  ', 'help', ''],
  ['zones', 'zones', ''],
  ['ZONES Shop', 'zones', 'Shop'],
  ['“zones” shop', 'zones', 'shop'],
  ['show shop', 'zone', 'shop'],
  ['sort:name', 'help', 'sort:name'],
  ['frobnicate now', 'unknown', 'frobnicate now'],
])('%j runs %s with %j', (typed, name, text) => {
  const found = findCommand(parseWords(typed));
  expect(found.command.name).toBe(name);
  expect(found.words.text).toBe(text);
});

const uuid = '1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b8';
const key = `${uuid}6e04-a1f7-4c5b-93d2-70be81c4fa65`;

test.each([
  ['connect', key],
  ['', key],
  ['zones', key],
  ['zone', key],
  ['frobnicate', key],
  ['help', uuid],
  ['', uuid],
  ['connect', uuid],
  ['audit', uuid],
  ['audit 50', uuid],
  ['settings', uuid],
])('a key behind %j is refused and its words are withheld', (command, secret) => {
  const found = findCommand(parseWords(`${command} ${secret}`));
  expect(found.command.name).toBe('key-in-text');
  expect(JSON.stringify(found.words)).not.toContain(secret);
});

test('a zone may be named like a UUID', () => {
  expect(findCommand(parseWords(`zone ${uuid}`)).command.name).toBe('zone');
});

test('the part of an id after `feature:verb` does not change its route', () => {
  expect(findAction('zones:show:7')).toBe(findAction('zones:show'));
  expect(findAction('zones')).toBeUndefined();
  expect(findAction('nothing:here')).toBeUndefined();
});
