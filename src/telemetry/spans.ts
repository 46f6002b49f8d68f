import type { Call } from './metrics.ts';
import { withReference } from './reference.ts';

/** Names from the code, numbers and codes: never anything typed, an id of a person, or a message of an error. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where spans go, once tracing is on. */
export interface Tracing {
  run<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>;
  add(name: string, attributes: Attributes, times: Pick<Call, 'startedAt' | 'seconds'>): void;
  describe(attributes: Attributes): void;
}

let tracing: Tracing | undefined;

/** Sends the spans of this process there; the returned function ends that. */
export function useTracing(next: Tracing): () => void {
  tracing = next;
  return () => {
    if (tracing === next) tracing = undefined;
  };
}

/** Runs work in a span, below that of the surrounding work and with its reference. Without tracing it just runs. */
export function withSpan<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const on = tracing;
  return on ? withReference(() => on.run(name, attributes, work)) : work();
}

/** Adds to the span of the surrounding work what is known by now. */
export function describeSpan(attributes: Attributes): void {
  tracing?.describe(attributes);
}

/** Whether spans go anywhere. */
export function isTracing(): boolean {
  return tracing !== undefined;
}

/** Statements are long; their beginning tells them apart. */
const maxStatement = 300;

/** Adds a statement of the database that has ended. Its values are parameters, and not in its text. */
export function addQuerySpan(statement: string, seconds: number, isFailed: boolean): void {
  const text = statement.trim().replaceAll(/\s+/gu, ' ').slice(0, maxStatement);
  const failed = isFailed ? { 'error.type': 'error' } : {};
  tracing?.add(
    `database ${text.split(' ', 1)[0]}`,
    { 'db.system.name': 'postgresql', 'db.query.text': text, ...failed },
    { startedAt: Date.now() - seconds * 1000, seconds },
  );
}

/** Adds a call to another service that has ended, below the span of the surrounding work. */
export function addCallSpan(service: 'CDN' | 'Slack', { name, outcome, status, ...times }: Call): void {
  const failed = outcome === 'ok' ? {} : { 'error.type': outcome };
  tracing?.add(
    `${service} ${name}`,
    { 'rpc.system': service, 'rpc.method': name, 'http.response.status_code': status, ...failed },
    times,
  );
}
