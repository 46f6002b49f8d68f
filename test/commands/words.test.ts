import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findCommand } from '../../src/commands/registry.ts';
import { parseWords, stripDecoration, withoutFirst } from '../../src/commands/words.ts';
import { readZoneNames } from '../../src/commands/zones/lookup.ts';

test.each([
  ['', [], {}],
  ['   ', [], {}],
  ['zones\u00a0shop', ['zones', 'shop'], {}],
  ['zone "my shop"', ['zone', 'my shop'], {}],
  ["zone 'my shop'", ['zone', 'my shop'], {}],
  ['zone `shop`', ['zone', 'shop'], {}],
  ['zone “my shop”', ['zone', 'my shop'], {}],
  ['zone „my shop“', ['zone', 'my shop'], {}],
  ['zone ‘my shop’', ['zone', 'my shop'], {}],
  ['zone “shop', ['zone', '“shop'], {}],
  ["zone bob's shop's", ['zone', "bob's", "shop's"], {}],
  ['zone ""', ['zone', ''], {}],
  ['zones sort:bandwidth', ['zones'], { sort: 'bandwidth' }],
  ['zones SORT:bandwidth', ['zones'], { sort: 'bandwidth' }],
  ['zones sort: bandwidth', ['zones'], { sort: 'bandwidth' }],
  ['zones sort:', ['zones'], { sort: '' }],
  ['zones only:attention shop sort:name', ['zones', 'shop'], { only: 'attention', sort: 'name' }],
  ['zones sort:"bandwidth"', ['zones'], { sort: 'bandwidth' }],
  ['zones search:"my shop"', ['zones'], { search: 'my shop' }],
  ["zones search:'my shop' x", ['zones', 'x'], { search: 'my shop' }],
  ['zones search:«my shop»', ['zones'], { search: 'my shop' }],
  ['zone 「my shop」', ['zone', 'my shop'], {}],
  ['zone »my shop«', ['zone', 'my shop'], {}],
  ['zone ７ ٤٧ ａ：１', ['zone', '7', '47'], { a: '1' }],
  ['zones "sort:bandwidth"', ['zones', 'sort:bandwidth'], {}],
  ['zones --sort=bandwidth', ['zones'], { sort: 'bandwidth' }],
  ['zones —sort=bandwidth', ['zones'], { sort: 'bandwidth' }],
  ['zone shop—eu', ['zone', 'shop--eu'], {}],
  ['zone shop–eu', ['zone', 'shop-eu'], {}],
  ['zone "shop—eu"', ['zone', 'shop—eu'], {}],
  ['zone <http://cdn.example.com|cdn.example.com>', ['zone', 'cdn.example.com'], {}],
  ['zone <https://cdn.example.com/a?b=1&amp;c=2>', ['zone', 'https://cdn.example.com/a?b=1&c=2'], {}],
  ['zone <mailto:a@example.com|a@example.com>', ['zone', 'a@example.com'], {}],
  ['why <@U0ALICE00|alice>', ['why', 'U0ALICE00'], {}],
  ['why <#C0OPS0000|ops>', ['why', 'C0OPS0000'], {}],
  ['why <!subteam^S0TEAM000|@ops>', ['why', 'S0TEAM000'], {}],
  ['zone <https://example.com|my shop> x', ['zone', 'my shop', 'x'], {}],
  ['zone a&amp;b', ['zone', 'a&b'], {}],
  ['zone &lt;shop&gt;', ['zone', '<shop>'], {}],
  ['zone &amp;lt;', ['zone', '&lt;'], {}],
  ['zone \u200bshop\ufeff', ['zone', 'shop'], {}],
  ['zone \u2068shop\u2069 sh\u00adop', ['zone', 'shop', 'shop'], {}],
  ['zones\u202fshop\u2009eu', ['zones', 'shop', 'eu'], {}],
  ['errors shop 2026–11–20', ['errors', 'shop', '2026-11-20'], {}],
  ['zone 10:30', ['zone', '10:30'], {}],
])('%j is read as the words %j and the named %j', (raw, list, named) => {
  const words = parseWords(raw);
  expect(words.list).toEqual(list);
  expect(words.named).toEqual(named);
  expect(words.raw).toBe(raw);
});

test('the cleaned text keeps named words where they were typed', () => {
  expect(parseWords('zones  only:attention “my shop”').text).toBe('zones only:attention my shop');
});

test('a command gets the words behind its name', () => {
  const words = withoutFirst(parseWords('zones my shop sort:name'));
  expect(words).toMatchObject({ list: ['my', 'shop'], named: { sort: 'name' }, text: 'my shop sort:name' });
  expect(withoutFirst(parseWords('only:attention zones shop')).text).toBe('only:attention shop');
  expect(withoutFirst(parseWords('')).text).toBe('');
});

test('whatever is typed is read without an error, and plain words come through as they are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (raw) => {
      expect(parseWords(raw).raw).toBe(raw);
    }),
  );
  const plainWord = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/u);
  fc.assert(
    fc.property(fc.array(plainWord), (typed) => {
      expect(parseWords(typed.join(' ')).list).toEqual(typed);
    }),
  );
});

test.each([
  '/cdn whoami',
  '`whoami`',
  ', whoami',
  ': whoami',
  '• whoami',
  '- whoami',
  '1. whoami',
  "a) 'whoami'",
  '&gt; whoami',
  '&gt;whoami',
  '*whoami*',
  '&gt; *_whoami_*',
  '“whoami”',
  '*whoami*, please!',
  ':rotating_light: → whoami',
  'hey, could you please whoami?',
  '<@U0BOB0000> whoami.',
  '@cdn: whoami',
  '```whoami```',
  '_*whoami*_',
  '☐ whoami',
  '[ ] whoami',
  '+ whoami',
  'whoami :pray:',
  'whoami – thanks!',
  '‘whoami’…',
  '‹whoami›',
  '(whoami)',
  '## whoami',
  '$ /cdn whoami',
  '(1) whoami',
  '1️⃣ whoami',
  'iv. whoami',
  'Hi! whoami',
  'good morning <@U0BOB0000>, whoami',
  '2/ whoami',
  '2- whoami',
  '3)whoami',
  '3.whoami',
  '#1 whoami',
  '–whoami',
  '/cdn/whoami',
  '»whoami«',
  '「whoami」',
  '- “whoami”, please',
])('%s is whoami', (line) => {
  expect(stripDecoration(line)).toBe('whoami');
});

test('words keep what belongs to them', () => {
  expect(stripDecoration('show: errors of *shop*')).toBe('show errors of shop');
  for (const line of [
    'errors 1.2.3.4',
    '3.example.com errors',
    '7-eleven errors',
    '20/nov/2026 shop',
    '1.2.3.4',
    '24h',
    'v.example.com',
  ])
    expect(stripDecoration(line)).toBe(line);
  for (const line of ['errors,shop', 'errors, shop', 'errors ，shop', 'errors;shop'])
    expect(stripDecoration(line)).toBe('errors shop');
});

test('layers of decoration come off, but not hundreds of them: each costs a look at the whole line', () => {
  expect(stripDecoration(`${'— '.repeat(15)}errors shop`)).toBe('errors shop');
  expect(stripDecoration(`${'— '.repeat(450)}errors shop`)).toHaveLength(871);
});

test('a huge paste is read quickly', async () => {
  const started = performance.now();
  for (const part of ['a', '"a ', '<a ', 'a:', '<', '“']) parseWords(part.repeat(100_000));
  findCommand(parseWords(`"a${'-'.repeat(1_900)}\nb"`));
  const zones = { get: () => ({ zones: [{ name: 'may sale' }] }) };
  const context = { person: {}, zoneCache: { forPerson: () => zones } } as never;
  await readZoneNames(parseWords(`may ${'a '.repeat(1_900)}`), [], context);
  expect(performance.now() - started).toBeLessThan(1000);
});
