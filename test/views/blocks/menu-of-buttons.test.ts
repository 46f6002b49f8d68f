import { expect, test } from 'vitest';
import { button, commandButton, overflow, readChoice, selectOf } from '../../../src/views/blocks/buttons.ts';

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
