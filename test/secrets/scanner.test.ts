import { inspect } from 'node:util';
import { assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createFileScanner,
  findSecretKinds,
  isDistinctive,
  redactDoubtful,
  redactSecrets,
  redactValues,
  textOf,
} from '../../src/secrets/scanner.ts';
import {
  allowSecrets,
  registerSecret,
  registerSecrets,
  Secret,
  withSecrets,
} from '../../src/secrets/secret.ts';

const key = '0b1c2d3e-1111-2222-3333-44445555666677778888-9999-aaaa-bbbb-ccccddddeeee';
const odd = 'p&ss <w"rd>/+ü=\\100%';

/** What somebody with this secret would find in a text. */
function findIn(text: string, value: string): readonly string[] {
  return withSecrets(() => {
    registerSecret('planted', value);
    return findSecretKinds(text);
  });
}

const spellings: [string, (value: string) => string][] = [
  ['as it is', (value) => value],
  ['in capitals', (value) => value.toUpperCase()],
  ['in small letters', (value) => value.toLowerCase()],
  ['in JSON', (value) => JSON.stringify({ value })],
  ['in JSON within JSON', (value) => JSON.stringify({ inner: JSON.stringify({ value }) })],
  [
    'escaped for Slack',
    (value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  ],
  ['in an address', (value) => `https://example.com/?a=${encodeURIComponent(value)}`],
  ['in a form', (value) => new URLSearchParams({ value }).toString()],
  ['in JSON in a form', (value) => new URLSearchParams({ blocks: JSON.stringify([value]) }).toString()],
  ['in base64', (value) => Buffer.from(value).toString('base64')],
  ['in base64 behind one character', (value) => Buffer.from(`:${value}`).toString('base64')],
  ['in base64 behind a name', (value) => Buffer.from(`ab${value}@host`).toString('base64')],
  ['in base64url', (value) => Buffer.from(value).toString('base64url')],
  ['in hexadecimal', (value) => Buffer.from(value).toString('hex')],
  ['in capital hexadecimal', (value) => Buffer.from(value).toString('hex').toUpperCase()],
];

describe.each([
  ['a key', key],
  ['a value with everything that gets escaped', odd],
])('%s', (_, value) => {
  test.each(spellings)('%s is found', (_, spelled) => {
    expect(findIn(`before ${spelled(value)} behind`, value)).toEqual(['planted']);
  });
});

test('a stored installation is none as a whole: its tokens are noted by themselves', () => {
  const stored = JSON.stringify({ team: { id: 'T0ACME000', name: 'The Acme Company of New York' } });
  const found = withSecrets(() => {
    registerSecret('installation', stored);
    return findSecretKinds(stored);
  });
  expect(found).toEqual([]);
});

test('any secret is found in any spelling, wherever in a text it stands', () => {
  const secrets = string({ unit: 'grapheme-ascii', minLength: 6, maxLength: 90 }).filter(isDistinctive);
  assert(
    property(secrets, string({ maxLength: 40 }), constantFrom(...spellings), (value, around, [, spelled]) => {
      expect(findIn(`${around}${spelled(value)}${around}`, value)).toEqual(['planted']);
    }),
    { numRuns: 500 },
  );
});

test('in the bytes of a file any secret is found as in a text, and nothing else', () => {
  const unit = constantFrom(...Array.from('abcXYZ019-_.!&"<>%+/=\\ üÉ東'));
  const secrets = string({ unit, minLength: 6, maxLength: 60 }).filter(isDistinctive);
  const bytes = string({ unit: 'grapheme', maxLength: 40 });
  assert(
    property(secrets, bytes, constantFrom(...spellings.slice(3)), (value, around, [, spelled]) => {
      withSecrets(() => {
        registerSecret('planted', value);
        expect(findSecretKinds(Buffer.from(`${around}${spelled(value)}${around}`))).toEqual(['planted']);
        const plain = around.replaceAll(/[^a-c]/gu, '');
        expect(findSecretKinds(Buffer.from(plain))).toEqual(findSecretKinds(plain));
      });
    }),
    { numRuns: 500 },
  );
  withSecrets(() => {
    registerSecret('planted', key);
    expect(findSecretKinds(Buffer.from(`1,${key.toUpperCase()},2`))).toEqual(['planted']);
    expect(findSecretKinds(Buffer.from(key.slice(0, 10)))).toEqual([]);
  });
});

test.each([1, 7, 64, 1000])('a file that comes in pieces of %i bytes hides none', (size) => {
  withSecrets(() => {
    registerSecret('planted', key);
    const scan = createFileScanner();
    const around = '.'.repeat(300);
    const file = Buffer.from(`${around}${key}${around}`);
    const found: string[] = [];
    for (let at = 0; at < file.length; at += size) found.push(...scan(file.subarray(at, at + size)));
    expect([...new Set(found)]).toEqual(['planted']);
  });
});

test('a short secret across two long pieces of a file is found', () => {
  withSecrets(() => {
    registerSecret('planted', 'p4ss!w');
    const scan = createFileScanner();
    const around = '.'.repeat(300);
    expect([`${around}p4s`, `s!w${around}`].flatMap((piece) => scan(Buffer.from(piece)))).toEqual([
      'planted',
    ]);
  });
});

test('a short secret that is met after long ones, and many of them, are found wherever they stand', () => {
  withSecrets(() => {
    registerSecret('long', key);
    expect(findSecretKinds('nothing')).toEqual([]);
    for (let before = 0; before < 20; before += 1)
      expect(findSecretKinds(`${'.'.repeat(before)}${key}`)).toEqual(['long']);
    registerSecret('short', 'p4ss!w');
    for (let before = 0; before < 20; before += 1) {
      expect(findSecretKinds(`${'.'.repeat(before)}p4ss!w..`)).toEqual(['short']);
      expect(findSecretKinds(`${'.'.repeat(before)}${key}`)).toEqual(['long']);
    }
    for (let nth = 0; nth < 300; nth += 1) registerSecret('many', `${nth}-0b1c2d3e-4444-${nth}`);
    for (let before = 0; before < 20; before += 1) {
      expect(findSecretKinds(`${'.'.repeat(before)}299-0b1c2d3e-4444-299`)).toEqual(['many']);
      expect(findSecretKinds(`${'.'.repeat(before)}${key}`)).toEqual(['long']);
    }
  });
});

test('half of a key is found as well', () => {
  for (let from = 0; from <= key.length - 48; from += 1) {
    expect(findIn(`It was ${key.slice(from, from + 48)}…`, key)).toEqual(['planted']);
  }
});

test('a value with many spaces is not found by what is left where Slack makes one of them', () => {
  expect(findIn('the key k1 x', 'k1      x')).toEqual([]);
  expect(findIn('the key k1      x', 'k1      x')).toEqual(['planted']);
});

test('a certificate key is found by any of its first lines', () => {
  const lines = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'q8R2vT5yX1zA4cB7dE0fG3hI6jK9lM2n'];
  const pem = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');
  for (const line of lines) expect(findIn(`log: ${line}`, pem)).toEqual(['planted']);
  expect(findIn('-----BEGIN PRIVATE KEY-----', pem)).toEqual([]);
});

test.each([
  'on',
  'true',
  'production',
  'storefront',
  '500000',
  '2026-11-21',
  'cdn.example.com',
  'https://api.example.com/',
])('a value that is as ordinary as %s stops nothing', (value) => {
  expect(findIn(`The zone ${value} is fine.`, value)).toEqual([]);
});

test('what one piece of work met is no matter of another one', async () => {
  const met = withSecrets(async () => {
    registerSecret('planted', key);
    registerSecret('planted', undefined);
    await Promise.resolve();
    return findSecretKinds(key);
  });
  const other = withSecrets(async () => {
    await met;
    return findSecretKinds(key);
  });
  expect(await met).toEqual(['planted']);
  expect(await other).toEqual([]);
});

test('a secret that is learnt inside a nested piece of work is found outside of it', async () => {
  const found = await withSecrets(async () => {
    await withSecrets(async () => registerSecret('planted', key));
    return findSecretKinds(key);
  });
  expect(found).toEqual(['planted']);
});

test('making or revealing a secret is enough for it to be looked for', () => {
  const before = new Secret(key, 'cdn-key');
  expect(withSecrets(() => findSecretKinds(key))).toEqual([]);
  expect(
    withSecrets(() => {
      before.reveal();
      return findSecretKinds(key);
    }),
  ).toEqual(['cdn-key']);
  expect(
    withSecrets(() => {
      const shown = new Secret(odd);
      expect([String(shown), inspect(shown), JSON.stringify([shown])]).toEqual([
        '[secret]',
        '[secret]',
        '["[secret]"]',
      ]);
      return findSecretKinds(odd);
    }),
  ).toEqual(['secret']);
});

test('a kind that is carried passes, for that step and nothing else', () => {
  withSecrets(() => {
    registerSecret('link-token', 'q8R2vT5yX1zA4cB7dE0fG3');
    registerSecret('cdn-key', key);
    const both = `q8R2vT5yX1zA4cB7dE0fG3 ${key}`;
    expect(allowSecrets(['link-token'], () => findSecretKinds(both))).toEqual(['cdn-key']);
    expect(findSecretKinds(both)).toEqual(['link-token', 'cdn-key']);
    const [early, token] = ['secret', 'Zx81mQ44pLr7'];
    for (const kind of [early, 'link-token']) registerSecret(kind, token);
    expect(allowSecrets(['link-token'], () => findSecretKinds(token))).toEqual([]);
  });
  expect(allowSecrets(['link-token'], () => findSecretKinds(key))).toEqual([]);
});

test('what is held is looked for everywhere, until it is let go', () => {
  const letGo = registerSecrets({ 'signing-secret': ['8f742231b10e8888abcd99yyyzzz85a5', undefined] });
  expect(findSecretKinds('v0=8f742231b10e8888abcd99yyyzzz85a5')).toEqual(['signing-secret']);
  letGo();
  expect(findSecretKinds('v0=8f742231b10e8888abcd99yyyzzz85a5')).toEqual([]);
});

test('a masked text keeps everything but the secret', () => {
  withSecrets(() => {
    registerSecret('cdn-key', key);
    const text = JSON.stringify({ a: key, b: key.toUpperCase(), c: 1, d: `${key.slice(0, 40)}…` });
    expect(redactSecrets(text)).toBe('{"a":"[secret]","b":"[secret]","c":1,"d":"[secret]…"}');
    for (const encoded of ['base64', 'hex'] as const)
      expect(redactSecrets(`key ${Buffer.from(key).toString(encoded)}, twice`)).toBe('key [secret], twice');
    registerSecret('variable-value', odd);
    expect(redactSecrets(JSON.stringify({ odd }))).toBe('{"odd":"[secret]"}');
  });
});

describe('a doubtful value', () => {
  const value = 'tenant-42/blue';

  test('holds nothing back and is masked where it stands, in texts and names, in any spelling', () => {
    withSecrets(() => {
      registerSecret('variable-value', value);
      const message = {
        text: `to ${value}`,
        blocks: [{ [value]: 1 }, JSON.stringify({ value }), null, undefined],
      };
      expect(findSecretKinds(JSON.stringify(message))).toEqual([]);
      expect(redactDoubtful(message)).toEqual({
        text: 'to [secret]',
        blocks: [{ '[secret]': 1 }, '{"value":"[secret]"}', null, undefined],
      });
      expect(redactSecrets(value)).toBe('[secret]');
    });
  });

  test('that is a live key stops everything', () => {
    withSecrets(() => {
      registerSecret('variable-value', key);
      registerSecret('cdn-key', key);
      registerSecret('variable-value', key);
      expect(findSecretKinds(key)).toEqual(['cdn-key']);
    });
  });

  test('leaves the bytes of bodies and files alone', () => {
    withSecrets(() => {
      registerSecret('variable-value', value);
      const bytes = Buffer.from(value);
      expect(redactDoubtful({ bytes }).bytes).toBe(bytes);
      expect(findSecretKinds(bytes)).toEqual([]);
    });
  });
});

test('there is an end to what one piece of work can fill the memory with', () => {
  withSecrets(() => {
    for (let nth = 0; nth < 5_000; nth += 1) registerSecret('planted', `value-number-${nth}-of-many`);
    expect(findSecretKinds('value-number-1999-of-many')).toEqual(['planted']);
    expect(findSecretKinds('value-number-2000-of-many')).toEqual([]);
  });
  withSecrets(() => {
    registerSecret('planted', `${key}${'x'.repeat(999_900)}`);
    registerSecret('planted', odd.repeat(5));
    registerSecret('planted', 'p4ss!w');
    expect(findSecretKinds(odd.repeat(5))).toEqual([]);
    expect(findSecretKinds(' p4ss!w ')).toEqual(['planted']);
  });
});

test('of everything that may leave all texts are looked through, also names, numbers and bytes', () => {
  const content = {
    name: [1, 2n, null, undefined, true],
    bytes: Buffer.from('bytes'),
    form: new URLSearchParams({ field: 'typed' }),
    made: { toJSON: () => ({ inner: 'json' }) },
    odd: { toJSON: 'text' },
  };
  expect(textOf(content).split('\n')).toEqual(
    'name 1 2    bytes bytes form typed made inner json odd toJSON text'.split(' '),
  );
});

test('of values that are masked those of three letters or fewer are left, which would spoil every text', () => {
  expect(redactValues('the code 1234 of the', ['the', '1234'])).toBe('the code [secret] of the');
});

test('a secret beside a very long word is masked in time that grows with the length', () => {
  const long = 'a1'.repeat(40_000);
  const encoded = Buffer.from(key).toString('base64');
  const started = performance.now();
  expect(redactValues(`${long} x${encoded}y ${long}`, [key])).toBe(`${long} [secret] ${long}`);
  // Tried from each character of the long words: some thirty seconds.
  expect(performance.now() - started).toBeLessThan(3000);
});
