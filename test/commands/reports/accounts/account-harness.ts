import { onTestFinished } from 'vitest';
import { type CdnOptions, startCdn } from '../../../../simulator/cdn/server.ts';
import { createCdn } from '../../../../src/api/cdn.ts';
import type { Person } from '../../../../src/auth/identity.ts';
import { createKeyStore } from '../../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../../src/auth/keys/sealing.ts';
import { createAccountReads } from '../../../../src/commands/reports/accounts.ts';
import { createSettingsHistory } from '../../../../src/commands/zones/history.ts';
import { createZoneLists } from '../../../../src/commands/zones/zone-cache.ts';
import { Secret } from '../../../../src/secrets/secret.ts';
import type { Database } from '../../../../src/store/database.ts';
import { createKeyring, generateKeys } from '../../../auth/keyring/keyrings.ts';

export const alice: Person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
export const never = new AbortController().signal;

/** Accounts of people on a CDN of the test, with a clock of its own. `another`: of one more process. */
export async function startAccounts(database: Database, options: CdnOptions = {}) {
  let at = Date.parse('2026-11-20T10:00:00Z');
  const simulator = await startCdn({ zones: 12, ...options, now: () => at });
  onTestFinished(() => simulator.close());
  const now = (): Date => new Date(at);
  const { db } = database;
  const sealer = createSealer(await createKeyring(generateKeys('k1')));
  const keyStore = createKeyStore({ db, sealer, now });
  const settingsHistory = createSettingsHistory(db, sealer, now);
  const cdn = createCdn({ ...simulator, apiUrl: simulator.url, now: () => at, sleep: async () => undefined });
  const zoneLists = createZoneLists({ now });
  const another = (zoneLists = createZoneLists({ now })) =>
    createAccountReads({ cdn, keyStore, settingsHistory, zoneLists, db, now });
  const accounts = another(zoneLists);
  const link = (person = alice) => keyStore.link(person, new Secret(simulator.key, 'cdn-key'));
  await link();
  return {
    zoneLists,
    simulator,
    accounts,
    keyStore,
    settingsHistory,
    client: () => cdn.withKey(new Secret(simulator.key, 'cdn-key')),
    another,
    link,
    now,
    later: (ms: number) => void (at += ms),
    moveTo: (iso: string) => void (at = Date.parse(iso)),
    requests: (path: RegExp) => simulator.requests.filter((request) => path.test(request.path)).length,
  };
}
