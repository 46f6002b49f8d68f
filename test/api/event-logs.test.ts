import { expect, test } from 'vitest';
import type { EventLogExport } from '../../src/api/event-logs.ts';
import { answerAlways, codeOf, expectApiError, sendBody, startStubCdn } from './stub-cdn.ts';

const now = Date.parse('2026-11-20T12:00:00Z');
const hours = (count: number) => new Date(now - count * 3_600_000);
const lastHour: EventLogExport = { from: hours(1), to: hours(0) };
const options = { now: () => now };

async function exportRows(answer: Parameters<typeof startStubCdn>[0], wanted: EventLogExport = lastHour) {
  const cdn = await startStubCdn(answer);
  const file = await cdn.client(options).eventLogs.export('501', wanted);
  return { cdn, file };
}

test('an export is one POST that asks for CSV, with the window in ms', async () => {
  const filters = [{ field: 'country', op: 'in', value: ['DE', 'FR'] }];
  const { cdn, file } = await exportRows(
    (_, response) => {
      response
        .writeHead(200, { 'content-type': 'text/csv', 'content-length': '8', 'cdn-requestid': 'r1' })
        .end('a,b\n1,2\n');
    },
    { ...lastHour, query: 'wp-login', filters },
  );
  expect(cdn.requests).toMatchObject([
    {
      method: 'POST',
      path: '/shield/event-logs/501/export',
      headers: {
        accept: 'text/csv, application/problem+json;q=0.9, application/json;q=0.9',
        'content-type': 'application/json',
      },
    },
  ]);
  expect(JSON.parse(cdn.requests[0]?.body ?? '')).toEqual({
    from: now - 3_600_000,
    to: now,
    query: 'wp-login',
    filters,
  });
  expect(file).toMatchObject({ length: 8 });
  expect(await new Response(file.body).text()).toBe('a,b\n1,2\n');
});

test('a file arrives as it is sent, byte for byte, and without a length where none was announced', async () => {
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
  const { file } = await exportRows(
    (_, response) => void response.writeHead(200, { 'content-type': 'text/csv' }).end(bytes),
  );
  expect(file.length).toBeUndefined();
  expect(Buffer.from(await new Response(file.body).arrayBuffer()).equals(bytes)).toBe(true);
});

test('a header alone is a file, and so is a JSON list of rows', async () => {
  for (const body of ['a,b', 'time\nnow', '[{"ip":"203.0.113.7","action":"blocked"}]', '[{"a":1}]']) {
    const { file } = await exportRows((_, response) => sendBody(response, 200, body));
    expect(await new Response(file.body).text()).toBe(body);
  }
});

const message = 'You can only view the past 72 hours.';
const refusal = { statusCode: 401, success: false, message, errorKey: 'invalid_datetime_window.event_logs' };

test.each([
  ['an errorResponse', 200, { logs: null, errorResponse: refusal }],
  ['an error', 200, { error: refusal, data: null }],
  ['shape B', 200, { type: 'x', title: 'Bad Request', status: 400, detail: message }],
  ['a 401 about the window', 401, { logs: null, errorResponse: refusal }],
])('%s (%i) is a refusal and no file', async (_, status, body) => {
  for (const contentType of ['application/json', 'text/csv']) {
    const cdn = await answerAlways(status, body, { 'content-type': contentType });
    const error = await expectApiError(cdn.client(options).eventLogs.export('501', lastHour));
    expect(error).toMatchObject({ code: 'refused', status, serviceMessage: message });
  }
});

test.each<[string, number, string, string]>([
  ['a web page', 200, '<!DOCTYPE html><p>Sign in', 'text/html'],
  ['a file that is not made yet', 202, '', 'text/csv'],
  ['a redirect', 302, '', 'text/csv'],
  ['a part of the file', 206, 'time,ip\n2026-11-20T11:00:00Z,203.0.113.7\n', 'text/csv'],
  ['a sentence', 200, 'Your request was queued, try again later.', 'text/plain'],
  ['a sentence in two lines', 200, 'Service unavailable\nPlease try again\n', 'text/csv'],
  ...[
    '[]',
    '{}',
    'null',
    '"none"',
    '{"logs":null}',
    '<Error>\na,b</Error>',
    '{"error":{"code":5,"a":1}}',
  ].map((body): [string, number, string, string] => [JSON.stringify(body), 200, body, 'text/csv']),
  ['a long document', 200, `{"logs":"${'x'.repeat(100_000)}"}`, 'application/json'],
])('%s with status %i is no file of events', async (_, status, body, contentType) => {
  const cdn = await answerAlways(status, body, { 'content-type': contentType });
  expect(await codeOf(cdn.client(options).eventLogs.export('501', lastHour))).toBe('unexpected');
});

test.each(['', ' \r\n', '\uFEFF'])(
  '%j is an empty file, so whether there were events is unknown',
  async (body) => {
    const cdn = await answerAlways(200, body, { 'content-type': 'text/csv' });
    expect(await codeOf(cdn.client(options).eventLogs.export('501', lastHour))).toBe('empty');
  },
);

test('the export only reads, so a 502 is asked again', async () => {
  const { cdn } = await exportRows((_, response, count) =>
    sendBody(response, count === 1 ? 502 : 200, count === 1 ? '' : 'a\n'),
  );
  expect(cdn.requests).toHaveLength(2);
});

test('a file that breaks off fails while it is read', async () => {
  const { file } = await exportRows((_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('a,b\n', () => response.destroy());
  });
  expect(await codeOf(new Response(file.body).text())).toBe('cut');
});

test('a file that begins with spaces without end is passed on, not kept', async () => {
  const { file } = await exportRows((_, response) => void response.writeHead(200).write(' '.repeat(100_000)));
  expect((await file.body.next()).done).toBeFalsy();
  await file.body.return();
});

test.each([72, 73])('a window that ended %i hours ago is refused before anything is sent', async (ago) => {
  const cdn = await startStubCdn(() => ({}));
  const wanted = { from: hours(74), to: hours(ago) };
  await expect(cdn.client(options).eventLogs.export('501', wanted)).rejects.toThrow(
    'The window ends more than 72 hours ago',
  );
  expect(cdn.requests).toEqual([]);
});

test('a window that begins before the 72 hours and ends in them is sent as it is', async () => {
  const edge = new Date(now - 72 * 3_600_000 + 5 * 60_000);
  for (const window of [
    { from: hours(100), to: hours(0) },
    { from: hours(73), to: edge },
  ]) {
    const { cdn } = await exportRows((_, response) => void response.writeHead(200).end('a,b'), window);
    expect(cdn.requests[0]?.body).toContain(`"from":${window.from.getTime()},`);
  }
});
