import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  count,
  describeUnknownForm,
  flag,
  omitMissing,
  readAnswer,
  readLeniently,
  text,
} from '../../../src/api/http/lenient.ts';
import type { Drift, Reply } from '../../../src/api/http/request.ts';

const schema = z.object({
  Name: text,
  Size: count,
  Hosts: z.array(z.object({ Ssl: flag })).nullish(),
});

test.each<[string, z.ZodType, unknown, unknown, string[]?]>([
  ['an answer as specified', schema, { Name: 'a', Size: 1 }, { Name: 'a', Size: 1 }, []],
  ['a member of a wrong type', schema, { Name: 7, Size: 1 }, { Size: 1 }, ['Name']],
  [
    'wrong members and elements of a list',
    schema,
    { Hosts: [null, { Ssl: true }, 7, { Ssl: 'perhaps' }] },
    { Hosts: [{ Ssl: true }, {}] },
    ['Hosts[]', 'Hosts[]', 'Hosts[].Ssl'],
  ],
  ['a list of which nothing can be read', schema, { Name: 'a', Hosts: [7] }, { Name: 'a' }, ['Hosts[]']],
  ['a list alone', z.array(z.number()), ['x'], [], ['[]']],
  ['a required member that is missing', z.object({ Id: z.number() }), { Name: 'a' }, undefined],
  ['another type in the place of the whole', schema, 7, undefined],
  ['more wrong elements than one form has', schema, { Hosts: Array(1_001).fill(7) }, undefined],
])('%s is read as far as it can be, and what is wrong is named', (_, form, raw, value, wrong) => {
  expect(readLeniently(form, raw)).toEqual(value === undefined ? undefined : { value, wrong });
});

test.each([
  ['no member that is specified, but a failure', { error: 'no' }],
  ['a text', 'Name'],
  ['a list', [{ Name: 'a' }]],
])('an answer with %s is of another shape', (_, body) => {
  const reply = { wrongShape: () => new Error('another shape') } as unknown as Reply;
  expect(() => readAnswer(reply, body, schema)).toThrow('another shape');
});

test('an answer is compared with the specification, also where it names an error', () => {
  const drifts: Omit<Drift, 'operation'>[] = [];
  const reply = { reportDrift: (drift: Drift) => drifts.push(drift) } as unknown as Reply;
  expect(readAnswer(reply, { Name: 'a', Size: 'x', detail: 'no' }, schema, ['Hosts'])).toEqual({ Name: 'a' });
  expect(readAnswer(reply, {}, schema)).toEqual({});
  expect(drifts).toEqual([
    { wrong: ['Size'], missing: [], unknown: ['detail'] },
    { wrong: [], missing: ['Name', 'Size', 'Hosts'], unknown: [] },
  ]);
});

test.each([
  [{ a: 1 }, [], '{\n  "a": 1\n}'],
  [7, [], '7'],
  [{ a: 1 }, ['a'], undefined],
  [{}, [], undefined],
  [[], [], undefined],
  [null, [], undefined],
  [undefined, [], undefined],
])('%j, of which %j was read, is kept as %j', (raw, found, kept) => {
  expect(describeUnknownForm(raw, found)).toBe(kept);
});

test('what the service does not report is left out, and zero is not', () => {
  expect(omitMissing({ one: null, two: undefined, three: 0 })).toStrictEqual({ three: 0 });
});
