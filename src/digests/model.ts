import type { CdnClient } from '../api/cdn.ts';
import type { AppFigures, ErrorFigures, ScanFigures, ZoneFigures } from './figures/figures.ts';
import type { CodeBaseline } from './kinds/error-codes.ts';
import type { ZoneBaseline } from './kinds/zone-baseline.ts';

/** What a digest tells of. The words are those of the commands that show the same. */
export const digestKinds = ['zones', 'errors', 'scanning', 'apps'] as const;
export type DigestKind = (typeof digestKinds)[number];

/**
 * When a digest speaks: `always` (nothing changed is one line), `changed`, or above a count: of origin errors, blocked
 * uploads, failing apps and zones that need attention, together.
 */
export type Only = 'always' | 'changed' | { readonly above: number };

/** What a digest is about. */
export interface DigestSubject {
  readonly kinds: readonly DigestKind[];
  /** Ids. No zones = all of the account; `scanning` needs shield zones; no apps = those the zones are linked to. */
  readonly targets: {
    readonly zones: readonly string[];
    readonly shieldZones: readonly string[];
    readonly apps: readonly string[];
  };
  readonly only: Only;
  /** IANA: days in its words are days there. */
  readonly timeZone: string;
}

/** A run that was: when it was due, and what it found. */
export interface PastRun {
  readonly due: Date;
  readonly figures: Collected;
}

export interface CollectInput {
  readonly cdn: CdnClient;
  /** The moment that the digest speaks of. */
  readonly now: Date;
  /** What it remembers of what it last said; undefined in a first run. */
  readonly book: Baseline | undefined;
  /** The newest run before this one that found figures. */
  readonly previous: PastRun | undefined;
  /** The run a week before, within half a day; may be `previous`. */
  readonly sameWeekday: PastRun | undefined;
  /** Newest first, at most 60, `previous` and `sameWeekday` among them. */
  readonly history: readonly PastRun[];
  /** Ends when the bot stops or the run took too long. */
  readonly signal: AbortSignal;
  /** A failure in words (mrkdwn, escaped), with the reference that is in the log. */
  readonly explain: (error: unknown) => ReadFailure;
  /** After so long no further log is begun: 90 s. */
  readonly patienceMs?: number;
}

export interface ReadFailure {
  readonly message: string;
  readonly reference?: string | undefined;
}

/** What a digest remembers, to tell what is new by its name: of a version of its own, kept as JSON, one for each digest. */
export interface Baseline {
  readonly version: typeof baselineVersion;
  readonly zones?: ZoneBaseline;
  readonly codes?: CodeBaseline;
}

/** A book of another version is none: the next run is a first one. */
export const baselineVersion = 1;

/** Figures of another version are not compared with. */
export const figuresVersion = 1;

/**
 * What one run found: plain data, kept as JSON (at most `mostFigures` characters) for later runs to compare with,
 * with everything that drawing it needs, comparisons included.
 */
export interface Collected {
  readonly version: typeof figuresVersion;
  /** When, as ISO text. */
  readonly at: string;
  readonly zones?: ZoneFigures;
  readonly errors?: ErrorFigures;
  readonly scanning?: readonly ScanFigures[];
  readonly apps?: { readonly apps: readonly AppFigures[]; readonly more: number };
  /** What could not be read, and costs the rest nothing. */
  readonly unread: readonly Unread[];
}

export interface Unread extends ReadFailure {
  readonly kind: DigestKind;
  /** Which zone, shield zone or app; absent: all of it. */
  readonly what?: string;
  /** As many more that failed the same way. */
  readonly more: number;
}

/** As many characters as the figures of a run may take. */
export const maxFigures = 65_536;
