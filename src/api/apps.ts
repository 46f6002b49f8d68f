import { z } from 'zod';
import { parseIsoTime } from '../lib/time.ts';
import { parseAnswer } from './http/answers.ts';
import { count, type Drift, reported, text } from './http/lenient.ts';
import { address, type Hosts, type IdKind, textId } from './http/paths.ts';
import type { Send } from './http/request.ts';
import { numberIn, readSeries } from './series.ts';

export interface LatencyPoint {
  /** As the service wrote it. */
  readonly label: string;
  /** ms since the epoch, where the label is a time. */
  readonly at?: number;
  readonly latency: number;
}

/** Absent: not reported. Latency as the service reports it: its unit is stated nowhere. */
export interface AppSummary {
  readonly averageLatency?: number;
  readonly currentLatency?: number;
  readonly totalVolumeSizeInGb?: number;
  /** USD by the service's price list; the specification names no currency. */
  readonly monthlyCost?: number;
  /** Oldest first; points without a time last. */
  readonly latencyChart: readonly LatencyPoint[];
  /** Lower case: unknown, active, progressing, inactive, failing, suspended. An open set. */
  readonly status?: string;
}

/** Get Application Usage Summary (cdn-api.md §2.5). */
export interface Apps {
  readonly summary: (appId: string) => Promise<AppSummary>;
}

export const appIdKind: IdKind = {
  noun: 'an app id',
  hint: 'An app id is about 15 letters and digits, without spaces or slashes.',
};

const answer = z.object({
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
        address: address(hosts.api, 'mc', 'apps', textId(appId, appIdKind), 'summary'),
        reads: true,
      } as const;
      return send(request, async (reply) => {
        const body = await reply.json();
        const { latencyChart, status, ...numbers } = parseAnswer(reply, body, answer, operation, onDrift);
        return {
          ...reported(numbers),
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
      const latency = numberIn(value);
      const at = parseIsoTime(key);
      return latency === undefined ? [] : [{ label: key, ...(at === undefined ? {} : { at }), latency }];
    })
    .sort((a, b) => (a.at ?? Number.MAX_VALUE) - (b.at ?? Number.MAX_VALUE) || (a.label < b.label ? -1 : 1));
}
