import { createReadStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { WebClient } from '@slack/web-api';
import { readRetryAfter } from '../../api/http/request.ts';
import { type FileTarget, postFile } from '../../lib/file-transfer.ts';
import { canBeLifted, isPlaceCode } from '../../outbox/classify-failure.ts';
import { SlackFailure, type SlackPort } from '../../outbox/slack-port.ts';
import type { Attachment } from '../../views/blocks/blocks.ts';
import { readSlackError } from '../installations.ts';
import { isSlackAddress, toSlackFailure } from './clients.ts';

export interface Uploads {
  /**
   * Shares files with one message and always deletes their temporary files. Everyone in the channel can open them.
   *
   * @throws SlackFailure with a sentence; errors of `beforeShare` are thrown unchanged.
   */
  readonly share: SlackPort['share'];
  /** The channel of the person's direct messages with the bot. @throws SlackFailure with a sentence */
  findDirectMessages(userId: string): Promise<string>;
}

export interface UploadOptions {
  readonly client: () => Promise<WebClient>;
  readonly apiUrl: string;
  readonly inspect: () => (piece: Uint8Array) => void;
  readonly signal: AbortSignal;
}

export async function discardFiles(files: readonly Attachment[]): Promise<void> {
  for (const { content } of files) {
    if ('path' in content) await rm(content.path, { force: true });
    if ('spooled' in content) await content.spooled.discard();
  }
}

type Source = Attachment['content'];

/**
 * Slack's upload in three steps: an address for an exact number of bytes, the bytes, the share.
 * https://docs.slack.dev/messaging/working-with-files#upload
 *
 * The bytes go only to hosts at or below the Web API's, without the bot token; the SDK would keep a large file in memory.
 */
export function createUploads(options: UploadOptions): Uploads {
  return {
    async share(files, { channel, thread, comment, beforeShare }) {
      try {
        const uploaded = await explainErrors(() => uploadAll(files));
        const fileIds = uploaded.map(({ id }) => id);
        const [first, ...others] = uploaded;
        if (!first) return { fileIds };
        await beforeShare?.(fileIds);
        await explainErrors(async () => {
          const client = await options.client();
          await client.files.completeUploadExternal({
            files: [first, ...others],
            channel_id: channel,
            ...(thread ? { thread_ts: thread } : {}),
            ...(comment ? { initial_comment: comment } : {}),
          });
        });
        return { fileIds };
      } finally {
        await discardFiles(files);
      }
    },
    findDirectMessages: (userId) =>
      explainErrors(async () => {
        const { channel } = await (await options.client()).conversations.open({ users: userId });
        if (!channel?.id) throw fail('Slack opened no conversation with you.');
        return channel.id;
      }),
  };

  async function uploadAll(files: readonly Attachment[]): Promise<{ id: string; title: string }[]> {
    const client = await options.client();
    const uploaded: { id: string; title: string }[] = [];
    for (const file of files) uploaded.push({ id: await upload(client, file), title: file.title });
    return uploaded;
  }

  async function upload(client: WebClient, { name, mimetype, content }: Attachment): Promise<string> {
    const length = await findLength(content);
    if (length === 0) throw fail('The file is empty, and Slack takes none without content.');
    await inspect(content);
    const { upload_url: address, file_id: id } = await client.files.getUploadURLExternal({
      filename: name,
      length,
    });
    if (!address || !id) throw fail('Slack gave no address for the file.');
    await sendBytes(content, {
      url: checkUploadUrl(address),
      headers: { 'content-type': mimetype, 'content-length': String(length) },
      signal: options.signal,
    });
    return id;
  }

  /** Scans the whole file before the upload starts, so that no half of it is sent. */
  async function inspect(source: Source): Promise<void> {
    if ('spooled' in source) return;
    const check = options.inspect();
    if (!('path' in source)) return check(source);
    for await (const piece of createReadStream(source.path)) check(piece as Buffer);
  }

  /** Files may be confidential: they go to Slack only, whatever the answer says. */
  function checkUploadUrl(uploadUrl: string): URL {
    const url = new URL(uploadUrl);
    if (!isSlackAddress(url, options.apiUrl))
      throw fail('Slack named an address for the file that is not Slack’s.');
    return url;
  }
}

async function findLength(source: Source): Promise<number> {
  if ('path' in source) return (await stat(source.path)).size;
  return 'spooled' in source ? source.spooled.length() : source.byteLength;
}

// Without any progress for so long an upload is aborted.
const stallMs = 30_000;
const temporary = new Set([408, 425, 429]);

async function sendBytes(source: Source, to: Omit<FileTarget, 'moved'>): Promise<void> {
  const stalled = new AbortController();
  const timer = setTimeout(
    () => stalled.abort(new DOMException('Slack stopped taking the file', 'TimeoutError')),
    stallMs,
  );
  const signal = AbortSignal.any([to.signal, stalled.signal]);
  const target = { ...to, signal, moved: () => void timer.refresh() };
  const sending =
    'spooled' in source
      ? source.spooled.send(target)
      : postFile('path' in source ? createReadStream(source.path) : source, target);
  const { status, retryAfter } = await sending.finally(() => clearTimeout(timer));
  if (status === 200) return;
  if (status === 413) throw fail('Slack does not take a file of this size (HTTP 413).', 'upload_too_large');
  const isPermanent = status >= 400 && status < 500 && !temporary.has(status);
  throw fail(
    `Slack did not take the file (HTTP ${status}).`,
    isPermanent ? 'upload_refused' : 'upload_failed',
    readRetryAfter(retryAfter ?? null, Date.now()),
  );
}

/** `upload_failed` may succeed later; the others are permanent. `sentence` holds no foreign text. */
function fail(
  sentence: string,
  code: 'upload_failed' | 'upload_refused' | 'upload_too_large' = 'upload_failed',
  retryAfterSeconds?: number,
): SlackFailure {
  return new SlackFailure('refused', code, { sentence, retryAfterSeconds });
}

async function explainErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const known = toSlackFailure(error);
    if (known instanceof SlackFailure && known.sentence !== undefined) throw known;
    const { outcome, code, retryAfterSeconds, reference } = known instanceof SlackFailure ? known : fail('');
    const sentence = describeReason(error, reference);
    throw new SlackFailure(outcome, code, { cause: error, retryAfterSeconds, reference, sentence });
  }
}

function describeReason(error: unknown, heldBack: string | undefined): string {
  if (heldBack !== undefined) return `The file was held back: it would have shown a secret (${heldBack}).`;
  const code = readSlackError(error);
  if (code !== undefined) return describeCode(code);
  if (error instanceof Error && error.name === 'TimeoutError') return 'Slack took too long to take the file.';
  if (error instanceof Error && error.name === 'AbortError') return 'The bot was stopped meanwhile.';
  return 'The file could not be made or sent.';
}

function describeCode(code: string): string {
  if (isPlaceCode(code)) return 'The bot is not in that channel: invite it and try again.';
  if (code === 'missing_scope')
    return 'The bot lacks the permission to send files: an admin has to install it again with the current manifest.';
  return canBeLifted(code) ? 'Your workspace does not allow this file.' : `Slack refused the file (${code}).`;
}
