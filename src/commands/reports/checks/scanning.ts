import type { ScanDay, UploadScanningMetrics } from '../../../api/upload-scanning.ts';
import { UserError } from '../../../errors.ts';
import { shiftDay, toUtcDay } from '../../../lib/time.ts';
import { formatInteger } from '../../../views/blocks/format.ts';
import type { Condition, Evidence, Part } from '../alerts/conditions/condition.ts';
import { explainFailures, readEach } from './check.ts';

const initial = 10;

/**
 * Uploads that scanning blocked. The CDN counts by UTC day: today is judged, and what was not yet reported of the days since
 * the last look.
 */
export const scanning: Condition<'scanning'> = {
  name: 'scanning',
  label: 'Uploads blocked by scanning',
  words: /scan|upload|blocked/iu,
  target: 'shieldZones',
  missingTarget: 'Choose a shield zone: the CDN has no list of them.',
  threshold: {
    label: 'More than',
    unit: 'blocked uploads in a day (UTC)',
    initial,
    least: 0,
    most: 1_000_000,
  },
  leastEvery: 15,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold = initial }) => `more than ${formatInteger(threshold)} blocked uploads in a day`,
  async evaluate({ account, subject: { targets, threshold = initial }, now, lookedAt }) {
    const wrongIf = `more than ${formatInteger(threshold)} in a day (UTC)`;
    const parts = await readEach([...new Set(targets)], (id) => account.uploadScanning.metrics(id));
    const { read } = parts;
    const unread = explainFailures(parts);
    const found = read.map(({ item: id, value }) => ({ id, days: findDays(value, now, lookedAt) }));
    const silent = found.filter(({ days }) => days.length === 0);
    if (silent.length === read.length)
      throw new UserError(
        'The CDN reports no upload scanning of today or yesterday.',
        'Look at the shield zone in its control panel.',
      );
    const rows = found.flatMap(({ id, days }) =>
      days.map(({ day, blocked }) => {
        const name = `shield zone ${id}`;
        const text = `${formatInteger(blocked)} uploads blocked on ${day}`;
        const isWrong = blocked > threshold;
        const part: Part = { id, name, text, value: blocked };
        const evidence: Evidence = { name, is: text, wrongIf, isWrong };
        return { part, evidence, blocked };
      }),
    );
    const worst = rows.toSorted((a, b) => b.blocked - a.blocked);
    const ids = new Set<string>();
    return {
      // Of several days of a shield zone its worst.
      parts: worst.flatMap(({ part, evidence: { isWrong } }) => {
        if (!isWrong || ids.has(part.id)) return [];
        ids.add(part.id);
        return [part];
      }),
      value: worst[0]?.blocked,
      unread: [...unread.map(({ item }) => item), ...silent.map(({ id }) => id)],
      evidence: [
        ...worst.map(({ evidence }) => evidence),
        ...silent.map(({ id }) => toNote(id, 'nothing reported of today or yesterday')),
        ...unread.map(({ item, why }) => toNote(item, why)),
      ].slice(0, 30),
    };
  },
  formatValue: (blocked) => `${formatInteger(blocked)} blocked`,
  unit: 'Blocked uploads a day',
  next: (part) => ({ label: 'Show upload scanning', command: part ? `scanning ${part.id}` : 'scanning' }),
};

/** Today and the days since the last look; yesterday where today is not reported yet. */
function findDays({ days }: UploadScanningMetrics, now: Date, lookedAt: Date | undefined) {
  const today = toUtcDay(now);
  const reported = days.flatMap(({ day, blockedRequests: blocked }: ScanDay) =>
    day !== undefined && blocked !== undefined && day <= today ? [{ day, blocked }] : [],
  );
  const hasToday = reported.some(({ day }) => day === today);
  const first = hasToday ? today : shiftDay(today, -1);
  const since = lookedAt ? toUtcDay(lookedAt) : first;
  return reported.filter(({ day }) => day >= (since < first ? since : first));
}

function toNote(id: string, is: string): Evidence {
  return { name: `shield zone ${id}`, is, isWrong: false };
}
