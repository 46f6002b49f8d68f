import type { Option } from '@slack/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { button, commandButton, overflow, readChoice, selectOf } from '../../../src/views/blocks/buttons.ts';
import { option } from '../../../src/views/blocks/inputs.ts';
import { createNotes, firstOf, isNote, type MenuNotes, menu } from '../../../src/views/blocks/menu.ts';
import { findOptionProblems } from '../../support/slack-limits.ts';

const none = 'None matches';

function hits(count: number): Option[] {
  return Array.from({ length: count }, (_, index) => option(`zone ${index}`, String(index)));
}

function lines(options: readonly Option[]): string[] {
  return options.map(({ text, value }) => `${text.text} = ${value}`);
}

test.each<[string, number, MenuNotes, string[]]>([
  ['a hundred', 100, { more: 0, none }, ['zone 99 = 99']],
  ['one too many', 100, { more: 1, none }, ['… and 2 more: keep typing = note']],
  [
    'very many and a typed id',
    100,
    { more: 49_900, none, id: '123' },
    ['… and 49,902 more: keep typing = note', 'Use the ID 123 = 123'],
  ],
])('%s: a menu holds a hundred lines and the last ones say what is missing', (_, count, below, last) => {
  const options = menu(hits(count), below);
  expect(options).toHaveLength(100);
  expect(lines(options).slice(-last.length)).toEqual(last);
});

test.each<[string, MenuNotes, string[]]>([
  ['nothing matches', { more: 0, none }, ['None matches = note']],
  ['a typed id', { more: 0, none, id: '123' }, ['Use the ID 123 = 123', 'None matches = note']],
  [
    'nothing yet',
    { more: 0, none, rest: 'coming' },
    ['Your zones are still being read: type another letter = note'],
  ],
  [
    'a failure',
    {
      more: 0,
      none,
      id: '123',
      rest: {
        message: 'The CDN rejected it: “a &lt;b&gt; &amp; `c`”',
        hint: 'It was deleted or replaced there, or lacks this right. Connect the current one.',
        offer: 'connect',
        reference: 'ab12',
      },
    },
    [
      'Use the ID 123 = 123',
      'The CDN rejected it: “a <b> & c” = note',
      'It was deleted or replaced there, or lacks this right. = note:2',
      'Connect the current one. = note:3',
      'Type /cdn connect = note:4',
      'Reference ab12 = note:5',
    ],
  ],
])('without a line it says why: %s', (_, below, expected) => {
  expect(lines(menu([], below))).toEqual(expected);
});

test("notes in a menu stay within Slack's limits and are never taken for a choice", () => {
  const text = fc.string({ unit: 'binary', maxLength: 400 });
  fc.assert(
    fc.property(fc.nat(100), fc.nat(), text, text, fc.boolean(), (count, more, message, hint, fails) => {
      const rest = fails ? { message, hint } : undefined;
      const options = menu(hits(count), { more, none, rest, id: '7' });
      expect(findOptionProblems(options)).toEqual([]);
      expect(options.length).toBeLessThanOrEqual(100);
      const said = createNotes([message, hint]);
      expect(findOptionProblems(said)).toEqual([]);
      expect(said.every(({ value = '' }) => isNote(value))).toBe(true);
    }),
  );
  expect(['7', 'notes', 'app0note', 'note:', ''].some((value) => isNote(value))).toBe(false);
});

test('names beyond the first are counted', () => {
  expect(firstOf(['shop'])).toBe('shop');
  expect(firstOf(['shop', 'blog', 'news'])).toBe('shop +2');
});

const refresh = button('Refresh', 'zones:page:refresh', 'sort=name&fresh=1');
const help = commandButton('Help', 'help zones');

test('a choice in a menu routes as a press of its button', () => {
  const menu = overflow(refresh, undefined, help);
  const values = menu && 'options' in menu ? menu.options.map(({ value }) => value ?? '') : [];
  expect(values.map((value) => readChoice('menu:more', value))).toEqual(
    [refresh, help].map(({ action_id, value }) => ({ actionId: action_id, value })),
  );
  expect(readChoice('zones:page', 'sort=name')).toBeUndefined();
});

test('one entry stays a button, and none is nothing', () => {
  expect(overflow(undefined, refresh)).toBe(refresh);
  expect(overflow(undefined)).toBeUndefined();
  expect(selectOf('Settings…', [undefined, { label: 'Look', buttons: [] }])).toBeUndefined();
});

test('a menu has its headings, and shows the chosen entry', () => {
  const menu = selectOf('More…', [{ label: 'Look', buttons: [refresh, help] }], { chosen: 'Help', nth: 1 });
  expect(menu?.option_groups?.map(({ label, options }) => [label.text, options.length])).toEqual([
    ['Look', 2],
  ]);
  expect(menu?.initial_option?.text.text).toBe('Help');
});

test('an entry whose value is longer than an option may be is left out', () => {
  expect(selectOf('More…', [button('Long', 'zones:page', 'x'.repeat(150)), refresh])?.options).toHaveLength(
    1,
  );
});
