import { registerShown } from '../../secrets/secret.ts';
import type { Reply, Send } from '../http/request.ts';
import { createPages } from '../json/lists.ts';
import { type Certificate, readCertificates } from './certificates.ts';
import { registerZoneKeys, registerZoneSecrets } from './fields.ts';
import { type DigestKeys, readZoneSettings, type ZoneSettings } from './settings.ts';
import { summarize, type ZoneSummary } from './summary.ts';
import { readZone, type Zone } from './zone.ts';
import type { MakeRoom, ZoneLoads } from './zone-loads.ts';

/** Zones of a whole list whose keys are registered: enough to notice that one leaves with an answer. */
const mostWithKeys = 10;

/** What the reads of whole lists share in this process. */
export interface Sharing {
  /** Stands for the key: who has the same sees the same zones. */
  readonly account: string;
  readonly loads: ZoneLoads<AllZones>;
  /** The same client, until the signal of a shared load aborts. */
  readonly sendUntil: (signal: AbortSignal) => Send;
  readonly signal: AbortSignal | undefined;
}

/** List Pull Zones. `search` is the service's own: it matches names, perhaps hostnames. */
export function createPullZones(send: Send, { account, loads, sendUntil, signal }: Sharing) {
  const pages = createPages(send, listRequest);
  // A whole zone with its digests takes about a millisecond: one or two between pauses.
  const wholePages = createPages(send, listRequest, 8_192);
  const withCertificates = createPages(send, { ...listRequest, query: { includeCertificate: 'true' } });

  return {
    /** One small page; `perPage` 5 to 1000. `total` is undefined if the service does not say. */
    async firstPage({ search, perPage = 10 }: { search?: string; perPage?: number } = {}) {
      const length = Math.min(Math.max(Math.trunc(perPage), 5), 1000);
      const readSummary = createReadSummary();
      // A service that answers with a plain array sends every zone: the requested number is enough.
      const { kept, skipped, total, more } = await pages.read(
        { page: 1, perPage: length, search },
        (raw, reply) => {
          registerZoneKeys(raw);
          return readSummary(raw, reply);
        },
        (_, count) => count > length,
      );
      const isFull = total === undefined ? kept.length + skipped >= length : kept.length + skipped < total;
      return { zones: kept, skipped, total, more: more ?? isFull, account };
    },

    /**
     * Every zone, in pages of 1000, a few at once, parsed while they arrive. Everybody with the same key shares the read.
     */
    async all(): Promise<AllZones> {
      const list = await loads.read(
        account,
        async (until, makeRoom) => {
          const pages = createPages(sendUntil(until), listRequest);
          const read = () => readSummaries(pages, makeRoom);
          const once = await read();
          // An account seldom loses all of its zones: an empty list is believed when it comes twice.
          const { kept: zones, skipped } = once.kept.length + once.skipped > 0 ? once : await read();
          return { zones, skipped, account };
        },
        signal,
      );
      registerShown(list.zones);
      return list;
    },

    /**
     * The settings of zones, projected one by one while they arrive: where a projection is undefined, only the id is kept.
     * `enough` is asked at each zone; `isWhole`: the list was read to its end.
     */
    async settings<T>(options: {
      readonly search?: string | undefined;
      readonly digestKeys: DigestKeys;
      readonly wants: (id: string) => boolean;
      readonly project: (settings: ZoneSettings) => T | undefined;
      readonly enough: () => boolean;
    }): Promise<{ readonly kept: T[]; readonly skipped: number; readonly isWhole: boolean }> {
      const { search, digestKeys, wants, project, enough } = options;
      const readSummary = createReadSummary();
      const take = (raw: unknown, reply: Reply) => {
        const summary = readSummary(raw, reply);
        if (!summary || !wants(summary.id)) return summary && { id: summary.id, projected: undefined };
        const settings = readZoneSettings(raw, digestKeys);
        return settings && { id: settings.id, projected: project(settings) };
      };
      let isWhole = true;
      const { kept, skipped } = await wholePages.readAll(search, take, {
        enough: () => {
          if (!enough()) return false;
          isWhole = false;
          return true;
        },
      });
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
    async find(
      matches: (zone: ZoneSummary) => boolean,
      { search }: { search?: string } = {},
    ): Promise<Zone | undefined> {
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
      const { kept } = await pages.readAll(search, project, { enough: (page) => page >= foundOn });
      return kept.find(({ zone }) => zone)?.zone;
    },
  };
}

const listRequest = { operation: 'List Pull Zones', path: '/pullzone' };

export interface AllZones {
  readonly zones: ZoneSummary[];
  /** Unreadable zones that are left out. */
  readonly skipped: number;
  /** The same for everybody with the same key. */
  readonly account: string;
}

function readSummaries(pages: ReturnType<typeof createPages>, makeRoom: MakeRoom) {
  const readSummary = createReadSummary();
  let count = 0;
  const project = (raw: unknown, reply: Reply) => {
    count += 1;
    if (count <= mostWithKeys) registerZoneKeys(raw);
    return readSummary(raw, reply);
  };
  return pages.readAll(undefined, project, { makeRoom });
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
