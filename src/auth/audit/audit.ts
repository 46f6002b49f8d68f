import type { Kysely, Transaction } from 'kysely';
import { secretShapes } from '../../secrets/fields.ts';
import { findSecretKinds } from '../../secrets/scanner.ts';
import type { Schema } from '../../store/schema.ts';
import { appendAudit, type Details, genesisHash, hashRecord, lockAuditTail } from './record.ts';
import { type AuditTrail, createAuditTrail } from './trail.ts';

export type { AuditEntry } from './trail.ts';

/** The events that can be recorded. A new one is a word here and a sentence in `views/audit/words.ts`. */
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
  /** The organisation or workspace (`tenantId`), or `deployment` for events of all of them. */
  readonly tenant: string;
  /** A user id, or `system` for the bot itself. */
  readonly actor: string;
  readonly event: AuditEvent;
  /** A user id, a zone id, an operation's seal. */
  readonly subject?: string | undefined;
  /** Never a secret, and never free text that people typed. */
  readonly detail?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly requestId?: string | undefined;
}

/** The append-only audit record, a hash chain in each tenant. */
export interface Audit extends AuditTrail {
  /**
   * Appends a record: in `options.in`, as the last step of the transaction of the change it records, else in a
   * transaction of its own. With the embedded database never without `in` while a transaction is open.
   *
   * @throws Error where a value looks like a key or token; then nothing is written.
   */
  record(entry: AuditInput, options?: { readonly in?: Transaction<Schema> | undefined }): Promise<void>;
}

/** The tenant of events of the whole deployment. No Slack id is a lower-case word. */
export const deployment = 'deployment';

export function createAudit(options: { db: Kysely<Schema>; now: () => Date }): Audit {
  const { db, now } = options;
  const append = async (trx: Transaction<Schema>, entry: StoredEntry): Promise<void> => {
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
      const stored = toStoredEntry(entry);
      if (trx) await append(trx, stored);
      else await db.transaction().execute((own) => append(own, stored));
    },
  };
}

interface StoredEntry {
  readonly tenant: string;
  readonly actor: string;
  readonly event: string;
  readonly subject: string | null;
  readonly detail: Details;
  readonly requestId: string | null;
}

/** The entry in the form that both engines store and return. @throws Error where it holds a secret. */
function toStoredEntry(entry: AuditInput): StoredEntry {
  const detail: Record<string, string | number | boolean> = {};
  const given = Object.entries(entry.detail ?? {}).filter(
    (member): member is [string, string | number | boolean] => member[1] !== undefined,
  );
  if (given.length > maxDetails) detail['left_out'] = given.length - maxDetails;
  for (const [name, value] of given.slice(0, maxDetails)) {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new Error(`An audit record's ${name} is not a finite number.`);
    detail[cleanText('member name', name)] = typeof value === 'string' ? cleanText(name, value) : value;
  }
  return {
    tenant: entry.tenant,
    actor: cleanText('actor', entry.actor),
    event: entry.event,
    subject: entry.subject === undefined ? null : cleanText('subject', entry.subject),
    detail,
    requestId: entry.requestId === undefined ? null : cleanText('request id', entry.requestId),
  };
}

/** Whether a record would refuse this value: it has the shape of a key or token, or is a known live secret. */
export function isSecretLike(value: string): boolean {
  return refusedShapes.test(value) || findSecretKinds(value).length > 0;
}

// Neither engine stores NUL or half a surrogate pair.
function cleanText(name: string, value: string): string {
  // Only the place is named: the value may be the secret.
  if (refusedShapes.test(value)) throw new Error(`An audit record's ${name} looks like a key or token.`);
  const kinds = findSecretKinds(value);
  if (kinds.length > 0) throw new Error(`An audit record's ${name} holds a secret (${kinds.join(', ')}).`);
  const clean = value.replaceAll('\0', '\uFFFD').toWellFormed();
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength).toWellFormed()}…`;
}

const maxLength = 1_000;
// A change of settings may name some two hundred channels.
const maxDetails = 250;

// A plain hash (64 hexadecimal characters) and a UUID pass: seals and ids have those forms.
const refusedShapes = new RegExp(
  [
    ...secretShapes,
    // A keyring entry, a JSON web token, a key file.
    String.raw`[\w-]{1,32}:[\w+/-]{43}=?(?![\w+/=-])`,
    String.raw`\beyJ[\w-]{10,}\.[\w-]+\.`,
    String.raw`-----BEGIN `,
  ].join('|'),
  'i',
);
