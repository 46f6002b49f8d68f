// For `node --import`: SIGUSR2 ends the threads of the process, as a lack of memory does.
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

threads.Worker = class extends threads.Worker {
  constructor(...about) {
    super(...about);
    process.once('SIGUSR2', () => void this.terminate());
  }
};
syncBuiltinESMExports();
