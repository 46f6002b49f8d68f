import type { Drift } from '../api/http/request.ts';
import { toUtcDay } from '../lib/time.ts';
import type { Log } from '../telemetry/log.ts';
import { listSome } from '../views/blocks/format.ts';
import type { Finding } from '../views/doctor.ts';

const kinds = { wrong: 'of another type', missing: 'missing', unknown: 'not in the specification' } as const;

/** Upper bound of the names stored for one operation and kind: the service chooses them. */
const mostNames = 100;

/** Tells where answers of a day differ from the specification, in names: metric, check, and a log line each. */
export function createDriftWatch(options: {
  readonly log: Log;
  readonly now: () => Date;
  readonly count: (operation: string, kind: keyof typeof kinds, members: number) => void;
}) {
  const { log, now, count } = options;
  let found = new Map<string, Set<string>>();
  let day = '';

  return {
    report({ operation, ...drift }: Drift): void {
      const today = toUtcDay(now());
      if (today !== day) found = new Map();
      day = today;
      const findNews = (kind: keyof typeof kinds): string[] => {
        const key = `${operation}: ${kinds[kind]}`;
        const known = found.get(key) ?? new Set();
        const fresh = [...new Set(drift[kind])].filter((name) => !known.has(name));
        const news = fresh.slice(0, mostNames - known.size);
        found.set(key, new Set([...known, ...news]));
        count(operation, kind, known.size + news.length);
        return news;
      };
      const news = { wrong: findNews('wrong'), missing: findNews('missing'), unknown: findNews('unknown') };
      if (Object.values(news).some((names) => names.length > 0))
        log.warn({ operation, ...news }, 'an answer of the CDN differs from the specification');
    },

    examine(): Finding {
      const check = 'cdn answers';
      const differing = [...found].filter(([, names]) => names.size > 0);
      if (differing.length === 0) return { check, state: 'ok', says: 'as specified so far' };
      const says = differing.map(([key, names]) => `${key}: ${listSome([...names], 10)}`).join('; ');
      // New members are ignored; what cannot be read is missing in answers.
      if (differing.every(([key]) => key.endsWith(kinds.unknown)))
        return { check, state: 'ok', says: `has fields that the bot does not read: ${says}` };
      const fix = 'Update the bot. Until then these fields count as not reported.';
      return { check, state: 'limited', says, fix };
    },
  };
}
