import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSealer, readKeyId, type SealContext, SealError } from '../../../src/auth/keys/sealing.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createKeyring, generateKeys } from '../keyring/keyrings.ts';

const context: SealContext = { tenant: 'T0ACME000', userId: 'U0ALICE00', kind: 'cdn-key' };
const sealer = createSealer(await createKeyring());

const contexts = fc.record({
  tenant: fc.string({ maxLength: 12 }),
  userId: fc.string({ maxLength: 12 }),
  kind: fc.string({ maxLength: 12 }),
  version: fc.nat(),
});

test('whatever is sealed comes back in its context', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), contexts, async (text, context) => {
      const sealed = await sealer.seal(new Secret(text), context);
      expect((await sealer.open(sealed, context)).reveal()).toBe(text);
    }),
  );
});

test('no changed character opens', async () => {
  const sealed = await sealer.seal(new Secret('the key of alice'), context);
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: sealed.length - 1 }),
      fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.='.split('')),
      async (at, character) => {
        fc.pre(sealed[at] !== character);
        const changed = sealed.slice(0, at) + character + sealed.slice(at + 1);
        await expect(sealer.open(changed, context)).rejects.toBeInstanceOf(SealError);
      },
    ),
    { numRuns: 400 },
  );
});

test('no shortened part opens, nor one under a header that names a shorter tag or another algorithm', async () => {
  const sealed = await sealer.seal(new Secret('the key of alice'), context);
  const parts = sealed.split('.');
  const shortened = parts.slice(1).map((part, index) => parts.with(index + 1, part.slice(0, -4)));
  const header = JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString()) as Record<string, string>;
  const headers = [
    { ...header, tag: header['tag']?.slice(0, 6) },
    { ...header, alg: 'dir' },
    { ...header, enc: 'A128GCM' },
    { ...header, iv: undefined },
  ].map((changed) => parts.with(1, Buffer.from(JSON.stringify(changed)).toString('base64url')));
  for (const changed of [...shortened, ...headers])
    await expect(sealer.open(changed.join('.'), context)).rejects.toBeInstanceOf(SealError);
});

test('no other context opens it', async () => {
  await fc.assert(
    fc.asyncProperty(contexts, contexts, async (right, wrong) => {
      fc.pre(JSON.stringify(right) !== JSON.stringify(wrong));
      const sealed = await sealer.seal(new Secret('key'), right);
      await expect(sealer.open(sealed, wrong)).rejects.toMatchObject({ code: 'refused' });
    }),
  );
});

test('a version changed, added or left out does not open it', async () => {
  const versions = [undefined, 1, 2, Date.parse('2026-11-21')];
  for (const right of versions) {
    const sealed = await sealer.seal(new Secret('key'), { ...context, version: right });
    expect((await sealer.open(sealed, { ...context, version: right })).reveal()).toBe('key');
    for (const wrong of versions.filter((version) => version !== right)) {
      await expect(sealer.open(sealed, { ...context, version: wrong })).rejects.toMatchObject({
        code: 'refused',
      });
    }
  }
});

test('a signature holds for its own parts, in their order, under its own key', async () => {
  const parts = fc.array(fc.oneof(fc.string({ maxLength: 8 }), fc.nat()), { maxLength: 5 });
  const other = createSealer(await createKeyring());
  fc.assert(
    fc.property(parts, parts, (right, wrong) => {
      const signature = sealer.sign(right);
      expect(sealer.verify(right, signature)).toBe(true);
      expect(other.verify(right, signature)).toBe(false);
      fc.pre(JSON.stringify(right) !== JSON.stringify(wrong));
      expect(sealer.verify(wrong, signature)).toBe(false);
    }),
  );
});

test('no flipped bit of a signature holds, nor a shorter or longer one', () => {
  const signature = sealer.sign(['a', 1]);
  const bytes = Buffer.from(signature.mac, 'hex');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(sealer.verify(['a', 1], { ...signature, mac: flipped.toString('hex') })).toBe(false);
  }
  for (const mac of ['', signature.mac.slice(2), `${signature.mac}00`, 'not hexadecimal'])
    expect(sealer.verify(['a', 1], { ...signature, mac })).toBe(false);
  expect(() => sealer.verify(['a', 1], { ...signature, keyId: 'lost' })).toThrow(SealError);
});

test('what earlier versions sealed opens, and what they signed holds', async () => {
  const earlier = createSealer(await createKeyring(`k1:${Buffer.alloc(32, 7).toString('base64')}`));
  const sealed = [
    'v1.eyJhbGciOiJBMjU2R0NNS1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoiazEiLCJpdiI6IjgwV2pFZHBjcXlMYnRmNzMi',
    'LCJ0YWciOiJxOTRCZXVzZXJjcmptM3dQTG52N1RnIn0.zDD8IviGvhy2pL56ZI2xOpy7nRet9mHY9P7Ar04f3rA.',
    'tTNjY8S9TzWRZ2zZ.VKQNth8xbkZStHnSgds32A.-1NZ6Mq9Z5c30rN3Vt_07w',
  ].join('');
  expect((await earlier.open(sealed, { ...context, version: 1 })).reveal()).toBe('the key of alice');
  const mac = '272f22d4db1be613b0b36c907ba1ce8d6c7cd3d8ce78ac13de4e9ad37b769e64';
  expect(earlier.sign(['a', 1])).toEqual({ keyId: 'k1', mac });
});

test('a sealed value says which key sealed it', async () => {
  expect(readKeyId(await sealer.seal(new Secret('key'), context))).toBe(sealer.keyId);
  expect(() => readKeyId('plain text')).toThrow(SealError);
});

test('the context is not stored, and sealing twice gives different text', async () => {
  const once = await sealer.seal(new Secret('key'), context);
  const twice = await sealer.seal(new Secret('key'), context);
  expect(once).not.toBe(twice);
  expect(once.split('.')).toHaveLength(6);
  const stored = once
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString('latin1'))
    .join('\n');
  expect(stored).not.toContain(context.userId);
});

test('a key that left the keyring is named in the refusal', async () => {
  const sealed = await createSealer(await createKeyring(generateKeys('lost'))).seal(
    new Secret('key'),
    context,
  );
  const refused = sealer.open(sealed, context);
  await expect(refused).rejects.toMatchObject({ code: 'unknown_key', keyId: 'lost' });
  await expect(refused).rejects.toThrowErrorMatchingInlineSnapshot(
    `[SealError: The key "lost" of a stored value is not in the keyring.]`,
  );
});

test('another key under the same id does not open it', async () => {
  const sealed = await createSealer(await createKeyring(generateKeys('k1'))).seal(new Secret('key'), context);
  await expect(sealer.open(sealed, context)).rejects.toMatchObject({ code: 'refused' });
});

test.each([
  ['nothing', 'unknown_version', ''],
  ['plain text', 'unknown_version', 'key'],
  ['a later version', 'unknown_version', 'v2.a.b.c.d.e'],
  ['too few parts', 'malformed', 'v1.a.b.c'],
  ['too many parts', 'malformed', 'v1.YQ.YQ.YQ.YQ.YQ.YQ'],
  ['a header that is not JSON', 'malformed', 'v1.YQ.YQ.YQ.YQ.YQ'],
  ['a header alone', 'refused', `v1.${Buffer.from(`{"kid":"${sealer.keyId}"}`).toString('base64url')}....`],
  [
    'a header without a key id',
    'malformed',
    `v1.${Buffer.from('{"alg":"dir"}').toString('base64url')}.YQ.YQ.YQ.YQ`,
  ],
])('%s is refused as %s', async (_name, code, text) => {
  await expect(sealer.open(text, context)).rejects.toMatchObject({ code });
});

test('other algorithms are refused, even ones that the key would fit', async () => {
  for (const header of [
    { alg: 'dir', enc: 'A256GCM', kid: sealer.keyId },
    { alg: 'A256KW', enc: 'A256GCM', kid: sealer.keyId },
    {
      alg: 'A256GCMKW',
      enc: 'A256CBC-HS512',
      kid: sealer.keyId,
      iv: 'AAAAAAAAAAAAAAAA',
      tag: 'AAAAAAAAAAAAAAAAAAAAAA',
    },
  ]) {
    const part = Buffer.from(JSON.stringify(header)).toString('base64url');
    await expect(sealer.open(`v1.${part}.YQ.YQ.YQ.YQ`, context)).rejects.toMatchObject({ code: 'refused' });
  }
});
