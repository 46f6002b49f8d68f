import { X509Certificate } from 'node:crypto';
import { createCache } from '../../lib/cache.ts';
import { ApiError } from '../http/errors.ts';
import { createPages, type TakeTurn } from '../http/lists.ts';
import type { Reply, Send } from '../http/request.ts';
import { registerZoneKeys } from './fields.ts';
import { readZone, type Zone } from './members.ts';
import { type DigestKey, readZoneSettings, type ZoneSettings } from './settings.ts';
import { listHostnames, summarize, type ZoneSummary } from './summary.ts';

/**
 * The reads of whole zone lists in this process. Everybody with the same key shares one. Large ones reserve their zones, at 630
 * bytes each, and wait in line where too many are read: two of 50,000 at once, so that a slow account holds up nobody else.
 * Lists of up to a fifth of `most` wait apart from longer ones.
 */
export function createZoneLoads(large = 5_000, most = 100_000) {
  const [takeShort, takeLong] = [createTurns(most / 5), createTurns(most)];
  const takeTurn: TakeTurn = async (zones, work) => {
    if (zones < large) return work();
    return zones <= most / 5 ? takeShort(zones, work) : takeLong(zones, work);
  };
  // Keeps nothing: each result is larger than its bound.
  return { takeTurn, shared: createCache<AllZones>({ now: () => new Date(), maxSize: 1, sizeOf: () => 2 }) };
}

function createTurns(most: number): TakeTurn {
  let reserved = 0;
  const waiting: { readonly zones: number; readonly start: () => void }[] = [];
  const startNext = (): void => {
    const [next] = waiting;
    if (!next || (reserved > 0 && reserved + next.zones > most)) return;
    waiting.shift();
    reserved += next.zones;
    next.start();
    startNext();
  };
  return async (zones, work) => {
    await new Promise<void>((start) => {
      waiting.push({ zones, start });
      startNext();
    });
    try {
      return await work();
    } finally {
      reserved -= zones;
      startNext();
    }
  };
}

interface Sharing {
  readonly account: string;
  readonly loads: ReturnType<typeof createZoneLoads>;
  readonly signal: AbortSignal | undefined;
}

export interface AllZones {
  readonly zones: ZoneSummary[];
  readonly skipped: number;
  readonly account: string;
}

type Matches = (zone: ZoneSummary) => boolean;

const operation = 'List Pull Zones';
/** Zones of the request that says how many there are. An account with fewer is read by it. */
const smallPage = 10;

/** List Pull Zones. `search` is the service's own: it matches names, perhaps hostnames. */
export function createPullZones(send: Send, { account, loads, signal }: Sharing) {
  const request = { operation, path: '/pullzone' };
  const { takeTurn } = loads;
  const pages = createPages(send, request, takeTurn);
  const certified = { ...request, query: { includeCertificate: 'true' } };
  const withCertificates = createPages(send, certified, takeTurn);

  const readSummaries = () => pages.readAll(undefined, createReadSummary());

  async function findWhole(matches: Matches, search: string | undefined, most: number): Promise<Zone[]> {
    // By id, since a page that breaks off is read again.
    const found = new Map<string, Zone>();
    const project = (raw: unknown, reply: Reply) => {
      const summary = summarize(raw);
      const zone = summary && matches(summary) ? readWhole(raw, reply) : undefined;
      if (zone) registerZoneKeys(raw);
      if (zone) found.set(zone.summary.id, zone);
      return summary && { id: summary.id };
    };
    await pages.readAll(search, project, () => found.size >= most);
    return [...found.values()];
  }

  return {
    async firstPage() {
      // A service that answers with a plain array sends every zone: the requested number is enough.
      const { kept, skipped, total, more } = await pages.read(
        { page: 1, perPage: smallPage, search: undefined },
        createReadSummary(),
        (count) => count > smallPage,
      );
      const zones = [...Map.groupBy(kept, ({ id }) => id).values()].flatMap(([first]) => first ?? []);
      const isFull =
        total === undefined ? kept.length + skipped >= smallPage : zones.length + skipped < total;
      return { zones, skipped, total, more: more ?? isFull, account };
    },

    /** Every zone. Everybody with the same key shares the read. */
    async all(): Promise<AllZones> {
      const load = async (): Promise<AllZones> => {
        const once = await readSummaries();
        // An account seldom loses all of its zones: an empty list is believed when it comes twice.
        const isEmpty = once.kept.length + once.skipped === 0;
        const { kept: zones, skipped } = isEmpty ? await readSummaries() : once;
        return { zones, skipped, account };
      };
      return loads.shared.load(account, load, { signal }).catch((error: unknown) => {
        if (!signal?.aborted) throw error;
        throw new ApiError({ code: 'cancelled', operation, sent: true });
      });
    },

    /** The settings of zones, projected one by one while they arrive. `isWhole`: the list was read to its end. */
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
      const { kept, skipped } = await pages.readAll(search, take, enough);
      const projected = kept.flatMap(({ projected }) => (projected === undefined ? [] : [projected]));
      return { kept: projected, skipped, isWhole };
    },

    async certificates(): Promise<Certificate[]> {
      const { kept } = await withCertificates.readAll(undefined, (raw) => {
        const id = summarize(raw)?.id;
        return id === undefined ? undefined : { id, certificates: readCertificates(id, raw) };
      });
      return kept.flatMap(({ certificates }) => certificates);
    },

    async find(matches: Matches, search?: string): Promise<Zone | undefined> {
      const [first] = await findWhole(matches, search, 1);
      return first;
    },

    findAll: (matches: Matches, search: string) => findWhole(matches, search, Number.POSITIVE_INFINITY),
  };
}

/** Reads summaries. The first zone is parsed whole to detect drift; the keys of the first ten are registered. */
function createReadSummary() {
  let count = 0;
  return (raw: unknown, reply: Reply): ZoneSummary | undefined => {
    count += 1;
    if (count === 1) readWhole(raw, reply);
    if (count <= 10) registerZoneKeys(raw);
    return summarize(raw);
  };
}

function readWhole(raw: unknown, reply: Reply): Zone | undefined {
  const read = readZone(raw);
  if (read) reply.reportDrift(read);
  return read?.zone;
}

export type Certificate = {
  readonly zoneId: string;
  readonly hostname: string;
  readonly endsAt: Date | undefined;
};

/** Without those of the platform. The keys beside them are not read. */
function readCertificates(zoneId: string, raw: unknown): Certificate[] {
  return listHostnames(raw).flatMap(
    ({ name: hostname, isPlatforms, hasCertificate, host }): Certificate[] => {
      const { Certificate: certificate } = host;
      const isThere = typeof certificate === 'string' && certificate !== '';
      if (isPlatforms || !(isThere || hasCertificate)) return [];
      return [{ zoneId, hostname, endsAt: isThere ? readEnd(certificate) : undefined }];
    },
  );
}

/** The specification says Base64Url, and not in which form: PEM and DER are read, PEM unchanged. */
function readEnd(certificate: string): Date | undefined {
  const isPem = certificate.startsWith('-----BEGIN');
  try {
    return new X509Certificate(Buffer.from(certificate, isPem ? 'utf8' : 'base64url')).validToDate;
  } catch {
    return undefined;
  }
}
