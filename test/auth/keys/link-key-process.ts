import { createKeyStore } from '../../../src/auth/keys/key-store.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { createKeyring } from '../keyring/keyrings.ts';

// A process of its own for the test that kills it: links a key, says so, and stays.
const database = await openDatabase({
  dataDir: process.argv[2] ?? '',
  log: createLogger('silent'),
});
await database.migrate();
const sealer = createSealer(await createKeyring(process.argv[3]));
const keyStore = createKeyStore({ db: database.db, sealer, now: () => new Date() });
await keyStore.link({ teamId: 'T0ACME000', userId: 'U0ALICE00' }, new Secret('key-of-alice'));
process.stdout.write('linked\n');
setInterval(() => undefined, 60_000);
