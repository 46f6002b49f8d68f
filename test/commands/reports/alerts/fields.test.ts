import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alertFields, parseHours } from '../../../../src/commands/reports/alerts/feature.ts';
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

test.each<[string, object, boolean]>([
  ['drawn for it', { 'every:zone-state': '5', every: '5' }, true],
  ['drawn for another condition', { 'every:certificate-ending': '1440', every: '1440' }, false],
  ['not drawn', { every: '10' }, true],
])('a form %s is saved: it never takes what another condition had', (_, fields, isSaved) => {
  const read = alertFields.safeParse({ condition: 'zone-state', timezone: 'UTC', ...fields });
  expect(read.success).toBe(isSaved);
});
