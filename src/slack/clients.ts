import { type Logger, WebClient } from '@slack/web-api';
import type { Secret } from '../secret.ts';

export interface ClientOptions {
  readonly apiUrl: string;
  readonly logger: Logger;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface Clients {
  /** For answers that somebody waits for: gives up after seconds, since a trigger lives for three. */
  interactive(token: Secret): WebClient;
  /** For jobs: a 429 comes back as an error instead of pausing a queue, so that jobs never hold up a person. */
  job(token: Secret): WebClient;
}

// More workspaces than this and the least recently made clients are made anew: the pool must not grow with token rotation.
const poolSize = 500;

/**
 * Web API clients, one a token and kind, so that a 429 on one workspace's jobs pauses nobody else.
 * `headers` is never passed: WebClient writes Authorization into the caller's object (slack.md §2.3).
 */
export function createClients(options: ClientOptions): Clients {
  const shared = {
    slackApiUrl: options.apiUrl,
    logger: options.logger,
    allowAbsoluteUrls: false,
    ...(options.fetch ? { fetch: options.fetch } : {}),
  };
  const interactive = pool(
    (token) =>
      new WebClient(token, {
        ...shared,
        timeout: 5_000,
        rejectRateLimitedCalls: true,
        retryConfig: { retries: 1, minTimeout: 100, maxTimeout: 500 },
      }),
  );
  const job = pool(
    (token) =>
      new WebClient(token, {
        ...shared,
        timeout: 10_000,
        rejectRateLimitedCalls: true,
        retryConfig: { retries: 0 },
      }),
  );
  return { interactive, job };
}

function pool(make: (token: string) => WebClient): (token: Secret) => WebClient {
  const clients = new Map<string, WebClient>();
  return (token) => {
    const key = token.reveal();
    const known = clients.get(key);
    if (known) return known;
    if (clients.size >= poolSize) clients.delete(clients.keys().next().value ?? key);
    const client = make(key);
    clients.set(key, client);
    return client;
  };
}
