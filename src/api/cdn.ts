import { setTimeout as delay } from 'node:timers/promises';
import type { Secret } from '../secrets/secret.ts';
import { type ApiKeys, createApiKeys } from './api-keys.ts';
import { type Apps, createApps, createVolumes, type Volumes } from './apps.ts';
import { createEventLogs, type EventLogs } from './event-logs.ts';
import type { Drift } from './http/lenient.ts';
import type { Hosts } from './http/paths.ts';
import { createSend, type Transport } from './http/request.ts';
import type { ErrorBudget } from './http/retry.ts';
import { createOriginErrors, type OriginErrors } from './origin-errors/origin-errors.ts';
import { createUploadScanning, type UploadScanning } from './upload-scanning.ts';
import { createVariables, type Variables } from './variables.ts';
import { createPullZones, type PullZones } from './zones/pull-zones.ts';

export interface CdnOptions {
  /** {base_url} of the specification. */
  readonly apiUrl: string;
  /** {origin_logging_url} of the specification. */
  readonly originLoggingUrl: string;
  readonly fetch?: typeof globalThis.fetch;
  /** Wait for the headers, and between two pieces of a body. Default 10 s. */
  readonly timeoutMs?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random?: () => number;
  /** Called for answers that differ from the specification, with member names and no values. Keep it cheap. */
  readonly onDrift?: (drift: Drift) => void;
}

/** The eight operations of the specification, with one person's key. */
export interface CdnClient {
  readonly pullZones: PullZones;
  readonly apiKeys: ApiKeys;
  readonly variables: Variables;
  readonly originErrors: OriginErrors;
  readonly apps: Apps;
  readonly volumes: Volumes;
  readonly uploadScanning: UploadScanning;
  readonly eventLogs: EventLogs;
}

export interface Cdn {
  /** A client for one key. `signal` aborts its requests with ApiError `cancelled`. */
  readonly withKey: (key: Secret, signal?: AbortSignal, allowance?: ErrorBudget) => CdnClient;
}

/** The CDN of one deployment. */
export function createCdn(options: CdnOptions): Cdn {
  const transport: Transport = {
    fetch: options.fetch ?? globalThis.fetch,
    timeoutMs: options.timeoutMs ?? 10_000,
    now: options.now ?? Date.now,
    sleep: options.sleep ?? ((ms, signal) => delay(ms, undefined, signal ? { signal } : {})),
    random: options.random ?? Math.random,
  };
  const hosts: Hosts = {
    api: options.apiUrl.replace(/\/+$/, ''),
    originLogging: options.originLoggingUrl.replace(/\/+$/, ''),
  };
  const onDrift = options.onDrift ?? (() => {});

  return {
    withKey(key, signal, allowance) {
      const send = createSend(transport, key, signal, allowance);
      return {
        pullZones: createPullZones(send, hosts, onDrift),
        apiKeys: createApiKeys(send, hosts, key),
        variables: createVariables(send, hosts, onDrift),
        originErrors: createOriginErrors(send, hosts),
        apps: createApps(send, hosts, onDrift),
        volumes: createVolumes(send, hosts, onDrift),
        uploadScanning: createUploadScanning(send, hosts, onDrift),
        eventLogs: createEventLogs(send, hosts, transport.now),
      };
    },
  };
}
