import { createAudit } from '../../src/auth/audit/audit.ts';
import { readKeyring } from '../../src/auth/keyring/keyring.ts';
import { createKeyStore } from '../../src/auth/keys/key-store.ts';
import { createSealer } from '../../src/auth/keys/sealing.ts';
import { createDigestService } from '../../src/commands/reports/digests/service.ts';
import { createWatchService } from '../../src/commands/reports/watches/service.ts';
import { createOutbox } from '../../src/outbox/outbox.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { openDatabase } from '../../src/store/database.ts';
import { createLogger } from '../../src/telemetry/log.ts';

/** What is stored before a bot starts. */
interface ScheduledWork {
  readonly digests: number;
  readonly channelOf: (n: number) => string;
  /** Ms from now to the first digest. */
  readonly firstInMs: number;
  /** Ms between two digests; without it all are due at the same moment. */
  readonly apartMs?: number;
  /** Watches of disabled zones that look every minute. */
  readonly watches?: number;
}

/** Fills a database as people would have: a key, digests and watches. Returns when the first digest is due. */
export async function storeScheduled(
  store: Readonly<Record<string, string>>,
  key: string,
  { digests, channelOf, firstInMs, apartMs = 0, watches = 0 }: ScheduledWork,
): Promise<Date> {
  const { DATA_DIR: dataDir = '', DATABASE_URL: databaseUrl, ENCRYPTION_KEYS: keys = '' } = store;
  const database = await openDatabase({
    dataDir,
    log: createLogger('silent'),
    ...(databaseUrl === undefined ? {} : { databaseUrl: new Secret(databaseUrl) }),
  });
  await database.migrate();
  const { db } = database;
  const { keyring } = await readKeyring({ keys: new Secret(keys) });
  const owner = { teamId: 'T0BENCH00', userId: 'U0BENCH00' };
  await createKeyStore({ db, sealer: createSealer(keyring), now }).link(owner, new Secret(key));
  const options = {
    db,
    audit: createAudit({ db, now }),
    outbox: createOutbox({ enqueue, now }),
    people: () => {
      throw new Error('nobody is told');
    },
    enqueue,
    now,
  };
  const service = createDigestService(options);
  const ids: string[] = [];
  for (let n = 0; n < digests; n += 1) {
    const made = await service.create(owner, {
      subject: {
        kinds: ['zones'],
        targets: { zones: [], shieldZones: [], apps: [] },
        only: 'always',
        timeZone: 'UTC',
      },
      schedule: { time: '09:00', zone: 'UTC', weekdays: [1, 2, 3, 4, 5, 6, 7], monthDays: [] },
      channel: channelOf(n),
    });
    await service.begin(made, owner);
    ids.push(made.id);
  }
  const watchService = createWatchService(options);
  for (let n = 0; n < watches; n += 1) {
    const made = await watchService.create(owner, {
      channel: `C0WATCH${n}`,
      subject: {
        condition: 'zone-state',
        targets: [],
        every: 1,
        timeZone: 'UTC',
        names: [],
        lifeSign: false,
      },
    });
    await watchService.begin(made, owner);
  }
  const due = new Date(Date.now() + firstInMs);
  for (const [n, id] of ids.entries())
    await db
      .updateTable('digests')
      .set({ next_due: new Date(due.getTime() + n * apartMs) })
      .where('id', '=', id)
      .execute();
  await database.close();
  return due;
}

function now(): Date {
  return new Date();
}

/** The bot enqueues what is due when it starts. */
async function enqueue(): Promise<string> {
  return 'none';
}
