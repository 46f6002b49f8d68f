import type { Kysely } from 'kysely';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Schema } from '../../store/schema.ts';
import { type ChainVerdict, type Link, verifyChain } from './chain.ts';
import { type CheckpointRow, findLastCheckpoint, findLastCheckpointDay } from './checkpoint.ts';
import {
  type AuditFilter,
  type AuditRecord,
  type AuditRow,
  type Details,
  findAuditAfter,
  findRecentAudit,
  isDetail,
  toAuditRecord,
} from './record.ts';

export type { AuditFilter };

export interface AuditEntry {
  readonly tenant: string;
  readonly seq: number;
  readonly at: Date;
  readonly actor: string;
  /** One of `auditEvents`, unless another version of the bot wrote it. */
  readonly event: string;
  readonly subject: string | undefined;
  readonly detail: Details;
  readonly requestId: string | undefined;
  readonly hash: string;
}

/** The state of a tenant's chain. */
export interface AuditState {
  /** The newest record; undefined = there are none. */
  readonly head: Link | undefined;
  readonly verdict: ChainVerdict;
  /** The record from which on the chain was read; 1 = all of it. */
  readonly since: number;
  /** The newest checkpoint in a channel. */
  readonly checkpoint: { readonly seq: number; readonly at: Date; readonly channel: string } | undefined;
  /** The newest day's checkpoint, posted or not; undefined = there never was one. */
  readonly lastDay: Pick<CheckpointRow, 'day' | 'state' | 'channel' | 'code'> | undefined;
}

/** Reads the audit record. */
export interface AuditTrail {
  /** The newest `most` records of a tenant that pass the filter, newest first. */
  recent(tenant: string, most: number, filter?: AuditFilter): Promise<AuditEntry[]>;
  /** Verifies the newest `most` records and the last checkpoint: quick for a chain of any length. */
  check(tenant: string, most: number): Promise<AuditState>;
  /** Every record up to a number that passes the filter, oldest first, in pieces of a bounded size. */
  pieces(tenant: string, upTo: number, filter?: AuditFilter): AsyncIterable<readonly AuditRecord[]>;
}

const pieceSize = 500;

export function createAuditTrail(db: Kysely<Schema>): AuditTrail {
  return {
    async recent(tenant, most, filter) {
      return (await findRecentAudit(db, tenant, most, filter)).map(toEntry);
    },
    async check(tenant, most) {
      const [[newest], checkpoint, lastDay] = await Promise.all([
        findRecentAudit(db, tenant, 1),
        findLastCheckpoint(db, tenant),
        findLastCheckpointDay(db, tenant),
      ]);
      const since = Math.max(1, (newest?.seq ?? 0) - most + 1);
      const noted = checkpoint && { seq: checkpoint.seq, hash: checkpoint.head };
      const older = noted && noted.seq < since ? noted : undefined;
      const verdict = await verifyChain(db, tenant, { since, noted: noted && !older ? [noted] : [] });
      return {
        head: newest && { seq: newest.seq, hash: newest.hash },
        verdict: (older && (await findMismatch(db, tenant, older))) ?? verdict,
        since,
        checkpoint: checkpoint && { seq: checkpoint.seq, at: checkpoint.at, channel: checkpoint.channel },
        lastDay,
      };
    },
    async *pieces(tenant, upTo, filter) {
      for (let last = 0; last < upTo; ) {
        const rows = await findAuditAfter(db, tenant, last, pieceSize, filter);
        const wanted = rows.filter(({ seq }) => seq <= upTo);
        if (wanted.length > 0) yield wanted.map(toAuditRecord);
        if (rows.length < pieceSize) return;
        last = rows.at(-1)?.seq ?? upTo;
        await yieldToEventLoop();
      }
    },
  };
}

/** The fault of a record that a checkpoint names; undefined = none. */
async function findMismatch(
  db: Kysely<Schema>,
  tenant: string,
  noted: Link,
): Promise<Extract<ChainVerdict, { ok: false }> | undefined> {
  const [row] = await findAuditAfter(db, tenant, noted.seq - 1, 1);
  if (row?.seq === noted.seq && row.hash === noted.hash) return undefined;
  return { ok: false, broken: { tenant, seq: noted.seq, problem: 'rewritten', noted } };
}

/** For display, also of altered rows: the chain check reports the alteration. */
function toEntry(row: AuditRow): AuditEntry {
  const { tenant, seq, actor, event, subject, hash } = row;
  const at: unknown = row.at;
  return {
    tenant,
    seq,
    at: at instanceof Date && !Number.isNaN(at.getTime()) ? at : new Date(0),
    actor,
    event,
    subject: subject ?? undefined,
    detail: isDetail(row.detail) ? row.detail : {},
    requestId: row.request_id ?? undefined,
    hash,
  };
}
