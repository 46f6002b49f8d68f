import type { Attention } from '../../../api/zones/summary.ts';
import type { Named, NamedGroup } from '../../figures/compact-ids.ts';
import type { Comparison, Point } from '../../figures/series.ts';

export interface ZoneFigures {
  /** The chosen zones; empty for all. Figures of another scope are not compared with. */
  readonly scope: string;
  /** When the digest last reported them, as ISO text; absent in the first run. */
  readonly since?: string | undefined;
  readonly zones: number;
  readonly skipped: number;
  /** Bytes this month; absent where no zone reports any. */
  readonly used?: number | undefined;
  /** Dollars this month, likewise. */
  readonly charges?: number | undefined;
  readonly attention: number;
  readonly before?: { readonly charges?: number | undefined } | undefined;
  /** The monthly counters started again since the previous run. */
  readonly newMonth: boolean;
  /** Bytes a day since the last run that is at least six hours old. */
  readonly perDay?: Comparison | undefined;
  /** Dollars a day likewise. */
  readonly chargesPerDay?: Comparison | undefined;
  /** Those that used most, the most first. */
  readonly busiest: readonly ZoneUse[];
  /** Zones that reached their monthly limit, or will, the soonest first. */
  readonly limits: readonly LimitFigures[];
  readonly moreLimits: number;
  readonly states: ByAttention;
  /** Chosen, and not in the account. */
  readonly missing: readonly string[];
  /** Against what the digest last reported; absent in the first run. */
  readonly news?: ZoneNews | undefined;
  /** Bytes a day, run by run. */
  readonly trend: readonly Point[];
}

export type ByAttention = Readonly<Record<Attention, NamedGroup>>;

export interface ZoneUse extends Named {
  readonly used: number;
  readonly perDay?: Comparison | undefined;
}

export interface LimitFigures extends Named {
  readonly used: number;
  readonly limit: number;
  /** ISO text; absent: it has reached it. */
  readonly reaches?: string | undefined;
  /** The digest has not reported it yet. */
  readonly isNew: boolean;
}

export interface ZoneNews {
  readonly joined: NamedGroup;
  readonly left: NamedGroup;
  readonly became: ByAttention;
  readonly recovered: ByAttention;
}
