import { ApiError } from '../../api/http/errors.ts';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { createConcurrencyLimit } from '../../lib/concurrency-limit.ts';
import type { Named } from '../figures/figures.ts';
import {
  type Baseline,
  baselineVersion,
  type Collected,
  type CollectInput,
  type DigestKind,
  type DigestSubject,
  figuresVersion,
  type Unread,
} from '../model.ts';
import { collectApps } from './apps.ts';
import { boundFigures } from './bounds.ts';
import { collectOriginErrors, maxZones, OutOfTime, type ReadErrors } from './origin-errors.ts';
import { throwIfAborted } from './throw-if-aborted.ts';
import { collectUploadScanning } from './upload-scanning.ts';
import { collectZones, findBusiest } from './zones.ts';

const atOnce = 3;
/** Apps and shield zones are named by people, apps of zones are not: as many are asked for. */
const mostApps = 20;
const mostTold = 3;
/** A picture each, and their days are kept with the figures. */
const mostTrends = 3;

interface Failed {
  readonly kind: DigestKind;
  readonly what?: string;
  readonly reason: unknown;
}

interface ZoneList {
  readonly zones: readonly ZoneSummary[];
  readonly skipped: number;
}

/**
 * Asks the CDN for everything a digest tells of and compares it with earlier runs. What cannot be read is told in
 * `unread` and costs the rest nothing. `book` is what to remember of it once it was said.
 *
 * @throws ApiError where the key is refused, where it was stopped, and where nothing at all could be read.
 */
export async function collectFigures(
  subject: DigestSubject,
  input: CollectInput,
): Promise<{ readonly collected: Collected; readonly book: Baseline }> {
  const { kinds, targets } = subject;
  const failed: Failed[] = [];
  const fail = (one: Failed): void => {
    const { reason } = one;
    if (reason instanceof ApiError && (reason.code === 'key_refused' || reason.code === 'cancelled'))
      throw reason;
    throwIfAborted(input.signal, one.kind);
    failed.push(one);
  };
  const wants = (kind: DigestKind): boolean => kinds.includes(kind);
  const needsList = wants('zones') || wants('errors') || (wants('apps') && targets.apps.length === 0);
  const list = needsList ? await zoneList(input, subject, fail) : undefined;

  const zones = wants('zones') && list ? await collectZones(list, subject, input) : undefined;
  const read = wants('errors') ? await errorsOf(list, subject, input, fail) : undefined;
  const errors = read?.figures;
  const scanning = wants('scanning') ? await scansOf(subject, input, fail) : undefined;
  const apps = wants('apps') ? await appsOf(list, subject, input, fail) : undefined;
  const found = [zones, errors, scanning, apps].filter((figures) => figures !== undefined);
  if (found.length === 0 && failed[0]) throw failed[0].reason;
  const collected = boundFigures({
    version: figuresVersion,
    at: input.now.toISOString(),
    ...(zones ? { zones: zones.figures } : {}),
    ...(errors ? { errors } : {}),
    ...(scanning ? { scanning } : {}),
    ...(apps ? { apps } : {}),
    unread: kinds.flatMap((kind) =>
      unreadOf(
        failed.filter((one) => one.kind === kind),
        input,
      ),
    ),
  });
  // What could not be read is remembered as it was.
  const remembered = { zones: zones?.book ?? input.book?.zones, codes: read?.codes ?? input.book?.codes };
  return {
    collected,
    book: {
      version: baselineVersion,
      ...(remembered.zones ? { zones: remembered.zones } : {}),
      ...(remembered.codes ? { codes: remembered.codes } : {}),
    },
  };
}

type Fail = (failed: Failed) => void;

/** Every zone. Without the list chosen zones can still be asked for their errors, by their ids. */
async function zoneList(
  { cdn }: CollectInput,
  { kinds, targets }: DigestSubject,
  fail: Fail,
): Promise<ZoneList | undefined> {
  try {
    return await cdn.pullZones.all();
  } catch (reason) {
    const needing = kinds.filter(
      (kind) =>
        kind === 'zones' ||
        (kind === 'errors' && targets.zones.length === 0) ||
        (kind === 'apps' && targets.apps.length === 0),
    );
    for (const kind of needing) fail({ kind, reason });
    // Names alone are missing; a key that is refused here is refused for the logs as well.
    return undefined;
  }
}

async function errorsOf(
  list: ZoneList | undefined,
  { targets }: DigestSubject,
  input: CollectInput,
  fail: Fail,
): Promise<ReadErrors | undefined> {
  if (!list && targets.zones.length === 0) return undefined;
  const names = new Map(list?.zones.map(({ id, name }) => [id, name]));
  const chosen = targets.zones.map((id): Named => ({ id, name: names.get(id) ?? '' }));
  // Busy zones first: where not every log can be read, theirs are.
  const all = list?.zones ?? [];
  const zones = chosen.length > 0 ? chosen : findBusiest(all, maxZones);
  const of = chosen.length > 0 ? chosen.length : all.length;
  const scope = targets.zones.toSorted().join(' ');
  const read = await collectOriginErrors({ zones, of, scope }, input);
  for (const { zone, reason } of read.failed) fail({ kind: 'errors', what: zone.name || zone.id, reason });
  return read;
}

async function scansOf(
  { targets }: DigestSubject,
  input: CollectInput,
  fail: Fail,
): Promise<Collected['scanning']> {
  const ids = targets.shieldZones;
  const found = await each(ids, 'scanning', input, fail, async (id) =>
    collectUploadScanning(id, await input.cdn.uploadScanning.metrics(id), input),
  );
  return found.length > 0 || ids.length === 0 ? drawable(found) : undefined;
}

async function appsOf(
  list: ZoneList | undefined,
  { targets }: DigestSubject,
  input: CollectInput,
  fail: Fail,
): Promise<Collected['apps']> {
  if (targets.apps.length === 0 && !list) return undefined;
  const wanted = new Set(targets.zones);
  const zones = (list?.zones ?? []).filter(({ id }) => wanted.size === 0 || wanted.has(id));
  const linked = [...new Set(zones.flatMap(({ appId }) => appId ?? []))];
  const ids = targets.apps.length > 0 ? targets.apps : linked;
  const apps = await each(ids.slice(0, mostApps), 'apps', input, fail, async (id) =>
    collectApps(id, await input.cdn.apps.summary(id), input),
  );
  const figures = { apps: drawable(apps), more: Math.max(0, ids.length - mostApps) };
  return apps.length > 0 || ids.length === 0 ? figures : undefined;
}

/** Only the first are drawn, and it takes room to keep what a picture is made of. */
function drawable<T extends { readonly trend: readonly unknown[] }>(found: readonly T[]): T[] {
  return found.map((figures, index) => (index < mostTrends ? figures : { ...figures, trend: [] }));
}

async function each<T>(
  ids: readonly string[],
  kind: DigestKind,
  { signal }: CollectInput,
  fail: Fail,
  read: (id: string) => Promise<T>,
): Promise<T[]> {
  const results = await createConcurrencyLimit(
    atOnce,
    ids.map((id) => async () => {
      throwIfAborted(signal, kind);
      return read(id);
    }),
  );
  for (const [index, result] of results.entries()) {
    if (result.status === 'rejected') fail({ kind, what: ids[index] ?? '', reason: result.reason });
  }
  return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

/** The first few failures in words, the others as a number. */
function unreadOf(failed: readonly Failed[], { explain }: CollectInput): Unread[] {
  return failed.slice(0, mostTold).map(({ kind, what, reason }, index) => {
    const told =
      reason instanceof OutOfTime ? { message: 'There was no time left for it.' } : explain(reason);
    return {
      kind,
      ...(what === undefined ? {} : { what: what.slice(0, 100) }),
      message: told.message.slice(0, 500),
      ...(told.reference === undefined ? {} : { reference: told.reference }),
      more: index === mostTold - 1 ? failed.length - mostTold : 0,
    };
  });
}
