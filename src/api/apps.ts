import { z } from 'zod';
import { parseIsoTime } from '../lib/time.ts';
import {
  count,
  type Drift,
  findNumber,
  omitMissing,
  parseAnswer,
  readSeries,
  text,
  texts,
} from './http/lenient.ts';
import { address, checkTextId, type Hosts, type IdKind, pathOf } from './http/paths.ts';
import type { Send } from './http/request.ts';

export interface LatencyPoint {
  /** The service's key. */
  readonly label: string;
  /** Epoch ms, if the label is a time. */
  readonly at?: number;
  readonly latency: number;
}

/** Absent: not reported. The specification gives no unit of latency. */
export interface AppSummary {
  readonly averageLatency?: number;
  readonly currentLatency?: number;
  readonly totalVolumeSizeInGb?: number;
  /** US dollars by the service's price list; the specification names no currency. */
  readonly monthlyCost?: number;
  /** Oldest first; points without a time last. */
  readonly latencyChart: readonly LatencyPoint[];
  /** Lower case: unknown, active, progressing, inactive, failing, suspended. An open set. */
  readonly status?: string;
}

/** Get Application Usage Summary. */
export interface Apps {
  readonly summary: (appId: string) => Promise<AppSummary>;
}

const appIdKind: IdKind = {
  noun: 'an app id',
  hint: 'An app id is about 15 letters and digits, without spaces or slashes.',
};

const usageSummary = z.object({
  averageLatency: count,
  currentLatency: count,
  totalVolumeSizeInGb: count,
  monthlyCost: count,
  latencyChart: z.unknown().optional(),
  status: text,
});

export function createApps(send: Send, hosts: Hosts, onDrift: (drift: Drift) => void): Apps {
  return {
    async summary(appId) {
      const operation = 'Get Application Usage Summary';
      const request = {
        operation,
        method: 'GET',
        address: address(hosts.api, 'mc', 'apps', checkTextId(appId, appIdKind), 'summary'),
        isRead: true,
      } as const;
      return send(request, async (reply) => {
        const body = await reply.json();
        const { latencyChart, status, ...numbers } = parseAnswer(
          reply,
          body,
          usageSummary,
          operation,
          onDrift,
        );
        return {
          ...omitMissing(numbers),
          latencyChart: readChart(latencyChart),
          ...(status ? { status: status.toLowerCase() } : {}),
        };
      });
    },
  };
}

function readChart(raw: unknown): LatencyPoint[] {
  return readSeries(raw)
    .flatMap(({ key, value }): LatencyPoint[] => {
      const latency = findNumber(value);
      const at = parseIsoTime(key);
      return latency === undefined ? [] : [{ label: key, ...(at === undefined ? {} : { at }), latency }];
    })
    .sort((a, b) => (a.at ?? Number.MAX_VALUE) - (b.at ?? Number.MAX_VALUE) || (a.label < b.label ? -1 : 1));
}

/** Delete All Volume Instances. Irreversible. */
export interface Volumes {
  /**
   * Sent at most once, whatever the answer, to a path of `volumePath`. `ids`: the deleted instances, empty if there were
   * none, undefined if the service did not say. Throws ApiError: `refused` while an instance is attached, `not_found` for
   * a wrong id or a volume that is already gone. The outcome is unknown if `sent` is true and the code is timeout,
   * unreachable, cut, unavailable or unexpected.
   */
  readonly deleteAll: (
    path: string,
  ) => Promise<{ readonly ids: readonly string[] | undefined; readonly requestId: string | undefined }>;
}

const deletion = z.object({ ids: texts });

/** The path of a volume's instances, as it is sealed and sent. @throws UserError for an id that cannot be one. */
export function volumePath(appId: string, volumeId: string): string {
  const app = checkTextId(appId, appIdKind);
  const volume = checkTextId(volumeId, {
    noun: 'a volume id',
    hint: 'A volume id is text, such as my-data-volume.',
  });
  return pathOf('mc', 'apps', app, 'volumes', volume);
}

export function createVolumes(send: Send, hosts: Hosts, onDrift: (drift: Drift) => void): Volumes {
  return {
    async deleteAll(path) {
      const operation = 'Delete All Volume Instances';
      const request = {
        operation,
        method: 'DELETE',
        address: hosts.api + path,
        isRead: false,
        neverRetry: true,
      } as const;
      return send(request, async (reply) => {
        const body = await reply.json();
        const { requestId } = reply;
        if (body === undefined) return { ids: undefined, requestId };
        return { ids: parseAnswer(reply, body, deletion, operation, onDrift).ids ?? undefined, requestId };
      });
    },
  };
}
