import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { canaryMark } from '../../../simulator/cdn/canaries.ts';
import type { OriginErrorEntry } from '../../../simulator/cdn/model.ts';
import { enumerationSizes, type PullZone, zoneFields } from '../../../simulator/cdn/zone-fields.ts';
import { generateZone, zone } from '../../../simulator/cdn/zones.ts';
import { noon, openCdn, type RawAnswer, type RawOptions } from './raw-client.ts';

const hourMs = 3_600_000;
const zonesIn = (answer: RawAnswer) => answer.json() as PullZone[];
const pageIn = (answer: RawAnswer) => answer.json() as { Items: PullZone[]; HasMoreItems: boolean };

test('without a page all zones come as a plain array, with one an envelope of at least 5 and by default 1000', async () => {
  await using world = await openCdn({ zones: 1200 });
  for (const path of ['/pullzone', '/pullzone?page=0', '/pullzone?page=']) {
    const zones = zonesIn(await world.main(path));
    for (const member of ['Id', 'Name'] as const)
      expect(new Set(zones.map((one) => one[member])).size).toBe(1200);
  }
  const sizeOf = async (query: string) => pageIn(await world.main(`/pullzone?${query}`)).Items.length;
  const sizes = [
    'page=1',
    'page=2',
    'page=2147483647',
    'page=1&perPage=1',
    'page=1&perPage=-7',
    'page=1&perPage=6',
  ];
  expect(await Promise.all(sizes.map(sizeOf))).toEqual([1000, 200, 0, 5, 5, 6]);
  const first = pageIn(await world.main('/pullzone?page=1'));
  expect(first).toEqual({ Items: expect.any(Array), CurrentPage: 1, TotalItems: 1200, HasMoreItems: true });
  const collected: unknown[] = [];
  for (let page = 1, more = true; more; page += 1) {
    const answer = pageIn(await world.main(`/pullzone?page=${page}&perPage=170`));
    collected.push(...answer.Items.map(({ Id }) => Id));
    more = answer.HasMoreItems;
  }
  expect(collected).toEqual(world.cdn.data.zones.map(({ Id }) => Id));
});

test('keys come in pages of five, the smallest there are, in plain text with their roles', async () => {
  const apiKeys = Array.from({ length: 7 }, (_, at) => ({ Id: at, Key: `CANARY-${at}`, Roles: ['UserApi'] }));
  await using world = await openCdn({ zones: 0, data: { apiKeys } });
  for (const [page, Items] of [apiKeys.slice(0, 5), apiKeys.slice(5)].entries())
    expect((await world.main(`/apikey?page=${page + 1}&perPage=2`)).json()).toEqual({
      Items,
      CurrentPage: page + 1,
      TotalItems: 7,
      HasMoreItems: page === 0,
    });
});

test('search filters by name, whatever the case, in both shapes', async () => {
  await using world = await openCdn({ zones: 60 });
  const array = zonesIn(await world.main('/pullzone?search=SHOP'));
  expect(array.map((zone) => zone.Name)).toEqual([
    'shop',
    'shop-staging',
    'shop-eu-1',
    'shop-us-1',
    'shop-asia-1',
  ]);
  const page = pageIn(await world.main('/pullzone?page=1&perPage=5&search=shop-'));
  expect(page).toMatchObject({ TotalItems: 4, HasMoreItems: false });
});

test('Certificate is filled in only when the request asks for it', async () => {
  await using world = await openCdn({ zones: 30 });
  const certificates = async (path: string): Promise<(string | null)[]> =>
    zonesIn(await world.main(path)).flatMap((zone) => (zone.Hostnames ?? []).map((host) => host.Certificate));
  expect(new Set(await certificates('/pullzone'))).toEqual(new Set([null]));
  expect(new Set(await certificates('/pullzone?includeCertificate=false'))).toEqual(new Set([null]));
  const asked = await certificates('/pullzone?includeCertificate=true');
  const sent = asked.flatMap((text) => text ?? []);
  expect(sent.length).toBeGreaterThan(25);
  for (const text of sent)
    expect(new X509Certificate(Buffer.from(text, 'base64url')).subject).toMatch(/^CN=/);
});

const fits: Record<string, (value: unknown) => boolean> = {
  boolean: (value) => typeof value === 'boolean',
  int32: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 2_147_483_647,
  int64: (value) => Number.isSafeInteger(value),
  double: (value) => Number.isFinite(value),
  decimal: (value) => Number.isFinite(value),
  string: (value) => typeof value === 'string',
  ...Object.fromEntries(
    Object.entries(enumerationSizes).map(([name, size]) => [
      name,
      (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < size,
    ]),
  ),
};

function isOf(kind: string, value: unknown): boolean {
  if (kind.endsWith('?')) return value === null || isOf(kind.slice(0, -1), value);
  if (kind.endsWith('[]')) {
    const item = fits[kind.slice(0, -2)] ?? ((value: unknown) => typeof value === 'object' && value !== null);
    return Array.isArray(value) && value.every(item);
  }
  return fits[kind]?.(value) ?? false;
}

test('every zone has exactly the 168 published members, each of its declared type', async () => {
  await using world = await openCdn({ zones: 300 });
  const names = Object.keys(zoneFields);
  expect(names).toHaveLength(168);
  const wrong = zonesIn(await world.main('/pullzone')).flatMap((zone) => [
    ...Object.keys(zone).filter((name) => !names.includes(name)),
    ...Object.entries(zoneFields).filter(([name, kind]) => !isOf(kind, zone[name as keyof PullZone])),
  ]);
  expect(wrong).toEqual([]);
});

test('hostnames, rules and triggers carry exactly their specified members', () => {
  const lab = generateZone(11);
  const [host] = lab.Hostnames ?? [];
  expect(Object.keys(host ?? {})).toEqual(
    'Id Value ForceSSL IsSystemHostname IsManagedHostname HasCertificate Certificate CertificateKey CertificateKeyType CertificateProvisionType'.split(
      ' ',
    ),
  );
  const rule = lab.EdgeRules?.find((rule) => rule.ExtraActions?.length);
  expect(Object.keys(rule ?? {}).toSorted()).toEqual(
    'ActionParameter1 ActionParameter2 ActionParameter3 ActionType Description Enabled ExtraActions Guid OrderIndex ReadOnly TriggerMatchingType Triggers'.split(
      ' ',
    ),
  );
  expect(Object.keys(rule?.Triggers?.[0] ?? {})).toEqual([
    'Type',
    'PatternMatches',
    'PatternMatchingType',
    'Parameter1',
  ]);
});

test('the zone edge-lab has a rule of each of the 36 action types and each of the 14 trigger types', () => {
  const lab = generateZone(11);
  expect(lab.Name).toBe('edge-lab');
  const actions = (lab.EdgeRules ?? []).map((rule) => rule.ActionType);
  expect(actions).toEqual([...Array.from({ length: 35 }, (_, type) => type), 37]);
  const triggers = new Set(
    lab.EdgeRules?.flatMap((rule) => rule.Triggers ?? []).map((trigger) => trigger.Type),
  );
  expect([...triggers].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 14 }, (_, type) => type));
});

const share = (zone: PullZone): number =>
  zone.MonthlyBandwidthLimit > 0 ? zone.MonthlyBandwidthUsed / zone.MonthlyBandwidthLimit : 0;

test('the first page holds every state a person may meet', async () => {
  await using world = await openCdn();
  const zones = zonesIn(await world.main('/pullzone?search='));
  expect(zones).toHaveLength(60);
  const findByName = (matches: (zone: PullZone) => boolean) =>
    zones
      .slice(0, 12)
      .filter(matches)
      .map((zone) => zone.Name);
  expect(findByName((zone) => !zone.Enabled)).toEqual(['checkout']);
  expect(findByName((zone) => zone.Suspended)).toEqual(['video']);
  expect(findByName((zone) => zone.Enabled && share(zone) > 0.8)).toEqual(['media', 'images']);
  expect(findByName((zone) => zone.Hostnames?.some((host) => !host.HasCertificate) ?? false)).toEqual([
    'docs',
    'shop-staging',
  ]);
  expect(findByName((zone) => zone.EdgeScriptId > 0)).toEqual(['shop', 'shop-staging']);
  expect(findByName((zone) => (zone.MiddlewareScriptId ?? 0) > 0)).toEqual(['blog']);
  expect(findByName((zone) => zone.MagicContainersAppId !== null)).toEqual(['api']);
  expect(findByName((zone) => zone.MonthlyBandwidthLimit === 0).length).toBeGreaterThan(2);
});

test('every secret member of a zone is planted somewhere', () => {
  const text = JSON.stringify(Array.from({ length: 60 }, (_, index) => generateZone(index)));
  const kinds =
    'zone-security-key aws-signing-key aws-signing-secret log-forwarding-token certificate certificate-key origin-password log-password edge-rule-request-header edge-rule-response-header edge-rule-trigger-header edge-rule-origin-password extra-action';
  expect(kinds.split(' ').filter((kind) => !text.includes(`${canaryMark}-${kind}-`))).toEqual([]);
});

test('a zone is the same in every run and for every count', async () => {
  await using small = await openCdn({ zones: 20 });
  await using large = await openCdn({ zones: 2500 });
  const path = '/pullzone?page=1&perPage=20';
  expect(pageIn(await small.main(path)).Items).toEqual(pageIn(await large.main(path)).Items);
  expect(generateZone(1999)).toEqual(generateZone(1999));
});

test('a change to a small world is on the wire at once', async () => {
  await using world = await openCdn({
    data: { zones: [zone({ Name: 'one' }), zone({ Name: 'two', Id: 7 })] },
  });
  await world.main('/pullzone');
  const [one] = world.cdn.data.zones;
  if (one) one.Enabled = false;
  world.cdn.data.zones.push(zone({ Name: 'three', Id: 8 }));
  const zones = zonesIn(await world.main('/pullzone'));
  expect(zones.map(({ Id, Name, Enabled }) => [Id, Name, Enabled])).toEqual([
    [1001, 'one', false],
    [7, 'two', true],
    [8, 'three', true],
  ]);
});

test('the summary of an app has the five specified members, a chart of thirty UTC days, and status where it is known', async () => {
  await using world = await openCdn({ zones: 0 });
  const summary = (await world.main('/mc/apps/app0api00000001/summary')).json() as { latencyChart: object };
  expect(summary).toEqual({
    averageLatency: 41.7,
    currentLatency: 38.2,
    totalVolumeSizeInGb: 30,
    monthlyCost: 3.57,
    latencyChart: expect.any(Object),
    status: 'active',
  });
  const days = Object.keys(summary.latencyChart);
  expect([days.length, days[0], days.at(-1)]).toEqual([30, '2026-10-22T00:00:00Z', '2026-11-20T00:00:00Z']);
  expect((await world.main('/mc/apps/app0idle0000003/summary')).json()).not.toHaveProperty('status');
});

test('scans of uploads are 28 days up to today, keyed dd-MM-yyyy, with totals that are their sums', async () => {
  await using world = await openCdn({ zones: 0 });
  world.cdn.data.shieldZones.push({ id: 504, plan: 'advanced', overview: null });
  const ask = async (id: number) =>
    (await world.main(`/shield/metrics/shield-zone/${id}/upload-scanning`)).json() as {
      data: { overviewPastTwentyEightDays: Record<string, Record<string, number>> };
    };
  const { data } = await ask(501);
  const days = Object.entries(data.overviewPastTwentyEightDays);
  expect([days.length, days[0]?.[0], days.at(-1)?.[0]]).toEqual([28, '24-10-2026', '20-11-2026']);
  const sum = (member: string) => days.reduce((total, [, day]) => total + (day[member] ?? Number.NaN), 0);
  expect(data).toMatchObject({
    totalLoggedRequests: sum('loggedRequests'),
    totalBlockedRequests: sum('blockedRequests'),
    totalFilesScanned: sum('filesScanned'),
  });
  const nothing = { totalLoggedRequests: 0, totalBlockedRequests: 0, totalFilesScanned: 0 };
  // Of a zone that saw nothing, and of one that knows nothing.
  for (const [id, overviewPastTwentyEightDays] of [
    [503, {}],
    [504, null],
  ] as const)
    expect(await ask(id)).toEqual({ error: null, data: { overviewPastTwentyEightDays, ...nothing } });
});

const logsIn = (answer: RawAnswer) => (answer.json() as { logs: OriginErrorEntry[] }).logs;
const checkout = 1006;

test('a failing zone answers entries of its day: ms, a log that is JSON in a string, labels that are strings', async () => {
  await using world = await openCdn();
  const answer = await world.origin(`/${checkout}/11-19-2026`);
  expect(Object.keys(answer.json() as object)).toEqual(['logs']);
  const logs = logsIn(answer);
  expect(logs).toHaveLength(240);
  expect(new Set(logs.map((entry) => entry.logId)).size).toBe(240);
  for (const entry of logs) {
    expect(Object.keys(entry)).toEqual(['logId', 'timestamp', 'log', 'labels']);
    expect(new Date(entry.timestamp).toISOString().slice(0, 10)).toBe('2026-11-19');
    const log: unknown = JSON.parse(entry.log);
    const { ErrorCode, StatusCode, ServerZone } = entry.labels;
    expect([typeof ErrorCode, typeof StatusCode, typeof ServerZone]).toEqual(['string', 'string', 'string']);
    expect(log).toMatchObject({
      RequestUrl: expect.any(String),
      PullZoneId: checkout,
      Message: expect.any(String),
      ErrorCode,
      StatusCode: Number(StatusCode),
    });
  }
  expect(answer.text).toContain(`${canaryMark}-request-url-token`);
  expect(answer.text).toContain(`${canaryMark}-request-cookie`);
});

test('the same day answers the same entries, and entries come in no order', async () => {
  await using world = await openCdn();
  const [first, second] = [
    await world.origin(`/${checkout}/11-19-2026`),
    await world.origin(`/${checkout}/11-19-2026`),
  ];
  expect(first.text).toBe(second.text);
  const times = logsIn(first).map((entry) => entry.timestamp);
  expect(times).not.toEqual(times.toSorted((a, b) => a - b));
  expect(times).not.toEqual(times.toSorted((a, b) => b - a));
});

test.each([true, false])('hasMoreData %s comes with its two tokens', async (hasMoreData) => {
  await using world = await openCdn();
  world.cdn.data.originErrors.hasMoreData = hasMoreData;
  const answer = (await world.origin(`/${checkout}/11-20-2026`)).json();
  const continuationToken = hasMoreData ? 'next-entries' : '';
  expect(answer).toEqual({ logs: expect.any(Array), hasMoreData, continuationToken, startToken: '' });
});

const path = '/shield/event-logs/501/export';
const window = { from: noon - hourMs, to: noon };
const post = (body: unknown): RawOptions => ({ method: 'POST', body });

/** A second reading of RFC 4180, so that the file is not judged by the code that wrote it. */
function readCsv(text: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') rows.push([]);
  }
  const [names = [], ...body] = rows.slice(0, -1);
  return body.map((cells) => Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ''])));
}

test('cells with formulas, quotes and line breaks arrive unchanged', async () => {
  await using world = await openCdn({ zones: 0 });
  const rows = readCsv((await world.main(path, post(window))).text);
  const agents = rows.map((row) => row['ua'] ?? '');
  expect(agents).toContain('two\r\nlines, and a "quote"');
  const starts = new Set(rows.flatMap((row) => [row['url']?.[0], row['ua']?.[0]]));
  expect(['=', '@', '+', '-', '\t'].filter((start) => !starts.has(start))).toEqual([]);
});

test('72 hours bind the end of the window, and the start only where the service is that strict', async () => {
  await using world = await openCdn({ zones: 0 });
  const early = { from: noon - 100 * hourMs, to: noon - 72 * hourMs };
  expect((await world.main(path, post(early))).status).toBe(200);
  world.cdn.data.eventLogs.bindStart = true;
  expect((await world.main(path, post(early))).status).toBe(400);
  expect((await world.main(path, post({ from: noon - 72 * hourMs, to: noon }))).status).toBe(200);
});

type Row = Readonly<Record<string, string>>;
const by = (field: string, op: string, ...value: string[]) => ({ filters: [{ field, op, value }] });
const both = { filters: [...by('country', 'eq', 'DE').filters, ...by('action', 'eq', 'blocked').filters] };

test.each<[string, object, (row: Row) => boolean | undefined]>([
  ['eq', by('action', 'eq', 'blocked'), (row) => row['action'] === 'blocked'],
  ['values with OR', by('country', 'in', 'DE', 'FR'), (row) => /^(?:DE|FR)$/u.test(row['country'] ?? '')],
  ['filters with AND', both, (row) => row['country'] === 'DE' && row['action'] === 'blocked'],
  ['contains', by('ua', 'contains', 'SQLMAP'), (row) => row['ua']?.includes('sqlmap')],
  ['wildcard', by('url', 'wildcard', '/wp-*.php'), (row) => row['url'] === '/wp-login.php'],
  [
    'an IPv4 network',
    by('ip', 'cidr', '203.0.113.0/25'),
    (row) => /^203\.0\.113\.(\d|\d\d|1[01]\d|12[0-7])$/.test(row['ip'] ?? ''),
  ],
  ['an IPv6 network', by('ip', 'cidr', '2001:db8::/32'), (row) => row['ip']?.includes(':')],
  ['the query in a URL', { query: 'WP-LOGIN' }, (row) => row['url'] === '/wp-login.php'],
  ['the query in a rule id', { query: '942100' }, (row) => row['ruleId'] === '942100'],
  ['the query in a rule name', { query: 'headless' }, (row) => row['ruleName'] === 'Headless browser'],
])('%s keeps exactly the rows it should', async (_name, narrowing, matches) => {
  await using world = await openCdn({ zones: 0 });
  const all = readCsv((await world.main(path, post(window))).text);
  const kept = readCsv((await world.main(path, post({ ...window, ...narrowing }))).text);
  expect(kept).toEqual(all.filter(matches));
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.length).toBeLessThan(all.length);
});

test('without an announced length the file comes in chunks', async () => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main(path, post(window));
  expect(answer.headers.get('content-length')).toBeNull();
  expect(answer.headers.get('transfer-encoding')).toBe('chunked');
});
