import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The floor of a first answer to `/cdn zones`: verify, acknowledge, GET one small page, JSON.parse, POST some lines.
// No framework, no store, no policy, no sealed key.
const env = process.env;
const signingSecret = env['SLACK_SIGNING_SECRET'] ?? '';

async function answer(responseUrl: string): Promise<void> {
  const response = await fetch(`${env['CDN_API_URL']}/pullzone?page=1&perPage=10`, {
    headers: { AccessKey: env['CDN_KEY'] ?? '', Accept: 'application/json' },
  });
  const page = JSON.parse(await response.text()) as {
    Items: { Name: string; MonthlyBandwidthUsed: number }[];
  };
  const lines = page.Items.map((zone) => `${zone.Name}: ${(zone.MonthlyBandwidthUsed / 1e9).toFixed(1)} GB`);
  const posted = await fetch(responseUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ response_type: 'ephemeral', text: lines.join('\n') }),
  });
  await posted.text();
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8');
    const signed = `v0:${String(request.headers['x-slack-request-timestamp'])}:${body}`;
    const ours = Buffer.from(`v0=${createHmac('sha256', signingSecret).update(signed).digest('hex')}`);
    const theirs = Buffer.from(String(request.headers['x-slack-signature']));
    const genuine = ours.length === theirs.length && timingSafeEqual(ours, theirs);
    response.writeHead(genuine ? 200 : 401, { 'content-length': 0 }).end();
    if (genuine) void answer(new URLSearchParams(body).get('response_url') ?? '');
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ msg: 'ready', port })}\n`);
});
process.once('SIGTERM', () => process.exit(0));
