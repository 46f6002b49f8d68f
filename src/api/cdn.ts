import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from '../secrets/secret.ts';
import { createApiKeys } from './api-keys.ts';
import { createApps, createVolumes } from './apps.ts';
import { createEventLogs } from './event-logs.ts';
import { type CdnOptions, createSend, type ErrorBudget } from './http/request.ts';
import { createOriginErrors } from './origin-errors/origin-errors.ts';
import { createUploadScanning } from './upload-scanning.ts';
import { createVariables } from './variables.ts';
import { createPullZones, createZoneLoads } from './zones/pull-zones.ts';

export type Cdn = ReturnType<typeof createCdn>;

export type CdnClient = ReturnType<Cdn['withKey']>;

export function createCdn(options: CdnOptions) {
  const loads = createZoneLoads();
  // Of this process alone, so that nothing outside can tell which keys are the same.
  const salt = randomBytes(32);
  return {
    withKey(key: Secret, signal?: AbortSignal, budget?: ErrorBudget) {
      const send = createSend(options, key, signal, budget);
      const account = createHmac('sha256', salt).update(key.reveal()).digest('base64url');
      return {
        pullZones: createPullZones(send, { account, loads, signal }),
        apiKeys: createApiKeys(send, key),
        variables: createVariables(send),
        originErrors: createOriginErrors(send, options.now),
        apps: createApps(send),
        volumes: createVolumes(send),
        uploadScanning: createUploadScanning(send),
        eventLogs: createEventLogs(send, options.now),
      } as const;
    },
  };
}
