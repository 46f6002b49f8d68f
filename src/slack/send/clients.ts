import { type Logger, type WebAPICallResult, WebClient, type WebClientOptions } from '@slack/web-api';
import type { Secret } from '../../secrets/secret.ts';
import type { Egress } from './egress.ts';

export interface ClientOptions {
  readonly apiUrl: string;
  readonly logger: Logger;
  readonly egress: Pick<Egress, 'check'>;
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
      new CheckedClient(options.egress, token, {
        ...shared,
        timeout: 5_000,
        rejectRateLimitedCalls: true,
        retryConfig: { retries: 1, minTimeout: 100, maxTimeout: 500 },
      }),
  );
  const job = pool(
    (token) =>
      new CheckedClient(options.egress, token, {
        ...shared,
        timeout: 10_000,
        rejectRateLimitedCalls: true,
        retryConfig: { retries: 0 },
      }),
  );
  return { interactive, job };
}

/**
 * Checked where a method is called, since requests wait in a queue that may run them on behalf of others: what is
 * stopped is never queued, and never tried again.
 */
class CheckedClient extends WebClient {
  readonly #egress: Pick<Egress, 'check'>;

  constructor(egress: Pick<Egress, 'check'>, token: string, options: WebClientOptions) {
    super(token, options);
    this.#egress = egress;
  }

  override async apiCall(method: string, options: Record<string, unknown> = {}): Promise<WebAPICallResult> {
    this.#egress.check('slack', options, method);
    return super.apiCall(method, options);
  }
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
