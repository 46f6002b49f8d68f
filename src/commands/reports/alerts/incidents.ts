import type { AlertState, IncidentFigures, IncidentPart } from '../model.ts';
import type { Condition, Observation, Part } from './conditions/condition.ts';

/** Points of a chart's series and parts by name that are stored of an incident. */
const mostPoints = 288;
const mostParts = 50;

/** What follows from a check, in addition to the stored state. */
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
 * incident. After a gap between checks (`isGap`) earlier ones say nothing about now.
 */
export function advance(
  { recent: before }: Pick<AlertState, 'recent'>,
  known: IncidentFigures | undefined,
  seen: Observation<unknown>,
  about: {
    readonly now: Date;
    readonly damping: Condition<string>['damping'];
    readonly isGap?: boolean;
    readonly isEvent?: boolean | undefined;
  },
): Step {
  const { now, damping, isGap = false, isEvent = false } = about;
  const open = known && isGap ? { ...known, parts: known.parts.map(fire) } : known;
  const unread = new Set(seen.unread);
  const ids = new Set(seen.parts.map(({ id }) => id));
  // A part of which nothing is known now fires as it did last.
  const kept = open?.parts.filter(({ id, calm }) => calm === 0 && unread.has(id) && !ids.has(id)) ?? [];
  const firing = [...seen.parts, ...kept];
  const recent = [...(isGap ? [] : before), firing.length > 0].slice(
    -Math.max(damping.open[1], damping.close),
  );
  const none = { recent, joined: [], left: [] };
  if (!open) {
    const times = recent.slice(-damping.open[1]).filter(Boolean).length;
    if (firing.length === 0 || times < damping.open[0]) return { ...none, move: 'nothing' };
    return { ...none, move: 'open', figures: addCheck(undefined, firing, firing.map(fire), seen, now) };
  }
  // An event has happened, and stays so.
  const close = isEvent ? Number.POSITIVE_INFINITY : damping.close;
  const { parts, joined, left } = mergeParts(open.parts, firing, unread, close);
  const calm = recent.length - 1 - recent.lastIndexOf(true);
  if (isEvent ? calm >= damping.close : parts.length === 0)
    return { ...none, move: 'close', figures: addCheck(open, firing, open.parts, seen, now) };
  return { recent, move: 'update', figures: addCheck(open, firing, parts, seen, now), joined, left };
}

function fire(part: Part): IncidentPart {
  return { ...part, calm: 0 };
}

/** The figures of an incident with those of a check. `parts`: what it shows now. */
function addCheck(
  open: IncidentFigures | undefined,
  firing: readonly Part[],
  parts: readonly IncidentPart[],
  { value, count }: Observation<unknown>,
  now: Date,
): IncidentFigures {
  const at = now.toISOString();
  const { everything = [], worst, total, series = [] } = open ?? {};
  const isWorse =
    !worst ||
    (value === undefined
      ? worst.value === undefined && firing.length > worst.parts
      : value > (worst.value ?? Number.NEGATIVE_INFINITY));
  return {
    parts: parts.slice(0, mostParts),
    firing: firing.length,
    everything: [...new Set([...everything, ...firing.map(({ name }) => name)])].slice(0, mostParts),
    worst: isWorse ? { at, value, parts: firing.length } : worst,
    total: count === undefined ? total : (total ?? 0) + count,
    series: value === undefined ? series : [...series, [at, value] as const].slice(-mostPoints),
    lookedAt: at,
  };
}

/** Parts that came, and those that were calm for `close` checks; the others stay, so that a flapping one is told once. */
function mergeParts(
  before: readonly IncidentPart[],
  firing: readonly Part[],
  unread: ReadonlySet<string>,
  close: number,
) {
  const ids = new Set(firing.map(({ id }) => id));
  const known = new Set(before.map(({ id }) => id));
  // One that is not kept would join again at each check.
  const kept = firing.slice(0, mostParts);
  const others = before
    .filter(({ id }) => !ids.has(id))
    .map((part) => (unread.has(part.id) ? part : { ...part, calm: part.calm + 1 }));
  const left = others.filter(({ id, calm }) => calm >= close && !unread.has(id));
  return {
    parts: [...kept.map(fire), ...others.filter((part) => !left.includes(part))],
    joined: kept.filter(({ id }) => !known.has(id)),
    left,
  };
}
