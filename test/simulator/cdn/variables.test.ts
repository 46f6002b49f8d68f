import { expect, test } from 'vitest';
import { openCdn, type RawOptions } from './raw-client.ts';

const path = '/compute/script/301/variables/12';
const post = (body: unknown, more: RawOptions = {}): RawOptions => ({ method: 'POST', body, ...more });
const before = { Id: 12, Name: 'FEATURE_X', Required: false, DefaultValue: 'on' };

test.each([
  [{ DefaultValue: 'off' }, { ...before, DefaultValue: 'off' }],
  [{ Required: true }, { ...before, Required: true }],
  [
    { DefaultValue: '', Required: true },
    { ...before, DefaultValue: '', Required: true },
  ],
  [{ DefaultValue: null, Required: null }, before],
  [{}, before],
  [{ Name: 'OTHER', Id: 9, Colour: 'red' }, before],
  [{ DefaultValue: 'x'.repeat(4096) }, { ...before, DefaultValue: 'x'.repeat(4096) }],
])('an update changes what it names and answers the whole variable (%#)', async (changes, after) => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main(path, post(changes));
  expect([answer.status, answer.json()]).toEqual([200, after]);
  expect(world.cdn.data.scripts[0]?.variables[0]).toEqual(after);
  expect((await world.main(path, post({}))).json()).toEqual(after);
});

test.each([
  ['a value of 4097 characters', { DefaultValue: 'x'.repeat(4097) }, 'DefaultValue'],
  ['a value that is no text', { DefaultValue: 1 }, 'DefaultValue'],
  ['a Required that is no boolean', { Required: 'yes' }, 'Required'],
  ['an array', [], null],
  ['a body that is no JSON', '{', null],
])('%s is refused with 400 and changes nothing', async (_name, body, field) => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main(path, post(body));
  expect(answer.status).toBe(400);
  expect(answer.json()).toEqual({ ErrorKey: 'validation_error', Field: field, Message: expect.any(String) });
  expect(world.cdn.data.scripts[0]?.variables[0]).toEqual(before);
});

test.each([
  ['/compute/script/999/variables/12', 'Script not found'],
  ['/compute/script/301/variables/999', 'Variable not found'],
  ['/compute/script/302/variables/12', 'Variable not found'],
  ['/compute/script/abc/variables/12', 'Script not found'],
])('%s is a 404 in the compute shape', async (path, message) => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main(path, post({ DefaultValue: 'x' }));
  expect([answer.status, answer.json()]).toEqual([
    404,
    { ErrorKey: 'not_found', Field: null, Message: message },
  ]);
});

test('a body that is not announced as JSON is refused with 415', async () => {
  await using world = await openCdn({ zones: 0 });
  expect((await world.main(path, post('{}', { contentType: 'text/plain' }))).status).toBe(415);
  expect(
    (await world.main(path, post('{}', { contentType: 'application/json; charset=utf-8' }))).status,
  ).toBe(200);
});
