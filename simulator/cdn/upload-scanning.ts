import { type Answer, type Call, jsonAnswer } from './answer.ts';
import { createRandom } from './dice.ts';
import type { CdnData, ScanCounts, ShieldZone } from './model.ts';

/** Shield zone 501 has scanning, 502 has not (basic plan), 503 has it and saw nothing yet. */
export function generateShieldZones(): ShieldZone[] {
  return [
    { id: 501, plan: 'advanced' },
    { id: 502, plan: 'basic' },
    { id: 503, plan: 'advanced', overview: {} },
  ];
}

const DAY = 86_400_000;

function generateOverview(id: number, now: number): Record<string, ScanCounts> {
  const dice = createRandom(id);
  const today = Math.floor(now / DAY) * DAY;
  return Object.fromEntries(
    Array.from({ length: 28 }, (_, index) => {
      const [year, month, day] = new Date(today - (27 - index) * DAY).toISOString().slice(0, 10).split('-');
      const filesScanned = dice.between(0, 900);
      const loggedRequests = Math.floor(filesScanned * dice.next() * 0.1);
      const blockedRequests = Math.floor(loggedRequests * dice.next());
      return [`${day}-${month}-${year}`, { loggedRequests, blockedRequests, filesScanned }];
    }),
  );
}

/** Get upload scanning metrics. Refusals come as 200 (or 202) with `data: null` and a filled `error`. */
export function uploadScanningMetrics(call: Call, data: CdnData): Answer {
  const zone = data.shieldZones.find((zone) => String(zone.id) === call.params[0]);
  const refuse = (statusCode: number, errorKey: string, message: string): Answer =>
    jsonAnswer(
      { error: { statusCode, success: false, message, errorKey }, data: null },
      data.uploadScanning.refusalStatus,
    );
  if (!zone) {
    return refuse(
      404,
      'not_found_or_unauthorised_access.shieldzone',
      'Shield Zone not found or access denied.',
    );
  }
  if (zone.plan === 'basic') {
    return refuse(400, 'invalid_plan_type.upload_scanning', 'Upload Scanning is not available on your plan.');
  }
  const overview = zone.overview === undefined ? generateOverview(zone.id, call.now) : zone.overview;
  const total = (member: keyof ScanCounts): number =>
    Object.values(overview ?? {}).reduce((sum, day) => sum + day[member], 0);
  const quiet = { statusCode: 0, success: false, message: null, errorKey: null };
  return jsonAnswer({
    error: data.uploadScanning.errorOnSuccess === 'object' ? quiet : null,
    data: {
      overviewPastTwentyEightDays: overview,
      totalLoggedRequests: total('loggedRequests'),
      totalBlockedRequests: total('blockedRequests'),
      totalFilesScanned: total('filesScanned'),
    },
  });
}
