import type { ScanDay, UploadScanningMetrics } from '../../../api/upload-scanning.ts';
import { UserError } from '../../../errors.ts';
import { dayMs, shiftDay, startOfDay, toUtcDay } from '../../../lib/time.ts';
import {
  agree,
  formatCount,
  formatInteger,
  formatNumber,
  formatPercent,
  formatShortDay,
  pluralize,
} from '../../../views/blocks/format.ts';
import { escapeMrkdwn } from '../../../views/blocks/text.ts';
import {
  type Detail,
  describeComparison,
  describeRate,
  type Point,
  type Section,
} from '../../../views/reports/digests/post.ts';
import { nameTarget } from '../../../views/reports/report.ts';
import type { AccountReads } from '../accounts.ts';
import {
  type CollectInput,
  chooseBefore,
  compareEach,
  type DigestKind,
  defineCondition,
  findEarlier,
  hasMoved,
  judgeEach,
  moreThan,
  noise,
  readEach,
  sumReported,
} from './check.ts';

const readScans = (account: AccountReads, ids: readonly string[]) =>
  readEach([...new Set(ids)], (id) => account.uploadScanning.metrics(id));

/** Uploads that scanning blocked in a day of the CDN's (UTC): today, and what was not reported yet at the last check. */
export const scanning = defineCondition({
  name: 'scanning',
  label: 'Uploads blocked by scanning',
  words: /scan|upload|blocked|virus|malware/iu,
  target: 'shieldZones',
  missingTarget: 'Choose a shield zone: the CDN has no list of them.',
  threshold: moreThan('blocked uploads in a day (UTC)', 10, { least: 0 }),
  leastEvery: 15,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold }) => `more than ${formatCount(threshold, 'blocked upload')} in a day`,
  check: async ({ account, targets, called, threshold, now, lookedAt }) =>
    judgeEach(await readScans(account, targets), (id) => nameTarget('shield zone', id, called), {
      refuse: () =>
        new UserError(
          'The CDN reports no upload scanning for today or yesterday.',
          'Check the shield zone in its control panel.',
        ),
      judge(metrics) {
        const [worst] = findDays(metrics, now, lookedAt).toSorted((a, b) => b.blocked - a.blocked);
        if (!worst) return { is: 'nothing reported for today or yesterday', isWrong: undefined };
        return {
          is: `${formatCount(worst.blocked, 'upload')} blocked on ${worst.day}`,
          wrongIf: `more than ${formatInteger(threshold)} in a day (UTC)`,
          isWrong: worst.blocked > threshold,
          value: worst.blocked,
        };
      },
    }),
  formatValue: (blocked) => `${formatInteger(blocked)} blocked`,
  unit: 'Blocked uploads per day',
  next: (part) => ({ label: 'Show upload scanning', command: part ? `scanning ${part.id}` : 'scanning' }),
});

function findDays({ days }: UploadScanningMetrics, now: Date, lookedAt: Date | undefined) {
  const today = toUtcDay(now);
  const reported = days.flatMap(({ day, blockedRequests: blocked }: ScanDay) =>
    day !== undefined && blocked !== undefined && day <= today ? [{ day, blocked }] : [],
  );
  const first = reported.some(({ day }) => day === today) ? today : shiftDay(today, -1);
  const since = lookedAt ? toUtcDay(lookedAt) : first;
  return reported.filter(({ day }) => day >= (since < first ? since : first));
}

type ComparedScans = ReturnType<typeof compareDays> & { readonly name: string };

const daysCharted = 8;

export const scanningDigest: DigestKind<'scanning', readonly { readonly id: string }[]> = {
  name: 'scanning',
  label: 'Upload scanning',
  words: scanning.words,
  target: 'shieldZones',
  missingTarget: 'Upload scanning needs the ID of a shield zone: type it, then pick “Shield zone …”.',
  troubles: 'blocked uploads',

  async collect(input) {
    const metrics = await readScans(input.account, input.targets.shieldZones);
    const { compared: scans, failures } = compareEach(metrics, (id, found) => ({
      ...compareDays(id, found, input),
      name: nameTarget('Shield zone', id, input.called),
    }));
    if (!scans) return { failures };
    return { section: describeAll(scans), figures: scans.map(({ id }) => ({ id })), failures };
  },
};

function describeAll(scans: readonly ComparedScans[]): Section {
  const days = Math.max(0, ...scans.map((one) => one.days));
  const total = {
    blocked: sumReported(scans.map((one) => one.blocked)),
    scanned: sumReported(scans.map((one) => one.scanned)),
    isPartial: scans.some((one) => one.isPartial),
    days,
    last: scans
      .flatMap((one) => one.last ?? [])
      .toSorted()
      .at(-1),
  };
  const [only] = scans.length === 1 ? scans : [];
  return {
    troubles: total.blocked ?? 0,
    since: scans.map(({ since }) => since),
    findings: [
      ...scans.flatMap(({ name, perDay, days }) => {
        if (!perDay || !hasMoved(perDay, noise.blocked)) return [];
        const change = describeComparison(perDay, formatNumber, ' blocked a day', daysBefore(days));
        return [{ weight: 4, text: `:no_entry: ${escapeMrkdwn(name)}: ${change}` }];
      }),
      // Where nothing is reported nobody knows that nothing changed.
      ...(total.blocked === undefined ? [{ weight: 7 }] : []),
    ],
    number: describeScans(total),
    compared: describeRate(only?.perDay, formatNumber, 'blocked a day', daysBefore(days)),
    detail:
      scans.length === 0
        ? undefined
        : {
            lines: scans.map((one) => `${describeScans(one)} · ${escapeMrkdwn(one.name)}`),
            note: 'Days as the CDN counts them; today is not over, so it is not counted.',
            chart: describeChart(scans),
          },
  };
}

/** The whole days since the previous run, against the same days a week before, else as many days before: the CDN keeps 28. */
function compareDays(
  id: string,
  metrics: UploadScanningMetrics,
  input: CollectInput<readonly { readonly id: string }[]>,
) {
  const { since, base } = findEarlier(input, (scans) => scans.find((found) => found.id === id));
  // Clocks may have changed, and runs be late.
  const passed = base ? Math.round((input.now.getTime() - base.at) / dayMs) : 1;
  const days = Math.min(7, Math.max(1, passed));
  const byDay = new Map(metrics.days.flatMap((day) => (day.day === undefined ? [] : [[day.day, day]])));
  const whole = [...byDay.keys()].filter((day) => day < toUtcDay(input.now)).toSorted();
  const last = whole.at(-1);
  const trend = whole.slice(-daysCharted).flatMap((day): Point[] => {
    const blocked = byDay.get(day)?.blockedRequests;
    return blocked === undefined ? [] : [[startOfDay(day), blocked]];
  });
  type Member = 'filesScanned' | 'blockedRequests';
  const list = (member: Member, daysBack = 0): (number | undefined)[] =>
    Array.from({ length: days }, (_, nth) =>
      last === undefined ? undefined : byDay.get(shiftDay(last, -daysBack - nth))?.[member],
    );
  const average = (daysBack = 0): number | undefined => {
    const found = list('blockedRequests', daysBack);
    // Where a day is not reported, nobody knows the average.
    return found.includes(undefined) ? undefined : Math.round(((sumReported(found) ?? 0) / days) * 10) / 10;
  };
  const now = average();
  const blocked = list('blockedRequests');
  return {
    id,
    since,
    days,
    trend,
    last,
    scanned: sumReported(list('filesScanned')),
    blocked: sumReported(blocked),
    isPartial: blocked.includes(undefined),
    perDay: now === undefined ? undefined : { now, ...chooseBefore(average(7), average(days)) },
  };
}

function daysBefore(days: number): string {
  return `the ${agree(days, 'day', formatCount(days, 'day'))} before`;
}

/** `*40 uploads blocked* · 1,000 files scanned on 9 Nov (4%)` */
function describeScans({
  blocked,
  scanned,
  isPartial,
  last,
  days,
}: Pick<ComparedScans, 'blocked' | 'scanned' | 'isPartial' | 'last' | 'days'>): string {
  if (blocked === undefined && scanned === undefined) return '*Upload scanning:* nothing reported';
  const dates = days > 1 ? `in ${formatCount(days, 'day')} to` : 'on';
  const when = last === undefined ? '' : ` ${dates} ${formatShortDay(last)}`;
  const hasShare = blocked !== undefined && scanned !== undefined && scanned > 0 && blocked <= scanned;
  const share = hasShare ? ` (${formatPercent(blocked, scanned)})` : '';
  const uploads =
    blocked === undefined
      ? '*Blocked uploads:* not reported'
      : `*${isPartial ? 'At least ' : ''}${pluralize(blocked, 'upload')} blocked*`;
  const files =
    scanned === undefined
      ? 'files scanned: not reported'
      : `${pluralize(scanned, 'file')} scanned${when}${share}`;
  return `${uploads} · ${files}`;
}

function describeChart(scans: readonly ComparedScans[]): Detail['chart'] {
  const all = scans.flatMap(({ trend }) => trend).toSorted(([a], [b]) => a - b);
  const most = Math.max(0, ...all.map(([, blocked]) => blocked));
  const [first = 0, last = 0] = [all[0]?.[0], all.at(-1)?.[0]];
  if (most === 0) return undefined;
  const [from, to] = [first, last].map((at) => formatShortDay(toUtcDay(new Date(at))));
  return {
    title: `Blocked uploads, ${from}–${to}: ${formatInteger(most)} on the worst day`,
    unit: 'Blocked uploads per day',
    series: scans.map(({ name, trend }) => ({ name, points: trend })),
    timeZone: 'UTC',
  };
}
