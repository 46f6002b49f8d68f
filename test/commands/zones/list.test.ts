import { expect, test } from 'vitest';
import type { PullZone } from '../../../simulator/cdn/zone-fields.ts';
import { findCommand } from '../../../src/commands/registry.ts';
import { parseWords } from '../../../src/commands/words.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
import { createCommandHarness, readRows, readText } from '../../support/command-harness.ts';
import { readStable } from '../../support/words.ts';

/** The names in the table, in order. */
function names(answer: Message | undefined): string[] {
  return readRows(answer).map(([name = '']) => name.replace(/ \(.*$/u, ''));
}

test('an account without zones gets a sentence and a next step', async () => {
  await using harness = await createCommandHarness({ zones: 0 });
  const answers = await harness.person().run('zones');
  expect(readText(answers.at(-1))).toMatchSnapshot();
});

test('an empty list in place of all zones is asked for again before it is believed', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  harness.cdn.faults.add({ match: { path: /pullzone/ }, body: [], times: 2 });
  const answers = await harness.person().run('zones');
  expect(readText(answers.at(-1))).toContain('*3 zones*');
});

test('one zone is one answer from one request', async () => {
  await using harness = await createCommandHarness({ zones: 1 });
  const answers = await harness.person().run('zones');
  expect(answers).toHaveLength(1);
  const charges = money(harness.cdn.data.zones);
  expect(readStable(answers[0]?.text, { charges })).toMatchSnapshot('in short');
  expect(readStable(answers[0], { charges })).toMatchSnapshot('answer');
  expect(harness.cdn.requests.map(({ query }) => query)).toEqual([{ page: '1', perPage: '10' }]);
});

test('many zones: how many are read at once, then the table with totals', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const [first, whole, ...more] = await harness.person().run('zones');
  expect(more).toEqual([]);
  expect([readText(first), ...readText(whole).split('\n').slice(0, 24)]).toMatchSnapshot();
  expect(names(whole).toSorted()).toEqual(harness.cdn.data.zones.map(nameOf).toSorted());
});

test('the first answer is there while the list is still on its way', async () => {
  await using harness = await createCommandHarness({ zones: 2500, zoneMembers: 'few' });
  const rest = Promise.withResolvers<void>();
  harness.cdn.faults.add({ match: { path: /pullzone/u }, skip: 1, times: 9, until: rest.promise });
  const { command, words } = findCommand(parseWords('zones'));
  const answers = command.run?.(words, harness.person().context) as AsyncGenerator<Message>;
  const first = await answers.next();
  expect(readText(first.value as Message)).toContain('2,500 zones');
  rest.resolve();
  const whole = (await answers.next()).value as Message;
  expect(readText(whole)).toContain('*2,500 zones*');
  expect(names(whole)).toHaveLength(100);
  expect(whole.blocks).toContainEqual(
    expect.objectContaining({ caption: '100 of 2,500: needs attention first' }),
  );
  expect(harness.cdn.requests.map(({ query }) => query['perPage'])).toEqual(['10', '1000', '1000', '1000']);
});

test('zones that need attention come first, the most urgent before, or alone, then the bandwidth', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const rows = readRows((await harness.person().run('zones')).at(-1));
  expect(rows.map(([name, , share]) => `${name}: ${share}`)).toMatchSnapshot();
  const alone = (await harness.person().run('zones only:attention')).at(-1);
  expect(readRows(alone)).toEqual(rows.slice(0, 6));
});

test('sorting is by the number that was asked for', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const person = harness.person();
  const by = (member: 'MonthlyBandwidthUsed' | 'MonthlyCharges') =>
    harness.cdn.data.zones
      .toSorted((a, b) => b[member] - a[member])
      .slice(0, 10)
      .map(nameOf);
  expect(names((await person.run('zones sort:bandwidth')).at(-1)).slice(0, 10)).toEqual(
    by('MonthlyBandwidthUsed'),
  );
  expect(names((await person.run('zones sort:charges')).at(-1)).slice(0, 10)).toEqual(by('MonthlyCharges'));
  const alphabetical = harness.cdn.data.zones.map(nameOf).toSorted();
  expect(names((await person.run('zones sort:name')).at(-1))).toEqual(alphabetical);
});

const isNear = (zone: PullZone) =>
  zone.MonthlyBandwidthLimit > 0 && zone.MonthlyBandwidthUsed > zone.MonthlyBandwidthLimit * 0.8;

const filters = [
  ['disabled', (zone: PullZone) => !zone.Enabled],
  ['suspended', (zone: PullZone) => zone.Suspended],
  ['off', (zone: PullZone) => !zone.Enabled || zone.Suspended],
  ['above-80', isNear],
  ['80', isNear],
  [
    'no-certificate',
    (zone: PullZone) => zone.Hostnames?.some((host) => !host.HasCertificate && !host.IsSystemHostname),
  ],
  ['old-tls', (zone: PullZone) => zone.EnableTLS1 || zone.EnableTLS1_1],
  ['tls', (zone: PullZone) => zone.EnableTLS1 || zone.EnableTLS1_1],
  ['no-logging', (zone: PullZone) => !zone.EnableLogging],
] as const;

test('each filter shows its zones and no others', async () => {
  await using harness = await createCommandHarness({ zones: 90 });
  const [oldest, unlogged] = harness.cdn.data.zones.slice(20);
  Object.assign(oldest ?? {}, { EnableTLS1: true });
  Object.assign(unlogged ?? {}, { EnableLogging: false, EnableTLS1_1: true });
  for (const [only, is] of filters) {
    const answer = (await harness.person().run(`zones only:${only}`)).at(-1);
    const wanted = harness.cdn.data.zones.filter(is).map(nameOf).toSorted();
    expect(wanted.length).toBeGreaterThan(0);
    expect(names(answer).toSorted()).toEqual(wanted);
  }
});

test.each([
  ['attention', { Enabled: null }],
  ['attention', { Hostnames: [null] }],
  ['suspended', { Suspended: 'soon' }],
  ['disabled', { Enabled: null }],
  ['off', { Enabled: {} }],
  ['above-80', { MonthlyBandwidthUsed: null }],
  ['above-80', { MonthlyBandwidthLimit: '5 TB' }],
  ['no-certificate', { Hostnames: null }],
  ['old-tls', { EnableTLS1: null }],
  ['no-logging', { EnableLogging: 'maybe' }],
])('only:%s of a zone that reports %j is not none for certain', async (only, members) => {
  await using harness = await createCommandHarness({ zones: 2 });
  const [zone, gone] = harness.cdn.data.zones;
  Object.assign(zone ?? {}, { EnableTLS1: false, EnableTLS1_1: false, ...members });
  Object.assign(gone ?? {}, { Id: 'none' });
  const answer = (await harness.person().run(`zones only:${only}`)).at(-1);
  expect(answer?.text).toMatch(/not report.*left out/u);
});

test('zones are found by what they carry', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const [zone, other] = harness.cdn.data.zones;
  if (!zone || !other) throw new Error('no zones');
  Object.assign(zone, { OriginUrl: 'https://Origin-Eu.example.net/a', EdgeScriptId: 70_001 });
  Object.assign(other, { MiddlewareScriptId: 70_001, StorageZoneId: 70_003, MagicContainersAppId: 'appX09' });
  const host = zone.Hostnames?.at(-1)?.Value ?? '';
  const found = async (typed: string) => names((await person.run(typed)).at(-1));
  expect(await found('zones origin:origin-eu')).toEqual([zone.Name]);
  expect(await found('zones script:70001')).toEqual([zone.Name, other.Name]);
  expect(await found('zones storage:70003')).toEqual([other.Name]);
  expect(await found('zones app:APPX09')).toEqual([other.Name]);
  expect(await found(`zones host:${host.slice(0, -4).toUpperCase()}`)).toEqual([zone.Name]);
  expect(await found('zones script:7000')).toEqual([]);
  // Together with the rest of a query.
  expect(await found(`zones ${zone.Name} script:70001 sort:name`)).toEqual([zone.Name]);
  // What the list is about has a page in the panel, if one is configured.
  const [ofApp, ofScript] = [await person.run('zones app:appX09'), await person.run('zones script:70001')];
  expect(JSON.stringify(ofApp)).toContain('"url":"https://panel.example/app/appX09"');
  expect(JSON.stringify(ofScript)).not.toContain('panel.example');
  expect((await person.run('zones script:70001 only:suspended')).at(-1)?.text).toMatchSnapshot('none');
  expect((await person.run('zones script:70001 app:appX09')).at(-1)?.text).toMatchSnapshot('one');
});

test('the list is a file, too: every zone that it has, with what the bot knows of each', async () => {
  await using harness = await createCommandHarness({ zones: 300 });
  const person = harness.person();
  const list = (await person.run('zones')).at(-1);
  const [sent] = await person.pressIn(list, 'All 300 as CSV');
  expect(readText(sent)).toMatchSnapshot('message');
  const [file] = sent?.files ?? [];
  const lines = new TextDecoder('utf-8', { ignoreBOM: true })
    .decode(file?.content as Uint8Array)
    .trim()
    .split('\n');
  expect(lines).toHaveLength(301);
  expect(lines[0]).toMatchSnapshot('columns');
  expect(lines.find((line) => line.includes('"checkout"'))).toMatchSnapshot('checkout');
  expect(lines.join('')).not.toContain('CANARY');
});

test('a zone is opened from the menu; a line that is none is refused', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const list = (await person.run('zones')).at(-1);
  expect(JSON.stringify(list)).toContain('"external_select","action_id":"zones:open"');
  const [option = ''] = await person.search('zones:open', 'media');
  const [zone] = await person.press('zones:open', option.split(' = ').at(-1) ?? '');
  expect(readText(zone)).toContain('*media*');
  await expect(person.press('zones:open', 'note')).rejects.toThrowErrorMatchingSnapshot();
});

test('a search finds ids, names, hostnames, origins, and whole ids of scripts, apps and storage zones', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const [zone] = harness.cdn.data.zones;
  if (!zone) throw new Error('no zone');
  zone.OriginUrl = 'https://Origin-Eu.example.net/shop';
  zone.EdgeScriptId = 70_001;
  zone.MiddlewareScriptId = 70_002;
  zone.StorageZoneId = 70_003;
  zone.MagicContainersAppId = 'appX0000000009';
  const host = zone.Hostnames?.at(-1)?.Value ?? '';
  const searches = [
    String(zone.Id),
    zone.Name?.toUpperCase(),
    host,
    `https://${host.toUpperCase()}/a/b.jpg?x=1`,
    `${host}.`,
    `//${host}/x`,
    '//origin-eu.example.net/x',
    'origin-eu',
    'https://origin-eu.example.net/shop/',
    '70001',
    '70002',
    '70003',
    'APPX0000000009',
  ];
  for (const search of searches)
    expect(names((await person.run(`zones ${search}`)).at(-1))).toContain(zone.Name);
  // Part of an id is none, and the scheme of an address tells nothing.
  for (const search of ['7000', 'https'])
    expect(names((await person.run(`zones ${search}`)).at(-1))).toEqual([]);
});

test('the name of a filter is the filter, unless a zone is called so', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const found = async (typed: string) => names((await person.run(typed)).at(-1));
  expect(await found('zones Disabled')).toEqual(await found('zones only:disabled'));
  expect(await found('zones old TLS')).toEqual(await found('zones only:old-tls'));
  expect(await found('zones cert')).toEqual(await found('zones only:no-certificate'));
  expect(await found('zones cert')).not.toEqual([]);
  Object.assign(harness.cdn.data.zones[0] ?? {}, { Name: 'disabled-things' });
  expect(await found('zones disabled')).toEqual(['disabled-things']);
});

test('a search without a match offers what may have been meant, and the way back', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const answer = (await person.run('zones chekout')).at(-1);
  expect(readText(answer)).toMatchSnapshot();
  expect(names((await person.pressIn(answer, 'checkout')).at(-1))).toEqual(['checkout']);
  expect(names((await person.pressIn(answer, 'All zones'))[0])).toHaveLength(12);
});

test.each([
  'zones sort:size',
  'zones sort:bandwith',
  'zones only:',
  'zones origin:',
  'zones limit:5',
  `zones ${'x y '.repeat(60)}`,
])('%j says what is wrong and what to do', async (typed) => {
  await using harness = await createCommandHarness({ zones: 3 });
  const { message, hint } = await harness.person().refuse(typed);
  expect({ message, hint }).toMatchSnapshot();
  // A zone may be called `limit:5`.
  expect(harness.cdn.requests.length).toBeLessThanOrEqual(1);
});

test('buttons act on the list that was read, until somebody types, asks for fresh ones, or five minutes pass', async () => {
  await using harness = await createCommandHarness({ zones: 3 });
  const person = harness.person();
  const page = (await person.run('zones')).at(-1);
  const press = (label: string) => person.pressIn(page, label);
  await press('Disabled and suspended');
  expect(harness.cdn.requests).toHaveLength(1);
  await press('Refresh');
  expect(harness.cdn.requests).toHaveLength(2);
  await person.run('zones');
  expect(harness.cdn.requests).toHaveLength(3);
  harness.advance(5 * 60_000);
  await press('Disabled and suspended');
  expect(harness.cdn.requests).toHaveLength(4);
});

function nameOf(zone: PullZone): string {
  return zone.Name ?? '';
}

function money(zones: readonly PullZone[]): string {
  return `$${zones.reduce((sum, zone) => sum + zone.MonthlyCharges, 0).toFixed(2)}`;
}
