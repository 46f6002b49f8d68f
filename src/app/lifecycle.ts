import { UserError } from '../errors.ts';
import { version } from '../lib/version.ts';
import type { Role } from './config.ts';
import type { Edges } from './edges.ts';
import type { Features } from './features.ts';
import { jobs, repairSchedules } from './jobs.ts';
import type { Services } from './services.ts';
import type { Base, Stores } from './stores.ts';

export interface ChatApp {
  /** Resolves when the bot can serve. @throws UserError with the reason where it cannot. */
  start(): Promise<void>;
  /** Stops taking deliveries, waits for running work, closes the stores. May be called twice. */
  stop(): Promise<void>;
  /** Resolves when its embedded database has ended by itself. */
  readonly ended?: Promise<Error> | undefined;
  /** The port of its HTTP endpoints, once started. */
  readonly port: () => number | undefined;
}

// Kubernetes and Heroku kill after thirty seconds; aborted work still has to answer.
const graceMs = 15_000;

/** The order in which the parts start and stop. Starts nothing by itself. */
export function createLifecycle(
  { config, log }: Base,
  role: Role,
  stages: { stores: Stores; services: Services; features: Features; edges: Edges },
  release: () => Promise<void>,
): ChatApp {
  const { database, queue, keyring } = stages.stores;
  const { inFlight, zoneCache } = stages.services;
  const { ports } = stages.features;
  const { bolt, check, receiver, web, transport, endpointsNeeded } = stages.edges;
  let port: number | undefined;
  let stopping: Promise<void> | undefined;
  const answersSlack = role !== 'worker';
  const runsJobs = role !== 'web';

  const continueWithoutEndpoints = (error: unknown): undefined => {
    if (endpointsNeeded || !(error instanceof UserError)) throw error;
    log.warn({ port: config.web.port }, 'no HTTP endpoints: the port is taken; set PORT to a free one');
  };
  const stopAll = async (): Promise<void> => {
    // No new deliveries first, so that the number of those under way only falls.
    await receiver.stop();
    // A page that waits for the CDN keeps its connection, and is told to end like everything else.
    zoneCache.stop();
    await web.close(inFlight.drain(graceMs));
    await queue.stop();
    await keyring.stop();
    await database.close();
    await release();
  };
  return {
    port: () => port,
    ended: database.native.kind === 'embedded' ? database.native.ended : undefined,
    async start() {
      keyring.start();
      if (answersSlack) {
        await check();
        await bolt.init();
      }
      const open = async (): Promise<void> => {
        // Work that was due while nothing ran starts now, not with the next minute.
        if (runsJobs) await repairSchedules(queue.enqueue);
        if (answersSlack) {
          port = await web.listen().catch(continueWithoutEndpoints);
          await bolt.start();
        } else await web.listenForOperator();
        log.info({ version, role, port, transport, store: database.engine }, 'ready');
      };
      // People are answered before the first jobs are looked for, which are a query each and more.
      await queue.start({ jobs, ports, work: runsJobs, onConnected: open });
    },
    stop: () => (stopping ??= stopAll()),
  };
}
