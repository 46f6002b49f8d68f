import { findBusiest } from '../../../../../api/zones/bandwidth.ts';
import type { ZoneSummary } from '../../../../../api/zones/summary.ts';
import { formatInteger, pluralize } from '../../../../../views/blocks/format.ts';
import type { ErrorCounts } from '../../../accounts/error-counts.ts';
import type { Evidence, LookInput, Part } from '../condition.ts';
import { describeUnread, readEach } from '../read-each.ts';
import { listMissing, nameOf, noneThere, toNote } from '../zones/look.ts';

/** Zones whose logs one look reads, as digests do: a log is up to hundreds of megabytes a day. */
const mostLogs = 25;
/** For the form. */
export const withoutTarget = `Empty = the ${mostLogs} zones with most traffic.`;

export interface ReadZone {
  readonly id: string;
  readonly name: string;
  /** Of its origin, where it has one. */
  readonly host: string | undefined;
  readonly counts: ErrorCounts;
}

export interface ReadErrors {
  readonly read: readonly ReadZone[];
  /** Zones whose log could not be read. */
  readonly unread: readonly Omit<ReadZone, 'counts'>[];
  /** Rows about everything that was not read. */
  readonly notes: readonly Evidence[];
}

type ListedZone = Pick<ZoneSummary, 'id' | 'name' | 'originUrl' | 'bandwidthUsed'>;

/**
 * Counts the errors of the chosen zones, or of all: of the busiest, where there are too many.
 *
 * @throws ApiError, BudgetSpent where no log could be read; UserError where no chosen zone is there.
 */
export async function readErrors({
  account,
  subject: { targets },
}: Pick<LookInput<never>, 'account' | 'subject'>): Promise<ReadErrors> {
  const { zones, notes } = await chooseZones(account, [...new Set(targets)]);
  return readLogs(account, zones, notes);
}

/** Ids are enough to read logs: a watch on chosen zones looks on while their list cannot be read. */
async function chooseZones(
  account: LookInput<never>['account'],
  ids: readonly string[],
): Promise<{ readonly zones: readonly ListedZone[]; readonly notes: Evidence[] }> {
  try {
    const { zones: all, skipped } = await account.pullZones.all();
    if (ids.length === 0) return { zones: all, notes: listMissing([], skipped) };
    const chosen = new Set(ids.map((id) => id.toLowerCase()));
    const missing = new Set(chosen);
    const zones = all.filter((zone) => {
      const found = [zone.id, readHost(zone) ?? ''].filter((one) => chosen.has(one));
      for (const one of found) missing.delete(one);
      return found.length > 0;
    });
    if (zones.length === 0) throw noneThere();
    return { zones, notes: listMissing(missing, skipped) };
  } catch (error) {
    const why = describeUnread(error);
    // Which zones an origin host has is not known without the list.
    const zones = ids.filter((id) => /^\d+$/u.test(id)).map((id) => ({ id, name: '' }));
    if (zones.length === 0 || why === undefined) throw error;
    return { zones, notes: [toNote('List of zones', why)] };
  }
}

export async function readLogs(
  account: LookInput<never>['account'],
  zones: readonly ListedZone[],
  notes: readonly Evidence[],
): Promise<ReadErrors> {
  const busiest = findBusiest(zones, mostLogs);
  const named = busiest.map((zone) => ({ id: zone.id, name: nameOf(zone), host: readHost(zone) }));
  const { read, unread } = await readEach(named, ({ id }) => account.errors(id));
  const rest = zones.length - busiest.length;
  return {
    read: read.map(({ item, value: counts }) => ({ ...item, counts })),
    unread: unread.map(({ item }) => item),
    notes: [
      ...unread.map(({ item, why }) => toNote(item.name, why)),
      ...notes,
      ...(rest > 0
        ? [toNote(pluralize(rest, 'zone'), `not read: of many the ${mostLogs} with most traffic are`)]
        : []),
    ],
  };
}

/** The host of a zone's origin, in lower case; undefined where it has none. */
export function readHost({ originUrl = '' }: Pick<ZoneSummary, 'originUrl'>): string | undefined {
  return URL.parse(originUrl)?.hostname.toLowerCase() || undefined;
}

/** `502 errors in 10 minutes`; `at least` where the CDN holds more than it gave. */
export function describeErrors(errors: number, window: number, isPartial = false): string {
  return `${isPartial ? 'at least ' : ''}${pluralize(errors, 'error')} in ${formatWindow(window)}`;
}

/** `10 minutes`, `2 hours` */
export function formatWindow(minutes: number): string {
  if (minutes % 60 !== 0) return pluralize(minutes, 'minute');
  return minutes === 60 ? 'an hour' : `${formatInteger(minutes / 60)} hours`;
}

/** Errors by code, the most frequent first: ` (mostly http_timeout)` where one makes up half of them. */
export function describeMostly(codes: ReadonlyMap<string, number>, total: number): string {
  const [most] = [...codes].toSorted((a, b) => b[1] - a[1]);
  return most && most[0] !== '' && most[1] * 2 >= total ? ` (mostly ${most[0].slice(0, 40)})` : '';
}

/** The log of a part, whose id begins with its zone's. */
export function showErrors(part: Part | undefined) {
  return { label: 'Show errors', command: part ? `errors ${part.id.split('/', 1)[0]} today` : 'errors' };
}
