import { expect, test } from 'vitest';
import type { PullZone } from '../../../simulator/cdn/zone-fields.ts';
import { ApiError } from '../../../src/api/http/errors.ts';
import { findCommand } from '../../../src/commands/registry.ts';
import { parseWords } from '../../../src/commands/words.ts';
import { UserError } from '../../../src/errors.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
import { alice, bob, buttons, createCommandHarness, readText } from '../../support/command-harness.ts';
import { readStable } from '../../support/words.ts';

/** The names on a page, in order. */
function names(text: string): string[] {
  return [...text.matchAll(/^\*([^*]+)\* · [^·]+ · \d+$/gmu)].map(([, name]) => name ?? '');
}

test('an account without zones gets a sentence and a next step', async () => {
  await using harness = await createCommandHarness({ zones: 0 });
  const answers = await harness.person().run('zones');
  expect(answers).toHaveLength(1);
  expect(readText(answers[0])).toMatchSnapshot();
});

test('one zone is one answer from one request', async () => {
  await using harness = await createCommandHarness({ zones: 1 });
  const answers = await harness.person().run('zones');
  expect(answers).toHaveLength(1);
  const charges = money(harness.cdn.data.zones);
  expect(readStable(answers[0]?.text, { charges })).toMatchSnapshot('in short');
  expect(readStable(answers[0], { charges })).toMatchSnapshot('answer');
  expect(buttons(answers[0]).has('Next ›')).toBe(false);
  expect(harness.cdn.requests.map(({ query }) => query)).toEqual([{ page: '1', perPage: '10' }]);
});

test('many zones: the first ten at once, then the whole with totals', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const [first, whole, ...more] = await harness.person().run('zones');
  expect(more).toEqual([]);
  expect(readText(first)).toContain('*First 10 of 60 zones* · counting…');
  expect(names(readText(first))).toHaveLength(10);
  expect(readText(whole)).toMatchSnapshot();
  expect(names(readText(whole))).toEqual(harness.cdn.data.zones.map(nameOf).toSorted().slice(0, 10));
});

test('the first ten are there while the rest is still on its way', async () => {
  await using harness = await createCommandHarness({ zones: 2500, zoneMembers: 'few' });
  const rest = Promise.withResolvers<void>();
  harness.cdn.faults.add({ match: { path: /pullzone/u }, skip: 1, times: 9, until: rest.promise });
  const { command, words } = findCommand(parseWords('zones'));
  const answers = command.run?.(words, harness.person().context) as AsyncGenerator<Message>;
  const first = await answers.next();
  expect(readText(first.value as Message)).toContain('*First 10 of 2,500 zones* · counting…');
  rest.resolve();
  const whole = await answers.next();
  expect(readText(whole.value as Message)).toContain('*2,500 zones*');
  expect(harness.cdn.requests.map(({ query }) => query['perPage'])).toEqual(['10', '1000', '1000', '1000']);
});

test('the pages hold every zone once, from memory', async () => {
  await using harness = await createCommandHarness({ zones: 37 });
  const person = harness.person();
  const seen: string[] = [];
  let page = (await person.run('zones')).at(-1);
  const asked = harness.cdn.requests.length;
  for (let guard = 0; guard < 10; guard += 1) {
    seen.push(...names(readText(page)));
    const next = buttons(page).get('Next ›');
    if (!next) break;
    [page] = await person.press(...next);
  }
  expect(seen).toEqual(harness.cdn.data.zones.map(nameOf).toSorted());
  const previous = buttons(page).get('‹ Previous');
  expect(names(readText((await person.press(...(previous ?? ['', ''])))[0]))).toEqual(seen.slice(20, 30));
  expect(harness.cdn.requests).toHaveLength(asked);
});

test('sorting is by the number that was asked for', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const person = harness.person();
  const by = (member: 'MonthlyBandwidthUsed' | 'MonthlyCharges') =>
    harness.cdn.data.zones
      .toSorted((a, b) => b[member] - a[member])
      .slice(0, 10)
      .map(nameOf);
  expect(names(readText((await person.run('zones sort:bandwidth')).at(-1)))).toEqual(
    by('MonthlyBandwidthUsed'),
  );
  expect(names(readText((await person.run('zones sort:charges')).at(-1)))).toEqual(by('MonthlyCharges'));
});

test('an order or a filter that was typed never shows rows of the wrong ones first', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const [first] = await harness.person().run('zones sort:bandwidth');
  expect(readText(first)).toBe('Reading 60 zones…');
});

test('attention is: suspended, disabled, above 80 % of a limit, no certificate for a hostname', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const text = readText((await harness.person().run('zones only:attention')).at(-1));
  expect(names(text)).toEqual(['checkout', 'docs', 'images', 'media', 'shop-staging', 'video']);
  expect(text).toMatchSnapshot();
});

test.each([
  ['disabled', (zone: PullZone) => !zone.Enabled],
  ['suspended', (zone: PullZone) => zone.Suspended],
] as const)('only:%s shows those and no others', async (only, is) => {
  await using harness = await createCommandHarness({ zones: 300 });
  const text = readText((await harness.person().run(`zones only:${only}`)).at(-1));
  const wanted = harness.cdn.data.zones.filter(is).map(nameOf).toSorted();
  expect(wanted.length).toBeGreaterThan(0);
  expect(names(text)).toEqual(wanted.slice(0, 10));
});

test('a search finds ids, names and hostnames whatever the case', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const person = harness.person();
  const zone = harness.cdn.data.zones[30];
  const hostname = zone?.Hostnames?.at(-1)?.Value ?? '';
  for (const search of [
    String(zone?.Id),
    zone?.Name?.toUpperCase() ?? '',
    hostname,
    `https://${hostname}`.slice(8),
  ]) {
    expect(names(readText((await person.run(`zones ${search}`)).at(-1)))).toContain(zone?.Name);
  }
});

test('a search finds origins, and whole ids of scripts, apps and storage zones', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const [zone] = harness.cdn.data.zones;
  if (!zone) throw new Error('no zone');
  zone.OriginUrl = 'https://Origin-Eu.example.net/shop';
  zone.EdgeScriptId = 70_001;
  zone.MiddlewareScriptId = 70_002;
  zone.StorageZoneId = 70_003;
  zone.MagicContainersAppId = 'appX0000000009';
  const searches = [
    'origin-eu',
    'https://origin-eu.example.net/shop/',
    '70001',
    '70002',
    '70003',
    'APPX0000000009',
  ];
  for (const search of searches)
    expect(names(readText((await person.run(`zones ${search}`)).at(-1)))).toEqual([zone.Name]);
  // Part of an id is none, and the scheme of an address tells nothing.
  for (const search of ['7000', 'https'])
    expect(names(readText((await person.run(`zones ${search}`)).at(-1)))).toEqual([]);
});

test.each([
  ['disabled', 12],
  ['Attention', 12],
] as const)('the search %s offers the filter of that name', async (search, zones) => {
  await using harness = await createCommandHarness({ zones });
  const person = harness.person();
  const answer = (await person.run(`zones ${search}`)).at(-1);
  const only = `only:${search.toLowerCase()}`;
  const [filtered] = await person.press(...(buttons(answer).get(only) ?? ['', '']));
  const typed = (await person.run(`zones ${only}`)).at(-1);
  expect(names(readText(filtered))).toEqual(names(readText(typed)));
  expect(names(readText(filtered)).length).toBeGreaterThan(0);
  expect(buttons(filtered).has(only)).toBe(false);
});

test('a zone with the name of a filter is shown, with the filter as an offer', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const [zone] = harness.cdn.data.zones;
  if (!zone) throw new Error('no zone');
  zone.Name = 'disabled-things';
  const answer = (await harness.person().run('zones disabled')).at(-1);
  expect(names(readText(answer))).toEqual(['disabled-things']);
  expect(buttons(answer).has('only:disabled')).toBe(true);
});

test('a search without a match offers what may have been meant, and the way back', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const answer = (await person.run('zones chekout')).at(-1);
  expect(readText(answer)).toMatchSnapshot();
  expect(names(readText((await person.press(...(buttons(answer).get('checkout') ?? ['', ''])))[0]))).toEqual([
    'checkout',
  ]);
  expect(
    names(readText((await person.press(...(buttons(answer).get('All zones') ?? ['', ''])))[0])),
  ).toHaveLength(10);
});

test.each([
  'zones sort:size',
  'zones sort:bandwith',
  'zones only:',
  'zones limit:5',
  `zones ${'x y '.repeat(60)}`,
])('%j says what is wrong and what to do', async (typed) => {
  await using harness = await createCommandHarness({ zones: 3 });
  const failed = await harness
    .person()
    .run(typed)
    .catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(UserError);
  const { message, hint } = failed as UserError;
  expect({ message, hint }).toMatchSnapshot();
  expect(harness.cdn.requests).toEqual([]);
});

test('a button from another version of the bot is answered', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  for (const value of ['page=-1', 'sort=colour'])
    await expect(harness.person().press('zones:page', value)).rejects.toThrowErrorMatchingSnapshot();
});

test('buttons act on the rows that were read, until somebody types, asks for fresh ones, or five minutes pass', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  const page = (await person.run('zones')).at(-1);
  const press = (label: string) => person.press(...(buttons(page).get(label) ?? ['', '']));
  await press('Sort by bandwidth');
  expect(harness.cdn.requests).toHaveLength(1);
  await press('Refresh');
  expect(harness.cdn.requests).toHaveLength(2);
  await person.run('zones');
  expect(harness.cdn.requests).toHaveLength(3);
  harness.advance(5 * 60_000);
  await press('Sort by bandwidth');
  expect(harness.cdn.requests).toHaveLength(4);
});

test('a page that no longer exists shows the last one', async () => {
  await using harness = await createCommandHarness({ zones: 25 });
  expect(readText((await harness.person().press('zones:page', 'page=99')).at(-1))).toContain('Page 3 of 3');
});

test('people do not see each other’s lists', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  await harness.person(alice).run('zones');
  await expect(harness.person(bob, 'none').run('zones')).rejects.toMatchObject({ offer: 'connect' });
});

test('when the rest cannot be read, the first rows stay and can be tried again', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  harness.cdn.faults.add({ status: 503, skip: 1, times: 20 });
  const person = harness.person();
  const [, second] = await person.run('zones');
  expect(names(readText(second))).toHaveLength(10);
  expect(readStable(second)).toMatchSnapshot();
  harness.cdn.faults.clear();
  const [whole] = await person.press(...(buttons(second).get('Try again') ?? ['', '']));
  expect(readText(whole)).toContain('*60 zones*');
});

test.each([
  ['key_refused', { status: 401 }],
  ['rate_limited', { status: 429, retryAfter: 3600 }],
  ['unexpected', { body: 'html' }],
] as const)('a CDN that answers %s is an error the bot has words for', async (code, fault) => {
  await using harness = await createCommandHarness({ zones: 60 });
  harness.cdn.faults.add({ ...fault, times: 20 });
  const failed = await harness
    .person()
    .run('zones')
    .catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ApiError);
  expect((failed as ApiError).code).toBe(code);
});

test('names that try to be markup are shown as text', async () => {
  await using harness = await createCommandHarness({ zones: 2 });
  const [zone] = harness.cdn.data.zones;
  if (zone) zone.Name = '<!channel> & <https://evil.example|shop>';
  const [answer] = await harness.person().run('zones');
  expect(readText(answer)).toContain('&lt;!channel&gt; &amp; &lt;https://evil.example|shop&gt;');
});

function nameOf(zone: PullZone): string {
  return zone.Name ?? '';
}

function money(zones: readonly PullZone[]): string {
  return `$${zones.reduce((sum, zone) => sum + zone.MonthlyCharges, 0).toFixed(2)}`;
}
