import { afterAll, beforeAll, expect, test } from 'vitest';
import { version } from '../../src/lib/version.ts';
import { bob, buttons, createCommandHarness, readText } from '../support/command-harness.ts';
import { readStable } from '../support/words.ts';

let harness: Awaited<ReturnType<typeof createCommandHarness>>;
beforeAll(async () => {
  harness = await createCommandHarness({ zones: 12 });
});
afterAll(() => harness[Symbol.asyncDispose]());

/** The words that the buttons and menus of an answer run. */
function readOffers(answer: Parameters<typeof buttons>[0]): string[] {
  return [...buttons(answer).values()].map(([, value]) => value).filter((value) => value !== 'help');
}

test('/cdn alone is a menu by task, and a table of what to type', async () => {
  const [answer] = await harness.person().run('');
  expect(readStable(answer, { version })).toMatchSnapshot('answer');
  expect(readOffers(answer)).toMatchSnapshot('offers');
});

test('without a key help offers to connect one first', async () => {
  const [answer] = await harness.person(bob, 'none').run('help');
  expect(readStable(answer, { version })).toMatchSnapshot();
  expect(buttons(answer).get('Connect your key')).toEqual(['connect:open', 'open']);
  expect(readOffers(answer)).not.toContain('zones');
});

test('help all shows every command, and why the reader may not run some', async () => {
  const [answer] = await harness.person().run('help all');
  expect(readStable(answer, { version })).toMatchSnapshot();
  expect(readOffers(answer)).toContain('why volume');
});

test('a command that the reader may not run is shown with the rule that refuses', async () => {
  const [answer] = await harness.person().run('help volume');
  expect(readStable(answer, { version })).toMatchSnapshot();
});

test.each([
  ['bandwidth', ['zones']],
  ['BANDWIDTH charges', ['zones']],
  ['/cdn whoami', ['whoami']],
  ['edge rules', ['zone']],
  ['cost', ['zones', 'app']],
  ['billing', ['zones']],
  ['traffic', ['zones']],
  ['certificate', ['zones', 'zone']],
  ['top', ['zones']],
  ['logs', ['zone', 'errors']],
])('help %s finds %j, with examples', async (search, found) => {
  const [answer] = await harness.person().run(`help ${search}`);
  expect(readOffers(answer)).toEqual(found);
  expect(readStable(answer, { version })).toMatchSnapshot();
});

test('help about nothing it knows says so', async () => {
  const [answer] = await harness.person().run('help zonse');
  expect(answer?.text).toMatchSnapshot();
  expect([...buttons(answer).keys()]).toEqual(['/cdn zone', '/cdn zones', 'All commands']);
});

test('an unknown word offers the nearest commands with the words after it', async () => {
  const person = harness.person();
  const [answer] = await person.run('zoens shop sort:name');
  const meant = 'zones shop sort:name';
  expect(answer?.text).toMatchSnapshot();
  expect(buttons(answer).get(`/cdn ${meant}`)).toEqual(['help:run:0', meant]);
  const messages = await person.press('help:run:0', meant);
  expect(readText(messages.at(-1))).toContain('matching `shop`');
});

test.each([
  ['cost', ['/cdn zones sort:charges', '/cdn app']],
  ['certificate', ['/cdn zones only:no-certificate', '/cdn zone']],
  ['cert shop', ['/cdn zones only:no-certificate shop', '/cdn zone shop hostnames']],
  ['shop cert', ['/cdn zones only:no-certificate shop', '/cdn zone shop hostnames']],
  ['logs shop', ['/cdn zone shop logging', '/cdn errors shop', '/cdn export shop']],
  ['shop logs', ['/cdn zone shop logging', '/cdn errors shop', '/cdn export shop']],
  ['logs 501', ['/cdn zone 501 logging', '/cdn errors 501', '/cdn export 501']],
  ['script 501', ['/cdn variable 501', '/cdn zones script:501']],
  ['shop erros', ['/cdn errors shop', 'Find the zone shop']],
  ['erros shop yesterday', ['/cdn errors shop yesterday', 'Find the zone shop']],
  ['stauts shop', ['/cdn zone shop', 'Find the zone shop']],
  ['certficate', ['/cdn zones only:no-certificate', '/cdn zone']],
  ['shpo', ['Find the zone shop']],
  ['stauts', ['/cdn whoami']],
  ['constructor', []],
])('%s, which may mean several things, offers %j', async (typed, offered) => {
  const [answer] = await harness.person().run(typed);
  expect([...buttons(answer).keys()]).toEqual([...offered, 'All commands']);
});

test.each([
  'purge shop',
  'status page',
  'who is on call',
  'deploy',
  'restart app',
  'block an ip',
  'delete zone shop',
  'hit rate',
  'make bob operator',
  'subscribe',
  'help purge',
  'report a bug',
  'never mind',
])('%s, which the bot cannot do, is said, with what comes nearest', async (typed) => {
  const [answer] = await harness.person().run(typed);
  expect(readStable(answer, { version })).toMatchSnapshot();
});

test('the name of a zone alone is the zone', async () => {
  const person = harness.person();
  const [whole] = await person.run('zone shop');
  // Near to the alias `show`, and a zone all the same.
  for (const typed of ['shop', 'Shop', '“shop”', 'please open shop', 'look up shop'])
    expect(await person.run(typed)).toEqual([whole]);
});

test('without a key a name that could be a zone is offered', async () => {
  const [answer] = await harness.person(bob, 'none').run('cdn.example.com');
  expect(buttons(answer).get('Find the zone cdn.example.com')).toEqual([
    'help:run:0',
    'zone cdn.example.com',
  ]);
});

test('markup in an unknown word is shown as text', async () => {
  const [answer] = await harness.person().run('&lt;!channel&gt;');
  expect(answer?.text).toMatch(/^`&lt;!channel&gt;` /);
});
