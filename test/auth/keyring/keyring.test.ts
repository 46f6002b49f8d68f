import { chmod, lstat, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readKeyring } from '../../../src/auth/keyring/keyring.ts';
import { UserError } from '../../../src/errors.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createTempDirectory } from '../../support/temp-directory.ts';
import { generateKeys } from './keyrings.ts';

const key = (fill: number, length = 32): string => Buffer.alloc(length, fill).toString('base64');

async function refusal(options: Parameters<typeof readKeyring>[0]): Promise<UserError> {
  const error: unknown = await readKeyring(options).catch((thrown: unknown) => thrown);
  if (!(error instanceof UserError)) throw new Error('it was not refused in words');
  return error;
}

test('the first key is primary, the others are known', async () => {
  const { keyring, created, warning } = await readKeyring({
    keys: new Secret(`new:${key(1)}, old:${key(2)}`),
  });
  expect(keyring.primary.id).toBe('new');
  expect(keyring.ids).toEqual(['new', 'old']);
  expect(keyring.find('old')?.key.export()).toEqual(Buffer.alloc(32, 2));
  expect(keyring.find('other')).toBeUndefined();
  expect([created, warning]).toEqual([undefined, undefined]);
});

test('base64 for addresses and without padding is read as well', async () => {
  const bytes = Buffer.alloc(32, 0xfb);
  const { keyring } = await readKeyring({ keys: new Secret(`k:${bytes.toString('base64url')}`) });
  expect(keyring.primary.key.export()).toEqual(bytes);
});

test('what is no keyring is refused, by its position and without the key', async () => {
  const wrong: Record<string, string> = {
    nothing: ' ',
    'an entry without a colon': `a:${key(1)},${key(2)}`,
    'a bad key id': `a b:${key(1)}`,
    'a key id with other characters': `a.b:${key(1)}`,
    'an empty key id': `:${key(1)}`,
    'a key id that is too long': `${'a'.repeat(33)}:${key(1)}`,
    'a short key': `a:${key(1)},b:${key(2, 16)}`,
    'a long key': `a:${key(1, 33)}`,
    'no key': 'a:',
    'a key that is not base64': `a:${key(1).slice(0, -2)}!=`,
    'a repeated id': `a:${key(1)},b:${key(2)},a:${key(3)}`,
    'a repeated key': `a:${key(1)},b:${key(1)}`,
  };
  const said: Record<string, string> = {};
  for (const [what, text] of Object.entries(wrong)) {
    const { message, hint } = await refusal({ keys: new Secret(text) });
    said[what] = message;
    for (const fill of [1, 2, 3]) expect(`${message} ${hint}`).not.toContain(key(fill).slice(0, 20));
  }
  expect(said).toMatchInlineSnapshot(`
    {
      "a bad key id": "ENCRYPTION_KEYS: entry 1 has no key ID: the colon is missing.",
      "a key id that is too long": "ENCRYPTION_KEYS: entry 1 has a bad key ID: 1 to 32 letters, digits, - or _.",
      "a key id with other characters": "ENCRYPTION_KEYS: entry 1 has a bad key ID: 1 to 32 letters, digits, - or _.",
      "a key that is not base64": "ENCRYPTION_KEYS: entry 1 holds a key that is not base64.",
      "a long key": "ENCRYPTION_KEYS: entry 1 holds a key of 33 bytes, not 32.",
      "a repeated id": "ENCRYPTION_KEYS: entry 3 repeats the key ID of entry 1.",
      "a repeated key": "ENCRYPTION_KEYS: entry 2 repeats the key of entry 1.",
      "a short key": "ENCRYPTION_KEYS: entry 2 holds a key of 16 bytes, not 32.",
      "an empty key id": "ENCRYPTION_KEYS: entry 1 has a bad key ID: 1 to 32 letters, digits, - or _.",
      "an entry without a colon": "ENCRYPTION_KEYS: entry 2 has no key ID: the colon is missing.",
      "no key": "ENCRYPTION_KEYS: entry 1 holds a key that is not base64.",
      "nothing": "ENCRYPTION_KEYS holds no key.",
    }
  `);
});

test('a file may hold an entry a line', async () => {
  const file = join(await createTempDirectory(), 'keys');
  await writeFile(file, `new:${key(1)}\nold:${key(2)}\n`, { mode: 0o600 });
  const { keyring, warning } = await readKeyring({ file });
  expect(keyring.ids).toEqual(['new', 'old']);
  expect(warning).toBeUndefined();
});

test.each([0o640, 0o604])('a file that others can read works, with a warning: %o', async (mode) => {
  const file = join(await createTempDirectory(), 'keys');
  await writeFile(file, generateKeys('k1'));
  await chmod(file, mode);
  const { warning } = await readKeyring({ file });
  expect(warning?.replace(file, '<file>')).toMatchInlineSnapshot(
    `"The key file <file> can be read by others on this machine: chmod 600 it."`,
  );
});

test('a file that is not there is named', async () => {
  expect((await refusal({ file: '/nowhere/keys' })).message).toMatchInlineSnapshot(
    `"The key file /nowhere/keys cannot be read (ENOENT)."`,
  );
});

test('the output of a command is a list; one that fails is told without what it printed', async () => {
  const list = generateKeys('new', 'old').replace(',', '\n');
  const { keyring } = await readKeyring({ command: `printf '%s\\n' '${list}'` });
  expect(keyring.ids).toEqual(['new', 'old']);
  const { message, hint } = await refusal({ command: `echo '${list}' >&2; exit 3` });
  expect(message).toBe('ENCRYPTION_KEYS_COMMAND failed (3).');
  for (const part of list.split(/[:\s]/u)) expect(`${message} ${hint}`).not.toContain(` ${part} `);
});

test('without any source the words say how to make a key', async () => {
  expect((await refusal({})).hint).toContain('openssl rand -base64 32');
});

test('the first start makes a key file that only its owner reads, the next one reads it', async () => {
  const createIn = join(await createTempDirectory(), 'data');
  const first = await readKeyring({ createIn });
  expect(first.created).toBe(join(createIn, 'encryption-keys'));
  expect((await stat(join(createIn, 'encryption-keys'))).mode & 0o777).toBe(0o600);
  expect((await stat(createIn)).mode & 0o777).toBe(0o700);
  const second = await readKeyring({ createIn });
  expect(second.created).toBeUndefined();
  expect(second.keyring.ids).toEqual(first.keyring.ids);
  expect(second.keyring.primary.key.equals(first.keyring.primary.key)).toBe(true);
});

test.each(['a file that all read', 'a link'])(
  '%s that was there before does not get the key',
  async (what) => {
    const createIn = await createTempDirectory();
    const [path, other] = [join(createIn, 'encryption-keys'), join(createIn, 'other')];
    await writeFile(other, 'before', { mode: 0o644 });
    await (what === 'a link' ? symlink(other, `${path}.tmp`) : rename(other, `${path}.tmp`));
    await readKeyring({ createIn });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await lstat(path)).isFile()).toBe(true);
    expect(await readFile(other, 'utf8').catch(() => 'before')).toBe('before');
  },
);

test('while rows are sealed a missing key file is named, and no new key is made', async () => {
  const createIn = await createTempDirectory();
  const path = join(createIn, 'encryption-keys');
  expect((await refusal({ createIn, inUse: true })).message).toContain(`${path} is missing`);
  await expect(stat(path)).rejects.toThrow('ENOENT');
  await readKeyring({ createIn });
  expect((await readKeyring({ createIn, inUse: true })).created).toBeUndefined();
});

test('a list in the environment goes before a file, and a file before a command', async () => {
  const file = join(await createTempDirectory(), 'keys');
  await writeFile(file, `file:${key(2)}`, { mode: 0o600 });
  const others = { file, command: `echo command:${key(3)}`, createIn: '/nowhere' };
  const found = [{ ...others, keys: new Secret(`list:${key(1)}`) }, others, { ...others, file: undefined }];
  const ids = await Promise.all(found.map(async (one) => (await readKeyring(one)).keyring.primary.id));
  expect(ids).toEqual(['list', 'file', 'command']);
});

test('two keys that were made have different ids, so that one does not pass for the other', async () => {
  const first = await readKeyring({ createIn: await createTempDirectory() });
  const second = await readKeyring({ createIn: await createTempDirectory() });
  expect(first.keyring.primary.id).not.toBe(second.keyring.primary.id);
});
