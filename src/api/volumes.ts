import { z } from 'zod';
import { appIdKind } from './apps.ts';
import { parseAnswer } from './http/answers.ts';
import { type Drift, texts } from './http/lenient.ts';
import { address, type Hosts, textId } from './http/paths.ts';
import type { Send } from './http/request.ts';

/** Delete All Volume Instances (cdn-api.md §2.6). Irreversible. */
export interface Volumes {
  /**
   * Sent at most once, whatever the answer. `ids`: the deleted instances, empty where there were none, undefined where
   * the service did not say. Throws ApiError: `refused` while an instance is attached, `not_found` for a wrong id or a
   * volume that is already gone. Where `sent` is true and the code is timeout, unreachable, cut, unavailable or
   * unexpected, nobody knows whether it was deleted.
   */
  readonly deleteAll: (
    appId: string,
    volumeId: string,
  ) => Promise<{ readonly ids: readonly string[] | undefined; readonly requestId: string | undefined }>;
}

const answer = z.object({ ids: texts });

export function createVolumes(send: Send, hosts: Hosts, onDrift: (drift: Drift) => void): Volumes {
  return {
    async deleteAll(appId, volumeId) {
      const app = textId(appId, appIdKind);
      const volume = textId(volumeId, {
        noun: 'a volume id',
        hint: 'A volume id is text, such as my-data-volume.',
      });
      const operation = 'Delete All Volume Instances';
      const request = {
        operation,
        method: 'DELETE',
        address: address(hosts.api, 'mc', 'apps', app, 'volumes', volume),
        reads: false,
        once: true,
      } as const;
      return send(request, async (reply) => {
        const body = await reply.json();
        const { requestId } = reply;
        if (body === undefined) return { ids: undefined, requestId };
        return { ids: parseAnswer(reply, body, answer, operation, onDrift).ids ?? undefined, requestId };
      });
    },
  };
}
