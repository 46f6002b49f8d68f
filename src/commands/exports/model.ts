import type { EventLogFilter } from '../../api/event-logs.ts';

/** The requested part of a shield zone's event log, and the form of its files. */
export interface ExportRequest {
  readonly shieldZoneId: string;
  readonly from: Date;
  readonly to: Date;
  readonly query: string;
  readonly filters: readonly EventLogFilter[];
  /** Adds a copy in which no cell runs as a formula. */
  readonly spreadsheetSafe: boolean;
  /** Replaces IP addresses; the raw file is not sent. */
  readonly pseudonyms: boolean;
  /** Splits a log that is larger than one file in Slack may be. */
  readonly split: boolean;
}

/**
 * `asked`: its first message is being posted. `sharing`: Slack was asked to show the files and has not answered.
 * `unknown`: Slack may have shown them.
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

/** An export as lists and messages show it. */
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

/** The states in which an export can be cancelled. */
export const underWay: readonly ExportState[] = ['asked', 'waiting', 'running'];

export function isUnderWay(state: ExportState): boolean {
  return underWay.includes(state);
}
