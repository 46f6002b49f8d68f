import { createTables, type Maybe, type Moment } from './columns.ts';

export interface ExportTables {
  exports: Exports;
}

/** One export of event logs, from the form until its files are deleted. Moved by compare-and-set only. */
interface Exports {
  id: string;
  tenant: string;
  /** Set only where the app is installed for the whole organisation. */
  enterprise_id: string | null;
  team_id: string;
  user_id: string;
  /** Where it goes; null = the person's direct messages. */
  channel: string | null;
  /** What was asked for, as JSON (`reports/event-export.ts`). */
  request: string | null;
  /** `asked`, `waiting`, `running`, `sharing`, `done`, `failed`, `cancelled`, `unknown`. */
  state: string;
  /** The attempt that has it: a fencing token. */
  run: string | null;
  attempt: number;
  /** The message that tells how far it is. */
  message_channel: string | null;
  message_ts: string | null;
  row_count: number;
  byte_count: number;
  /** The ids of the files in Slack, as JSON. */
  files: string;
  asked_at: Moment;
  ended_at: Maybe;
  /** How it ended, as JSON (`jobs/export-endings.ts`); forgotten with what was asked for. */
  ending: string | null;
  /** When people were told of it. */
  told_at: Maybe;
  files_deleted_at: Maybe;
}

export const createExportTables = createTables(
  `create table exports (
    id text primary key,
    tenant text not null,
    enterprise_id text,
    team_id text not null,
    user_id text not null,
    channel text,
    request text,
    state text not null,
    run text,
    attempt integer not null,
    message_channel text,
    message_ts text,
    row_count bigint not null,
    byte_count bigint not null,
    files text not null,
    asked_at timestamptz not null,
    ended_at timestamptz,
    ending text,
    told_at timestamptz,
    files_deleted_at timestamptz)`,
  'create index exports_person on exports (tenant, user_id, asked_at)',
  'create index exports_unfinished on exports (state) where ended_at is null',
);
