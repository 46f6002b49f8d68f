import { openDatabase } from '../../../src/store/database.ts';
import { createLogger } from '../../../src/telemetry/log.ts';

// A process of its own for the test of two processes: opens the database, says so, and stays.
await openDatabase({ dataDir: process.argv[2] ?? '', log: createLogger('silent') });
process.stdout.write('open\n');
setInterval(() => undefined, 60_000);
