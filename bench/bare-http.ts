import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The floor of an acknowledgement over HTTP: node:http, the signature check Slack asks for, an empty 200.
const signingSecret = process.env['SLACK_SIGNING_SECRET'] ?? '';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    const timestamp = String(request.headers['x-slack-request-timestamp']);
    const ours = Buffer.from(
      `v0=${createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`,
    );
    const theirs = Buffer.from(String(request.headers['x-slack-signature']));
    const fresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
    const genuine = fresh && ours.length === theirs.length && timingSafeEqual(ours, theirs);
    response.writeHead(genuine ? 200 : 401, { 'content-length': 0 }).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ msg: 'ready', port })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
