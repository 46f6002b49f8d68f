import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/secrets/secret.ts';
import { createBoltLog } from '../../../src/slack/receive/bolt.ts';
import { createClients } from '../../../src/slack/send/clients.ts';
import { createEgress } from '../../../src/slack/send/egress.ts';
import { createLogger } from '../../../src/telemetry/log.ts';

test('a Slack that does not answer is given up on after seconds', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const address = silent.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const clients = createClients({
    apiUrl: `http://127.0.0.1:${port}/api/`,
    logger: createBoltLog(createLogger('silent')),
    egress: createEgress({ log: createLogger('silent') }),
    sendNativeBlocks: (_way, content, send) => send(content),
  });
  await expect(clients.interactive(new Secret('xoxb-x'), 'T1').auth.test()).rejects.toThrow(
    /timeout|timed out|abort/i,
  );
  silent.closeAllConnections();
  silent.close();
});
