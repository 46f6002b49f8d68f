import { ErrorCode, type WebAPIHTTPError, type WebAPIRateLimitedError, type WebClient } from '@slack/web-api';
import { z } from 'zod';
import { minuteMs } from '../../lib/time.ts';
import { type FindWhere, SlackFailure, type SlackPort } from '../../outbox/slack-port.ts';
import { readSlackError } from '../installations.ts';
import { postMessage } from './clients.ts';
import { SecretLeakBlocked } from './egress.ts';
import { UploadError, type Uploads } from './uploads.ts';

// The type of a message's metadata: lower case with underscores.
const markerType = 'cdn_chatops';

/** Slack for jobs. Every method throws `SlackFailure` if Slack or the network fails. */
export function createSlackPort(client: () => Promise<WebClient>, uploads: Uploads): SlackPort {
  return {
    post: (channel, message, { id, thread }) =>
      classifyErrors(async () => {
        const posted = await postMessage(await client(), channel, message, {
          ...(thread === undefined ? {} : { thread_ts: thread }),
          metadata: { event_type: markerType, event_payload: { id } },
        });
        return { channel: posted.channel ?? channel, ts: posted.ts ?? '' };
      }),
    update: ({ channel, ts }, { text, blocks = [] }) =>
      classifyErrors(async () => {
        // An update without blocks would keep the old ones.
        await (await client()).chat.update({ channel, ts, text, blocks });
      }),
    find: (id, where) => classifyErrors(async () => findMessage(await client(), id, where)),
    share: (files, target) => classifyErrors(() => uploads.share(files, target)),
    completeStep: (run, end) =>
      classifyErrors(async () => {
        const { functions } = await client();
        const which = { function_execution_id: run };
        try {
          if ('error' in end) await functions.completeError({ ...which, ...end });
          else await functions.completeSuccess({ ...which, ...end });
        } catch (error) {
          if (!endedSteps.has(readSlackError(error) ?? '')) throw error;
        }
      }),
    deleteFile: (file) =>
      classifyErrors(async () => {
        try {
          await (await client()).files.delete({ file });
        } catch (error) {
          const code = readSlackError(error);
          if (code !== 'file_not_found' && code !== 'file_deleted') throw error;
        }
      }),
  };
}

// https://docs.slack.dev/reference/methods/functions.completeSuccess#errors
const endedSteps = new Set(['execution_not_in_running_state', 'function_execution_not_found']);

// A busy channel has some hundred messages in the searched minutes.
const pageSize = 200;
const maxPages = 5;
// `since` is the bot's time, messages have Slack's.
const clockSkewMs = 2 * minuteMs;

/**
 * The bot's message with this id in a channel or thread, since `since`. Messages of others do not count: every app
 * of the channel can copy metadata.
 *
 * @throws what Slack answers, and SlackFailure `too_much` if the end was not reached.
 */
async function findMessage(client: WebClient, id: string, { channel, since, thread }: FindWhere) {
  const { bot_id: own, response_metadata: about } = await client.auth.test();
  // Without the scope Slack leaves the metadata out silently: then "not found" means nothing.
  if (about?.scopes && !about.scopes.includes('metadata.message:read'))
    throw new SlackFailure('refused', 'missing_scope');
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const query = {
      channel,
      oldest: (Math.max(0, since.getTime() - clockSkewMs) / 1000).toFixed(6),
      include_all_metadata: true,
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    };
    const answer =
      thread === undefined
        ? await client.conversations.history(query)
        : await client.conversations.replies({ ...query, ts: thread });
    for (const { bot_id: bot, metadata, ts } of answer.messages ?? []) {
      const marker = markedMetadata.safeParse(metadata).data?.event_payload.id;
      if (bot === own && ts !== undefined && marker === id) return { channel, ts };
    }
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) return undefined;
  }
  throw new SlackFailure('refused', 'too_much');
}

const markedMetadata = z.object({
  event_type: z.literal(markerType),
  event_payload: z.object({ id: z.string() }),
});

async function classifyErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw classifyError(error);
  }
}

// Errors of Slack itself. Its documentation leaves open whether the call took effect.
const uncertainCodes = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

/** Whether a failed call took effect, as a `SlackFailure`; errors that are not Slack's are returned unchanged. */
function classifyError(error: unknown): unknown {
  if (error instanceof UploadError) {
    const inner = classifyError(error.cause);
    const { message } = error;
    const { outcome, code, retryAfterSeconds, reference } =
      inner instanceof SlackFailure ? inner : new SlackFailure('refused', error.code, error);
    return new SlackFailure(outcome, code, { cause: error, message, retryAfterSeconds, reference });
  }
  if (error instanceof SecretLeakBlocked) return toHeldBack(error);
  const code = readSlackError(error);
  if (code !== undefined)
    return new SlackFailure(uncertainCodes.has(code) ? 'unknown' : 'refused', code, { cause: error });
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case ErrorCode.RateLimitedError: {
      const { retryAfter } = error as WebAPIRateLimitedError;
      return new SlackFailure('refused', 'ratelimited', { cause: error, retryAfterSeconds: retryAfter });
    }
    case ErrorCode.HTTPError:
      return new SlackFailure('unknown', `http_${(error as WebAPIHTTPError).statusCode}`, { cause: error });
    case ErrorCode.RequestError:
      return new SlackFailure('unknown', 'no_answer', { cause: error });
    default:
      // No token for that workspace, or a bug: nothing was sent.
      return error;
  }
}

export function toHeldBack(error: SecretLeakBlocked): SlackFailure {
  return new SlackFailure('refused', 'held_back', { cause: error, reference: error.reference });
}
