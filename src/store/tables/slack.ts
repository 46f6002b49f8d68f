import type { Moment } from './columns.ts';

/** Deliveries of Slack that were taken, so that a repeated one is noticed. */
export interface Deliveries {
  id: string;
  seen_at: Moment;
}

/** When the next call may be made, for each channel and method of a workspace: one table for all processes. */
export interface SlackPace {
  tenant: string;
  lane: string;
  free_at: Moment;
}
