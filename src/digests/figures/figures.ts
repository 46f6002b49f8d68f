import type { Attention } from '../../api/zones/attention.ts';

/** Something with an id, and what people call it (flattened, bounded; may be empty). */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** How many there are, and the first ten of them. */
export interface Some {
  readonly count: number;
  readonly first: readonly Named[];
}

/** A number, and what it is to be compared with: each is absent where it is not known. */
export interface Comparison {
  readonly now: number;
  /** The previous run's. */
  readonly before?: number;
  /** That of the same weekday, a week before. */
  readonly weekBefore?: number;
  /** What it mostly was, where it is far from that: `outlier` in digest-series.ts. */
  readonly usual?: number;
}

/** A number at a moment, in ms since the epoch: what a chart is made of. */
export type Point = readonly [at: number, value: number];

export interface ZoneFigures {
  /** Which zones were asked for: figures of others are not compared with. */
  readonly scope: string;
  /** When the digest last told of them, as ISO text; absent in the first run. */
  readonly since?: string;
  readonly zones: number;
  readonly skipped: number;
  /** Bytes this month; absent where no zone reports any. */
  readonly used?: number;
  readonly charges?: number;
  readonly attention: number;
  readonly before?: { readonly zones: number; readonly used?: number; readonly charges?: number };
  /** The counters began anew since then. */
  readonly newMonth: boolean;
  /** Bytes a day since the last run that is at least six hours old. */
  readonly perDay?: Comparison;
  /** Dollars a day likewise. */
  readonly chargesPerDay?: Comparison;
  /** Those that used most, the most first. */
  readonly busiest: readonly ZoneUse[];
  /** Zones that reached their monthly limit, or will, the soonest first. */
  readonly limits: readonly LimitFigures[];
  readonly moreLimits: number;
  /** The zones that something is wrong with. */
  readonly states: Readonly<Record<Attention, Some>>;
  /** Chosen, and not in the account. */
  readonly missing: readonly string[];
  /** Against what the digest last told of; absent in the first run. */
  readonly news?: ZoneNews;
  /** Bytes a day, run by run. */
  readonly trend: readonly Point[];
}

export interface ZoneUse extends Named {
  readonly used: number;
  readonly perDay?: Comparison;
}

export interface LimitFigures extends Named {
  readonly used: number;
  readonly limit: number;
  /** ISO text; absent: it has reached it. */
  readonly reaches?: string;
  /** The digest did not say so yet. */
  readonly isNew: boolean;
}

export interface ZoneNews {
  readonly joined: Some;
  readonly left: Some;
  readonly became: Readonly<Record<Attention, Some>>;
  readonly recovered: Readonly<Record<Attention, Some>>;
}

export interface ErrorFigures {
  readonly scope: string;
  readonly since?: string;
  /** It counts from here on, as ISO text: the previous run, at most seven days ago; a day in the first one. */
  readonly from: string;
  readonly total: number;
  readonly perDay: Comparison;
  /** Zones whose logs were read, whose were to be, and how many there are: not all are asked for, but the busiest. */
  readonly read: number;
  readonly asked: number;
  readonly of: number;
  /** Every zone whose log was read, the most errors first. */
  readonly zones: readonly ZoneErrors[];
  readonly codes: readonly (readonly [code: string, count: number])[];
  /** Codes that a zone did not have for 28 days, as far as this digest has seen. */
  readonly fresh: readonly { readonly code: string; readonly count: number; readonly zones: Some }[];
  readonly prefixes: readonly (readonly [prefix: string, count: number])[];
  /** By hour, the last one the hour that it is. */
  readonly hours: readonly number[];
  /** When the first of them began, in ms. */
  readonly firstHour: number;
}

export interface ZoneErrors extends Named {
  readonly total: number;
  readonly perDay: Comparison;
  /** The CDN holds more than it gave. */
  readonly partial?: true;
}

/** Upload scanning of one shield zone: the CDN's own days, the last whole ones since the previous run. */
export interface ScanFigures {
  readonly id: string;
  readonly since?: string;
  /** `2026-11-20`: the last whole day; absent where the CDN reports none. */
  readonly last?: string;
  readonly days: number;
  readonly scanned?: number;
  readonly logged?: number;
  readonly blocked?: number;
  readonly perDay?: Comparison;
  /** Of the files scanned, where that says something, from 0 to 1. */
  readonly share?: Comparison;
  readonly trend: readonly (readonly [day: string, scanned: number | null, blocked: number | null])[];
}

export interface AppFigures {
  readonly id: string;
  readonly since?: string;
  /** Lower case; an open set. */
  readonly status?: string;
  readonly wasStatus?: string;
  /** As the CDN reports it: it names no unit. */
  readonly latency?: Comparison;
  readonly average?: Comparison;
  readonly cost?: Comparison;
  readonly volumes?: Comparison;
  /** Average latency, run by run. */
  readonly trend: readonly Point[];
}
