import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// Where uploads go: takes the bytes of any request, counts them and says how many. A process of its own, so that it
// takes nothing from what is measured but what any receiver would.
const server = createServer((request, response) => {
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
  });
  request.on('end', () => response.end(String(bytes)));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ msg: 'ready', port: (server.address() as AddressInfo).port })}\n`);
});
