import { expect, test } from 'vitest';
import { zone } from '../../../simulator/cdn/zones.ts';
import { findCommand, findForm } from '../../../src/commands/registry.ts';
import { parseWords } from '../../../src/commands/words.ts';
import { UserError } from '../../../src/errors.ts';
import { alice, buttons, createCommandHarness, readText } from '../../support/command-harness.ts';
import { findViewProblems } from '../../support/slack-limits.ts';

test.each(['id', 'name', 'NAME', 'hostname', 'address'])('a zone is found by its %s', async (by) => {
  await using harness = await createCommandHarness({ zones: 60 });
  const zone = harness.cdn.data.zones[3];
  const hostname = zone?.Hostnames?.[0]?.Value ?? '';
  const typed = {
    id: String(zone?.Id),
    name: zone?.Name ?? '',
    NAME: zone?.Name?.toUpperCase() ?? '',
    hostname,
    address: `<https://${hostname}/a/picture.jpg?x=1>`,
  }[by];
  const [answer, ...more] = await harness.person().run(`zone ${typed}`);
  expect(more).toEqual([]);
  expect(answer?.text).toMatchSnapshot();
});

test('an exact name needs one small search, not the whole list', async () => {
  await using harness = await createCommandHarness({ zones: 2500 });
  await harness.person().run('zone media');
  expect(harness.cdn.requests).toHaveLength(1);
  expect(harness.cdn.requests[0]?.query).toMatchObject({ search: 'media' });
});

test('the sections tell origin, hostnames, caching, security, edge rules, optimizer and logging in words', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const [answer] = await harness.person().run('zone shop');
  for (const title of [
    '*Zone ',
    'hostnames*',
    '*Caching*',
    '*Security*',
    'edge rules*',
    '*Optimizer*',
    '*Logging*',
  ]) {
    expect(readText(answer)).toContain(title);
  }
  expect(readText(answer)).toMatchInlineSnapshot(`
    "shop
    *Zone 1001*
    State: :large_green_circle: active
    This month: 3.1 TB of 5 TB (62 %)
    Charges so far: $31.62
    Tier: Premium
    Origin: \`https://origin-shop.example.com\`
    Edge script: 301 (LoadBalancer)
    Delivers from: North America, Europe, Asia and Oceania, South America, Africa
    Addresses: DualStack
    *2 hostnames*
    \`shop.cdn.example.net\` · of the platform · Managed · HTTPS forced
    \`shop.example.com\` · certificate · Http01 · HTTPS forced
    *Origin*
    Retries: 0
    Timeouts: connect: 10 s, response: 60 s
    Sticky sessions: Off
    Routing filters: all
    WebSockets: off
    On: retry when connecting fails, retry when the response is late
    Off: hostname forwarded, redirects followed, canonical header, retry on 5xx, safe hop
    *Caching*
    CDN cache time: not overridden
    Browser cache time: not overridden
    Varies by query parameters: page, sort, color
    Varies by cookies: currency, language
    Perma-Cache: Automatic
    Origin shield: off
    Coalesced requests wait: 30
    On: smart cache, query strings sorted, stale while offline, cookies removed, vary by WebP
    Off: query strings ignored, cache slice for video, errors cached, shield concurrency limited, stale while updating, update in the background, requests coalesced, vary by AVIF, vary by country, vary by state, vary by mobile, vary by hostname
    *Security*
    DDoS protection: on, ActiveAggressive
    Blocked countries: KP
    Requests per IP and second: 60
    Burst: 120
    Connections per IP: unlimited
    Transfer rate: unlimited
    CORS for: eot, ttf, woff, woff2, css
    On: origin certificate checked, automatic certificates, CORS headers
    Off: token authentication, token holds the IP, Let’s Encrypt disabled, TLS 1.0, TLS 1.1, root path blocked, POST blocked, direct access blocked, AWS signing
    *8 edge rules*
    1. “Block scrapers”: fetch from the storage zone 2001 when URL query string is \`*preview=…\`
    2. fetch from the storage zone 2001 unless origin connection error is \`dns\` or \`timeout\`
    3. disable WAF when none of these: country state code is \`US-CA\` or \`US-NY\`; URL is \`https://*/checkout/*\` or \`*/cart*\`
    4. answer with the status 410 when URL extension is \`jpg\` or \`png\` or \`webp\` (off)
    5. “Force TLS”: bypass AWS s3 authentication unless request header \`X-Internal-Token\` is a value that is not shown (off)
    6. “Cache longer”: disable shield access lists when country state code is \`US-CA\` or \`US-NY\`
    7. force compression when country code is \`DE\` or \`AT\` or \`CH\`
    8. bypass AWS s3 authentication when request method is \`POST\` or \`PUT\` (off)
    *Optimizer*
    Optimizer: on
    Widest on desktop: 1,600
    Widest on mobile: 800
    Image quality: desktop: 85, mobile: 70
    Watermark: off
    Costs a month: $9.50
    AI images: off
    Image classes: thumbnail, hero
    On: WebP, automatic, CSS minified, JavaScript minified, manipulation by URL
    Off: upscaling, HTML prerendered, static HTML, classes enforced, tunnel
    *Logging*
    Logging: on
    Extended: off
    Format: JSON
    IP addresses: anonymized (OneDigit)
    Forwarded: off
    *Pages*
    Preloading screen: off, Light, after 700 ms
    Off: custom error page, status page widget, white label, preloading on the first visit, own preloading code
    *Account*
    Owner: 8a5e1c1e-0000-4000-8000-00000000002a
    CNAME domain: cdn.example.net
    Cache version: 8
    Origin errors
    As JSON
    Refresh
    All zones
    Another zone
    As of <!date^1795262400^{date_short_pretty} {time}|2026-11-21 12:00 UTC>. Keys, tokens and header values are never shown."
  `);
});

test('no secret of a zone is shown, whatever the zone', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const person = harness.person();
  for (const zone of harness.cdn.data.zones) {
    const [answer] = await person.press('zones:show:1', String(zone.Id));
    expect(JSON.stringify(answer)).not.toContain('CANARY');
  }
});

test('everything of a zone is sent as a file on request, without any secret of it', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const person = harness.person();
  const [answer] = await person.run('zone shop');
  const [sent] = await person.press(...(buttons(answer).get('As JSON') ?? ['', '']));
  expect(readText(sent)).toMatchSnapshot();
  expect(sent?.files).toMatchObject([{ name: 'zone-1001-shop.json', mimetype: 'application/json' }]);
  for (const { Id } of harness.cdn.data.zones) {
    const [message] = await person.press('zones:file', String(Id));
    const content = message?.files?.[0]?.content;
    if (!(content instanceof Uint8Array)) throw new Error('the file has no bytes');
    const text = new TextDecoder().decode(content);
    expect(text).not.toContain('CANARY');
    expect(JSON.parse(text)).toMatchObject({ Id: String(Id) });
  }
});

test('the file of a zone holds what its answer showed, and Refresh reads anew in its place', async () => {
  await using harness = await createCommandHarness({ zones: 20 });
  const person = harness.person();
  const [answer] = await person.run('zone shop');
  const asked = harness.cdn.requests.length;
  harness.advance(60_000);
  const [file] = await person.press(...(buttons(answer).get('As JSON') ?? ['', '']));
  expect(readText(file)).toContain('As of <!date^1795262400^');
  expect(harness.cdn.requests).toHaveLength(asked);
  const [again] = await person.press(...(buttons(answer).get('Refresh') ?? ['', '']));
  expect(readText(again)).toContain('As of <!date^1795262460^');
  expect(harness.cdn.requests.length).toBeGreaterThan(asked);
  // Long after, what is remembered is old: the file says when it was read.
  harness.advance(10 * 60_000);
  const [late] = await person.press(...(buttons(answer).get('As JSON') ?? ['', '']));
  expect(readText(late)).toContain('As of <!date^1795263060^');
});

test('several matches are a choice, with a way to see the rest', async () => {
  await using harness = await createCommandHarness({ zones: 300 });
  const person = harness.person();
  const [few] = await person.run('zone shop-eu');
  expect(few?.text).toMatchSnapshot();
  const [many] = await person.run('zone sho');
  const [all] = await person.press(...(buttons(many).get('See all') ?? ['', '']));
  expect(readText(all)).toContain('matching `sho`');
  const [one] = await person.press(...(buttons(many).get('Show') ?? ['', '']));
  expect(one?.text).toMatch(/^Zone shop/u);
});

test('a part of one name is that zone', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const [answer] = await harness.person().run('zone ownload');
  expect(answer?.text).toMatch(/^Zone downloads: /u);
});

test('no match offers names that are near', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  const person = harness.person();
  const [answer] = await person.run('zone chekout');
  expect(readText(answer)).toMatchSnapshot();
  const [zone] = await person.press(...(buttons(answer).get('checkout') ?? ['', '']));
  expect(zone?.text).toMatch(/^Zone checkout: /u);
});

test('a zone that was deleted meanwhile is said to be gone', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  await person.run('zones');
  const [gone] = harness.cdn.data.zones.splice(3, 1);
  await expect(person.press('zones:show', String(gone?.Id))).rejects.toThrowErrorMatchingSnapshot('refusal');
  await expect(person.run('zone media')).rejects.toThrow(UserError);
  // The list was forgotten with it.
  expect((await person.run('zone media'))[0]?.text).toMatchSnapshot('answer');
});

test('a very long name is found, without being put into an address', async () => {
  const name = 'ab'.repeat(200);
  await using harness = await createCommandHarness({
    data: { zones: [zone({ Id: 1, Name: name }), zone({ Id: 2, Name: 'other' })] },
  });
  const [answer] = await harness.person().run(`zone ${name}`);
  expect(answer?.text).toContain('Zone abab');
  expect(harness.cdn.requests[0]?.query).not.toHaveProperty('search');
});

test('of two names that differ only in case, the one that was typed is meant; another spelling asks', async () => {
  const zones = [
    zone({ Id: 1, Name: 'SHOP', OriginUrl: 'https://one.example' }),
    zone({ Id: 2, Name: 'shop', OriginUrl: 'https://two.example' }),
  ];
  await using harness = await createCommandHarness({ data: { zones } });
  const person = harness.person();
  expect(readText((await person.run('zone shop'))[0])).toContain('https://two.example');
  expect(readText((await person.run('zone SHOP'))[0])).toContain('https://one.example');
  expect(readText((await person.run('zone Shop'))[0])).toMatchSnapshot();
});

test('a number that is the id of one zone and the name of another asks which', async () => {
  const zones = [zone({ Id: 12345, Name: 'shop' }), zone({ Id: 2, Name: '12345' })];
  await using harness = await createCommandHarness({ data: { zones } });
  expect(readText((await harness.person().run('zone 12345'))[0])).toMatchSnapshot();
});

test('zone without a word opens a form whose menu searches ids, names and hostnames', async () => {
  await using harness = await createCommandHarness({ zones: 300 });
  const typed = findCommand(parseWords('zone'));
  const form = typed.command.modal?.(typed.words, { keyPage: undefined });
  expect(findViewProblems(form as { type: 'modal' })).toEqual([]);
  expect(form).toMatchObject({ callback_id: 'zones:submit', blocks: [{ block_id: 'zone' }] });
  const person = harness.person();
  const media = harness.cdn.data.zones[3];
  expect(await person.search('zones:pick', 'MEDIA ')).toContain(
    `media · ${media?.Hostnames?.[0]?.Value} = ${media?.Id}`,
  );
  expect(await person.search('zones:pick', String(media?.Id))).toHaveLength(1);
  const all = await person.search('zones:pick', '');
  expect(all).toHaveLength(100);
  expect(all.at(-1)).toMatch(/ 201 .* = note$/u);
  expect(await person.search('zones:pick', 'nothing like it')).toMatchSnapshot();
});

test('the form shows the zone that was picked, and refuses lines that are none', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const person = harness.person();
  const id = String(harness.cdn.data.zones[3]?.Id);
  const answer = await person.submit('zones:submit', { zone: id });
  expect(answer).toMatchObject([{ text: expect.stringMatching(/^Zone media/u) }]);
  for (const zone of ['note', undefined])
    expect(await person.submit('zones:submit', { zone })).toMatchSnapshot();
  expect(findForm('zones:submit')?.loadingView).toBeUndefined();
  expect(harness.zoneCache.forPerson(alice).get()).toBeUndefined();
});
