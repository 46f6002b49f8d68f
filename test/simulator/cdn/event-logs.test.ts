import { expect, test } from 'vitest';
import { noon, openCdn, type RawOptions } from './raw-client.ts';

const path = '/shield/event-logs/501/export';
const HOUR = 3_600_000;
const window = { from: noon - HOUR, to: noon };
const post = (body: unknown, more: RawOptions = {}): RawOptions => ({ method: 'POST', body, ...more });

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

test('an export is a CSV file with a header, every row inside the window', async () => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main(path, post(window));
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/csv');
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="event-logs-501.csv"');
  const rows = readCsv(answer.text);
  expect(rows).toHaveLength(200);
  for (const row of rows) {
    expect(Object.keys(row)).toEqual(
      'timestamp action feature ruleId ruleName ip country asn url ua ja4'.split(' '),
    );
    expect(Date.parse(row['timestamp'] ?? '')).toBeGreaterThanOrEqual(window.from);
    expect(Date.parse(row['timestamp'] ?? '')).toBeLessThanOrEqual(window.to);
  }
});

test('cells with formulas, quotes and line breaks arrive unchanged', async () => {
  await using world = await openCdn({ zones: 0 });
  const rows = readCsv((await world.main(path, post(window))).text);
  const agents = rows.map((row) => row['ua'] ?? '');
  expect(agents).toContain('two\r\nlines, and a "quote"');
  const starts = new Set(rows.flatMap((row) => [row['url']?.[0], row['ua']?.[0]]));
  expect(['=', '@', '+', '-', '\t'].filter((start) => !starts.has(start))).toEqual([]);
});

test.each([
  ['from and to are missing', {}],
  ['to is missing', { from: noon - HOUR }],
  ['a bound is a text', { from: String(noon - HOUR), to: noon }],
  ['to equals from', { from: noon, to: noon }],
  ['to is before from', { from: noon, to: noon - 1 }],
  ['to is in the future', { from: noon, to: noon + 1 }],
  ['to is older than 72 hours', { from: noon - 74 * HOUR, to: noon - 72 * HOUR - 1 }],
  ['the query is no text', { ...window, query: 7 }],
  ['filters are no list', { ...window, filters: {} }],
  ['a field is unknown', { ...window, filters: [{ field: 'colour', op: 'eq', value: ['red'] }] }],
  ['an op is unknown', { ...window, filters: [{ field: 'ip', op: 'near', value: ['x'] }] }],
  [
    'cidr is used on a country',
    { ...window, filters: [{ field: 'country', op: 'cidr', value: ['10.0.0.0/8'] }] },
  ],
  ['a value is no list', { ...window, filters: [{ field: 'ip', op: 'eq', value: '203.0.113.7' }] }],
  ['the body is no JSON', '{'],
])('where %s, the answer is 400 in shape B', async (_name, body) => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main(path, post(body));
  expect(answer.status).toBe(400);
  expect(answer.json()).toEqual({
    type: expect.any(String),
    title: 'Bad Request',
    status: 400,
    detail: expect.any(String),
    instance: expect.any(String),
  });
});

test('72 hours bind the end of the window, and the start only where the service is that strict', async () => {
  await using world = await openCdn({ zones: 0 });
  const early = { from: noon - 100 * HOUR, to: noon - 72 * HOUR };
  expect((await world.main(path, post(early))).status).toBe(200);
  world.cdn.data.eventLogs.bindStart = true;
  expect((await world.main(path, post(early))).status).toBe(400);
  expect((await world.main(path, post({ from: noon - 72 * HOUR, to: noon }))).status).toBe(200);
});

test('a window outside may be refused with 401 and an errorKey, which is not a bad key', async () => {
  await using world = await openCdn({ zones: 0 });
  world.cdn.data.eventLogs.windowRefusal = 401;
  const answer = await world.main(path, post({ from: noon - 90 * HOUR, to: noon - 80 * HOUR }));
  expect(answer.status).toBe(401);
  expect(answer.json()).toMatchObject({
    logs: null,
    errorResponse: { statusCode: 401, success: false, errorKey: 'invalid_datetime_window.event_logs' },
  });
});

test.each([
  ['application/json', 200],
  ['application/json; charset=utf-8', 200],
  ['text/json', 200],
  ['application/problem+json', 200],
  ['text/plain', 415],
  ['application/jsonp', 415],
])('a body announced as %s answers %d', async (contentType, status) => {
  await using world = await openCdn({ zones: 0 });
  expect((await world.main(path, post(window, { contentType }))).status).toBe(status);
});

test('an unknown shield zone is refused in shape B', async () => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main('/shield/event-logs/999/export', post(window));
  expect([answer.status, answer.json()]).toEqual([
    400,
    expect.objectContaining({ detail: 'The shield zone does not exist.' }),
  ]);
});

const rowOf = (row: Record<string, string>, name: string): string => row[name] ?? '';
test.each<[string, object, (row: Record<string, string>) => boolean]>([
  [
    'eq',
    { filters: [{ field: 'action', op: 'eq', value: ['blocked'] }] },
    (row) => row['action'] === 'blocked',
  ],
  [
    'values of one filter, with OR',
    { filters: [{ field: 'country', op: 'in', value: ['DE', 'FR'] }] },
    (row) => ['DE', 'FR'].includes(rowOf(row, 'country')),
  ],
  [
    'two filters, with AND',
    {
      filters: [
        { field: 'country', op: 'eq', value: ['DE'] },
        { field: 'action', op: 'eq', value: ['blocked'] },
      ],
    },
    (row) => row['country'] === 'DE' && row['action'] === 'blocked',
  ],
  [
    'contains',
    { filters: [{ field: 'ua', op: 'contains', value: ['SQLMAP'] }] },
    (row) => rowOf(row, 'ua').includes('sqlmap'),
  ],
  [
    'wildcard',
    { filters: [{ field: 'url', op: 'wildcard', value: ['/wp-*.php'] }] },
    (row) => row['url'] === '/wp-login.php',
  ],
  [
    'an IPv4 network',
    { filters: [{ field: 'ip', op: 'cidr', value: ['203.0.113.0/25'] }] },
    (row) => /^203\.0\.113\.(\d|\d\d|1[01]\d|12[0-7])$/.test(rowOf(row, 'ip')),
  ],
  [
    'an IPv6 network',
    { filters: [{ field: 'ip', op: 'cidr', value: ['2001:db8::/32'] }] },
    (row) => rowOf(row, 'ip').includes(':'),
  ],
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

test('an export without matches is only the header', async () => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main(path, post({ ...window, query: 'nothing like it' }));
  expect(answer.text).toBe('timestamp,action,feature,ruleId,ruleName,ip,country,asn,url,ua,ja4\r\n');
});

test.each([100, 3000, 262_144, 5_000_001])(
  'a file of %d bytes is that large to within a line, and its length is announced exactly',
  async (bytes) => {
    await using world = await openCdn({ zones: 0 });
    Object.assign(world.cdn.data.eventLogs, { bytes, announceLength: true });
    const answer = await world.main(path, post(window));
    const size = Buffer.byteLength(answer.text);
    expect(Number(answer.headers.get('content-length'))).toBe(size);
    expect(size).toBeLessThanOrEqual(bytes);
    expect(size).toBeGreaterThan(bytes - 400);
    expect(answer.text.endsWith('\r\n')).toBe(true);
  },
);

test('without an announced length the file comes in chunks', async () => {
  await using world = await openCdn({ zones: 0 });
  const answer = await world.main(path, post(window));
  expect(answer.headers.get('content-length')).toBeNull();
  expect(answer.headers.get('transfer-encoding')).toBe('chunked');
});
