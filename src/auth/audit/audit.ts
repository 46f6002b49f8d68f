import type { Kysely, Transaction } from 'kysely';
import { findSecretKinds } from '../../secrets/scanner.ts';
import type { Schema } from '../../store/schema.ts';
import { appendAudit, type Details, genesisHash, hashRecord, lockAuditTail } from './record.ts';
import { type AuditTrail, createAuditTrail } from './trail.ts';

export type { AuditEntry } from './trail.ts';

/** What can be recorded. A feature that has something new to record adds its word here, and how it reads in `views/audit-words.ts`. */
export const auditEvents = [
  'key-linked',
  'key-destroyed',
  'key-mismatch',
  'key-entry-refused',
  'policy-changed',
  'export-made',
  'export-ended',
  'export-deleted',
  'digest-created',
  'digest-changed',
  'digest-paused',
  'digest-taken-over',
  'digest-deleted',
  'denied',
  'keyring-changed',
  'operation-proposed',
  'operation-approval',
  'operation-approved',
  'operation-executing',
  'operation-succeeded',
  'operation-failed',
  'operation-unknown',
  'operation-denied',
  'operation-expired',
  'operation-cancelled',
  'audit-exported',
  'audit-key-made',
] as const;
export type AuditEvent = (typeof auditEvents)[number];

export interface AuditInput {
  /** The organisation or workspace (`tenantOf`), or `deployment` for what concerns all of them. */
  readonly tenant: string;
  /** A user id, or `system` where nobody pressed anything. */
  readonly actor: string;
  readonly event: AuditEvent;
  /** Whom or what it concerns: a user id, a zone id, an operation's seal. */
  readonly subject?: string | undefined;
  /** Facts beside it. Never a secret, and never free text that people typed. */
  readonly detail?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly requestId?: string | undefined;
}

/** The append-only record of who did what, a hash chain in each tenant. */
export interface Audit extends AuditTrail {
  /**
   * Appends a record, in `options.in` together with the change it tells of (as the last step of that transaction),
   * else in a transaction of its own; with the embedded database never without `in` while a transaction is open.
   *
   * @throws Error where a value looks like a key or token; then nothing is written.
   */
  record(entry: AuditInput, options?: { readonly in?: Transaction<Schema> | undefined }): Promise<void>;
}

/** The tenant of what concerns the whole deployment. No Slack id is a lower-case word. */
export const deployment = 'deployment';

export function createAudit(options: { db: Kysely<Schema>; now: () => Date }): Audit {
  const { db, now } = options;
  const append = async (trx: Transaction<Schema>, entry: Facts): Promise<void> => {
    const tail = await lockAuditTail(trx, entry.tenant);
    const seq = (tail?.seq ?? 0) + 1;
    const at = now();
    const prevHash = tail?.hash ?? genesisHash;
    await appendAudit(trx, {
      tenant: entry.tenant,
      seq,
      at,
      actor: entry.actor,
      event: entry.event,
      subject: entry.subject,
      detail: JSON.stringify(entry.detail),
      request_id: entry.requestId,
      prev_hash: prevHash,
      hash: hashRecord({ ...entry, seq, at, prevHash }),
    });
  };
  return {
    ...createAuditTrail(db),
    async record(entry, { in: trx } = {}) {
      const facts = storable(entry);
      if (trx) await append(trx, facts);
      else await db.transaction().execute((own) => append(own, facts));
    },
  };
}

interface Facts {
  readonly tenant: string;
  readonly actor: string;
  readonly event: string;
  readonly subject: string | null;
  readonly detail: Details;
  readonly requestId: string | null;
}

/** The entry as both engines store and return it, or a refusal. */
function storable(entry: AuditInput): Facts {
  const detail: Record<string, string | number | boolean> = {};
  const given = Object.entries(entry.detail ?? {});
  if (given.length > mostFacts) detail['left_out'] = given.length - mostFacts;
  for (const [name, value] of given.slice(0, mostFacts)) {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new Error(`An audit record's ${name} is not a finite number.`);
    detail[text('member name', name)] = typeof value === 'string' ? text(name, value) : value;
  }
  return {
    tenant: entry.tenant,
    actor: text('actor', entry.actor),
    event: entry.event,
    subject: entry.subject === undefined ? null : text('subject', entry.subject),
    detail,
    requestId: entry.requestId === undefined ? null : text('request id', entry.requestId),
  };
}

/** Whether a record would refuse it: it has the shape of a key or token, or is one that this work has met. */
export function isSecretLike(value: string): boolean {
  return shapesOfSecrets.test(value) || findSecretKinds(value).length > 0;
}

/** Neither engine stores NUL or half a surrogate pair. */
function text(name: string, value: string): string {
  // Only the place is named: the value may be the secret.
  if (shapesOfSecrets.test(value)) throw new Error(`An audit record's ${name} looks like a key or token.`);
  const kinds = findSecretKinds(value);
  if (kinds.length > 0) throw new Error(`An audit record's ${name} holds a secret (${kinds.join(', ')}).`);
  const clean = value.replaceAll('\0', '\uFFFD').toWellFormed();
  return clean.length <= longest ? clean : `${clean.slice(0, longest).toWellFormed()}…`;
}

const longest = 1_000;
// A change of settings may name some two hundred channels.
const mostFacts = 250;

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
