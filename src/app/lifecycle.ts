import type { App } from '@slack/bolt';
import type { Charts } from '../charts/charts.ts';
import type { ZoneCache } from '../commands/zones/zone-cache.ts';
import { digestsDueJob } from '../digests/jobs.ts';
import { findReinstalledJob } from '../digests/reinstall-notifications.ts';
import { UserError } from '../errors.ts';
import type { ExportService } from '../exports/service.ts';
import type { InstallationAccess } from '../slack/installations.ts';
import type { InFlight } from '../slack/receive/in-flight.ts';
import type { Web } from '../slack/web/server.ts';
import type { Database } from '../store/database.ts';
import type { Queue } from '../store/queue/queue.ts';
import type { Log } from '../telemetry/log.ts';
import type { KeyringService } from './keyring-service.ts';

/** `web` answers Slack, `worker` runs jobs, `all` does both. */
export type Role = 'web' | 'worker' | 'all';

export interface ChatApp {
  /** Resolves when the bot can serve. @throws UserError with the reason where it cannot. */
  start(): Promise<void>;
  /** Stops taking deliveries, waits for what runs, closes the stores. May be called twice. */
  stop(): Promise<void>;
  /** Where its HTTP endpoints are, once started. */
  readonly port: () => number | undefined;
}

interface Parts {
  readonly role: Role;
  readonly log: Log;
  readonly database: Database;
  readonly keys: KeyringService;
  readonly access: InstallationAccess;
  readonly bolt: App;
  readonly queue: Queue;
  readonly startQueue: (work: boolean) => Promise<void>;
  readonly exports: ExportService;
  readonly web: Web;
  readonly receiver: { readonly stop: () => Promise<unknown> };
  readonly inFlight: InFlight;
  readonly zoneCache: ZoneCache;
  readonly charts: Charts;
  readonly transport: 'socket' | 'http';
  readonly wantedPort: number;
  /** Whether somebody has to reach the HTTP endpoints: a start without them is a failure then. */
  readonly endpointsNeeded: boolean;
  readonly release: () => void;
}

// Kubernetes and Heroku kill after thirty seconds; work that is told to end still has to answer.
const graceMs = 15_000;

const rescueEveryMs = 10_000;

/** In which order the parts begin and end. Starts nothing by itself. */
export function createLifecycle(parts: Parts): ChatApp {
  const { role, log, database, keys, access, bolt, queue, exports, web, receiver } = parts;
  let port: number | undefined;
  let stopping: Promise<void> | undefined;
  let rescuing: NodeJS.Timeout | undefined;
  const answersSlack = role !== 'worker';
  const runsJobs = role !== 'web';
  const alone = database.engine === 'embedded';
  return {
    port: () => port,
    async start() {
      await keys.start();
      if (answersSlack) {
        await access.verify();
        await bolt.init();
      }
      // Before anybody is answered: starting it keeps the embedded database, and with it this thread, busy.
      await parts.startQueue(runsJobs);
      if (runsJobs) {
        await exports.resume({ alone });
        // The queue notices after about a minute that a process has died; exports know their own within seconds.
        if (!alone) rescuing = setInterval(rescue, rescueEveryMs);
        // What was due while nothing ran begins now, not with the next minute.
        await queue.enqueue(digestsDueJob, {});
        await queue.enqueue(findReinstalledJob, {});
      }
      if (answersSlack) {
        port = await web.listen().catch(withoutEndpoints);
        await bolt.start();
      }
      log.info({ role, port, transport: parts.transport, store: database.engine }, 'ready');
    },
    stop() {
      stopping ??= end();
      return stopping;
    },
  };

  function rescue(): void {
    exports.rescue().catch((error: unknown) => log.warn({ error }, 'exports could not be looked after'));
  }

  function withoutEndpoints(error: unknown): undefined {
    if (parts.endpointsNeeded || !(error instanceof UserError)) throw error;
    log.warn({ port: parts.wantedPort }, 'no HTTP endpoints: the port is taken; set PORT to a free one');
    return undefined;
  }

  async function end(): Promise<void> {
    // No new deliveries first, so that the count of those under way can only fall.
    await receiver.stop();
    const closed = web.close();
    // Beside it: a page that waits for the CDN keeps its connection, and is told to end like everything else.
    await Promise.all([parts.inFlight.drain(graceMs), parts.zoneCache.stop()]);
    await closed;
    await parts.charts.close();
    clearInterval(rescuing);
    await queue.stop();
    await keys.stop();
    await database.close();
    keys.release();
    parts.release();
  }
}
