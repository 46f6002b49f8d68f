import { createCache } from '../../lib/cache.ts';
import { registerShown } from '../../secrets/secret.ts';
import { ApiError } from '../http/errors.ts';
import { createPages, type Reserve } from '../http/lists.ts';
import type { Reply, Send } from '../http/request.ts';
import { type Certificate, readCertificates } from './certificates.ts';
import { registerZoneKeys, registerZoneSecrets } from './fields.ts';
import { readZone, type Zone } from './members.ts';
import { type DigestKey, readZoneSettings, type ZoneSettings } from './settings.ts';
import { summarize, type ZoneSummary } from './summary.ts';

/** Zones of a whole list whose keys are registered: enough to notice that one leaves with an answer. */
const mostWithKeys = 10;

/** What the reads of whole lists share in this process. */
export interface Sharing {
  /** Stands for the key: who has the same sees the same zones. */
  readonly account: string;
  readonly loads: ReturnType<typeof createZoneLoads>;
  /** The same client, until the signal of a shared load aborts. */
  readonly sendUntil: (signal: AbortSignal) => Send;
  readonly signal: AbortSignal | undefined;
}

export interface AllZones {
  readonly zones: ZoneSummary[];
  /** Unreadable zones that are left out. */
  readonly skipped: number;
  /** The same for everybody with the same key. */
  readonly account: string;
}

/** Zones that all loads together may hold: a zone takes about 630 bytes of the heap. */
const mostZones = 60_000;

/**
 * The reads of whole zone lists in this process. Everybody with the same key shares one; a load reserves its zones before it
 * reads them and waits for others, unless it is alone.
 */
export function createZoneLoads(most = mostZones) {
  let held = 0;
  let changed = Promise.withResolvers<void>();
  const hasRoom = (zones: number) => held === 0 || held + zones <= most;
  const reserve: Reserve = async (zones, work) => {
    while (!hasRoom(zones)) await changed.promise;
    held += zones;
    try {
      return await work();
    } finally {
      held -= zones;
      changed.resolve();
      changed = Promise.withResolvers();
    }
  };
  // Shares loads and keeps nothing: each result is larger than its bound.
  return { reserve, shared: createCache<AllZones>({ now: () => new Date(), maxSize: 1, sizeOf: () => 2 }) };
}

type Matches = (zone: ZoneSummary) => boolean;

const operation = 'List Pull Zones';
/** Zones of the request that says how many there are. An account with fewer is read by it. */
const smallPage = 10;

/** List Pull Zones. `search` is the service's own: it matches names, perhaps hostnames. */
export function createPullZones(send: Send, { account, loads, sendUntil, signal }: Sharing) {
  const request = { operation, path: '/pullzone' };
  const pages = createPages(send, request);
  // A whole zone with its digests takes about a millisecond: one or two between pauses.
  const wholePages = createPages(send, request, 8_192);
  const withCertificates = createPages(send, { ...request, query: { includeCertificate: 'true' } });

  async function readSummaries(until: AbortSignal) {
    const readSummary = createReadSummary();
    let count = 0;
    const project = (raw: unknown, reply: Reply) => {
      count += 1;
      if (count <= mostWithKeys) registerZoneKeys(raw);
      return readSummary(raw, reply);
    };
    return createPages(sendUntil(until), request).readAll(undefined, project, { reserve: loads.reserve });
  }

  async function findWhole(matches: Matches, search: string | undefined, isFirst: boolean): Promise<Zone[]> {
    let foundOn = Number.POSITIVE_INFINITY;
    const project = (raw: unknown, reply: Reply, page: number) => {
      const summary = summarize(raw);
      if (!summary) return undefined;
      const zone = matches(summary) ? readWhole(raw, reply) : undefined;
      if (zone) {
        foundOn = Math.min(foundOn, page);
        registerZoneSecrets(raw, zone);
      }
      return { id: summary.id, zone };
    };
    // Earlier pages are read on, since pages arrive in any order and the first match is wanted.
    const { kept } = await pages.readAll(search, project, { enough: (page) => isFirst && page >= foundOn });
    return kept.flatMap(({ zone }) => zone ?? []);
  }

  return {
    /** One small page. `total` is undefined if the service does not say. */
    async firstPage() {
      const readSummary = createReadSummary();
      // A service that answers with a plain array sends every zone: the requested number is enough.
      const { kept, skipped, total, more } = await pages.read(
        { page: 1, perPage: smallPage, search: undefined },
        (raw, reply) => {
          registerZoneKeys(raw);
          return readSummary(raw, reply);
        },
        (_, count) => count > smallPage,
      );
      const isFull = total === undefined ? kept.length + skipped >= smallPage : kept.length + skipped < total;
      return { zones: kept, skipped, total, more: more ?? isFull, account };
    },

    /**
     * Every zone, in pages of 1000, a few at once, parsed while they arrive. Everybody with the same key shares the read; a
     * caller who gives up leaves it to the others.
     */
    async all(): Promise<AllZones> {
      const load = async (until: AbortSignal): Promise<AllZones> => {
        const once = await readSummaries(until);
        // An account seldom loses all of its zones: an empty list is believed when it comes twice.
        const isEmpty = once.kept.length + once.skipped === 0;
        const { kept: zones, skipped } = isEmpty ? await readSummaries(until) : once;
        return { zones, skipped, account };
      };
      const until = signal ?? new AbortController().signal;
      const list = await loads.shared.load(account, load, { signal: until }).catch((error: unknown) => {
        if (!until.aborted) throw error;
        throw new ApiError({ code: 'cancelled', operation, sent: true });
      });
      registerShown(list.zones);
      return list;
    },

    /**
     * The settings of zones, projected one by one while they arrive: where a projection is undefined, only the id is kept.
     * `enough` is asked at each zone; `isWhole`: the list was read to its end.
     */
    async settings<T>(options: {
      readonly search?: string | undefined;
      readonly digestKey: DigestKey;
      readonly wants: (id: string) => boolean;
      readonly project: (settings: ZoneSettings) => T | undefined;
      readonly enough: () => boolean;
    }): Promise<{ readonly kept: T[]; readonly skipped: number; readonly isWhole: boolean }> {
      const { search, digestKey, wants, project } = options;
      const readSummary = createReadSummary();
      const take = (raw: unknown, reply: Reply) => {
        const summary = readSummary(raw, reply);
        if (!summary || !wants(summary.id)) return summary && { id: summary.id, projected: undefined };
        const settings = readZoneSettings(raw, digestKey);
        return settings && { id: settings.id, projected: project(settings) };
      };
      let isWhole = true;
      const enough = () => {
        if (options.enough()) isWhole = false;
        return !isWhole;
      };
      const { kept, skipped } = await wholePages.readAll(search, take, { enough });
      const projected = kept.flatMap(({ projected }) => (projected === undefined ? [] : [projected]));
      return { kept: projected, skipped, isWhole };
    },

    /** Every certificate of the account, parsed and dropped one by one while they arrive. */
    async certificates(): Promise<Certificate[]> {
      const { kept } = await withCertificates.readAll(undefined, (raw) => {
        const id = summarize(raw)?.id;
        return id === undefined ? undefined : { id, certificates: readCertificates(id, raw) };
      });
      return kept.flatMap(({ certificates }) => certificates);
    },

    /** The first matching zone with every member; stops reading when it is found. */
    async find(matches: Matches, { search }: { search?: string } = {}): Promise<Zone | undefined> {
      const [first] = await findWhole(matches, search, true);
      return first;
    },

    /** Every matching zone among those that the service's search finds, with every member. */
    findAll: (matches: Matches, search: string) => findWhole(matches, search, false),
  };
}

/** Reads summaries. The first zone of a list is parsed as a whole to detect drift, which affects all zones alike. */
function createReadSummary() {
  let isFirst = true;
  return (raw: unknown, reply: Reply): ZoneSummary | undefined => {
    if (isFirst) readWhole(raw, reply);
    isFirst = false;
    return summarize(raw);
  };
}

function readWhole(raw: unknown, reply: Reply): Zone | undefined {
  const read = readZone(raw);
  if (read) reply.reportDrift(read);
  return read?.zone;
}
