import { redactDoubtful } from '../../secrets/scanner.ts';
import type { Call } from '../../telemetry/metrics.ts';
import { isOk, observeCall } from './clients.ts';
import type { Egress } from './egress.ts';
import { isSlackAddress } from './uploads.ts';

/**
 * Posts to a response_url: five uses in thirty minutes, no scope, no membership.
 * https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
 *
 * @throws SecretLeakBlocked, Error with Slack's code in the form of the Web API's errors if Slack refused it, else Node's own.
 */
export type PostToResponseUrl = (url: string, content: object) => Promise<void>;

interface Reply {
  readonly status: number;
  readonly text: string;
}

const timeoutMs = 5_000;
/** Characters that are read of an answer: a word, or an object with the reasons. */
const maxAnswer = 200;

/** `apiUrl`: answers go to its hosts only. `onCall` is called when a post has ended, however it did. */
export function createResponseUrls(
  egress: Pick<Egress, 'check'>,
  { apiUrl, onCall }: { readonly apiUrl: string; readonly onCall?: (call: Call) => void },
): PostToResponseUrl {
  return async (url, content) => {
    const body = JSON.stringify(redactDoubtful(content));
    const address = new URL(url);
    if (!isSlackAddress(address, apiUrl))
      throw new Error(`response_url is not an address of Slack: ${address.host}`);
    // One after the other: joined, they would be copied twice.
    egress.check('response_url', [url, ...address.searchParams.values()]);
    egress.check('response_url', body);
    const { status, text } = await observeCall(
      onCall,
      'response_url',
      () => post(address, body),
      (reply) => reply.status,
    );
    if (isOk(status) && !text.includes('"ok":false')) return;
    // The code comes alone or in JSON.
    const error = text.includes('invalid_blocks') ? 'invalid_blocks' : text;
    throw Object.assign(new Error(`Slack answered HTTP ${status}`), {
      status,
      data: { error, response_metadata: { messages: [text] } },
    });
  };
}

/**
 * Follows no redirect, and takes half of the processor time of `fetch`, whose signal keeps all that the delivery made until
 * its time is over.
 */
async function post(url: URL, body: string): Promise<Reply> {
  // Loaded with the first answer: it costs a tenth of a second.
  const { request } = await import('undici');
  const { statusCode, body: answer } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text = (text + String(piece)).slice(0, maxAnswer);
  return { status: statusCode, text };
}
