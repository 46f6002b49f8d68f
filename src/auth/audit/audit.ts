import { secretShapes } from '../../secrets/fields.ts';
import { findSecretKinds, redactSecrets } from '../../secrets/scanner.ts';
import { takeLock } from '../../store/database.ts';
import type { Db, Trx } from '../../store/schema.ts';
import {
  type AuditFilter,
  type AuditRecord,
  type Details,
  findRecentAudit,
  genesisHash,
  hashRecord,
  isReadable,
  readAudit,
  verifyChain,
} from './chain.ts';

/** The events that can be recorded. A new one is a word here and a sentence in `views/audit.ts`. */
export const auditEvents = [
  'key-linked',
  'key-destroyed',
  'key-mismatch',
  'key-entry-refused',
  'policy-changed',
  'policy-asked',
  'policy-rejected',
  'export-made',
  'export-ended',
  'export-deleted',
  'digest-created',
  'digest-changed',
  'digest-paused',
  'digest-taken-over',
  'digest-deleted',
  'alert-created',
  'alert-changed',
  'alert-paused',
  'alert-taken-over',
  'alert-deleted',
  'alert-acknowledged',
  'alert-snoozed',
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
  'answer-shared',
  'step-run',
  'tool-run',
  'token-made',
  'token-ended',
  'name-given',
  'name-removed',
  'default-zone-set',
  'audit-exported',
  'tenant-erased',
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
  readonly detail?: Readonly<Record<string, Details[string] | undefined>> | undefined;
  readonly requestId?: string | undefined;
}

export type Audit = ReturnType<typeof createAudit>;

/** The tenant of events of the whole deployment. No Slack id is a lower-case word. */
export const deployment = 'deployment';

/** The append-only audit record, a hash chain in each tenant. */
export function createAudit({ db, now }: { db: Db; now: () => Date }) {
  return {
    /**
     * Appends a record: in `trx`, as the last step of the change it records, else in a separate transaction, which the embedded
     * database takes only while no other is open. @throws Error where a value looks like a key or token.
     */
    async record(entry: AuditInput, trx?: Trx): Promise<void> {
      const facts = toFacts(entry);
      if (trx) await append(trx, facts, now);
      else await db.transaction().execute((own) => append(own, facts, now));
    },
    async recent(tenant: string, most: number, filter?: AuditFilter): Promise<AuditRecord[]> {
      return (await findRecentAudit(db, tenant, most, filter)).map(makeReadable);
    },
    /** Verifies the newest `most` records: quick for a chain of any length. */
    async check(tenant: string, most: number) {
      const [newest] = await findRecentAudit(db, tenant, 1);
      const since = Math.max(1, (newest?.seq ?? 0) - most + 1);
      return {
        head: newest && { seq: newest.seq, hash: newest.hash },
        verdict: await verifyChain(db, tenant, { since }),
        since,
      };
    },
    /** Every record up to a number that passes the filter, oldest first, in pieces of a bounded size. */
    async *pieces(tenant: string, upTo: number, filter?: AuditFilter): AsyncGenerator<AuditRecord[], void> {
      for await (const records of readAudit(db, tenant, 0, filter)) {
        const wanted = records.filter(({ seq }) => seq <= upTo);
        if (wanted.length > 0) yield wanted;
        if (wanted.length < records.length) return;
      }
    },
  };
}

type Facts = Omit<AuditRecord, 'seq' | 'at' | 'prevHash' | 'hash'>;

/** Must take the last lock of a transaction: others of the same tenant wait for its end. */
async function append(trx: Trx, facts: Facts, now: () => Date): Promise<void> {
  await takeLock(trx, `audit/${facts.tenant}`);
  const [last] = await findRecentAudit(trx, facts.tenant, 1);
  const record = { ...facts, seq: (last?.seq ?? 0) + 1, at: now(), prevHash: last?.hash ?? genesisHash };
  const { detail, requestId: request_id, prevHash: prev_hash, ...columns } = record;
  const encoded = { detail: JSON.stringify(detail), request_id, prev_hash, hash: hashRecord(record) };
  await trx
    .insertInto('audit_records')
    .values({ ...columns, ...encoded })
    .execute();
}

/** Altered rows are shown too: the chain check reports the alteration. */
function makeReadable(record: AuditRecord): AuditRecord {
  return isReadable(record) ? record : { ...record, at: new Date(0), detail: {} };
}

/** The entry in the form that both engines store and return. @throws Error where it holds a secret. */
function toFacts({ tenant, actor, event, subject, detail, requestId }: AuditInput): Facts {
  const facts: Record<string, Details[string]> = {};
  for (const [name, value] of Object.entries(detail ?? {})) {
    if (value === undefined) continue;
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new Error(`An audit record's ${name} is not a finite number.`);
    facts[cleanText('member name', name)] = typeof value === 'string' ? cleanText(name, value) : value;
  }
  return {
    tenant,
    actor: cleanText('actor', actor),
    event,
    subject: subject === undefined ? null : cleanText('subject', subject),
    detail: facts,
    requestId: requestId === undefined ? null : cleanText('request ID', requestId),
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
  const clean = redactSecrets(value).replaceAll('\0', '\uFFFD').toWellFormed();
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength).toWellFormed()}…`;
}

const maxLength = 1_000;

// A plain hash (64 hexadecimal characters) and a UUID pass: seals and ids have those forms.
const refusedShapes = new RegExp(
  [
    ...secretShapes,
    // A keyring entry, a JSON web token, a key file.
    String.raw`[\w-]{1,32}:[\w+/-]{43}=?(?![\w+/=-])`,
    // A word is read from its beginning only: from each `eyJ` in it, the work would grow with the square of its length.
    String.raw`(?<![\w-])(?=[\w-]*eyJ[\w-]{10})[\w-]+\.[\w-]+\.`,
    String.raw`-----BEGIN `,
  ].join('|'),
  'i',
);
