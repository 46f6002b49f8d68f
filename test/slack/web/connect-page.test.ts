import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UserError } from '../../../src/errors.ts';
import { prepareEngines } from '../../support/engines.ts';
import { fetchPage, type PageResponse, parseForm, submitForm, submitKey } from '../../support/page-client.ts';
import { readStable } from '../../support/words.ts';
import { alice, bob, createPageHarness, otherAlice } from './page-harness.ts';

const { embedded } = await prepareEngines();
const minute = 60_000;

let harness: Awaited<ReturnType<typeof createPageHarness>>;
const database = await embedded.emptyDatabase();
beforeEach(async () => {
  await sql`truncate key_links, linked_keys`.execute(database.db);
  harness = await createPageHarness(database);
});
afterEach(() => harness[Symbol.asyncDispose]());

test('of two forms sent at once one gets the link, whichever key is in it', async () => {
  const url = await harness.createLink();
  const { action, fields } = parseForm(await fetchPage(url), url);
  harness.cdn.faults.add({ delayMs: 150, times: 9 });
  const keys = [harness.cdn.key, harness.cdn.restrictedKey, harness.cdn.key, harness.cdn.restrictedKey];
  const answers = await Promise.all(keys.map((accessKey) => submitForm(action, { ...fields, accessKey })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409 || status === 410)).toHaveLength(3);
  const winner = answers.findIndex(({ status }) => status === 200);
  expect((await harness.keyStore.reveal(alice))?.key.reveal()).toBe(keys[winner]);
  expect(harness.directMessages).toHaveLength(1);
});

test('of two forms for a token sent at once one makes it and uses the link up, and the record says so', async () => {
  await submitKey(await harness.createLink(), harness.cdn.key);
  const url = `${await harness.createLink()}/client`;
  const { action, fields } = parseForm(await fetchPage(url), url);
  const sent = { ...fields, name: 'laptop', days: '30' };
  const answers = await Promise.all([submitForm(action, sent), submitForm(action, sent)]);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect((await fetchPage(url)).status).toBe(410);
  expect(await harness.audit.recent('T0ACME000', 2)).toMatchObject([
    { event: 'token-made', actor: alice.userId, detail: { days: 30 } },
    { event: 'key-linked' },
  ]);
});

test.each([
  ['without a name', { name: ' ' }],
  ['with a long name', { name: 'x'.repeat(41) }],
  ['with a key for its name', { name: '1b7e0f4c-92ad-4d13-8e605f3a7c21-9b86-6e04' }],
  ['with a random word for its name', { name: 'zq8Rk2Lm9Xv4Tb7Wn1Yc5Pd' }],
  ['with another secret for its name', { name: ['xoxb', '1234567890', 'abcdefghijkl'].join('-') }],
  ['for no day', { days: '0' }],
  ['for more than ninety days', { days: '91' }],
  ['for half a day', { days: '0.5' }],
  ['that nobody may have: without a key', {}],
])('a token %s is not made', async (_, typed) => {
  const isWellTyped = Object.keys(typed).length === 0;
  if (!isWellTyped) await submitKey(await harness.createLink(), harness.cdn.key);
  const url = `${await harness.createLink()}/client`;
  const { action, fields } = parseForm(await fetchPage(url), url);
  const answer = await submitForm(action, { ...fields, name: 'laptop', days: '30', ...typed });
  expect(answer.status).toBe(isWellTyped ? 409 : 422);
  expect(answer.html).not.toContain('cdn_');
  // What was typed wrong uses nothing up.
  expect((await fetchPage(url)).status).toBe(isWellTyped ? 410 : 200);
  expect(await harness.audit.recent('T0ACME000', 2)).not.toMatchObject([{ event: 'token-made' }]);
});

test('links of two people, and of equal ids in two workspaces, never cross', async () => {
  const people = [alice, bob, otherAlice];
  const urls = await Promise.all(people.map((person) => harness.createLink(person)));
  const [, his, others] = await Promise.all(urls.map(async (url) => parseForm(await fetchPage(url), url)));
  await submitForm(his?.action ?? '', { ...his?.fields, accessKey: harness.cdn.restrictedKey });
  await submitForm(others?.action ?? '', { ...others?.fields, accessKey: harness.cdn.key });
  expect(await harness.keyStore.describe(alice)).toBeUndefined();
  expect((await harness.keyStore.reveal(bob))?.key.reveal()).toBe(harness.cdn.restrictedKey);
  expect((await harness.keyStore.reveal(otherAlice))?.key.reveal()).toBe(harness.cdn.key);
  expect(harness.directMessages.map(({ person }) => person)).toMatchObject([bob, otherAlice]);
});

test('the page and the direct message say what was connected, for whom, and the way back', async () => {
  const done = await submitKey(await harness.createLink(), ` ${harness.cdn.key}\n`);
  const { fingerprint = '', key } = (await harness.keyStore.reveal(alice)) ?? {};
  expect(key?.reveal()).toBe(harness.cdn.key);
  expect(readStable(done.text, { fingerprint })).toMatchSnapshot('page');
  expect(harness.directMessages).toMatchObject([{ person: alice }]);
  expect(readStable(harness.directMessages[0]?.message, { fingerprint })).toMatchSnapshot('message');
  expect(harness.cdn.requests).toHaveLength(1);
});

test('a link of a workspace without the app, or one that is not listed any more, shows no form', async () => {
  const url = await harness.createLink();
  await using listed = await createPageHarness(database, { allowed: [otherAlice.teamId] });
  const unlisted = await fetchPage(await listed.createLink());
  const other = await fetchPage(await listed.createLink(otherAlice));
  await harness.uninstall();
  const removed = await fetchPage(url);
  expect([unlisted, other, removed].map(({ status }) => status)).toEqual([403, 200, 403]);
  expect(unlisted.html + removed.html).not.toContain('accessKey');
  await expect(harness.keyStore.reveal(alice)).rejects.toBeInstanceOf(UserError);
});

test('a key that is checked while the app is uninstalled is not linked', async () => {
  const url = await harness.createLink();
  const form = parseForm(await fetchPage(url), url);
  harness.cdn.faults.add({ delayMs: 300, times: 1 });
  const sent = submitForm(form.action, { ...form.fields, accessKey: harness.cdn.key });
  await expect.poll(() => harness.cdn.requests.length).toBe(1);
  await harness.uninstall();
  expect((await sent).status).toBe(403);
  expect(await harness.keyStore.describe(alice)).toBeUndefined();
});

test('reading the page, as link previews do, changes nothing and shows no key', async () => {
  const url = await harness.createLink();
  for (let nth = 0; nth < 5; nth += 1) {
    expect((await fetchPage(url)).status).toBe(200);
    const head = await fetchPage(url, { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, html: '' });
    expect(Number(head.headers['content-length'])).toBeGreaterThan(1000);
  }
  expect((await submitKey(url, harness.cdn.key)).status).toBe(200);
});

test('the page names whom the key is for, in letters that are no markup', async () => {
  const page = await fetchPage(await harness.createLink(alice, '<img src=x onerror="x">& in "acme"'));
  expect(page.html).toContain('&lt;img src=x onerror=&quot;x&quot;&gt;&amp; in &quot;acme&quot;');
  expect(page.html).not.toContain('<img');
});

test('every answer forbids keeping, framing, scripts and telling its address', async () => {
  const url = await harness.createLink();
  const { action, fields } = parseForm(await fetchPage(url), url);
  const answers = [
    await fetchPage(url),
    await fetchPage(`${url}x`),
    await submitForm(action, {}, { 'sec-fetch-site': 'cross-site' }),
    await submitForm(action, { ...fields, accessKey: 'wrong-key' }),
    await submitForm(action, { ...fields, accessKey: harness.cdn.key }),
    await fetchPage(url),
    await fetchPage(url, { method: 'DELETE' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 403, 422, 200, 410, 405]);
  for (const { headers, html } of answers) {
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(headers).not.toHaveProperty('set-cookie');
    expect(headers).not.toHaveProperty('location');
    expect(html).not.toMatch(/<script|javascript:|onload|src=/i);
    expect(html).not.toContain(harness.cdn.key);
  }
});

test('HSTS is sent only if the address is https', async () => {
  expect((await fetchPage(await harness.createLink())).headers).not.toHaveProperty(
    'strict-transport-security',
  );
  await using secure = await createPageHarness(database, { publicUrl: 'https://bot.example.com/' });
  expect((await fetchPage(await secure.createLink())).headers).toHaveProperty('strict-transport-security');
});

describe('requests refused without reading', () => {
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  interface Sent {
    readonly fields?: Record<string, string>;
    readonly headers?: Record<string, string>;
    /** Sent as it is, without what a browser adds. */
    readonly bare?: { readonly method: string; readonly headers?: Record<string, string> };
  }

  test.each<[string, number, Sent]>([
    ['a form of another site', 403, { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['a form of a sister site', 403, { headers: { 'sec-fetch-site': 'same-site' } }],
    ['a form from another origin', 403, { headers: { origin: 'https://evil.example' } }],
    [
      'a form from nowhere, by a browser that says no more',
      403,
      { bare: { method: 'POST', headers: { ...type, origin: 'null' } } },
    ],
    ['JSON', 415, { headers: { 'content-type': 'application/json' } }],
    ['a multipart form', 415, { headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
    ['a body without a type', 415, { bare: { method: 'POST' } }],
    ['a body that says it is large', 413, { fields: { padding: 'x'.repeat(9000) } }],
    [
      'a body that turns out to be large',
      413,
      {
        fields: { padding: 'x'.repeat(9000) },
        bare: { method: 'POST', headers: { ...type, 'transfer-encoding': 'chunked' } },
      },
    ],
    ['another method', 405, { bare: { method: 'PUT', headers: type } }],
  ])('%s', async (_, status, { fields: others, headers, bare }) => {
    const url = await harness.createLink();
    const { action, fields } = parseForm(await fetchPage(url), url);
    const whole = { ...fields, accessKey: harness.cdn.key };
    const sent = { ...whole, ...others };
    const refused = bare
      ? await fetchPage(action, { ...bare, body: new URLSearchParams(sent).toString() })
      : await submitForm(action, sent, headers);
    expect(refused.status).toBe(status);
    expect(harness.cdn.requests).toEqual([]);
    expect(await harness.keyStore.describe(alice)).toBeUndefined();
    // Nothing was used up by it.
    expect((await submitForm(action, whole)).status).toBe(200);
  });

  test('a form with a charset, or from a browser that says neither origin nor site, is taken', async () => {
    const url = await harness.createLink();
    const { action, fields } = parseForm(await fetchPage(url), url);
    const body = new URLSearchParams({ ...fields, accessKey: harness.cdn.key }).toString();
    const headers = { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8' };
    expect((await fetchPage(action, { method: 'POST', headers, body })).status).toBe(200);
  });
});

describe('a key that does not do', () => {
  test.each([
    ['nothing', ''],
    ['spaces', '  '],
    ['a key with a space in it', 'abcd efgh'],
    ['letters no header can carry', 'abcdéfghi'],
    ['much too much', 'x'.repeat(600)],
  ])('%s is not asked about, and counts as no try', async (_, typed) => {
    const url = await harness.createLink();
    const problems = new Set<string | undefined>();
    for (let nth = 0; nth < 7; nth += 1) {
      const page = await submitKey(url, typed);
      expect(page.status).toBe(422);
      problems.add(findProblem(page));
      expect(page.html).not.toContain(typed.trim() || '"  "');
    }
    expect([...problems]).toMatchSnapshot('problem');
    expect(harness.cdn.requests).toEqual([]);
    expect((await submitKey(url, harness.cdn.key)).status).toBe(200);
  });

  test('a refused key may be mended on the same page', async () => {
    const url = await harness.createLink();
    const wrong = await submitKey(url, 'not-the-right-key-0123456789');
    expect(wrong.status).toBe(422);
    expect(readStable(findProblem(wrong))).toMatchSnapshot();
    expect(wrong.html).not.toContain('not-the-right-key');
    expect((await submitKey(url, harness.cdn.key)).status).toBe(200);
    expect((await harness.audit.recent('T0ACME000', 1)).map(({ event }) => event)).toEqual(['key-linked']);
  });

  test('after five refused keys the link is closed, also for the right one, and the record says so', async () => {
    const url = await harness.createLink();
    const { action, fields } = parseForm(await fetchPage(url), url);
    const statuses = [];
    for (let nth = 0; nth < 7; nth += 1)
      statuses.push((await submitForm(action, { ...fields, accessKey: `wrong-${nth}` })).status);
    expect(statuses).toEqual([422, 422, 422, 422, 410, 410, 410]);
    const late = await submitForm(action, { ...fields, accessKey: harness.cdn.key });
    expect(late.status).toBe(410);
    expect(readStable(late.text)).toMatchSnapshot();
    expect(harness.cdn.requests).toHaveLength(5);
    expect(await harness.keyStore.describe(alice)).toBeUndefined();
    expect(await harness.audit.recent('T0ACME000', 1)).toMatchObject([
      { event: 'key-entry-refused', subject: 'U0ALICE00', detail: { entry: 'page' } },
    ]);
  });

  test.each([
    ['is down', { status: 502, times: 99 }],
    ['answers with a web page', { body: 'html', times: 99 }],
    ['hangs up', { drop: 'before-headers', times: 99 }],
  ] as const)('while the CDN %s no try is used up', async (_, fault) => {
    const url = await harness.createLink();
    harness.cdn.faults.add({ ...fault });
    const problems = new Set<string | undefined>();
    for (let nth = 0; nth < 6; nth += 1) {
      const page = await submitKey(url, harness.cdn.key);
      expect(page.status).toBe(502);
      problems.add(readStable(findProblem(page)));
    }
    expect([...problems]).toMatchSnapshot('problem');
    harness.cdn.faults.clear();
    expect((await submitKey(url, harness.cdn.key)).status).toBe(200);
  });
});

describe('a link that has ended', () => {
  test('after ten minutes it opens nothing, not even with its form still open', async () => {
    const url = await harness.createLink();
    const { action, fields } = parseForm(await fetchPage(url), url);
    harness.advance(10 * minute - 1);
    expect((await fetchPage(url)).text).toContain('1 more minute.');
    harness.advance(1);
    const late = await submitForm(action, { ...fields, accessKey: harness.cdn.key });
    expect(late).toMatchObject({ status: 410 });
    expect(readStable(late.text)).toMatchSnapshot();
    expect(harness.cdn.requests).toEqual([]);
  });

  test('used once it is used, also within its ten minutes, and ends the person’s other links', async () => {
    const [other, url, his] = [
      await harness.createLink(),
      await harness.createLink(),
      await harness.createLink(bob),
    ];
    const { action, fields } = parseForm(await fetchPage(url), url);
    await submitKey(url, harness.cdn.key);
    expect(readStable((await fetchPage(url)).text)).toMatchSnapshot('used');
    const again = await submitForm(action, { ...fields, accessKey: harness.cdn.restrictedKey });
    expect(again.status).toBe(410);
    expect(readStable((await fetchPage(other)).text)).toMatchSnapshot('taken back');
    expect((await fetchPage(his)).status).toBe(200);
    expect((await harness.keyStore.reveal(alice))?.key.reveal()).toBe(harness.cdn.key);
  });
});

describe('guessing', () => {
  test('many tries open nothing and are slowed down, and a good link works meanwhile', async () => {
    const url = await harness.createLink();
    const { origin } = new URL(url);
    const statuses = new Map<number, number>();
    const answers = new Set<string>();
    for (let nth = 0; nth < 60; nth += 1) {
      const token = String(nth).padStart(22, 'x');
      const guess =
        nth % 2 === 0 ? fetchPage(`${origin}/connect/${token}`) : enter(`${origin}/connect/${token}`);
      const { status, html } = await guess;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      answers.add(html);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 404: 20, 429: 40 });
    expect(answers.size).toBe(2);
    const slowed = await fetchPage(`${origin}/connect/${'y'.repeat(22)}`);
    expect(slowed).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    expect(harness.cdn.requests).toEqual([]);
    expect((await submitKey(url, harness.cdn.key)).status).toBe(200);
    harness.advance(minute);
    expect((await fetchPage(`${origin}/connect/${'y'.repeat(22)}`)).status).toBe(404);
  });

  test('guesses ask no database and write one line a minute', async () => {
    const url = await harness.createLink();
    const find = vi.spyOn(harness.links, 'find');
    const last = url.at(-1) === '0' ? '1' : '0';
    const paths = ['x', 'y'.repeat(22), `${'z'.repeat(22)}${'0'.repeat(12)}`, `${url.slice(-34, -1)}${last}`];
    for (let round = 0; round < 25; round += 1)
      for (const path of paths)
        expect([404, 429]).toContain((await enter(`${new URL(url).origin}/connect/${path}`)).status);
    expect(find).not.toHaveBeenCalled();
    expect(harness.logs).toHaveLength(1);
    expect((await fetchPage(url)).status).toBe(200);
    expect(find).toHaveBeenCalledTimes(1);
  });

  test('one link that is visited without end is slowed down too', async () => {
    const [url, other] = [await harness.createLink(), await harness.createLink(bob)];
    let visits = 0;
    while ((await fetchPage(url)).status === 200) visits += 1;
    expect(visits).toBe(60);
    expect((await fetchPage(other)).status).toBe(200);
  });

  test.each([
    '/connect/',
    '/connect/x',
    `/connect/${'a'.repeat(23)}`,
    '/connect/..%2f..%2fmetrics',
    `/connect/${'a'.repeat(20)}%00a`,
  ])('%s leads nowhere', async (path) => {
    const { origin } = new URL(await harness.createLink());
    expect((await fetchPage(`${origin}${path}`)).status).toBe(404);
  });
});

test('when Slack takes no message the key is linked and the log says so', async () => {
  const url = await harness.createLink();
  harness.failDirectMessages();
  expect((await submitKey(url, harness.cdn.key)).status).toBe(200);
  expect(harness.logs.join('')).toContain('cannot send a direct message about a key page');
});

test('no log line holds a key or a link', async () => {
  const url = await harness.createLink();
  const token = url.split('/').at(-1) ?? '';
  await fetchPage(`${url}?key=${harness.cdn.key}`);
  await submitKey(url, 'a-key-that-is-wrong-4711');
  harness.cdn.faults.add({ status: 502, times: 9 });
  await submitKey(url, harness.cdn.restrictedKey);
  harness.cdn.faults.clear();
  await submitKey(url, harness.cdn.key);
  await fetchPage(url, { method: 'DELETE' });
  await fetchPage(url);
  const logged = harness.logs.join('');
  expect(logged).toContain('a key page refused something');
  for (const secret of [harness.cdn.key, harness.cdn.restrictedKey, 'a-key-that-is-wrong-4711', token])
    expect(logged).not.toContain(secret);
});

/** The words of the note above the form. */
function findProblem({ html }: PageResponse): string | undefined {
  return /role="alert">(.*?)<\/div>/
    .exec(html)?.[1]
    ?.replaceAll(/<[^>]*>/g, ' ')
    .trim();
}

const enter = (url: string): Promise<PageResponse> => submitForm(url, { accessKey: 'k' });
