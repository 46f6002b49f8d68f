import { createServer } from 'node:net';

/** A free port, for a server whose address has to be known before it listens. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const found = server.address();
      server.close(() => resolve(typeof found === 'object' && found ? found.port : 0));
    });
  });
}
