import { onTestFinished } from 'vitest';
import type { CdnData } from '../../../simulator/cdn/model.ts';
import { startCdn } from '../../../simulator/cdn/server.ts';
import type { PullZone } from '../../../simulator/cdn/zone-fields.ts';
import { createCdn } from '../../../src/api/cdn.ts';
import { ApiError } from '../../../src/api/http/errors.ts';
import type { AccountReads } from '../../../src/commands/reports/accounts.ts';
import { countDay, type ErrorDay, listDaysToRead, toCounts } from '../../../src/commands/reports/accounts.ts';
import { type DigestKindName, findDigestKind } from '../../../src/commands/reports/checks/list.ts';
import {
  baselineAfterSilence,
  collectDigest,
  renderDigest,
} from '../../../src/commands/reports/digests/run-digest.ts';
import type { Collected, DigestBaseline } from '../../../src/commands/reports/store.ts';
import type { SettingsReads } from '../../../src/commands/zones/history.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { ChartBlock, Message } from '../../../src/views/blocks/blocks.ts';
import { isChart, replaceNativeBlocks } from '../../../src/views/blocks/native.ts';
import type { DigestSubject } from '../../../src/views/reports/report.ts';
import { findMessageProblems } from '../slack-limits.ts';

export const GB = 1e9;
const day = 86_400_000;

/** What a person reads of one run. */
export interface RunResult {
  /** In the channel, line by line. */
  readonly top: readonly string[];
  /** In the thread, a text a message. */
  readonly thread: readonly string[];
  /** The charts of all of them. */
  readonly charts: readonly string[];
  readonly quiet: boolean;
  /** As it is kept for later runs. */
  readonly stored: string;
}

/** What changed in settings is tried with a database. */
const settings: SettingsReads = {
  look: () => Promise.reject(new Error('a digest of this scenario looks at settings')),
  list: () => Promise.reject(new Error('a digest of this scenario lists changes')),
};

type ScenarioSubject = Partial<Omit<DigestSubject, 'kinds' | 'targets'>> & {
  readonly kinds?: readonly DigestKindName[];
  readonly targets?: Partial<DigestSubject['targets']>;
};

/** A digest over days that a test tells, on the real client and a simulated CDN: without origin errors, unless `data` has some. */
export async function createDigestScenario(
  { kinds = ['zones'], targets, ...subject }: ScenarioSubject = {},
  data: Partial<CdnData> = {},
  { signal }: { readonly signal?: AbortSignal } = {},
) {
  let now = Date.UTC(2026, 10, 2, 9);
  const cdn = await startCdn({
    zones: 0,
    data: { originErrors: { entries: new Map(), count: 0 }, ...data },
    now: () => now,
  });
  onTestFinished(() => cdn.close());
  const client = createCdn({
    apiUrl: cdn.url,
    originLoggingUrl: cdn.originLoggingUrl,
    now: () => now,
    sleep: () => Promise.resolve(),
  }).withKey(new Secret(cdn.key), signal);
  const stored = new Map<string, Map<string, ErrorDay>>();
  const countErrors: AccountReads['errors'] = async (zoneId, since) => {
    const days = stored.get(zoneId) ?? new Map<string, ErrorDay>();
    stored.set(zoneId, days);
    const at = new Date(now);
    for (const { day, isNew } of listDaysToRead({ known: [...days.values()], at, since })) {
      const about = { before: days.get(day), at, isNew };
      days.set(day, await countDay(client.originErrors, zoneId, day, about));
    }
    return toCounts([...days.values()], at);
  };
  const history: Collected[] = [];
  let remembered: DigestBaseline | undefined;
  const whole: DigestSubject = {
    kinds: kinds.map(findDigestKind),
    targets: { zones: [], shieldZones: [], apps: [], ...targets },
    only: 'always',
    timeZone: 'UTC',
    ...subject,
  };
  const run = async (at: string | Date): Promise<RunResult> => {
    const moment = new Date(at);
    now = moment.getTime();
    const before = remembered;
    const { collected, baseline } = await collectDigest(whole, {
      account: {
        ...client,
        errors: countErrors,
        knownZones: async () => ({}),
        settings,
      },
      now: moment,
      history,
      baseline: before,
      explain: (error) => ({
        message: error instanceof ApiError ? `The CDN said ${error.code}.` : 'Something else failed.',
        reference: 'REF23456',
      }),
    });
    const { top, thread, quiet } = renderDigest(collected);
    const problems = [top, ...thread].flatMap((shown) =>
      findMessageProblems({ text: shown.text, ...(shown.blocks ? { blocks: shown.blocks } : {}) }),
    );
    if (problems.length > 0) throw new Error(problems.join('\n'));
    for (const lines of thread.map(linesOf))
      if (new Set(lines).size < lines.length) throw new Error(`a line stands twice in:\n${lines.join('\n')}`);
    const stored = JSON.stringify(collected);
    history.unshift(JSON.parse(stored) as Collected);
    remembered = readBack(quiet ? baselineAfterSilence(before, baseline) : baseline);
    const charts = [top, ...thread].flatMap((one) => (one.blocks ?? []).filter(isChart).map(describeChart));
    return { top: linesOf(top), thread: thread.map((one) => linesOf(one).join('\n')), charts, quiet, stored };
  };
  return {
    cdn,
    /** The world, to be changed between two runs. */
    data: cdn.data,
    /** Runs it at a moment; what it found is history for those that follow. */
    run,
    /** Runs it daily at 09:00 UTC, once for each turn, and tells the last. */
    async runDaily(from: string, turns: readonly ((data: CdnData) => void)[]): Promise<RunResult> {
      let told: RunResult | undefined;
      for (const [index, turn] of turns.entries()) {
        turn(cdn.data);
        told = await run(new Date(Date.parse(`${from}T09:00:00Z`) + index * day));
      }
      if (!told) throw new Error('a story without a day');
      return told;
    },
  };
}

/** As it comes out of the database. */
function readBack(baseline: DigestBaseline): DigestBaseline {
  return JSON.parse(JSON.stringify(baseline)) as DigestBaseline;
}

/** A zone as the CDN sends it; what is not told is as good as it can be. */
export function makeZone(id: number, name: string, more: Partial<PullZone> = {}): PullZone {
  return {
    Id: id,
    Name: name,
    Enabled: true,
    Suspended: false,
    Hostnames: [],
    MonthlyBandwidthUsed: 0,
    MonthlyBandwidthLimit: 0,
    MonthlyCharges: 0,
    ...more,
  } as unknown as PullZone;
}

/** Entries of one zone and day: a code, how many, from which hour (UTC) on. */
export function logOriginErrors(
  data: CdnData,
  key: string,
  ...kinds: readonly (readonly [code: string, count: number, hour: number])[]
): void {
  const [, day = ''] = key.split('/');
  data.originErrors.entries.set(
    key,
    kinds.flatMap(([code, count, hour], kind) =>
      Array.from({ length: count }, (_, index) => ({
        logId: `${key}-${kind}-${index}`,
        timestamp: Date.parse(`${day}T${String(hour).padStart(2, '0')}:00:00Z`) + index,
        log: JSON.stringify({ RequestUrl: '/cart/pay?card=1', Message: 'No answer', ErrorCode: code }),
        labels: { ErrorCode: code, StatusCode: '502', ServerZone: 'DE' },
      })),
    ),
  );
}

/** A zone that used so many GB, turn by turn. */
export function bandwidthPerRun(...gigabytes: readonly number[]): ((data: CdnData) => void)[] {
  return gigabytes.map((amount) => (data: CdnData) => {
    data.zones = [
      makeZone(1001, 'shop', { MonthlyBandwidthUsed: amount * GB, MonthlyCharges: amount / 100 }),
      makeZone(1002, 'docs'),
    ];
  });
}

/** One zone that may use 500 GB, and used so many, turn by turn. */
export const limitedBandwidthPerRun = (...amounts: readonly number[]) =>
  amounts.map((amount) => (data: CdnData) => {
    data.zones = [
      makeZone(1001, 'shop', { MonthlyBandwidthUsed: amount * GB, MonthlyBandwidthLimit: 500 * GB }),
    ];
  });

/** `Bandwidth: 40 GB a day (line, GB per day): Bandwidth 9 Nov 38.5, 10 Nov 40`. */
function describeChart({ title, chart: { type, axis_config, series } }: ChartBlock): string {
  const lines = series.map(({ name, data }) => {
    return `${name} ${data.map(({ label, value }) => `${label} ${value}`).join(', ')}`;
  });
  return `${title} (${type}, ${axis_config.y_label}): ${lines.join('; ')}`;
}

function linesOf({ blocks = [] }: Message): string[] {
  // A table as Slack's readers see it where it takes none.
  return replaceNativeBlocks(blocks.filter((block) => !isChart(block))).flatMap((block) => {
    if (block.type === 'section') return block.text?.text.split('\n') ?? [];
    if (block.type === 'context')
      return block.elements.map((element) => ('text' in element ? `_${element.text}_` : ''));
    return [];
  });
}
