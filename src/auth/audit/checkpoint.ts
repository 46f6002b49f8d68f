import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Db, Schema } from '../../store/schema.ts';

/** The head of a chain at a moment, signed. Kept elsewhere, it shows whether the chain was rewritten or cut since. */
export interface Checkpoint {
  readonly tenant: string;
  readonly seq: number;
  readonly head: string;
  readonly at: Date;
  readonly kid: string;
  readonly signature: string;
}

export type CheckpointRow = Selectable<Schema['audit_checkpoints']>;

/** Signs with the private key (Ed25519). */
export function signCheckpoint(facts: Omit<Checkpoint, 'signature' | 'kid'>, key: KeyObject): Checkpoint {
  const named = { ...facts, kid: publicKeyId(createPublicKey(key)) };
  return { ...named, signature: sign(null, Buffer.from(formatSignedText(named)), key).toString('base64') };
}

/** Whether this key's private half signed it and it is unchanged. */
export function isSignedBy(key: KeyObject, checkpoint: Checkpoint): boolean {
  if (checkpoint.kid !== publicKeyId(key)) return false;
  const signature = Buffer.from(checkpoint.signature, 'base64');
  return verify(null, Buffer.from(formatSignedText(checkpoint)), key, signature);
}

/** One line; the signature covers everything before ` sig=`. */
export function writeCheckpoint(checkpoint: Checkpoint): string {
  return `${formatSignedText(checkpoint)} sig=${checkpoint.signature}`;
}

/** Finds every checkpoint in a text: a message, a mail, a file with one a day. */
export function readCheckpoints(text: string): Checkpoint[] {
  const found = [...text.matchAll(written)].map(
    ([, tenant = '', seq, head = '', at = '', kid = '', signature = '']) => ({
      tenant,
      seq: Number(seq),
      head,
      at: new Date(at),
      kid,
      signature,
    }),
  );
  // 31 February parses to an invalid date.
  return found.filter(({ at }) => !Number.isNaN(at.getTime()));
}

/** Names a public key: sixteen hexadecimal characters of a SHA-256 over its 32 bytes. */
export function publicKeyId(publicKey: KeyObject): string {
  return createHash('sha256').update(rawBytes(publicKey)).digest('hex').slice(0, 16);
}

/** The 32 bytes of a public key in base64. */
export function writePublicKey(publicKey: KeyObject): string {
  return rawBytes(publicKey).toString('base64');
}

/** A public key as PEM or as its 32 bytes in base64; undefined for anything else. */
export function readPublicKey(text: string): KeyObject | undefined {
  try {
    const [raw] = /^[\w+/-]{43}=?$/u.exec(text.trim()) ?? [];
    const x = raw && Buffer.from(raw, 'base64').toString('base64url');
    const key = x
      ? createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
      : createPublicKey(text);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

function formatSignedText({ tenant, seq, head, at, kid }: Omit<Checkpoint, 'signature'>): string {
  return `cdn-chatops audit checkpoint v1 tenant=${tenant} seq=${seq} head=${head} at=${at.toISOString()} kid=${kid}`;
}

// Copied through mails and chats a line may be wrapped; the words in it are the same.
const written = new RegExp(
  [
    'cdn-chatops',
    'audit',
    'checkpoint',
    'v1',
    String.raw`tenant=([\w-]{1,64})`,
    String.raw`seq=([1-9]\d{0,14})`,
    String.raw`head=([0-9a-f]{64})`,
    String.raw`at=(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z)`,
    String.raw`kid=([0-9a-f]{16})`,
    String.raw`sig=([A-Za-z0-9+/]{86}==)`,
  ].join(String.raw`\s+`),
  'gu',
);

function rawBytes(publicKey: KeyObject): Buffer {
  const { x } = publicKey.export({ format: 'jwk' });
  if (typeof x !== 'string') throw new Error('This key has no public bytes');
  return Buffer.from(x, 'base64url');
}

/** The newest day's, in any state. */
export function findLastCheckpointDay(db: Db, tenant: string): Promise<CheckpointRow | undefined> {
  return selectDays(db, tenant).orderBy('day', 'desc').limit(1).executeTakeFirst();
}

type PostedCheckpoint = Checkpoint & Pick<CheckpointRow, 'channel'>;

/** The newest that was posted. */
export async function findLastCheckpoint(db: Db, tenant: string): Promise<PostedCheckpoint | undefined> {
  const rows = await selectPosted(db, tenant).orderBy('day', 'desc').limit(1).execute();
  return rows.map(toCheckpoint)[0];
}

/** All that were posted, oldest first: one a day. */
export async function findCheckpoints(db: Db, tenant: string): Promise<PostedCheckpoint[]> {
  return (await selectPosted(db, tenant).orderBy('day').execute()).map(toCheckpoint);
}

function selectDays(db: Db, tenant: string) {
  return db.selectFrom('audit_checkpoints').selectAll().where('tenant', '=', tenant);
}

// `unknown`: Slack may have posted it.
function selectPosted(db: Db, tenant: string) {
  return selectDays(db, tenant).where('state', 'in', ['posted', 'unknown']);
}

function toCheckpoint({ tenant, seq, head, at, kid, signature, channel }: CheckpointRow): PostedCheckpoint {
  return { tenant, seq: seq ?? 0, head: head ?? '', at, kid: kid ?? '', signature: signature ?? '', channel };
}
