import type { AlertState, IncidentFigures, IncidentPart } from '../model.ts';
import type { Condition, Observation, Part } from './conditions/condition.ts';

type Damping = Condition<string>['damping'];

/** Points of a chart's series and parts by name that are stored of an incident. */
const mostPoints = 288;
const mostParts = 50;

/** What follows from a look, beside the state that is stored. */
export interface Step {
  readonly recent: readonly boolean[];
  readonly move: 'nothing' | 'open' | 'update' | 'close';
  /** With all but `nothing`. */
  readonly figures?: IncidentFigures | undefined;
  /** With `update`: what the thread tells; empty where only figures moved. */
  readonly joined: readonly Part[];
  readonly left: readonly Part[];
}

/**
 * One step of an alert: damps flapping, and opens, changes or closes its incident. Pure. `known`: the figures of its open
 * incident. After a gap in the looks (`isGap`) earlier ones say nothing about now.
 */
export function advance(
  { recent: before }: Pick<AlertState, 'recent'>,
  known: IncidentFigures | undefined,
  seen: Observation<unknown>,
  about: {
    readonly now: Date;
    readonly damping: Damping;
    readonly isGap?: boolean;
    readonly isEvent?: boolean | undefined;
  },
): Step {
  const { now, damping, isGap = false, isEvent = false } = about;
  const open = known && isGap ? { ...known, parts: known.parts.map(resetCalm) } : known;
  const unread = new Set(seen.unread);
  const found = open ? keepUnread(open, seen, unread) : seen;
  const isWrong = found.parts.length > 0;
  const length = Math.max(damping.open[1], damping.close);
  const recent = [...(isGap ? [] : before), isWrong].slice(-length);
  const none = { recent, joined: [], left: [] };
  if (!open) {
    const wrong = recent.slice(-damping.open[1]).filter(Boolean).length;
    if (!isWrong || wrong < damping.open[0]) return { ...none, move: 'nothing' };
    return { ...none, move: 'open', figures: begin(found, now) };
  }
  const merged = mergeParts(open.parts, found.parts, {
    unread,
    // An event has happened, and stays so.
    close: isEvent ? Number.POSITIVE_INFINITY : damping.close,
  });
  const calm = recent.length - 1 - recent.lastIndexOf(true);
  if (isEvent ? calm >= damping.close : merged.parts.length === 0)
    return { ...none, move: 'close', figures: grow(open, found, now, open.parts) };
  const { parts, joined, left } = merged;
  return { recent, move: 'update', figures: grow(open, found, now, parts), joined, left };
}

/** A part of which nothing is known now is as wrong as it was last. */
function keepUnread<T extends Observation<unknown>>(
  { parts }: IncidentFigures,
  found: T,
  unread: ReadonlySet<string>,
): T {
  const known = new Set(found.parts.map(({ id }) => id));
  const kept = parts.filter(({ id, calm }) => calm === 0 && unread.has(id) && !known.has(id));
  return kept.length === 0 ? found : { ...found, parts: [...found.parts, ...kept] };
}

function resetCalm(part: IncidentPart): IncidentPart {
  return { ...part, calm: 0 };
}

function begin({ parts, value, count }: Observation<unknown>, now: Date): IncidentFigures {
  const at = now.toISOString();
  return {
    parts: parts.slice(0, mostParts).map((part) => ({ ...part, calm: 0 })),
    everything: parts.slice(0, mostParts).map(({ name }) => name),
    worst: { at, value, parts: parts.length },
    total: count,
    series: value === undefined ? [] : [[at, value]],
    lookedAt: at,
  };
}

function grow(
  open: IncidentFigures,
  { parts: found, value, count }: Observation<unknown>,
  now: Date,
  parts: readonly IncidentPart[],
): IncidentFigures {
  const at = now.toISOString();
  const isWorse =
    value === undefined
      ? open.worst.value === undefined && found.length > open.worst.parts
      : value > (open.worst.value ?? Number.NEGATIVE_INFINITY);
  return {
    parts,
    everything: [...new Set([...open.everything, ...found.map(({ name }) => name)])].slice(0, mostParts),
    worst: isWorse ? { at, value, parts: found.length } : open.worst,
    total: count === undefined ? open.total : (open.total ?? 0) + count,
    series: value === undefined ? open.series : [...open.series, [at, value] as const].slice(-mostPoints),
    lookedAt: at,
  };
}

/** Parts that came, and those that were calm for `close` looks; the others stay, so that a flapping one is told once. */
function mergeParts(
  before: readonly IncidentPart[],
  found: readonly Part[],
  { unread, close }: { readonly unread: ReadonlySet<string>; readonly close: number },
) {
  const wrong = new Map(found.map((part) => [part.id, part]));
  const known = new Set(before.map(({ id }) => id));
  // One that is not kept would join again at each look.
  const kept = found.slice(0, mostParts);
  const joined = kept.filter(({ id }) => !known.has(id));
  const left: Part[] = [];
  const calmed = before.flatMap((part): IncidentPart[] => {
    if (wrong.has(part.id)) return [];
    if (unread.has(part.id)) return [part];
    if (part.calm + 1 < close) return [{ ...part, calm: part.calm + 1 }];
    left.push(part);
    return [];
  });
  const current = kept.map((part): IncidentPart => ({ ...part, calm: 0 }));
  return { parts: [...current, ...calmed].slice(0, mostParts), joined, left };
}
