import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { WebClient } from '@slack/web-api';

// The same file from the CDN to Slack with the SDK's own upload, in a process of its own.
const {
  SLACK_API_URL: slackApiUrl = '',
  EXPORT_URL: url = '',
  CDN_KEY: key = '',
  EXPORT_BODY: body = '',
} = process.env;
const client = new WebClient('xoxb-bench', { slackApiUrl });
await client.auth.test();

const before = process.memoryUsage.rss();
const began = performance.now();
const headers = { AccessKey: key, 'content-type': 'application/json' };
const answer = await fetch(url, { method: 'POST', headers, body });
await client.filesUploadV2({
  channel_id: 'C0BENCH00',
  filename: 'events.csv',
  file: Readable.fromWeb(answer.body as ReadableStream),
});
const ms = performance.now() - began;
const grown = process.resourceUsage().maxRSS * 1024 - before;
process.stdout.write(`${JSON.stringify({ ms, grown })}\n`);
process.exit(0);
