import { X509Certificate } from 'node:crypto';
import { createCache } from '../../lib/cache.ts';
import { registerShown } from '../../secrets/secret.ts';
import { ApiError, isObject } from '../http/errors.ts';
import { createPages, type TakeTurn } from '../http/lists.ts';
import type { Reply, Send } from '../http/request.ts';
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

/** Zones of a list that is loaded in its turn: a zone takes about 630 bytes of the heap. */
const largeList = 5_000;

/** The reads of whole zone lists in this process. Everybody with the same key shares one; large ones are read one by one. */
export function createZoneLoads(large = largeList) {
  let turn: Promise<unknown> = Promise.resolve();
  const takeTurn: TakeTurn = (zones, work) => {
    if (zones < large) return work();
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };
  // Shares loads and keeps nothing: each result is larger than its bound.
  return { takeTurn, shared: createCache<AllZones>({ now: () => new Date(), maxSize: 1, sizeOf: () => 2 }) };
}

type Matches = (zone: ZoneSummary) => boolean;

const operation = 'List Pull Zones';
/** Zones of the request that says how many there are. An account with fewer is read by it. */
const smallPage = 10;

/** List Pull Zones. `search` is the service's own: it matches names, perhaps hostnames. */
export function createPullZones(send: Send, { account, loads, sendUntil, signal }: Sharing) {
  const request = { operation, path: '/pullzone' };
  const pages = createPages(send, request);
  const withCertificates = createPages(send, { ...request, query: { includeCertificate: 'true' } });

  async function readSummaries(until: AbortSignal) {
    const readSummary = createReadSummary();
    let count = 0;
    const project = (raw: unknown, reply: Reply) => {
      count += 1;
      if (count <= mostWithKeys) registerZoneKeys(raw);
      return readSummary(raw, reply);
    };
    return createPages(sendUntil(until), request).readAll(undefined, project, { takeTurn: loads.takeTurn });
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
      const { kept, skipped } = await pages.readAll(search, take, { enough });
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

/** When the certificate of a hostname ends. */
export interface Certificate {
  readonly zoneId: string;
  readonly hostname: string;
  /** Undefined where the certificate could not be read. */
  readonly endsAt: Date | undefined;
}

/**
 * The ends of a raw zone's certificates. Those of the platform's own hostnames are its matter. Nothing else of the zone is
 * read, least of all the keys beside them, and nothing of the certificates stays.
 */
function readCertificates(zoneId: string, raw: unknown): Certificate[] {
  if (!isObject(raw) || !Array.isArray(raw['Hostnames'])) return [];
  return raw['Hostnames'].filter(isObject).flatMap((host): Certificate[] => {
    const { Value: hostname, Certificate: certificate } = host;
    if (host['IsSystemHostname'] === true || host['IsManagedHostname'] === true) return [];
    if (typeof hostname !== 'string' || typeof certificate !== 'string' || certificate === '') return [];
    return [{ zoneId, hostname, endsAt: readEnd(certificate) }];
  });
}

/** The specification says Base64Url, and not of which form: PEM and DER are read, and PEM as it is. */
function readEnd(certificate: string): Date | undefined {
  const isPem = certificate.startsWith('-----BEGIN');
  try {
    return new X509Certificate(Buffer.from(certificate, isPem ? 'utf8' : 'base64url')).validToDate;
  } catch {
    // The error would quote it.
    return undefined;
  }
}
