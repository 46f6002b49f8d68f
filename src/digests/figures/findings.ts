import type { Attention } from '../../api/zones/attention.ts';
import { isFailing } from '../kinds/apps.ts';
import type { Collected, DigestSubject } from '../model.ts';
import type { AppFigures, Comparison, ErrorFigures, LimitFigures, ScanFigures, Some } from './figures.ts';
import { estimateNoise, hasMoved } from './series.ts';

/** One thing that changed. */
export type Finding =
  | { readonly kind: 'became' | 'recovered'; readonly state: Attention; readonly zones: Some }
  | { readonly kind: 'joined' | 'left'; readonly zones: Some }
  | { readonly kind: 'limit'; readonly limit: LimitFigures }
  | { readonly kind: 'fresh'; readonly fresh: ErrorFigures['fresh'][number] }
  | { readonly kind: 'traffic' | 'errors'; readonly zone: Zone; readonly perDay: Comparison }
  | { readonly kind: 'status' | 'latency' | 'cost' | 'volumes'; readonly app: AppFigures }
  | { readonly kind: 'blocked'; readonly scan: ScanFigures }
  /** Of everything together: told beside the number itself. */
  | { readonly kind: 'total'; readonly of: 'bandwidth' | 'charges' | 'errors' };

interface Zone {
  readonly id: string;
  readonly name: string;
}

/** Everything that counts as a change, the most urgent first; the rest of what differs is noise. */
export function findFindings(collected: Collected): Finding[] {
  return [...inZones(collected), ...inErrors(collected), ...inScanning(collected), ...inApps(collected)]
    .map((finding, index) => ({ finding, index, weight: weightOf(finding) }))
    .toSorted((a, b) => a.weight - b.weight || a.index - b.index)
    .map(({ finding }) => finding);
}

/** What “above N” counts: zones that need attention, origin errors, blocked uploads and failing apps, together. */
function troubles({ zones, errors, scanning, apps }: Collected): number {
  const blocked = scanning?.reduce((sum, one) => sum + (one.blocked ?? 0), 0) ?? 0;
  const failing = apps?.apps.filter(isFailing).length ?? 0;
  return (zones?.attention ?? 0) + (errors?.total ?? 0) + blocked + failing;
}

/**
 * Whether its threshold asks a digest for silence. What could not be read is never kept quiet, nor is a first run by
 * “only if something changed”: from then on people know what silence means.
 */
export function isQuiet(collected: Collected, { only }: DigestSubject): boolean {
  if (only === 'always' || collected.unread.length > 0) return false;
  if (only !== 'changed') return troubles(collected) <= only.above;
  return !isFirstRun(collected) && findFindings(collected).length === 0;
}

/** Whether there is nothing yet to compare with. */
export function isFirstRun({ zones, errors, scanning = [], apps }: Collected): boolean {
  const parts = [zones, errors, ...scanning, ...(apps?.apps ?? [])].filter((part) => part !== undefined);
  return parts.length > 0 && parts.every(({ since }) => since === undefined);
}

const states: readonly Attention[] = ['suspended', 'disabled', 'no-certificate', 'near-limit'];

function inZones({ zones }: Collected): Finding[] {
  if (!zones) return [];
  const { news, limits, busiest, perDay, chargesPerDay } = zones;
  return [
    ...limits.filter(({ isNew }) => isNew).map((limit): Finding => ({ kind: 'limit', limit })),
    ...(news
      ? [
          ...states.flatMap((state) => group('became', news.became[state], state)),
          ...states.flatMap((state) => group('recovered', news.recovered[state], state)),
          ...group('left', news.left),
          ...group('joined', news.joined),
        ]
      : []),
    ...busiest.flatMap(({ id, name, perDay }): Finding[] =>
      perDay && hasMoved(perDay, estimateNoise.bytes)
        ? [{ kind: 'traffic', zone: { id, name }, perDay }]
        : [],
    ),
    ...(perDay && hasMoved(perDay, estimateNoise.bytes) ? [{ kind: 'total', of: 'bandwidth' } as const] : []),
    ...(chargesPerDay && hasMoved(chargesPerDay, estimateNoise.dollars)
      ? [{ kind: 'total', of: 'charges' } as const]
      : []),
  ];
}

function group(kind: 'became' | 'recovered' | 'joined' | 'left', zones: Some, state?: Attention): Finding[] {
  if (zones.count === 0) return [];
  if (kind === 'joined' || kind === 'left') return [{ kind, zones }];
  return state ? [{ kind, state, zones }] : [];
}

function inErrors({ errors }: Collected): Finding[] {
  if (!errors) return [];
  return [
    ...errors.fresh.map((fresh): Finding => ({ kind: 'fresh', fresh })),
    ...errors.zones.flatMap(({ id, name, perDay }): Finding[] =>
      hasMoved(perDay, estimateNoise.errors) ? [{ kind: 'errors', zone: { id, name }, perDay }] : [],
    ),
    ...(hasMoved(errors.perDay, estimateNoise.errors) ? [{ kind: 'total', of: 'errors' } as const] : []),
  ];
}

function inScanning({ scanning = [] }: Collected): Finding[] {
  return scanning.flatMap((scan): Finding[] => {
    const { perDay, share } = scan;
    const changed =
      (perDay !== undefined && hasMoved(perDay, estimateNoise.blocked)) ||
      // A share of few files jumps: only together with a number.
      (share !== undefined &&
        hasMoved(share, estimateNoise.share) &&
        (scan.blocked ?? 0) > estimateNoise.blocked);
    return changed ? [{ kind: 'blocked', scan }] : [];
  });
}

function inApps({ apps }: Collected): Finding[] {
  return (apps?.apps ?? []).flatMap((app): Finding[] => {
    const { status, wasStatus, latency, average, cost, volumes } = app;
    const slower =
      (average !== undefined && hasMoved(average, estimateNoise.latency)) || latency?.usual !== undefined;
    const other = wasStatus !== undefined && status !== undefined && wasStatus !== status;
    return [
      ...(other ? [{ kind: 'status', app } as const] : []),
      ...(slower ? [{ kind: 'latency', app } as const] : []),
      ...(cost && hasMoved(cost, estimateNoise.dollars) ? [{ kind: 'cost', app } as const] : []),
      ...(volumes && hasMoved(volumes, 0) ? [{ kind: 'volumes', app } as const] : []),
    ];
  });
}

function weightOf(finding: Finding): number {
  switch (finding.kind) {
    case 'became':
      return finding.state === 'near-limit' ? 3 : finding.state === 'no-certificate' ? 2 : 0;
    case 'limit':
      return finding.limit.reaches === undefined ? 0 : 3;
    case 'status':
      return isFailing(finding.app) ? 1 : 5;
    case 'fresh':
      return 2;
    case 'errors':
      return 3;
    case 'blocked':
    case 'latency':
      return 4;
    case 'traffic':
    case 'cost':
    case 'volumes':
      return 5;
    case 'left':
      return 4;
    case 'recovered':
    case 'joined':
      return 6;
    case 'total':
      return 7;
  }
}
