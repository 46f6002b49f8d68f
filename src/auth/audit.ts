import { createHash } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { secretKindsIn } from '../secret-search.ts';
import { type AuditRow, appendAudit, auditAfter, lockAuditTail, recentAudit } from '../store/audit.ts';
import type { Schema } from '../store/schema.ts';

/** What can be recorded. A feature that has something new to record adds its word here. */
export type AuditWhat =
  | 'key-linked'
  | 'key-destroyed'
  | 'key-mismatch'
  | 'key-entry-refused'
  | 'policy-changed'
  | 'export-made'
  | 'digest-created'
  | 'digest-changed'
  | 'digest-paused'
  | 'digest-taken-over'
  | 'digest-deleted'
  | 'denied'
  | 'keyring-changed';

export interface AuditInput {
  /** The organisation or workspace (`tenantOf`), or `deployment` for what concerns all of them. */
  readonly tenant: string;
  /** A user id, or `system` where nobody pressed anything. */
  readonly actor: string;
  readonly what: AuditWhat;
  /** Whom or what it concerns: a user id, a zone id, an operation's seal. */
  readonly subject?: string | undefined;
  /** Facts beside it. Never a secret, and never free text that people typed. */
  readonly detail?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly requestId?: string | undefined;
}

export interface AuditEntry {
  readonly tenant: string;
  /** 1, 2, 3 … without gaps in each tenant. */
  readonly seq: number;
  readonly at: Date;
  readonly actor: string;
  readonly what: AuditWhat;
  readonly subject: string | undefined;
  readonly detail: Readonly<Record<string, string | number | boolean>>;
  readonly requestId: string | undefined;
  readonly hash: string;
}

/** The append-only record of who did what, a hash chain in each tenant. */
export interface Audit {
  /**
   * Appends a record, in `options.in` together with the change it tells of (as the last step of that transaction),
   * else in a transaction of its own; with the embedded database never without `in` while a transaction is open.
   *
   * @throws Error where a value looks like a key or token; then nothing is written.
   */
  record(entry: AuditInput, options?: { readonly in?: Transaction<Schema> | undefined }): Promise<void>;
  /** The newest `most` records of a tenant, newest first. */
  recent(tenant: string, most: number): Promise<AuditEntry[]>;
}

/** The tenant of what concerns the whole deployment. No Slack id is a lower-case word. */
export const deployment = 'deployment';

export function createAudit(options: { db: Kysely<Schema>; now: () => Date }): Audit {
  const { db, now } = options;
  const append = async (trx: Transaction<Schema>, entry: Facts): Promise<void> => {
    const tail = await lockAuditTail(trx, entry.tenant);
    const seq = (tail?.seq ?? 0) + 1;
    const at = now();
    const prevHash = tail?.hash ?? beginning;
    await appendAudit(trx, {
      tenant: entry.tenant,
      seq,
      at,
      actor: entry.actor,
      what: entry.what,
      subject: entry.subject,
      detail: JSON.stringify(entry.detail),
      request_id: entry.requestId,
      prev_hash: prevHash,
      hash: hashOf({ ...entry, seq, at, prevHash }),
    });
  };
  return {
    async record(entry, { in: trx } = {}) {
      const facts = storable(entry);
      if (trx) await append(trx, facts);
      else await db.transaction().execute((own) => append(own, facts));
    },
    async recent(tenant, most) {
      return (await recentAudit(db, tenant, most)).map(entryOf);
    },
  };
}

export type ChainVerdict =
  | { readonly ok: true; readonly records: number; readonly head: string | undefined }
  | {
      readonly ok: false;
      /** The place of the first record that is wrong. */
      readonly seq: number;
      /** `missing`: a record is gone. `altered`: it is not what was written. `unlinked`: it does not follow the one before. */
      readonly problem: 'missing' | 'altered' | 'unlinked';
    };

const batch = 500;

/**
 * Reads a tenant's whole chain and names the first record that is wrong. The hashes have no key: whoever can write to
 * the table past its triggers can write a new chain, and records cut off at the end leave a whole, shorter one. Both
 * are seen by comparing `head` and `records` with what was noted elsewhere.
 */
export async function verifyChain(db: Kysely<Schema>, tenant: string): Promise<ChainVerdict> {
  let seq = 0;
  let prevHash = beginning;
  for (;;) {
    const rows = await auditAfter(db, tenant, seq, batch);
    for (const row of rows) {
      if (row.seq !== seq + 1) return { ok: false, seq: seq + 1, problem: 'missing' };
      seq = row.seq;
      if (row.prev_hash !== prevHash) return { ok: false, seq, problem: 'unlinked' };
      if (row.hash !== hashOf(factsOf(row))) return { ok: false, seq, problem: 'altered' };
      prevHash = row.hash;
    }
    if (rows.length < batch) return { ok: true, records: seq, head: seq === 0 ? undefined : prevHash };
  }
}

type Details = Readonly<Record<string, string | number | boolean>>;

interface Facts {
  readonly tenant: string;
  readonly actor: string;
  readonly what: string;
  readonly subject: string | null;
  readonly detail: Details;
  readonly requestId: string | null;
}

const beginning = '0'.repeat(64);

/** A list in JSON with the detail's members in order: one spelling for one record. */
function hashOf(record: Facts & { seq: number; at: Date; prevHash: string }): string {
  const { tenant, seq, at, actor, what, subject, detail, requestId, prevHash } = record;
  const details = Object.entries(detail).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const canonical = JSON.stringify([
    'cdn-chatops audit v1',
    prevHash,
    tenant,
    seq,
    at.toISOString(),
    actor,
    what,
    subject,
    details,
    requestId,
  ]);
  return createHash('sha256').update(canonical).digest('hex');
}

function factsOf(row: AuditRow): Facts & { seq: number; at: Date; prevHash: string } {
  const { tenant, seq, at, actor, what, subject, detail, request_id: requestId, prev_hash: prevHash } = row;
  return { tenant, seq, at, actor, what, subject, detail, requestId, prevHash };
}

function entryOf(row: AuditRow): AuditEntry {
  const { tenant, seq, at, actor, subject, detail, hash } = row;
  return {
    tenant,
    seq,
    at,
    actor,
    what: row.what as AuditWhat,
    subject: subject ?? undefined,
    detail,
    requestId: row.request_id ?? undefined,
    hash,
  };
}

/** The entry as both engines store and return it, or a refusal. */
function storable(entry: AuditInput): Facts {
  const detail: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(entry.detail ?? {})) {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new Error(`An audit record's ${name} is not a finite number.`);
    detail[text('member name', name)] = typeof value === 'string' ? text(name, value) : value;
  }
  return {
    tenant: entry.tenant,
    actor: text('actor', entry.actor),
    what: entry.what,
    subject: entry.subject === undefined ? null : text('subject', entry.subject),
    detail,
    requestId: entry.requestId === undefined ? null : text('request id', entry.requestId),
  };
}

/** Neither engine stores NUL or half a surrogate pair. */
function text(name: string, value: string): string {
  // Only the place is named: the value may be the secret.
  if (shapesOfSecrets.test(value)) throw new Error(`An audit record's ${name} looks like a key or token.`);
  const kinds = secretKindsIn(value);
  if (kinds.length > 0) throw new Error(`An audit record's ${name} holds a secret (${kinds.join(', ')}).`);
  const clean = value.replaceAll('\0', '\uFFFD').toWellFormed();
  return clean.length <= longest ? clean : `${clean.slice(0, longest).toWellFormed()}…`;
}

const longest = 1_000;

// A plain hash (64 hexadecimal characters) and a UUID pass: seals and ids look like that.
const shapesOfSecrets = new RegExp(
  [
    // Slack's tokens, rotated ones included.
    String.raw`\bxox[a-z](?:\.xox[a-z])?-[\w-]+`,
    String.raw`\bxapp-[\w-]+`,
    // CDN keys: more hexadecimal groups than a UUID has.
    String.raw`\b[0-9a-f]{8}(?:-[0-9a-f]{4,20}){5,}\b`,
    // A keyring entry, a JSON web token, a key file.
    String.raw`[\w-]{1,32}:[\w+/-]{43}=?(?![\w+/=-])`,
    String.raw`\beyJ[\w-]{10,}\.[\w-]+\.`,
    String.raw`-----BEGIN `,
  ].join('|'),
  'i',
);
