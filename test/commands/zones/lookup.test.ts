import { expect, test } from 'vitest';
import { findLinkedHosts, hasHostname, readHost } from '../../../src/commands/zones/hosts.ts';
import {
  loadAffectedByScript,
  loadAffectedByVolume,
  loadAllZones,
  lookUpZone,
} from '../../../src/commands/zones/lookup.ts';
import {
  describeScriptConsequences,
  describeVolumeConsequences,
} from '../../../src/views/operations/describe.ts';
import { createCommandHarness } from '../../support/command-harness.ts';

const rich = (url: string) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'link', url }] }],
});

test.each<[string, unknown, string[]]>([
  ['a link in its text', { text: 'see <https://cdn.example.com/a.jpg>' }, ['cdn.example.com']],
  ['a link with a label', { text: '<https://cdn.example.com/a?b=1&amp;c=2|this page>' }, ['cdn.example.com']],
  ['an address in code, which Slack does not mark', { text: '`https://a.example/a`' }, ['a.example']],
  ['a port, userinfo and capitals', { text: 'HTTPS://me:pw@CDN.Example.com:8443/x' }, ['cdn.example.com']],
  ['the end of a sentence', { text: 'It is https://cdn.example.com.' }, ['cdn.example.com']],
  ['the same host twice', { text: '<https://a.example/1> <https://a.example/2>' }, ['a.example']],
  [
    'rich text',
    { text: '<https://a.example/1>', blocks: [rich('http://b.example/2')] },
    ['a.example', 'b.example'],
  ],
  [
    'a shared message',
    { attachments: [{ message_blocks: [{ blocks: [rich('https://e.example/x')] }] }] },
    ['e.example'],
  ],
  [
    'an unfurled link',
    { attachments: [{ title_link: 'https://f.example/x', image_url: 'https://t.example/x.png' }] },
    ['f.example'],
  ],
  ['Slack’s own links', { text: '<https://acme.slack.com/archives/C1/p1> <https://files.slack.com/x>' }, []],
  [
    'mentions, mail and no host',
    { text: '<@U1> <mailto:a@b.example|a@b.example> https:// http://localhost/x' },
    [],
  ],
  [
    'hosts without a link, in a sentence, code and bold',
    { text: '`A.example:443` and *b.example.*, müller.example/pay; *.img.example' },
    ['a.example', 'b.example', 'xn--mller-kva.example', '*.img.example'],
  ],
  ['no link beside one', { text: 'b.example: https://a.example/x' }, ['a.example']],
  ['files, versions, mail and addresses', { text: 'index.html 1.2.3 e.g. a@b.example 203.0.113.7' }, []],
  ['no message', undefined, []],
])('%s', (_, message, hosts) => {
  expect(findLinkedHosts(message)).toEqual(hosts);
});

test('of many hosts few are read', () => {
  for (const scheme of ['https://', '']) {
    const text = Array.from({ length: 5000 }, (_, n) => `${scheme}h${n}.example`).join(' ');
    expect(findLinkedHosts({ text })).toHaveLength(20);
  }
});

test.each([
  ['cdn.example.com', 'https://CDN.example.com/a.jpg?x=1'],
  ['cdn.example.com', 'cdn.example.com.'],
  ['cdn.example.com', 'cdn.example.com:8443/a'],
  ['müller.example', 'https://xn--mller-kva.example/'],
  ['xn--mller-kva.example', 'MÜLLER.example/a'],
  ['*.img.example.com', 'a1.img.example.com'],
  ['*.img.example.com', '*.img.example.com:443/a'],
  ['Shop.Example', 'shop.example'],
  ['shop.example', 'shop.example,'],
  ['shop.example', '(shop.example)'],
  ['shop.example', '“https://shop.example/a?b=c”!'],
  ['shop.example', '<https://shop.example/a|shop.example/a>'],
  ['shop.example', '//shop.example/a'],
  ['müller.example', 'müller。example'],
  ['cdn_1.example', 'cdn_1.example/a?b'],
])('a zone with the hostname %s is found by %s', (hostname, typed) => {
  expect(hasHostname({ hostnames: [hostname] }, readHost(typed))).toBe(true);
});

test.each([
  ['*.img.example.com', 'img.example.com'],
  ['*.img.example.com', 'a.b.img.example.com'],
  ['cdn.example.com', 'example.com'],
])('a zone with the hostname %s is not found by %s', (hostname, typed) => {
  expect(hasHostname({ hostnames: [hostname] }, readHost(typed))).toBe(false);
});

test('of a text without an end no more than an address is read', () => {
  expect(readHost('“'.repeat(100_000)).length).toBeLessThanOrEqual(2_000);
});

const [zone, app] = ['1001', 'app0api00000001'] as const;

test('what a deletion concerns is read from the CDN, not from a list of before', async () => {
  await using harness = await createCommandHarness({ zones: 4 });
  const { context } = harness.person();
  const count = async () => {
    const [volume, script] = await Promise.all([
      loadAffectedByVolume(app, context),
      loadAffectedByScript('77', context),
    ]);
    return [volume.zonesTotal, script.zonesTotal];
  };
  const [apps = 0, scripts = 0] = await count();
  const added = harness.cdn.data.zones.find(({ Id }) => String(Id) === zone);
  Object.assign(added ?? {}, { MagicContainersAppId: app, EdgeScriptId: 77 });
  expect(await count()).toEqual([apps + 1, scripts + 1]);
});

test('what a deletion concerns names zones that could not be read', async () => {
  await using harness = await createCommandHarness({ zones: 4 });
  const { context } = harness.person();
  const none = { Items: [null], TotalItems: 3, HasMoreItems: false };
  harness.cdn.faults.add({ match: { path: /^\/pullzone/ }, body: none, times: Number.POSITIVE_INFINITY });
  const volume = await loadAffectedByVolume(app, context);
  expect([describeVolumeConsequences(volume), describeScriptConsequences(volume)]).toMatchSnapshot();
});

test.each<[string, object, string]>([
  ['does not know the app', { status: 404 }, 'told'],
  ['refuses the key', { status: 401 }, 'told'],
  [
    'names a field that it refuses',
    { status: 400, body: { errors: [{ field: 'id', message: 'wrong' }] } },
    'told',
  ],
  ['fails', { status: 500, times: 9 }, 'unreadable'],
])('where the CDN %s the volume of an app is %s', async (_, fault, end) => {
  await using harness = await createCommandHarness({ zones: 4 });
  const { context } = harness.person();
  harness.cdn.faults.add({ match: { path: /apps/ }, ...fault });
  const read = await loadAffectedByVolume(app, context).then(
    ({ summary }) => summary,
    () => 'told',
  );
  expect(read).toBe(end);
});

test('of two zones with one name both are offered, whether the list is known or not', async () => {
  await using harness = await createCommandHarness({ zones: 4 });
  const [one, other] = harness.cdn.data.zones;
  Object.assign(other ?? {}, { Name: one?.Name });
  const { context } = harness.person();
  const count = async () => {
    const found = await lookUpZone(String(one?.Name), context);
    return found.kind === 'several' ? found.zones.length : found.kind;
  };
  const unknown = await count();
  await loadAllZones(context);
  expect([unknown, await count()]).toEqual([2, 2]);
});

test('each zone of a typed list is offered', async () => {
  await using harness = await createCommandHarness({ zones: 4 });
  const found = await lookUpZone('shop, media;api', harness.person().context);
  expect(found).toMatchObject({ kind: 'none', near: ['shop', 'api', 'media'] });
});

test('a zone that is not found may be one of those that could not be read', async () => {
  await using harness = await createCommandHarness({ zones: 4 });
  Object.assign(harness.cdn.data.zones[0] ?? {}, { Id: 'no number' });
  const { context } = harness.person();
  expect(await lookUpZone('nowhere at all', context)).toMatchObject({ kind: 'none', unread: 1 });
});
