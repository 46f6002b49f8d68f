import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLogger } from '../src/telemetry/log.ts';
import { startPlayground } from './playground.ts';
import { prepareAssistant } from './prepare-assistant.ts';
import { createSignedFetch } from './slack/assistant.ts';

// npm run mcp
// The bot's tools over stdio, with the Slack and the CDN of the playground, as Alice: for any client of the protocol.
const dataDir = await mkdtemp(join(tmpdir(), 'mcp-'));
const playground = await startPlayground({
  port: 0,
  assistant: true,
  dataDir,
  zones: 60,
  log: createLogger('silent'),
});
const { slack, botUrl } = playground;
await prepareAssistant(playground);
const send = createSignedFetch(slack.signingSecret);
const person = { user_id: 'U0ALICE00', team_id: slack.workspaces.acme.id };
// Standard output belongs to the protocol.
process.stderr.write(`The bot's tools, as Alice. What it writes to her is at ${playground.url}\n`);

const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  if (line.trim() === '') continue;
  const message = JSON.parse(line) as { method?: string; params?: { _meta?: object } };
  if (message.method === 'tools/call')
    message.params = { ...message.params, _meta: { ...message.params?._meta, slack: person } };
  const response = await send(`${botUrl}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify(message),
  });
  const text = await response.text();
  const answers = response.headers.get('content-type')?.startsWith('text/event-stream')
    ? text.split('\n').flatMap((part) => (part.startsWith('data: ') ? [part.slice(6)] : []))
    : [text];
  for (const answer of answers) if (answer.trim() !== '') process.stdout.write(`${answer.trim()}\n`);
}
await playground.stop();
await rm(dataDir, { recursive: true, force: true });
