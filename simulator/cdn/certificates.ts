import { generateKeyPairSync, sign } from 'node:crypto';

// X.509 (RFC 5280) in DER, as far as a self-signed certificate needs it. node:crypto reads certificates and makes none.
const tags = { integer: 0x02, bits: 0x03, oid: 0x06, utf8: 0x0c, time: 0x17, sequence: 0x30, set: 0x31 };
const commonName = Buffer.from('550403', 'hex');
const ed25519 = Buffer.from('2b6570', 'hex');
const yearMs = 365 * 86_400_000;

let keys: ReturnType<typeof createKeys> | undefined;

/** A self-signed certificate for a hostname that ends at a moment before 2050, as Base64Url of PEM. */
export function makeCertificate(hostname: string, endsAt: Date): string {
  keys ??= createKeys();
  const algorithm = encode(tags.sequence, encode(tags.oid, ed25519));
  const attribute = encode(
    tags.sequence,
    encode(tags.oid, commonName),
    encode(tags.utf8, Buffer.from(hostname)),
  );
  const name = encode(tags.sequence, encode(tags.set, attribute));
  const validity = encode(tags.sequence, encodeTime(new Date(endsAt.getTime() - yearMs)), encodeTime(endsAt));
  const body = encode(
    tags.sequence,
    encode(tags.integer, Buffer.from([1])),
    algorithm,
    name,
    validity,
    name,
    keys.publicKey,
  );
  const signature = Buffer.concat([Buffer.from([0]), sign(null, body, keys.privateKey)]);
  const certificate = encode(tags.sequence, body, algorithm, encode(tags.bits, signature));
  const lines = certificate.toString('base64').replaceAll(/.{64}(?=.)/gu, '$&\n');
  const pem = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  return Buffer.from(pem).toString('base64url');
}

function createKeys() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { publicKey: publicKey.export({ type: 'spki', format: 'der' }), privateKey };
}

/** UTCTime: `261201000000Z`. */
function encodeTime(at: Date): Buffer {
  return encode(tags.time, Buffer.from(`${at.toISOString().replaceAll(/\D/gu, '').slice(2, 14)}Z`));
}

function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}
