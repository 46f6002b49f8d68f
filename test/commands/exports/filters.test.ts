import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventLogFields, eventLogOps } from '../../../src/api/event-logs.ts';
import { readFilter, readFilters, splitValues } from '../../../src/commands/exports/filters.ts';

const one = (line: string) => readFilters(line).filters[0];

test.each([
  ['country in DE, FR', 'country', 'in', ['DE', 'FR']],
  ['Country In de,fr', 'country', 'in', ['DE', 'FR']],
  ['country = DE', 'country', 'eq', ['DE']],
  ['country=DE', 'country', 'eq', ['DE']],
  ['action is blocked', 'action', 'eq', ['blocked']],
  ['ip cidr 203.0.113.0/24, 2001:db8::/32', 'ip', 'cidr', ['203.0.113.0/24', '2001:db8::/32']],
  ['IP within 203.0.113.0/24', 'ip', 'cidr', ['203.0.113.0/24']],
  ['url contains /login', 'url', 'contains', ['/login']],
  ['url wildcard /wp-*', 'url', 'wildcard', ['/wp-*']],
  ['rule is 942100', 'ruleId', 'eq', ['942100']],
  ['RULEID in 1,2', 'ruleId', 'in', ['1', '2']],
  ['user-agent contains Mozilla/5.0 (X11; Linux)', 'ua', 'contains', ['Mozilla/5.0 (X11; Linux)']],
  ['ua contains “a, b”, c', 'ua', 'contains', ['a, b', 'c']],
  ['ua contains "say ""hi"""', 'ua', 'contains', ['say "hi"']],
  ['url\u00A0contains\u00A0x', 'url', 'contains', ['x']],
  ['url contains ?a=b', 'url', 'contains', ['?a=b']],
])('%s', (line, field, op, value) => {
  expect(readFilters(line)).toEqual({ filters: [{ field, op, value }], problems: [], warnings: [] });
});

test.each([
  ['country', /a field, an operation and a value/],
  ['country DE', /country in DE, FR/],
  ['country in ', /a field, an operation and a value/],
  ['country in DE,', /a value is missing/],
  ['country in DE,,FR', /a value is missing/],
  ['asn cidr 10.0.0.0/8', /cidr works with ip only, not with asn/],
  ['ip cidr 10.0.0.0/40', /no network/],
  ['ip cidr somewhere', /no network/],
  ['ua contains "never closed', /does not close/],
])('%s is refused, with its line', (line, words) => {
  const { problems } = readFilters(`action is blocked\n\n${line}`);
  expect(problems).toEqual([expect.stringMatching(/^Line 3: /)]);
  expect(problems[0]).toMatch(words);
});

test('others than the known fields and operations are taken, and warned about', () => {
  expect(readFilters('method startsWith PO')).toEqual({
    filters: [{ field: 'method', op: 'startsWith', value: ['PO'] }],
    problems: [],
    warnings: ['the field method is not a known one', 'the operation startsWith is not a known one'],
  });
});

test('there are bounds', () => {
  expect(readFilters('url contains a\n'.repeat(21)).problems).toEqual(['At most 20 filters.']);
  expect(readFilters(`url in ${Array(51).fill('a').join(',')}`).problems[0]).toMatch(/at most 50 values/);
  expect(readFilters(`url is ${'a'.repeat(501)}`).problems[0]).toMatch(/at most 500/);
});

test('whatever values there are, quoted they are read as they are', () => {
  const value = fc
    .string({ minLength: 1, maxLength: 40, unit: 'grapheme' })
    .filter((text) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}“”]|(?! )\p{Zs}/u.test(text));
  fc.assert(
    fc.property(
      fc.constantFrom(...eventLogFields.filter((name) => name !== 'country')),
      fc.constantFrom(...eventLogOps.filter((name) => name !== 'cidr')),
      fc.array(value, { minLength: 1, maxLength: 5 }),
      (field, op, values) => {
        const line = `${field} ${op} ${values.map((text) => `"${text.replaceAll('"', '""')}"`).join(', ')}`;
        expect(one(line)).toEqual({ field, op, value: values });
        expect(readFilter(field, op, splitValues(values))).toEqual({ field, op, value: values });
      },
    ),
  );
});

test('no text makes it fail', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (typed) => {
      const { filters } = readFilters(typed);
      for (const { field, op, value } of filters) {
        expect(field && op && value.length > 0).toBe(true);
      }
    }),
  );
});
