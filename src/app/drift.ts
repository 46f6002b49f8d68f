import type { Drift } from '../api/http/request.ts';
import type { Log } from '../telemetry/log.ts';
import { listSome } from '../views/blocks/format.ts';
import type { Finding } from '../views/doctor.ts';

/** Upper bound of the names stored for one operation and kind: the service chooses them. */
const mostNames = 100;
const kinds = ['wrong', 'missing', 'unknown'] as const;
const words = { wrong: 'of another type', missing: 'missing', unknown: 'not in the specification' } as const;

export type DriftKind = (typeof kinds)[number];
type Names = Readonly<Record<DriftKind, Set<string>>>;

/**
 * Tells where answers of the CDN differ from the specification: in a metric, in a check, and once a day for each member in
 * the log. Names, never values.
 */
export function createDriftWatch(options: {
  readonly log: Log;
  readonly now: () => Date;
  readonly count: (operation: string, kind: DriftKind, members: number) => void;
}) {
  const { log, now, count } = options;
  const found = new Map<string, Names>();
  let logged = new Map<string, Names>();
  let loggedOn = '';

  return {
    report(drift: Drift): void {
      const { operation } = drift;
      const day = now().toISOString().slice(0, 10);
      if (day !== loggedOn) [logged, loggedOn] = [new Map(), day];
      const [known, told] = [namesOf(found, operation), namesOf(logged, operation)];
      const news = { wrong: [], missing: [], unknown: [] } as Record<DriftKind, string[]>;
      for (const kind of kinds) {
        for (const name of drift[kind]) {
          addName(known[kind], name);
          if (addName(told[kind], name)) news[kind].push(name);
        }
        count(operation, kind, known[kind].size);
      }
      if (kinds.some((kind) => news[kind].length > 0))
        log.warn({ operation, ...news }, 'an answer of the CDN differs from the specification');
    },

    examine(): Finding {
      const check = 'cdn answers';
      const differing = [...found].flatMap(([operation, names]) =>
        kinds.flatMap((kind) =>
          names[kind].size === 0 ? [] : [`${operation}: ${words[kind]}: ${listSome([...names[kind]], 10)}`],
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

function namesOf(all: Map<string, Names>, operation: string): Names {
  const names = all.get(operation) ?? { wrong: new Set(), missing: new Set(), unknown: new Set() };
  all.set(operation, names);
  return names;
}

/** True if the name is new, and stored. */
function addName(names: Set<string>, name: string): boolean {
  return !names.has(name) && names.size < mostNames && names.add(name).has(name);
}
