import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  chooseWindow,
  exportFeature,
  joinValues,
  readFilter,
} from '../../../src/commands/exports/feature.ts';
import { filterFields, filterOps } from '../../../src/views/exports/form.ts';

test.each([
  ['country', 'in', 'DE, FR', ['DE', 'FR']],
  ['country', 'eq', 'de', ['DE']],
  ['ip', 'cidr', '203.0.113.0/24, 2001:db8::/32', ['203.0.113.0/24', '2001:db8::/32']],
  ['url', 'wildcard', '/wp-*', ['/wp-*']],
  ['url', 'contains', '?a=b', ['?a=b']],
  ['ua', 'contains', 'Mozilla/5.0 (X11; Linux)', ['Mozilla/5.0 (X11; Linux)']],
  ['ua', 'contains', '“a, b”, c', ['a, b', 'c']],
  ['ua', 'contains', '"say ""hi"""', ['say "hi"']],
  ['url', 'contains', '\u00A0x\u200B', ['x']],
])('values of %s %s: %j', (field, op, typed, value) => {
  expect(readFilter(field, op, typed)).toEqual({ field, op, value });
});

test('what cannot be read is refused in words', () => {
  const refused = [
    ['country', 'in', 'DE,'],
    ['country', 'in', 'DE,,FR'],
    ['country', 'in', ''],
    ['ua', 'contains', '"never closed'],
  ] as const;
  const words = refused.map(([field, op, typed]) => [
    `${field} ${op} ${typed.slice(0, 20)}`,
    readFilter(field, op, typed),
  ]);
  expect(Object.fromEntries(words)).toMatchSnapshot();
});

test('any values, joined, are read as the same values', () => {
  const value = fc
    .string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
    .filter((text) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}“”„]|(?! )\p{Zs}/u.test(text));
  fc.assert(
    fc.property(
      fc.constantFrom(...filterFields.filter((name) => name !== 'country')),
      fc.constantFrom(...filterOps.filter((name) => name !== 'cidr')),
      fc.array(value, { minLength: 1, maxLength: 5 }),
      (field, op, values) => {
        const quoted = values.map((text) => `"${text.replaceAll('"', '""')}"`).join(', ');
        expect(readFilter(field, op, quoted)).toEqual({ field, op, value: values });
        expect(readFilter(field, op, joinValues(values))).toEqual({ field, op, value: values });
      },
    ),
  );
});

test.each([1, 6, 24, 72])('the last %i hours begin where the CDN still has them', (hours) => {
  const now = new Date('2026-11-21T12:00:30Z');
  const { from } = chooseWindow(`${hours}h`, now);
  const ago = (now.getTime() - from.getTime()) / 3_600_000;
  expect(ago).toBeLessThan(72);
  expect(Math.round(ago)).toBe(hours);
});

const now = new Date('2026-11-21T12:00:00Z');
const seconds = (hoursAgo: number): string => String(now.getTime() / 1000 - hoursAgo * 3600);
const filled = { shieldZoneId: '501', from: seconds(2), to: seconds(1) };

test.each<[string, object, string | undefined]>([
  ['is whole', {}, undefined],
  ['ends a moment after the clock of the bot', { to: seconds(-1 / 120) }, undefined],
  ['has a name for its zone', { shieldZoneId: 'shop' }, 'shieldZoneId'],
  ['has a zone that no id can be', { shieldZoneId: '2147483648' }, 'shieldZoneId'],
  ['has zone 0', { shieldZoneId: '0' }, 'shieldZoneId'],
  ['has no begin', { from: '' }, 'from'],
  ['has no end', { to: '' }, 'to'],
  ['ends before it begins', { to: seconds(3) }, 'to'],
  ['ends in the future', { to: seconds(-1) }, 'to'],
  ['ends before what the CDN keeps', { from: seconds(90), to: seconds(80) }, 'to'],
  ['goes to a person', { channel: 'D0ALICE00' }, 'channel'],
  ['has more filters than a field holds', { filters: `url: ${'x'.repeat(3_000)}` }, 'filters'],
])('a form that %s is told so in its field', (_, fields, wrong) => {
  const read = exportFeature.forms?.[0]?.read({ ...filled, ...fields }, now) ?? {};
  expect(Object.keys('errors' in read ? (read.errors ?? {}) : {})).toEqual(
    wrong === undefined ? [] : [wrong],
  );
  const { to } = 'values' in read ? (read.values as { request: { to: Date } }).request : { to: now };
  expect(to.getTime()).toBeLessThanOrEqual(now.getTime());
});
