import type { EventLogFilter } from '../api/event-logs.ts';

/** What somebody wants of a shield zone's event log. */
export interface ExportRequest {
  readonly shieldZoneId: string;
  readonly from: Date;
  readonly to: Date;
  readonly query: string;
  readonly filters: readonly EventLogFilter[];
  /** A second file beside the raw one in which no cell runs as a formula. */
  readonly spreadsheetSafe: boolean;
  /** IP addresses are replaced; the raw file is then not sent. */
  readonly pseudonyms: boolean;
  /** Where it is larger than one file in Slack may be: several files. */
  readonly split: boolean;
}

/**
 * `asked`: its message is being posted. `sharing`: Slack was told to show the files, and has not answered yet.
 * `unknown`: nobody can say whether it did.
 */
export const exportStates = [
  'asked',
  'waiting',
  'running',
  'sharing',
  'done',
  'failed',
  'cancelled',
  'unknown',
] as const;
export type ExportState = (typeof exportStates)[number];

/** An export as its list and its messages show it. */
export interface ExportSummary {
  readonly id: string;
  readonly userId: string;
  /** undefined = the person's direct messages. */
  readonly channel: string | undefined;
  readonly request: ExportRequest;
  readonly state: ExportState;
  readonly rows: number;
  readonly bytes: number;
  readonly askedAt: Date;
  readonly endedAt: Date | undefined;
  readonly filesDeletedAt: Date | undefined;
}

/** Whether it may still be stopped. */
export function isUnderWay(state: ExportState): boolean {
  return state === 'asked' || state === 'waiting' || state === 'running';
}
