import { z } from 'zod';
import { isObject } from './http/errors.ts';
import {
  count,
  describeUnknownForm,
  omitMissing,
  readAnswer,
  readConfirmation,
  readKeyTime,
  readMap,
  readNumber,
} from './http/lenient.ts';
import { checkTextId, type IdKind, pathOf } from './http/paths.ts';
import type { Send } from './http/request.ts';

export interface LatencyPoint {
  readonly label: string;
  readonly at?: number;
  readonly latency: number;
}

const usageSummary = z.object({
  // The specification gives no unit of latency.
  averageLatency: count,
  currentLatency: count,
  totalVolumeSizeInGb: count,
  // The specification names no currency.
  monthlyCost: count,
  latencyChart: z.unknown().optional(),
  // An open set: unknown, active, progressing, inactive, failing, suspended.
  status: z
    .union([z.string(), z.number()])
    .nullish()
    .transform((status) => String(status ?? '').trim() || undefined),
});

/** Absent: not reported. `latencyChart`: oldest first; `unknownChart`: as JSON, where no point could be read; else `unreadPoints`. */
export type AppSummary = Awaited<ReturnType<ReturnType<typeof createApps>['summary']>>;

const appIdKind: IdKind = {
  noun: 'an app ID',
  hint: 'An app ID is about 15 letters and digits, without spaces or slashes.',
};

export function createApps(send: Send) {
  return {
    async summary(appId: string) {
      const path = pathOf('mc', 'apps', checkTextId(appId, appIdKind), 'summary');
      return send({ operation: 'Get Application Usage Summary', path }, async (reply) => {
        const { latencyChart, ...members } = readAnswer(reply, await reply.json(), usageSummary, ['status']);
        const points = readChart(latencyChart);
        const unknownChart = describeUnknownForm(latencyChart, points);
        const unread = readMap(latencyChart).length - points.length;
        const unreadPoints = points.length > 0 && unread > 0 ? unread : undefined;
        return { ...omitMissing({ ...members, unknownChart, unreadPoints }), latencyChart: points };
      });
    },
  };
}

function readChart(raw: unknown): readonly LatencyPoint[] {
  return readMap(raw)
    .flatMap(([key, value]): LatencyPoint[] => {
      const values = [value, ...readMap(value).map(([, inner]) => inner)];
      const [latency, ...more] = values.flatMap((one) => readNumber(one) ?? []);
      const at = readKeyTime(key);
      return latency === undefined || more.length > 0
        ? []
        : [{ label: key, ...(at === undefined ? {} : { at }), latency }];
    })
    .sort((a, b) => (a.at ?? Number.MAX_VALUE) - (b.at ?? Number.MAX_VALUE) || (a.label < b.label ? -1 : 1));
}

/** The path of a volume's instances, in its sealed and sent form. @throws UserError for an invalid id. */
export function volumePath(appId: string, volumeId: string): string {
  const volume = { noun: 'a volume ID', hint: 'A volume ID is text, such as my-data-volume.' };
  return pathOf('mc', 'apps', checkTextId(appId, appIdKind), 'volumes', checkTextId(volumeId, volume));
}

/** `total`, `instance_count`, `numberOfItems`: where one differs from the list, a part may be left. */
const countNames = /^(?:(?:count|deleted|expected|ids|instances?|items?|number|of|removed|total)_?)+$/iu;
const deletion = z.object({ ids: z.array(z.unknown()).nullish() });

export function createVolumes(send: Send) {
  return {
    /**
     * Irreversible, sent at most once, to a path of `volumePath`. The outcome is unknown if the error is `sent` and not a
     * refusal.
     */
    async deleteAll(path: string) {
      const request = { operation: 'Delete All Volume Instances', method: 'DELETE', path } as const;
      return send(request, async (reply) => {
        const body = await reply.json();
        const { ids } = readConfirmation(reply, body, deletion, 'deletion');
        const counts = [body, ...Object.values(body ?? {})]
          .flatMap((one: unknown) => (isObject(one) ? Object.entries(one) : []))
          .filter(([name, value]) => countNames.test(name) && /^\d+$/u.test(String(value)));
        // One in another form must not make the list look empty.
        const isReported =
          counts.every(([, value]) => Number(value) === ids?.length) &&
          ids?.every((one) => (typeof one === 'string' && /^\S+$/u.test(one)) || typeof one === 'number');
        return { ids: isReported ? ids?.map(String) : undefined, requestId: reply.requestId };
      });
    },
  };
}
