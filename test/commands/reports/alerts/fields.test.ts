import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alertFields, parseHours } from '../../../../src/commands/reports/alerts/feature.ts';
import { isWithin } from '../../../../src/commands/reports/store.ts';
import { createNotes } from '../../../../src/views/blocks/menu.ts';
import { describeHours } from '../../../../src/views/reports/report.ts';

test.each([
  ['Mon-Fri 08:00-18:00', { weekdays: [1, 2, 3, 4, 5], from: '08:00', until: '18:00' }],
  ['mon-fri 8:30–17:00', { weekdays: [1, 2, 3, 4, 5], from: '08:30', until: '17:00' }],
  ['workdays 8:30–17:00', { weekdays: [1, 2, 3, 4, 5], from: '08:30', until: '17:00' }],
  ['Sat, Sun', { weekdays: [6, 7], from: '00:00', until: '00:00' }],
  ['Fri-Mon 22:00 - 06:00', { weekdays: [1, 5, 6, 7], from: '22:00', until: '06:00' }],
  ['09:00-24:00', { weekdays: [1, 2, 3, 4, 5, 6, 7], from: '09:00', until: '00:00' }],
])('hours as people type them: %s', (text, hours) => {
  expect(parseHours(text)).toEqual(hours);
});

test.each(['always', 'Mon-Foo', '8-18', '08:00', '25:00-26:00', '08:00-08:00', 'Mon 08:00', ''])(
  'what is no hours: %s',
  (text) => expect(parseHours(text)).toBeUndefined(),
);

const night = { weekdays: [5], from: '22:00', until: '06:00' };
const office = { weekdays: [5], from: '09:00', until: '17:00' };

// The 27th is a Friday.
test.each([
  ['27T05:59', night, false],
  ['27T21:59', night, false],
  ['27T22:00', night, true],
  ['28T05:59', night, true],
  ['28T06:00', night, false],
  ['28T22:00', night, false],
  ['27T08:59', office, false],
  ['27T09:00', office, true],
  ['27T16:59', office, true],
  ['27T17:00', office, false],
  ['28T12:00', office, false],
])('November %s is within $from–$until on Fridays: %s', (at, hours, expected) => {
  expect(isWithin(hours, 'UTC', new Date(`2026-11-${at}:00Z`))).toBe(expected);
});

const weekdays = fc
  .uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 })
  .map((days) => days.sort((a, b) => a - b));
const time = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));

test('hours are read back from the words that describe them', () => {
  fc.assert(
    fc.property(weekdays, time, time, (days, from, until) => {
      fc.pre(from !== until);
      const hours = { weekdays: days, from, until };
      expect(parseHours(describeHours({ hours, timeZone: '' }))).toEqual(hours);
    }),
  );
});

const many = Array.from({ length: 21 }, (_, nth) => `U0PERSON${nth}`);

test.each<[string, object, string[]]>([
  ['drawn for it', { 'every:zone-state': '5', every: '5' }, []],
  ['drawn for another condition', { 'every:certificate-ending': '1440', every: '1440' }, ['condition']],
  ['not drawn', { every: '10' }, []],
  ['of no condition', { condition: 'weather' }, ['condition']],
  ['without a shield zone', { condition: 'scanning', every: '15' }, ['target']],
  ['with a shield zone', { condition: 'scanning', every: '15', target: ['501'] }, []],
  ['with a line of the menu that only explains', { target: [createNotes(['None'])[0]?.value] }, ['target']],
  ['below what the threshold takes', { condition: 'errors', threshold: '-1' }, ['threshold']],
  ['above what the threshold takes', { condition: 'errors', threshold: '1000001' }, ['threshold']],
  ['with a threshold in words', { condition: 'errors', threshold: 'many' }, ['threshold']],
  ['every seven minutes', { every: '7' }, ['every']],
  ['more often than the condition takes', { condition: 'certificate-ending' }, ['every']],
  ['with a window of seven minutes', { condition: 'errors', window: '7' }, ['window']],
  ['with gaps between its windows', { condition: 'errors', window: '10', every: '30' }, ['window']],
  ['with hours in words', { hours: 'sometimes' }, ['hours']],
  ['that mentions a crowd', { people: many }, ['people']],
])(
  'a form %s: what is wrong is told in its field, and it never takes what another condition had',
  (_, fields, wrong) => {
    const read = alertFields.safeParse({ condition: 'zone-state', timezone: 'UTC', every: '5', ...fields });
    expect(read.error?.issues.map(({ path }) => path[0]) ?? []).toEqual(wrong);
  },
);
