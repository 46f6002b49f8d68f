import { randomBytes } from 'node:crypto';
import { type Keyring, readKeyring } from '../../../src/auth/keyring/keyring.ts';
import { Secret } from '../../../src/secrets/secret.ts';

/** `kid:base64key` for each id, with a fresh key. */
export function generateKeys(...ids: string[]): string {
  return ids.map((id) => `${id}:${randomBytes(32).toString('base64')}`).join(',');
}

export async function createKeyring(entries = generateKeys('k1')): Promise<Keyring> {
  return (await readKeyring({ keys: new Secret(entries) })).keyring;
}
