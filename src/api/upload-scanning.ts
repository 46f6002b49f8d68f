import { isExists } from 'date-fns/isExists';
import { z } from 'zod';
import { shieldZoneIdKind } from './event-logs.ts';
import { isObject, readErrorBody } from './http/errors.ts';
import { count, type Drift, omitMissing, readLeniently, readSeries } from './http/lenient.ts';
import { address, checkNumericId, type Hosts } from './http/paths.ts';
import type { Send } from './http/request.ts';

export interface ScanDay {
  /** `yyyy-MM-dd`, if the service's key is a day. */
  readonly day?: string;
  /** The service's key. */
  readonly label: string;
  readonly loggedRequests?: number;
  readonly blockedRequests?: number;
  readonly filesScanned?: number;
}

/** Absent: not reported. */
export interface UploadScanningMetrics {
  /** The past 28 days, oldest first; keys that are no day come last. */
  readonly days: readonly ScanDay[];
  readonly totalLoggedRequests?: number;
  readonly totalBlockedRequests?: number;
  readonly totalFilesScanned?: number;
}

/** Get upload scanning metrics. */
export interface UploadScanning {
  /** Throws ApiError `refused`, with the service's message, for an unknown zone or a plan without the feature. */
  readonly metrics: (shieldZoneId: string) => Promise<UploadScanningMetrics>;
}

const counts = z.object({ loggedRequests: count, blockedRequests: count, filesScanned: count });
const data = z.object({
  overviewPastTwentyEightDays: z.unknown().optional(),
  totalLoggedRequests: count,
  totalBlockedRequests: count,
  totalFilesScanned: count,
});

export function createUploadScanning(
  send: Send,
  hosts: Hosts,
  onDrift: (drift: Drift) => void,
): UploadScanning {
  return {
    async metrics(shieldZoneId) {
      const id = checkNumericId(shieldZoneId, 'int32', shieldZoneIdKind);
      const operation = 'Get upload scanning metrics';
      const request = {
        operation,
        method: 'GET',
        address: address(hosts.api, 'shield', 'metrics', 'shield-zone', id, 'upload-scanning'),
        isRead: true,
      } as const;
      return send(request, async (reply) => {
        const body = await reply.json();
        // A refusal comes as 200 or 202; `success: false` alone does not mean one.
        if (!isObject(body) || readErrorBody(body).kind === 'envelope') throw reply.wrongShape(body);
        // Null data is a refusal even without a message.
        if (!isObject(body['data']))
          throw body['data'] === null ? reply.error('refused') : reply.wrongShape(body);
        const read = readLeniently(data, body['data']);
        if (!read) throw reply.wrongShape(body);
        const { overviewPastTwentyEightDays: overview, ...totals } = read.value;
        if (read.wrong.length > 0) onDrift({ operation, wrong: read.wrong, unknown: [] });
        return { days: readDays(overview), ...omitMissing(totals) };
      });
    },
  };
}

function readDays(raw: unknown): ScanDay[] {
  return readSeries(raw)
    .flatMap(({ key, value }): ScanDay[] => {
      const day = parseMapDay(key);
      const read = omitMissing(readLeniently(counts, value)?.value ?? {});
      // Neither a day nor counts: another kind of member.
      if (!day && Object.keys(read).length === 0) return [];
      return [{ ...(day ? { day } : {}), label: key, ...read }];
    })
    .sort((a, b) => ((a.day ?? `~${a.label}`) < (b.day ?? `~${b.label}`) ? -1 : 1));
}

/**
 * The day of a key of the map as `yyyy-MM-dd`. Keys are dd-MM-yyyy or ISO, never month first. Undefined for anything
 * else, days that do not exist included: the key is then shown as it came.
 */
export function parseMapDay(key: string): string | undefined {
  const [, isoYear, isoMonth, isoDay] = /^(\d{4})-(\d{2})-(\d{2})(?:T.*)?$/.exec(key) ?? [];
  const [, day = isoDay, month = isoMonth, year = isoYear] = /^(\d{2})-(\d{2})-(\d{4})$/.exec(key) ?? [];
  return isExists(Number(year), Number(month) - 1, Number(day)) ? `${year}-${month}-${day}` : undefined;
}
