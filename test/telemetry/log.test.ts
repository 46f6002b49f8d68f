import { Writable } from 'node:stream';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { registerSecret, Secret, withSecrets } from '../../src/secrets/secret.ts';
import { createBoundedWriter, createLogger, type LogLevel } from '../../src/telemetry/log.ts';

function createCapturedLog(level: LogLevel = 'debug') {
  const lines: string[] = [];
  return { lines, log: createLogger(level, { write: (line) => lines.push(line) }) };
}

const secret = 'S3CRET-value-that-must-not-show';

const secretNames = `token botToken bot_token refreshToken accessKey AccessKey access_key Authorization authorization
  cookie client_secret signingSecret response_url response_urls trigger_id private_metadata
  initial_value defaultValue DefaultValue ZoneSecurityKey AWSSigningSecret LogForwardingToken
  CertificateKey databaseUrl`;

test.each(secretNames.split(/\s+/u))('a member named %s is masked at any depth', (name) => {
  const { lines, log } = createCapturedLog();
  log.debug({ [name]: secret }, 'top');
  log.info({ request: { headers: [{ [name]: secret }] } }, 'deep');
  log.warn({ [name]: { nested: secret } }, 'an object');
  log.error({ [name]: [secret] }, 'a list');
  expect(lines).toHaveLength(4);
  expect(lines.join('')).not.toContain(secret);
});

test('what was typed into a view is masked, a state that is a word is not', () => {
  const { lines, log } = createCapturedLog();
  log.debug({ view: { state: { values: { accessKey: { accessKey: { value: secret } } } } } }, 'submitted');
  log.debug({ values: { field: secret } }, 'fields');
  log.debug({ state: 'approved' }, 'moved');
  expect(lines.join('')).not.toContain(secret);
  expect(lines[2]).toContain('"state":"approved"');
});

// Assembled here, so that no line of this file looks like a credential.
const tokenShapes = [
  ['xoxb', '1234567890-abcdefABCDEF'].join('-'),
  ['xoxp', '1234567890-abcdef'].join('-'),
  ['xapp', '1-A0000-123-abcdef'].join('-'),
  [['xoxe', 'xoxb'].join('.'), '1-abcdef'].join('-'),
  ['xoxe', '1-abcdef'].join('-'),
  '0b1c2d3e-1111-2222-3333-44445555666677778888-9999-aaaa-bbbb-ccccddddeeee',
  '0b1c2d3e-1111-2222-333344445555-6666-7777',
];

test.each(tokenShapes)('a string that holds %s shows the rest only', (token) => {
  const { lines, log } = createCapturedLog();
  log.info({ reason: `refused ${token}, twice`, list: [token] }, `message with ${token}`);
  log.error({ error: new Error(`failed with ${token}`) }, 'failed');
  expect(lines.join('')).not.toContain(token);
  expect(lines[0]).toContain('refused [secret], twice');
});

test('an id of an app or a volume, a plain UUID, stays readable', () => {
  const { lines, log } = createCapturedLog();
  log.info({ app: '0b1c2d3e-1111-4222-8333-444455556666' }, 'x');
  expect(lines[0]).toContain('0b1c2d3e-1111-4222-8333-444455556666');
});

test('credentials in addresses are masked, the rest of the address stays', () => {
  const { lines, log } = createCapturedLog();
  log.info(
    { a: `postgres://bot:${secret}@db.example:5432/bot`, b: new URL(`https://u:${secret}@cdn.example/x`) },
    'x',
  );
  log.info({ a: `wss://slack.example/link?ticket=${secret}&app=1`, b: `Bearer ${secret}` }, 'y');
  log.info({ a: `https://hooks.slack.com/commands/T1/${secret}`, b: `AccessKey: ${secret}` }, 'z');
  for (const name of ['token', 'code', 'client_secret', 'secret', 'key', 'accessKey'])
    log.info({ a: `https://cdn.example/?a=1&${name}=${secret}` }, `Basic ${secret}`);
  expect(lines.join('')).not.toContain(secret);
  expect(lines[0]).toContain('@db.example:5432/bot');
});

test('a secret of no usual form that the work has met is masked, and of a long list its beginning is written', () => {
  const { lines, log } = createCapturedLog();
  withSecrets(() => {
    registerSecret('cdn-key', 'our_shop_key_2024');
    log.info({ zones: Array.from({ length: 60 }, (_, nth) => nth) }, 'told our_shop_key_2024');
  });
  const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
  expect(line).toMatchObject({ msg: 'told [secret]', zones: { length: 50 } });
});

test('a Secret, bytes and objects with a life of their own are named, not shown', () => {
  class Client {
    readonly options = { auth: secret };
  }
  const { lines, log } = createCapturedLog();
  log.info(
    { s: new Secret(secret), client: new Client(), bytes: Buffer.from(secret), map: new Map([[1, secret]]) },
    'x',
  );
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    s: '[secret]',
    client: '[Client]',
    bytes: '[31 bytes]',
    map: '[Map]',
  });
});

test('of an error and its causes only code, name, message and stack are written, wherever it is', () => {
  const lost = Object.assign(new RangeError('The line was cut'), { code: 'EPIPE', params: [secret] });
  const broken = new Error('No connection', { cause: lost });
  lost.cause = broken;
  const failed = Object.assign(new TypeError('The request failed', { cause: broken }), {
    code: 'ECONNRESET',
    options: { headers: { AccessKey: secret } },
    params: [secret],
  });
  const { lines, log } = createCapturedLog();
  log.error({ error: failed, tried: [failed] }, 'x');
  log.error(failed, 'y');
  const line = JSON.parse(lines[0] ?? '');
  expect(Object.keys(line.error)).toEqual(['code', 'name', 'message', 'stack', 'cause']);
  expect(line.error.cause).toMatchObject({
    name: 'Error',
    message: 'No connection',
    cause: { code: 'EPIPE', name: 'RangeError', message: 'The line was cut' },
  });
  expect(line.error.cause.cause).not.toHaveProperty('params');
  expect(line.error).toMatchObject({ code: 'ECONNRESET', name: 'TypeError', message: 'The request failed' });
  expect(line.tried[0].name).toBe('TypeError');
  expect(lines.join('')).not.toContain(secret);
  // The test would be empty if the error did not show it elsewhere.
  expect(inspect(failed)).toContain(secret);
});

test('cycles and depth end, and large numbers are written', () => {
  const { lines, log } = createCapturedLog();
  const loop: Record<string, unknown> = { bytes: 2n ** 60n };
  loop['self'] = loop;
  log.info(loop, 'round');
  expect(lines[0]).toContain('"bytes":"1152921504606846976"');
  expect(lines[0]).toContain('[deeper]');
});

test('a line is one JSON object with level by name, moment and message', () => {
  const { lines, log } = createCapturedLog();
  log.warn({ zone: 7 }, 'slow');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    zone: 7,
    msg: 'slow',
    time: expect.stringMatching(/Z$/),
  });
  expect(lines[0]?.endsWith('\n')).toBe(true);
});

test('lines that nobody reads are dropped above a bound and counted, and the next one that is read says so', () => {
  const read: string[] = [];
  let isReading = false;
  const held: (() => void)[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      read.push(chunk.toString());
      if (isReading) done();
      else held.push(done);
    },
  });
  const writer = createBoundedWriter(stream);
  for (let count = 0; count < 300; count += 1) writer.write('x'.repeat(10_000));
  expect(stream.writableLength).toBe(1_000_000);
  isReading = true;
  for (const done of held) done();
  writer.write('last');
  expect(read).toHaveLength(102);
  expect(JSON.parse(read[100] ?? '')).toMatchObject({
    level: 'warn',
    dropped: 200,
    msg: 'log lines dropped',
  });
  // A reader that goes away is no reason to end.
  stream.destroy(new Error('EPIPE'));
  writer.write('later');
});
