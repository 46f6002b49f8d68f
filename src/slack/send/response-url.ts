import { redactDoubtful } from '../../secrets/scanner.ts';

const timeoutMs = 5_000;

/**
 * Posts to a response_url: five uses in thirty minutes, no scope, no membership.
 * https://docs.slack.dev/interactivity/handling-user-interaction#message_responses
 *
 * @throws Error with Slack's code in the form of the Web API's errors if Slack refused it, else fetch's own.
 */
export async function postToResponseUrl(
  fetch: typeof globalThis.fetch,
  url: string,
  content: object,
): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(redactDoubtful(content)),
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'error',
  });
  const answer = (await response.text()).slice(0, 200);
  if (response.ok && !answer.includes('"ok":false')) return;
  // The code comes alone or in JSON.
  const error = answer.includes('invalid_blocks') ? 'invalid_blocks' : answer;
  throw Object.assign(new Error(`Slack answered HTTP ${response.status}`), {
    status: response.status,
    data: { error, response_metadata: { messages: [answer] } },
  });
}
