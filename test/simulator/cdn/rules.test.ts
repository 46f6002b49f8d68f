import { afterAll, beforeAll, expect, test } from 'vitest';
import { noon, openCdn, type RawOptions } from './raw-client.ts';

// One line a rule: what it says, the request, and the status and body that answer it.

const hourMs = 3_600_000;
const window = { from: noon - hourMs, to: noon };
const post = (body: unknown, more: RawOptions = {}): RawOptions => ({ method: 'POST', body, ...more });
const remove: RawOptions = { method: 'DELETE' };

const app = '/mc/apps/app0api00000001';
const variable = '/compute/script/301/variables/12';
const scanning = (id: string): string => `/shield/metrics/shield-zone/${id}/upload-scanning`;
const logs = '/shield/event-logs/501/export';

const denied = { Message: 'Authorization has been denied for this request.' };
const invalid = { ErrorKey: 'validation_error', Field: expect.anything(), Message: expect.any(String) };
const shapeA = (more: object): object =>
  expect.objectContaining({ instance: expect.any(String), detail: expect.any(String), ...more });
const shapeB = {
  type: expect.any(String),
  title: 'Bad Request',
  status: 400,
  detail: expect.any(String),
  instance: expect.any(String),
};
const unauthorized = expect.objectContaining({ title: 'Unauthorized', status: 401 });
const lacksCompute = (message: string): object => ({ ErrorKey: 'not_found', Field: null, Message: message });

type Rule = [rule: string, path: string, options: RawOptions, status: number, body?: unknown];

let world: Awaited<ReturnType<typeof openCdn>>;
beforeAll(async () => {
  world = await openCdn({ zones: 5 });
});
afterAll(() => world.cdn.close());

/** Each operation with what its surface answers to a key that is missing or wrong. */
const operations: readonly (readonly [name: string, path: string, options: RawOptions, refusal: unknown])[] =
  [
    ['List Pull Zones', '/pullzone', {}, denied],
    ['List API Keys', '/apikey', {}, denied],
    ['Update Variable', variable, post({}), denied],
    ['Get Application Usage Summary', `${app}/summary`, {}, ''],
    ['Delete All Volume Instances', `${app}/volumes/my-data-volume`, remove, unauthorized],
    ['Get upload scanning metrics', scanning('501'), {}, unauthorized],
    ['Export Event Logs as CSV', logs, post(window), unauthorized],
  ];

test.each(operations)('%s takes its key and refuses others in the way of its surface', async (...given) => {
  const [name, path, options, refusal] = given;
  await using own = await openCdn({ zones: 5 });
  for (const key of [null, 'not-a-key']) {
    const { status, text, headers } = await own.main(path, { ...options, key });
    expect([status, text === '' ? '' : JSON.parse(text)]).toEqual([401, refusal]);
    expect(headers.get('cdn-requestid')).toMatch(/^[0-9a-f]{32}$/);
  }
  expect(own.cdn.data.volumeDeletions).toEqual([]);
  const restricted = await own.main(path, { ...options, key: own.cdn.restrictedKey });
  expect(restricted.status).toBe(name === 'List API Keys' ? 401 : 200);
  // What was deleted is gone.
  const again = await own.main(path, options);
  expect(again.status).toBe(name === 'Delete All Volume Instances' ? 404 : 200);
});

const list = (field: string, op: string, value: unknown): RawOptions =>
  post({ ...window, filters: [{ field, op, value }] });

const refusedWindows: Readonly<Record<string, unknown>> = {
  'from and to are missing': {},
  'to is missing': { from: noon - hourMs },
  'a bound is a text': { from: String(noon - hourMs), to: noon },
  'to equals from': { from: noon, to: noon },
  'to is before from': { from: noon, to: noon - 1 },
  'to is in the future': { from: noon, to: noon + 1 },
  'to is older than 72 hours': { from: noon - 74 * hourMs, to: noon - 72 * hourMs - 1 },
  'the query is no text': { ...window, query: 7 },
  'filters are no list': { ...window, filters: {} },
  'the body is no JSON': '{',
};

const rules: readonly Rule[] = [
  // Paths and methods.
  ...['/user', '/pullzone/1001', '/mc/apps', '/pullzone/', '/mc/apps/%E0%A4%A/summary'].map(
    (path): Rule => ['an unspecified path is not found', path, {}, 404],
  ),
  ['a wrong method is named as such', '/pullzone', post({}), 405],

  // List Pull Zones.
  ...[
    'page=-1',
    'page=2147483648',
    'page=one',
    'page=1.5',
    'page=1&perPage=1001',
    'page=1&perPage=many',
    'includeCertificate=perhaps',
  ].map(
    (query): Rule => ['a parameter out of its bounds is refused', `/pullzone?${query}`, {}, 400, invalid],
  ),

  // List API Keys.
  ...['page=0', 'page=-1', 'page=2147483648', 'page=x', 'perPage=1001'].map(
    (query): Rule => ['a parameter out of its bounds is refused', `/apikey?${query}`, {}, 400, invalid],
  ),

  // Apps and volumes.
  [
    'an unknown application is a 404 of shape A',
    '/mc/apps/nobody/summary',
    {},
    404,
    shapeA({
      title: 'Not Found',
      status: 404,
      detail: 'Application is not found.',
      errors: [],
      id: 'nobody',
    }),
  ],
  ...['/mc/apps/nobody/volumes/my-data-volume', `${app}/volumes/nothing`, `${app}/volumes/constructor`].map(
    (path): Rule => ['an unknown volume is a 404', path, remove, 404, shapeA({ status: 404 })],
  ),
  [
    'an attached instance refuses the deletion and is named',
    `${app}/volumes/live-volume`,
    remove,
    400,
    shapeA({
      detail: 'Some volume instances are not detached.',
      errors: [{ field: 'volumeId', message: 'Instance vi-3 is not detached.' }],
    }),
  ],

  // Variables.
  ...(
    [
      [{ DefaultValue: 'x'.repeat(4097) }, 'DefaultValue'],
      [{ DefaultValue: 1 }, 'DefaultValue'],
      [{ Required: 'yes' }, 'Required'],
      [[], null],
      ['{', null],
    ] as const
  ).map(
    ([body, Field]): Rule => ['a value that does not fit', variable, post(body), 400, { ...invalid, Field }],
  ),
  ...[
    ['/compute/script/999/variables/12', 'Script not found'],
    ['/compute/script/301/variables/999', 'Variable not found'],
    ['/compute/script/302/variables/12', 'Variable not found'],
    ['/compute/script/abc/variables/12', 'Script not found'],
  ].map(
    ([path = '', message = '']): Rule => ['an unknown variable', path, post({}), 404, lacksCompute(message)],
  ),
  ['a body that is not announced as JSON', variable, post('{}', { contentType: 'text/plain' }), 415],
  [
    'JSON with a character set',
    variable,
    post('{}', { contentType: 'application/json; charset=utf-8' }),
    200,
  ],

  // Upload scanning: a refusal is a success without data.
  ...(
    [
      [404, '999', 'not_found_or_unauthorised_access.shieldzone'],
      [404, 'abc', 'not_found_or_unauthorised_access.shieldzone'],
      [400, '502', 'invalid_plan_type.upload_scanning'],
    ] as const
  ).map(([statusCode, id, errorKey]): Rule => {
    const error = { statusCode, success: false, message: expect.any(String), errorKey };
    return ['a shield zone that has none', scanning(id), {}, 200, { error, data: null }];
  }),

  // Event logs.
  ...Object.entries(refusedWindows).map(([why, body]): Rule => [why, logs, post(body), 400, shapeB]),
  ['a field is unknown', logs, list('colour', 'eq', ['red']), 400, shapeB],
  ['an op is unknown', logs, list('ip', 'near', ['x']), 400, shapeB],
  ['cidr is used on a country', logs, list('country', 'cidr', ['10.0.0.0/8']), 400, shapeB],
  ['a value is no list', logs, list('ip', 'eq', '203.0.113.7'), 400, shapeB],
  [
    'an unknown shield zone',
    '/shield/event-logs/999/export',
    post(window),
    400,
    { ...shapeB, detail: 'The shield zone does not exist.' },
  ],
  ...['application/json; charset=utf-8', 'text/json', 'application/problem+json'].map(
    (contentType): Rule => [`a body announced as ${contentType}`, logs, post(window, { contentType }), 200],
  ),
  ...['text/plain', 'application/jsonp'].map(
    (contentType): Rule => [`a body announced as ${contentType}`, logs, post(window, { contentType }), 415],
  ),
];

test.each(rules)('%s: %s', async (_rule, path, options, status, body?) => {
  const answer = await world.main(path, options);
  const found = { status: answer.status, body: body === undefined ? undefined : answer.json() };
  expect(found).toEqual({ status, body });
});

test.each([
  ['an unknown zone has no entries', '/999999/11-20-2026', 200],
  ['a zone that is no number has none', '/abc/11-20-2026', 200],
  ['a day that does not exist has none', '/1006/02-31-2026', 200],
  ['a day and a month that are swapped have none', '/1006/20-11-2026', 200],
  ['another format of the day is refused', '/1006/2026-11-20', 400],
  ['single digits are refused', '/1006/1-2-2026', 400],
  ['a short year is refused', '/1006/11-20-26', 400],
  ['a word is refused', '/1006/today', 400],
])('origin errors: %s', async (_rule, path, status) => {
  const answer = await world.origin(path);
  expect(answer.status).toBe(status);
  expect(answer.text).not.toContain('logId');
});

test('origin error logs refuse a wrong key without a body and accept the right one', async () => {
  const refused = await world.origin('/1001/11-20-2026', { key: 'not-a-key' });
  expect([refused.status, refused.text]).toEqual([401, '']);
  expect((await world.origin('/1001/11-20-2026')).status).toBe(200);
});

test('a request is recorded whole with an id of its own, but never with its key', async () => {
  await using own = await openCdn({ zones: 5 });
  const coming = own.cdn.received((request) => request.path === '/pullzone', 2);
  await own.main('/pullzone?page=1&search=shop', { headers: { authorization: 'some-token' } });
  await own.main(variable, { ...post({ Required: true }), key: 'not-a-key' });
  await own.main('/pullzone?page=2');
  expect((await coming).query).toEqual({ page: '2' });
  const [listed, update] = own.cdn.requests;
  expect(listed).toMatchObject({
    host: 'main',
    method: 'GET',
    path: '/pullzone',
    query: { page: '1', search: 'shop' },
    key: 'full',
    body: undefined,
    at: noon,
    status: 200,
    headers: { accesskey: '[full key]', authorization: '[wrong key]' },
  });
  expect(update).toMatchObject({ key: 'wrong', body: { Required: true }, status: 401 });
  expect(new Set(own.cdn.requests.map(({ requestId }) => requestId)).size).toBe(3);
  const recorded = JSON.stringify(own.cdn.requests);
  for (const secret of [own.cdn.key, 'not-a-key', 'some-token']) expect(recorded).not.toContain(secret);
});

test('a volume whose instances are all detached is deleted once: 200 with the ids, then 404', async () => {
  await using own = await openCdn({ zones: 0 });
  const [api] = own.cdn.data.apps;
  if (!api) throw new Error('no app was generated');
  for (const instance of api.volumes['live-volume'] ?? []) instance.detached = true;
  api.volumes['odd/name ü'] = [{ id: 'vi-9', detached: true }];
  const deleteVolume = async (name: string) => {
    const answer = await own.main(`${app}/volumes/${encodeURIComponent(name)}`, remove);
    return [answer.status, (answer.json() as { ids?: unknown }).ids];
  };
  expect(await deleteVolume('my-data-volume')).toEqual([200, ['vi-1', 'vi-2']]);
  expect(await deleteVolume('my-data-volume')).toEqual([404, undefined]);
  expect(await deleteVolume('live-volume')).toEqual([200, ['vi-3', 'vi-4']]);
  expect(await deleteVolume('odd/name ü')).toEqual([200, ['vi-9']]);
  expect(own.cdn.data.volumeDeletions.map(({ status }) => status)).toEqual([200, 404, 200, 200]);
});
