import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Installation, Person } from '../../auth/identity.ts';
import type { Schema } from '../../store/schema.ts';
import { type ExportRequest, type ExportSummary, exportStates } from './model.ts';

export type ExportRow = Selectable<Schema['exports']>;

const stored = z.object({
  shieldZoneId: z.string(),
  from: z.coerce.date(),
  to: z.coerce.date(),
  query: z.string(),
  filters: z.array(z.object({ field: z.string(), op: z.string(), value: z.array(z.string()) })),
  spreadsheetSafe: z.boolean(),
  pseudonyms: z.boolean(),
  split: z.boolean(),
});

/** As JSON; the same request is always the same text. */
export function writeRequest(request: ExportRequest): string {
  return JSON.stringify(stored.parse(request));
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
    request: row.request === null ? forgotten : stored.parse(JSON.parse(row.request)),
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

export function installationOf(row: Pick<ExportRow, 'team_id' | 'enterprise_id'>): Installation {
  return { teamId: row.team_id, enterpriseId: row.enterprise_id ?? undefined };
}
