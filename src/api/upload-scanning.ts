import { isExists } from 'date-fns/isExists';
import { z } from 'zod';
import { shieldZoneIdKind } from './event-logs.ts';
import { isObject, readErrorBody } from './http/errors.ts';
import {
  compareNames,
  count,
  describeUnknownForm,
  omitMissing,
  readKeyTime,
  readLeniently,
  readMap,
} from './http/lenient.ts';
import { checkNumericId, pathOf } from './http/paths.ts';
import type { Send } from './http/request.ts';

export interface ScanDay {
  /** `yyyy-MM-dd`, if the service's key is a day. */
  readonly day?: string;
  readonly label: string;
  readonly loggedRequests?: number;
  readonly blockedRequests?: number;
  readonly filesScanned?: number;
}

/** Absent: not reported. `days`: oldest first; `unknownOverview`: as JSON, where no day could be read. */
export type UploadScanningMetrics = Awaited<ReturnType<ReturnType<typeof createUploadScanning>['metrics']>>;

const envelope = { error: undefined, data: undefined };
const counts = z.object({ loggedRequests: count, blockedRequests: count, filesScanned: count });
const data = z.object({
  overviewPastTwentyEightDays: z.unknown().optional(),
  totalLoggedRequests: count,
  totalBlockedRequests: count,
  totalFilesScanned: count,
});

export function createUploadScanning(send: Send) {
  return {
    async metrics(shieldZoneId: string) {
      const id = checkNumericId(shieldZoneId, 'int32', shieldZoneIdKind);
      const path = pathOf('shield', 'metrics', 'shield-zone', id, 'upload-scanning');
      return send({ operation: 'Get upload scanning metrics', path }, async (reply) => {
        const body = await reply.json();
        // A refusal comes as 200 or 202; `success: false` alone does not mean one.
        if (!isObject(body) || readErrorBody(body).kind === 'envelope') throw reply.wrongShape(body);
        // Null data is a refusal even without a message.
        if (body['data'] === null) throw reply.error('refused');
        const read = isObject(body['data']) && readLeniently(data, body['data']);
        if (!read) throw reply.wrongShape(body);
        const { overviewPastTwentyEightDays: overview, ...totals } = read.value;
        const { unknown } = compareNames(body, envelope);
        const within = compareNames(body['data'], data.shape);
        reply.reportDrift({ wrong: read.wrong, ...within, unknown: [...unknown, ...within.unknown] });
        const days = readDays(overview);
        return { days, ...omitMissing({ ...totals, unknownOverview: describeUnknownForm(overview, days) }) };
      });
    },
  };
}

function readDays(raw: unknown): readonly ScanDay[] {
  return readMap(raw)
    .flatMap(([key, value]): ScanDay[] => {
      const day = parseMapDay(key);
      const read = omitMissing(readLeniently(counts, value)?.value ?? {});
      if (!day && Object.keys(read).length === 0) return [];
      return [{ ...(day ? { day } : {}), label: key, ...read }];
    })
    .sort((a, b) => ((a.day ?? `~${a.label}`) < (b.day ?? `~${b.label}`) ? -1 : 1));
}

/** The day of a key of the map: dd-MM-yyyy, ISO or an epoch time, never month first; undefined for anything else. */
export function parseMapDay(key: string): string | undefined {
  const at = /^\d+$/u.test(key) ? readKeyTime(key) : undefined;
  if (at !== undefined) return new Date(at).toISOString().slice(0, 10);
  const [, isoYear, isoMonth, isoDay] = /^(\d{4})-(\d{2})-(\d{2})(?:T.*)?$/.exec(key) ?? [];
  const [, day = isoDay, month = isoMonth, year = isoYear] = /^(\d{2})-(\d{2})-(\d{4})$/.exec(key) ?? [];
  return isExists(Number(year), Number(month) - 1, Number(day)) ? `${year}-${month}-${day}` : undefined;
}
