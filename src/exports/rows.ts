import { z } from 'zod';
import type { Person } from '../auth/identity.ts';
import type { Place, Posted } from '../outbox/slack-port.ts';
import { type ExportRequest, type ExportSummary, exportStates } from './model.ts';
import type { ExportRow } from './queries/exports.ts';

const stored = z.object({
  shieldZoneId: z.string(),
  from: z.number(),
  to: z.number(),
  query: z.string(),
  filters: z.array(z.object({ field: z.string(), op: z.string(), value: z.array(z.string()) })),
  spreadsheetSafe: z.boolean(),
  pseudonyms: z.boolean(),
  split: z.boolean(),
});

export function writeRequest({ from, to, ...rest }: ExportRequest): string {
  return JSON.stringify({ ...rest, from: from.getTime(), to: to.getTime() });
}

function readRequest(text: string): ExportRequest {
  const { from, to, ...rest } = stored.parse(JSON.parse(text));
  return { ...rest, from: new Date(from), to: new Date(to) };
}

const forgotten: ExportRequest = {
  shieldZoneId: '0',
  from: new Date(0),
  to: new Date(0),
  query: '',
  filters: [],
  spreadsheetSafe: false,
  pseudonyms: false,
  split: false,
};

export function toExportSummary(row: ExportRow): ExportSummary {
  return {
    id: row.id,
    userId: row.user_id,
    channel: row.channel ?? undefined,
    request: row.request === null ? forgotten : readRequest(row.request),
    state: z.enum(exportStates).parse(row.state),
    rows: row.row_count,
    bytes: row.byte_count,
    askedAt: row.asked_at,
    endedAt: row.ended_at ?? undefined,
    filesDeletedAt: row.files_deleted_at ?? undefined,
  };
}

export function requesterOf(row: ExportRow): Person {
  return { ...installationOf(row), userId: row.user_id };
}

export function installationOf(row: ExportRow): Place {
  return { teamId: row.team_id, enterpriseId: row.enterprise_id ?? undefined };
}

export function firstMessageOf(row: ExportRow): Posted | undefined {
  return row.message_channel === null || row.message_ts === null
    ? undefined
    : { channel: row.message_channel, ts: row.message_ts };
}

export function fileIdsOf(row: ExportRow): string[] {
  return z.array(z.string()).parse(JSON.parse(row.files));
}
