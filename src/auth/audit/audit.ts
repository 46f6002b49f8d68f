import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { dayMs, yieldToEventLoop } from '../../lib/time.ts';
import { secretShapes } from '../../secrets/fields.ts';
import { findSecretKinds, redactSecrets } from '../../secrets/scanner.ts';
import { takeLock } from '../../store/database.ts';
import { defineJob, type JobContext } from '../../store/queue.ts';
import type { Db, Trx } from '../../store/schema.ts';

/** The events that can be recorded. A new one is a word here and a sentence in `views/audit.ts`. */
const eventWords = {
  key: ['linked', 'destroyed', 'mismatch', 'entry-refused'],
  policy: ['changed', 'asked', 'rejected'],
  export: ['made', 'ended', 'deleted'],
  digest: ['created', 'changed', 'paused', 'taken-over', 'deleted'],
  alert: ['created', 'changed', 'paused', 'taken-over', 'deleted', 'acknowledged', 'snoozed'],
  denied: [''],
  keyring: ['changed'],
  operation: [
    'proposed',
    'approval',
    'approved',
    'executing',
    'succeeded',
    'failed',
    'unknown',
    'denied',
    'expired',
    'cancelled',
  ],
  answer: ['shared'],
  step: ['run'],
  tool: ['run'],
  token: ['made', 'ended'],
  name: ['given', 'removed'],
  'default-zone': ['set'],
  audit: ['exported'],
  tenant: ['erased'],
} as const;
type Words = typeof eventWords;
type Named<Subject extends string, Word> = Word extends '' ? Subject : `${Subject}-${Word & string}`;
export type AuditEvent = { [Subject in keyof Words]: Named<Subject, Words[Subject][number]> }[keyof Words];

export const auditEvents = Object.entries(eventWords).flatMap(([subject, words]) =>
  words.map((word) => (word ? `${subject}-${word}` : subject) as AuditEvent),
);

export interface AuditInput {
  /** A `tenantId`, or `deployment`. */
  readonly tenant: string;
  readonly actor: string;
  readonly event: AuditEvent;
  readonly subject?: string | undefined;
  /** Never a secret, and never free text that people typed. */
  readonly detail?: Readonly<Record<string, Details[string] | undefined>> | undefined;
  readonly requestId?: string | undefined;
}

export type Audit = ReturnType<typeof createAudit>;

export const deployment = 'deployment';

/** The append-only audit record, a hash chain in each tenant. */
export function createAudit({ db, now }: { db: Db; now: () => Date }) {
  return {
    /** Appends a record, in `trx` as its last step. @throws Error where a value looks like a key or token. */
    async record(entry: AuditInput, trx?: Trx): Promise<void> {
      const facts = toFacts(entry);
      if (trx) await append(trx, facts, now);
      else await db.transaction().execute((own) => append(own, facts, now));
    },
    async recent(tenant: string, most: number, filter?: AuditFilter): Promise<AuditRecord[]> {
      return (await findRecentAudit(db, tenant, most, filter)).map((record) =>
        isReadable(record) ? record : { ...record, at: new Date(0), detail: {} },
      );
    },
    async check(tenant: string, most: number) {
      const [newest] = await findRecentAudit(db, tenant, 1);
      const since = Math.max(1, (newest?.seq ?? 0) - most + 1);
      return {
        head: newest && { seq: newest.seq, hash: newest.hash },
        verdict: await verifyChain(db, tenant, { since }),
        since,
      };
    },
    pieces: (tenant: string, upTo: number, filter?: AuditFilter) =>
      readAudit(db, tenant, 0, { ...filter, upTo }),
  };
}

type Facts = Omit<AuditRecord, 'seq' | 'at' | 'prevHash' | 'hash'>;

/** Must take the last lock of a transaction: others of the same tenant wait for its end. */
async function append(trx: Trx, facts: Facts, now: () => Date): Promise<void> {
  await takeLock(trx, `audit/${facts.tenant}`);
  const [last] = await findRecentAudit(trx, facts.tenant, 1);
  const record = { ...facts, seq: (last?.seq ?? 0) + 1, at: now(), prevHash: last?.hash ?? genesisHash };
  const { requestId: request_id, prevHash: prev_hash, ...columns } = record;
  const encoded = { detail: JSON.stringify(columns.detail), hash: hashRecord(record) };
  const row = { ...columns, ...encoded, request_id, prev_hash };
  await trx.insertInto('audit_records').values(row).execute();
}

function toFacts({ tenant, actor, event, subject, detail, requestId }: AuditInput): Facts {
  const facts: Record<string, Details[string]> = {};
  for (const [name, value] of Object.entries(detail ?? {})) {
    if (value === undefined) continue;
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

/** Whether it looks like a key or token, or is a known live secret. */
export function isSecretLike(value: string): boolean {
  return refusedShapes.test(value) || findSecretKinds(value).length > 0;
}

function cleanText(name: string, value: string): string {
  // Only the place is named: the value may be the secret.
  if (isSecretLike(value)) throw new Error(`An audit record’s ${name} looks like a key or token.`);
  const clean = redactSecrets(value).replaceAll('\0', '\uFFFD').toWellFormed();
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength).toWellFormed()}…`;
}

const maxLength = 1_000;

// A plain hash (64 hexadecimal characters) and a UUID pass: seals and ids have those forms.
const refusedShapes = new RegExp(
  [
    ...secretShapes,
    String.raw`[\w-]{1,32}:[\w+/-]{43}=?(?![\w+/=-])`,
    // A word is read from its beginning only: from each `eyJ` in it, the work would grow with the square of its length.
    String.raw`(?<![\w-])(?=[\w-]*eyJ[\w-]{10})[\w-]+\.[\w-]+\.`,
    String.raw`-----BEGIN `,
  ].join('|'),
  'i',
);

export type Details = Readonly<Record<string, string | number | boolean>>;

export interface AuditRecord {
  readonly tenant: string;
  readonly seq: number;
  readonly at: Date;
  readonly actor: string;
  readonly event: string;
  readonly subject: string | null;
  readonly detail: Details;
  readonly requestId: string | null;
  readonly prevHash: string;
  readonly hash: string;
}

const genesisHash = '0'.repeat(64);

export function hashRecord(record: Omit<AuditRecord, 'hash'>): string {
  const { tenant, seq, at, actor, event, subject, detail, requestId, prevHash } = record;
  const facts = [tenant, seq, at.toISOString(), actor, event, subject, detail, requestId];
  const canonical = canonicalJson(['cdn-chatops audit v1', prevHash, ...facts]);
  return createHash('sha256').update(canonical).digest('hex');
}

/** Whether columns that anything can be written to hold what `record` writes. */
function isReadable({ at, detail }: { readonly at: unknown; readonly detail: unknown }): boolean {
  if (!(at instanceof Date) || Number.isNaN(at.getTime())) return false;
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) return false;
  return Object.values(detail).every(
    (one) => typeof one === 'string' || typeof one === 'boolean' || Number.isFinite(one),
  );
}

export interface AuditFilter {
  readonly who?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly upTo?: number;
}

export function findRecentAudit(
  db: Db,
  tenant: string,
  limit: number,
  filter: AuditFilter = {},
): Promise<AuditRecord[]> {
  return selectRecords(db, tenant, filter).orderBy('seq', 'desc').limit(limit).execute();
}

const pieceSize = 500;

async function* readAudit(
  db: Db,
  tenant: string,
  after: number,
  filter: AuditFilter = {},
): AsyncGenerator<AuditRecord[], void> {
  const query = selectRecords(db, tenant, filter).orderBy('seq').limit(pieceSize);
  for (let last: number | undefined = after; last !== undefined; ) {
    const records: AuditRecord[] = await query.where('seq', '>', last).execute();
    if (records.length > 0) yield records;
    last = records.length < pieceSize ? undefined : records.at(-1)?.seq;
    await yieldToEventLoop();
  }
}

function selectRecords(db: Db, tenant: string, { who, events, upTo }: AuditFilter) {
  let query = db
    .selectFrom('audit_records')
    .select(['tenant', 'seq', 'at', 'actor', 'event', 'subject', 'detail', 'hash'])
    .select(['request_id as requestId', 'prev_hash as prevHash'])
    .where('tenant', '=', tenant);
  if (who !== undefined) query = query.where((is) => is.or([is('actor', '=', who), is('subject', '=', who)]));
  if (events !== undefined) query = query.where('event', 'in', events);
  if (upTo !== undefined) query = query.where('seq', '<=', upTo);
  return query;
}

type Link = { readonly seq: number; readonly hash: string };

export type LoggedHead = Link & { readonly tenant: string };

export interface Broken {
  readonly tenant: string;
  readonly seq: number;
  /** `unlinked`: does not follow the one before. `rewritten`, `cut-off`: the log has another hash, or it and more. */
  readonly problem: 'missing' | 'altered' | 'unlinked' | 'rewritten' | 'cut-off';
  readonly found?: number;
  readonly noted?: Link;
}

export type ChainVerdict =
  | { readonly ok: true; readonly records: number; readonly head: string | undefined }
  | { readonly ok: false; readonly broken: Broken };

/** The first wrong record from `since` on. Whoever owns the database can write a new chain: heads from the log (`noted`) show it. */
export async function verifyChain(
  db: Db,
  tenant: string,
  { since = 1, noted = [] }: { readonly since?: number; readonly noted?: readonly Link[] } = {},
): Promise<ChainVerdict> {
  const expected = Map.groupBy(noted, ({ seq }) => seq);
  let reached = { seq: since - 1, hash: since === 1 ? genesisHash : undefined };
  const findProblem = (record: AuditRecord, seq: number): Omit<Broken, 'tenant' | 'seq'> | undefined => {
    if (record.seq !== seq) return { problem: 'missing', found: record.seq };
    if (reached.hash !== undefined && record.prevHash !== reached.hash) return { problem: 'unlinked' };
    if (!isReadable(record) || record.hash !== hashRecord(record)) return { problem: 'altered' };
    const other = expected.get(seq)?.find(({ hash }) => hash !== record.hash);
    return other && { problem: 'rewritten', noted: other };
  };
  for await (const records of readAudit(db, tenant, since - 1)) {
    for (const record of records) {
      const seq = reached.seq + 1;
      const problem = findProblem(record, seq);
      if (problem) return { ok: false, broken: { tenant, seq, ...problem } };
      reached = { seq, hash: record.hash };
    }
  }
  const last = Math.max(...[...expected.keys()].filter((seq) => seq > reached.seq));
  const beyond = expected.get(last)?.[0];
  if (beyond)
    return { ok: false, broken: { tenant, seq: reached.seq + 1, problem: 'cut-off', noted: beyond } };
  const { seq, hash } = reached;
  return { ok: true, records: seq, head: hash === genesisHash ? undefined : hash };
}

export async function findHeads(db: Db): Promise<(LoggedHead & { readonly at: Date })[]> {
  const { rows } = await sql<LoggedHead & { at: Date }>`
    with recursive tenants as (
      select min(tenant) as tenant from audit_records
      union all
      select (select min(tenant) from audit_records where tenant > tenants.tenant) from tenants
       where tenant is not null)
    select tenant, seq, hash, at from tenants, lateral (
      select seq, hash, at from audit_records where tenant = tenants.tenant order by seq desc limit 1) as newest
     order by tenant`.execute(db);
  return rows;
}

/** The verdict on every chain, or on one. A chain that only the log knows is cut off whole. */
export async function verifyChains(
  db: Db,
  { tenant, heads = [] }: { readonly tenant?: string | undefined; readonly heads?: readonly LoggedHead[] },
): Promise<ReadonlyMap<string, ChainVerdict>> {
  const found = tenant === undefined ? [...(await findHeads(db)), ...heads] : [{ tenant }];
  const verdicts = new Map<string, ChainVerdict>();
  for (const one of new Set(found.map((head) => head.tenant)))
    verdicts.set(one, await verifyChain(db, one, { noted: heads.filter((head) => head.tenant === one) }));
  return verdicts;
}

/** Logs the newest link of each chain: `npm run audit:verify -- --heads <log file>` compares. */
export const logAuditHeads = defineJob({
  name: 'log-audit-heads',
  cron: '7 * * * *',
  data: z.object({}),
  async run(_data, { db, log, now }: JobContext) {
    const since = now().getTime() - dayMs;
    for (const { tenant, seq, hash, at } of await findHeads(db))
      if (at.getTime() >= since) log.info({ tenant, seq, head: hash }, 'audit head');
  },
});
