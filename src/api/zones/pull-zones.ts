import type { Drift } from '../http/lenient.ts';
import { address, type Hosts } from '../http/paths.ts';
import type { Send } from '../http/request.ts';
import { createPages } from '../json/lists.ts';
import { registerZoneSecrets } from './secrets.ts';
import { summarize, type ZoneSummary } from './summary.ts';
import { readZone, type Zone } from './zone.ts';

export interface FirstPage {
  readonly zones: ZoneSummary[];
  /** Number of zones; undefined if the service does not say. */
  readonly total: number | undefined;
  readonly more: boolean;
  /** Unreadable zones that are left out. */
  readonly skipped: number;
}

/** List Pull Zones. `search` is the service's own: it matches names, perhaps hostnames. */
export interface PullZones {
  /** One small page; `perPage` 5 to 1000, default 10. */
  readonly firstPage: (options?: { search?: string; perPage?: number }) => Promise<FirstPage>;
  /** Every zone, in pages of 1000, a few at once, parsed while they arrive. */
  readonly all: (options?: { search?: string }) => Promise<{ zones: ZoneSummary[]; skipped: number }>;
  /** The first matching zone with every member; stops reading when it is found. */
  readonly find: (
    matches: (zone: ZoneSummary) => boolean,
    options?: { search?: string },
  ) => Promise<Zone | undefined>;
}

export function createPullZones(send: Send, hosts: Hosts, onDrift: (drift: Drift) => void): PullZones {
  const operation = 'List Pull Zones';
  const pages = createPages(send, { operation, address: address(hosts.api, 'pullzone') });

  return {
    async firstPage({ search, perPage = 10 } = {}) {
      const query = { page: 1, perPage: Math.min(Math.max(Math.trunc(perPage), 5), 1000), search };
      // A service that answers with a plain array sends every zone: the requested number is enough.
      const page = await pages.read(query, notedRow(), (_, rows) => rows > query.perPage);
      const zones = page.rows.flatMap(({ kept }) => kept ?? []);
      const { total, skipped } = page;
      const more =
        page.more ?? (total === undefined ? zones.length >= query.perPage : zones.length + skipped < total);
      return { zones, total, more, skipped };
    },

    async all({ search } = {}) {
      const { kept: zones, skipped } = await pages.readAll(search, summaryRow());
      return { zones, skipped };
    },

    async find(matches, { search } = {}) {
      let foundOn = Number.POSITIVE_INFINITY;
      const project = (raw: unknown, page: number) => {
        const summary = summarize(raw);
        if (!summary) return undefined;
        const zone = matches(summary) ? whole(raw) : undefined;
        if (zone) foundOn = Math.min(foundOn, page);
        return { id: summary.id, kept: zone };
      };
      // Earlier pages are read on, since pages arrive in any order and the first match is wanted.
      const { kept } = await pages.readAll(search, project, (page) => page >= foundOn);
      return kept[0];
    },
  };

  /** Summaries. The first zone of a list is parsed as a whole to detect drift, which affects all zones alike. */
  function summaryRow() {
    let isFirst = true;
    return (raw: unknown) => {
      if (isFirst) whole(raw);
      isFirst = false;
      const summary = summarize(raw);
      return summary && { id: summary.id, kept: summary };
    };
  }

  /** The same for a small page; its secrets are registered, too. */
  function notedRow() {
    const row = summaryRow();
    return (raw: unknown) => {
      registerZoneSecrets(raw);
      return row(raw);
    };
  }

  function whole(raw: unknown): Zone | undefined {
    const read = readZone(raw);
    if (read && read.wrong.length + read.unknown.length > 0) {
      onDrift({ operation, wrong: read.wrong, unknown: read.unknown });
    }
    return read?.zone;
  }
}
