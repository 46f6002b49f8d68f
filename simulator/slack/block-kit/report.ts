import type { Report, Surface } from './rules.ts';

/** What a check found: `error` and `messages` as Slack answers them, `problems` for the tests. */
export interface Checked {
  error?: string;
  messages: string[];
  problems: string[];
}

/** Collects findings of one payload. `label` names the call in problems. */
export function createReport(surface: Surface, label: string): Report & { checked(error: string): Checked } {
  const messages: string[] = [];
  const advice: string[] = [];
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  return {
    surface,
    refuse(at, message) {
      messages.push(`[ERROR] ${message} [json-pointer:${at}]`);
    },
    advise(at, message) {
      advice.push(`${label}: ${message} [json-pointer:${at}]`);
    },
    count(what, by = 1) {
      const sum = (counts.get(what) ?? 0) + by;
      counts.set(what, sum);
      return sum;
    },
    first(scope, id) {
      const key = `${scope} ${id}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    },
    checked(error) {
      const problems = [...messages.map((message) => `${label}: ${error} ${message}`), ...advice];
      return messages.length > 0 ? { error, messages, problems } : { messages, problems };
    },
  };
}
