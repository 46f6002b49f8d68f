import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, parseJson } from '../../lib/canonical-json.ts';
import type { AuditRow } from './queries.ts';

export type Details = Readonly<Record<string, string | number | boolean>>;

/** One record of the audit with everything its hash is made of. */
export interface AuditRecord {
  readonly tenant: string;
  /** 1, 2, 3 … without gaps in each tenant. */
  readonly seq: number;
  readonly at: Date;
  readonly actor: string;
  readonly event: string;
  readonly subject: string | null;
  readonly detail: Details;
  readonly requestId: string | null;
  /** The hash of the record before; `beginning` for the first. */
  readonly prevHash: string;
  readonly hash: string;
}

export const genesisHash = '0'.repeat(64);

export function hashRecord(record: Omit<AuditRecord, 'hash'>): string {
  const { tenant, seq, at, actor, event, subject, detail, requestId, prevHash } = record;
  const canonical = canonicalJson([
    'cdn-chatops audit v1',
    prevHash,
    tenant,
    seq,
    at.toISOString(),
    actor,
    event,
    subject,
    detail,
    requestId,
  ]);
  return createHash('sha256').update(canonical).digest('hex');
}

/** Whether a record is what was written. False, too, for what could not have been written at all. */
export function isIntact(record: AuditRecord): boolean {
  return shape.safeParse(record).success && record.hash === hashRecord(record);
}

export function toAuditRecord(row: AuditRow): AuditRecord {
  const { tenant, seq, at, actor, event, subject, detail, request_id: requestId, prev_hash: prevHash } = row;
  return { tenant, seq, at, actor, event, subject, detail, requestId, prevHash, hash: row.hash };
}

/** One line of an exported file, without the line break. */
export function writeRecord(record: AuditRecord): string {
  const { tenant, seq, at, actor, event, subject, detail, requestId, prevHash, hash } = record;
  return JSON.stringify({
    tenant,
    seq,
    at: at.toISOString(),
    actor,
    event,
    subject,
    detail,
    requestId,
    prevHash,
    hash,
  });
}

/**
 * What `writeRecord` wrote; undefined for anything else, also for other spellings of the same: a member that is there
 * twice would read one way here and another way elsewhere.
 */
export function readRecord(line: string): AuditRecord | undefined {
  const parsed = written.safeParse(parseJson(line));
  if (!parsed.success) return undefined;
  const record = { ...parsed.data, at: new Date(parsed.data.at) };
  return writeRecord(record) === line ? record : undefined;
}

const members = {
  tenant: z.string(),
  seq: z.int().positive(),
  actor: z.string(),
  event: z.string(),
  subject: z.string().nullable(),
  // Kept as it is: a copy could lose members with special names.
  detail: z.custom<Details>(isDetail),
  requestId: z.string().nullable(),
  prevHash: z.string(),
  hash: z.string(),
};
const shape = z.object({ ...members, at: z.date() });
const written = z.strictObject({ ...members, at: z.iso.datetime({ precision: 3 }) });

/** Facts as `record` takes them; whoever owns the table can put anything there. */
export function isDetail(value: unknown): value is Details {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every(
    (one) => typeof one === 'string' || typeof one === 'boolean' || Number.isFinite(one),
  );
}
