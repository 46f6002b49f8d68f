import type { Secret } from '../secrets/secret.ts';
import { createApiKeys } from './api-keys.ts';
import { createApps, createVolumes } from './apps.ts';
import { createEventLogs } from './event-logs.ts';
import { type CdnOptions, createSend } from './http/request.ts';
import type { ErrorBudget } from './http/retry.ts';
import { createOriginErrors } from './origin-errors/origin-errors.ts';
import { createUploadScanning } from './upload-scanning.ts';
import { createVariables } from './variables.ts';
import { createPullZones } from './zones/pull-zones.ts';

/** The CDN of one deployment. */
export type Cdn = ReturnType<typeof createCdn>;

/** The eight operations of the specification, with one person's key. */
export type CdnClient = ReturnType<Cdn['withKey']>;

export function createCdn(options: CdnOptions) {
  return {
    /** A client for one key. `signal` aborts its requests with ApiError `cancelled`. */
    withKey(key: Secret, signal?: AbortSignal, budget?: ErrorBudget) {
      const send = createSend(options, key, signal, budget);
      return {
        pullZones: createPullZones(send),
        apiKeys: createApiKeys(send, key),
        variables: createVariables(send),
        originErrors: createOriginErrors(send),
        apps: createApps(send),
        volumes: createVolumes(send),
        uploadScanning: createUploadScanning(send),
        eventLogs: createEventLogs(send, options.now),
      } as const;
    },
  };
}
