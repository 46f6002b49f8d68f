import type { Drift } from '../api/http/request.ts';
import type { Log } from '../telemetry/log.ts';
import type { Finding } from '../views/doctor.ts';

/** Names of one operation and kind that are kept: the service chooses them. */
const mostNames = 100;
const kinds = ['wrong', 'missing', 'unknown'] as const;
const words = { wrong: 'of another type', missing: 'missing', unknown: 'not in the specification' } as const;

export type DriftKind = (typeof kinds)[number];

/**
 * What answers of the CDN have that the specification has not: a metric, a check, a log line a day. Names, never values.
 */
export function createDriftWatch(options: {
  readonly log: Log;
  readonly now: () => Date;
  readonly count: (operation: string, kind: DriftKind, members: number) => void;
}) {
  const { log, now, count } = options;
  const found = new Map<string, Record<DriftKind, Set<string>>>();
  const loggedOn = new Map<string, string>();

  return {
    report(drift: Drift): void {
      const { operation } = drift;
      const names = found.get(operation) ?? { wrong: new Set(), missing: new Set(), unknown: new Set() };
      found.set(operation, names);
      for (const kind of kinds) {
        for (const name of drift[kind]) if (names[kind].size < mostNames) names[kind].add(name);
        count(operation, kind, names[kind].size);
      }
      const day = now().toISOString().slice(0, 10);
      if (loggedOn.get(operation) === day) return;
      loggedOn.set(operation, day);
      const { wrong, missing, unknown } = drift;
      log.warn({ operation, wrong, missing, unknown }, 'an answer of the CDN differs from the specification');
    },

    examine(): Finding {
      const check = 'cdn answers';
      const differing = [...found].flatMap(([operation, names]) =>
        kinds.flatMap((kind) =>
          names[kind].size === 0 ? [] : [`${operation}: ${words[kind]}: ${listNames(names[kind])}`],
        ),
      );
      if (differing.length === 0) return { check, state: 'ok', says: 'as specified so far' };
      const says = differing.join('; ');
      // New members are ignored; what cannot be read is missing in answers.
      const isHarmless = [...found.values()].every(({ wrong, missing }) => wrong.size + missing.size === 0);
      if (isHarmless) return { check, state: 'ok', says: `has members that are not read: ${says}` };
      const fix = 'Update the bot. Until then these members count as not reported.';
      return { check, state: 'limited', says, fix };
    },
  };
}

function listNames(names: ReadonlySet<string>): string {
  const [shown, more] = [[...names].slice(0, 10).join(', '), names.size - 10];
  return more > 0 ? `${shown} and ${more} more` : shown;
}
