import { isObject } from '../world.ts';
import type { Report, Surface } from './rules.ts';

/** The result of a check: `error` and `messages` as Slack answers them, `problems` for the tests. */
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

const texts = new Set([
  'text',
  'title',
  'subtitle',
  'caption',
  'alt_text',
  'label',
  'body',
  'description',
  'author_name',
  'fallback',
]);

/** The characters of text in blocks, without ids, values and addresses. */
export function textLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + textLength(item), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [member, inner]) =>
      sum + (typeof inner === 'string' ? (texts.has(member) ? inner.length : 0) : textLength(inner)),
    0,
  );
}
