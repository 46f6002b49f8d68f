import { type Logger, type WebAPICallResult, WebClient, type WebClientOptions } from '@slack/web-api';
import { createCache } from '../../lib/cache.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Egress } from './egress.ts';
import type { SendNativeBlocks } from './native-blocks.ts';

export interface ClientOptions {
  readonly apiUrl: string;
  readonly logger: Logger;
  readonly egress: Pick<Egress, 'check'>;
  readonly sendNativeBlocks: SendNativeBlocks;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

export interface Clients {
  /** For answers to people: gives up after seconds, since a trigger lives for three. */
  interactive(token: Secret): WebClient;
  /** For jobs: a 429 comes back as an error instead of pausing a queue, so that jobs never hold up a person. */
  job(token: Secret): WebClient;
}

// Upper bound of clients: token rotation brings a new token every twelve hours.
const poolSize = 500;

/**
 * Web API clients, one for each token and kind, so that a 429 on one workspace's jobs pauses no other.
 * `headers` is never passed: WebClient 8 writes Authorization into the caller's object, so a token could leak into
 * another workspace's client.
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
      new CheckedClient(options, token, {
        ...shared,
        timeout: 5_000,
        rejectRateLimitedCalls: true,
        retryConfig: { retries: 1, minTimeout: 100, maxTimeout: 500 },
      }),
  );
  const job = pool(
    (token) =>
      new CheckedClient(options, token, {
        ...shared,
        timeout: 10_000,
        rejectRateLimitedCalls: true,
        retryConfig: { retries: 0 },
      }),
  );
  return { interactive, job };
}

/** Checks each call before it is queued, so that a blocked one is never sent and never retried. */
class CheckedClient extends WebClient {
  readonly #checks: ClientOptions;
  readonly #installation: string;

  constructor(checks: ClientOptions, token: string, options: WebClientOptions) {
    super(token, options);
    this.#checks = checks;
    this.#installation = token;
  }

  override async apiCall(method: string, options: Record<string, unknown> = {}): Promise<WebAPICallResult> {
    const { egress, sendNativeBlocks } = this.#checks;
    return sendNativeBlocks({ installation: this.#installation, method }, options, (content) => {
      egress.check('slack', content, method);
      return super.apiCall(method, content);
    });
  }
}

function pool(create: (token: string) => WebClient): (token: Secret) => WebClient {
  const clients = createCache<WebClient>({ now: () => new Date(), maxEntries: poolSize });
  return (token) => {
    const key = token.reveal();
    const known = clients.get(key);
    if (known) return known;
    const client = create(key);
    clients.set(key, client);
    return client;
  };
}
