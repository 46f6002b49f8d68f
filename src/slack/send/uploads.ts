import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { WebClient } from '@slack/web-api';
import type { Chart } from '../../charts/charts.ts';
import type { Attachment } from '../../views/blocks/message.ts';
import { readSlackError } from '../installations.ts';
import { SecretLeakBlocked } from './egress.ts';
import { findLength, type Source, sendFile, UploadError } from './upload-bytes.ts';

/** The destination of files: everyone in the channel can open them. */
export interface UploadTarget {
  readonly channelId: string;
  readonly threadTs?: string | undefined;
}

export interface Uploads {
  /**
   * Shares files with one message, `comment` (mrkdwn) above them, and always deletes their temporary files.
   * `beforeShare` runs when Slack has all bytes, before anyone can see them; if it throws, they are never shared.
   *
   * @throws UploadError with the reason; errors of `beforeShare` are thrown unchanged.
   */
  share(
    files: readonly Attachment[],
    target: UploadTarget,
    comment?: string,
    beforeShare?: (fileIds: readonly string[]) => Promise<void>,
  ): Promise<{ readonly fileIds: readonly string[] }>;
  /** The person's direct messages with the bot. */
  directMessages(userId: string): Promise<UploadTarget>;
}

/** Deletes temporary files. */
export async function discardFiles(files: readonly Attachment[]): Promise<void> {
  for (const { content } of files) {
    if ('path' in content) await rm(content.path, { force: true });
    if ('spooled' in content) await content.spooled.discard();
  }
}

/**
 * Slack's upload in three steps: an address for an exact number of bytes, the bytes, the share.
 * https://docs.slack.dev/messaging/working-with-files#upload
 *
 * The bytes go through undici's `request` with a Content-Length, since `fetch` and the SDK keep a large file in memory.
 * They go only to hosts at or below the Web API's, without the bot token.
 */
export function createUploads(options: {
  readonly client: () => Promise<WebClient>;
  readonly apiUrl: string;
  readonly draw: (chart: Chart) => Promise<Uint8Array>;
  /** Throws if the file, given piece by piece, holds a live secret. */
  readonly inspect: () => (piece: Uint8Array) => void;
  readonly signal: AbortSignal;
}): Uploads {
  return {
    async share(files, target, comment, beforeShare) {
      let failure: { readonly error: unknown } | undefined;
      try {
        const client = await options.client();
        // Charts are drawn while the files before them are sent.
        const started = files.map((file) => ({ file, source: sourceOf(file.content) }));
        const ids: { id: string; title: string }[] = [];
        for (const { file, source } of started)
          ids.push({ id: await transfer(client, file, await source), title: file.title });
        const [first, ...others] = ids;
        if (!first) return { fileIds: [] };
        await beforeShare?.(ids.map(({ id }) => id)).catch((error: unknown) => {
          failure = { error };
          throw error;
        });
        await client.files.completeUploadExternal({
          files: [first, ...others],
          channel_id: target.channelId,
          ...(target.threadTs ? { thread_ts: target.threadTs } : {}),
          ...(comment ? { initial_comment: comment } : {}),
        });
        return { fileIds: ids.map(({ id }) => id) };
      } catch (error) {
        throw failure ? failure.error : toUploadError(error);
      } finally {
        await discardFiles(files);
      }
    },
    async directMessages(userId) {
      try {
        const { channel } = await (await options.client()).conversations.open({ users: userId });
        if (!channel?.id) throw new UploadError('Slack opened no conversation with you.');
        return { channelId: channel.id };
      } catch (error) {
        throw toUploadError(error);
      }
    },
  };

  function sourceOf(content: Attachment['content']): Source | Promise<Source> {
    if (!('chart' in content)) return content;
    const drawn = options.draw(content.chart);
    // If a file before it fails, this promise is not awaited.
    drawn.catch(() => undefined);
    return drawn;
  }

  /** The first two steps. Returns the file's id. */
  async function transfer(client: WebClient, file: Attachment, source: Source): Promise<string> {
    const length = await findLength(source);
    if (length === 0) throw new UploadError('The file is empty, and Slack takes none without content.');
    await inspect(source);
    const alt = file.altText?.slice(0, 1000);
    const opened = await client.files.getUploadURLExternal({
      filename: file.name,
      length,
      // Slack's documentation uses the first name, its SDK the second.
      ...(alt ? { alt_txt: alt, alt_text: alt } : {}),
    });
    if (!opened.upload_url || !opened.file_id) throw new UploadError('Slack gave no address for the file.');
    await sendFile(source, {
      url: checkUploadUrl(opened.upload_url),
      headers: { 'content-type': file.mimetype, 'content-length': String(length) },
      signal: options.signal,
    });
    return opened.file_id;
  }

  /** Scans the whole file before the upload starts, so that no half of it is sent. */
  async function inspect(source: Source): Promise<void> {
    if ('spooled' in source) return;
    const look = options.inspect();
    if (!('path' in source)) return look(source);
    for await (const piece of createReadStream(source.path)) look(piece as Buffer);
  }

  /** Files may be confidential: they go to Slack only, whatever the answer says. */
  function checkUploadUrl(uploadUrl: string): URL {
    const api = new URL(options.apiUrl);
    const url = new URL(uploadUrl);
    const isSlack = url.hostname === api.hostname || url.hostname.endsWith(`.${api.hostname}`);
    if (!isSlack || url.protocol !== api.protocol)
      throw new UploadError('Slack named an address for the file that is not Slack’s.');
    return url;
  }
}

function toUploadError(error: unknown): UploadError {
  if (error instanceof UploadError) return error;
  if (error instanceof SecretLeakBlocked)
    return new UploadError(`The file was held back: it would have shown a secret (${error.reference}).`, {
      cause: error,
    });
  return new UploadError(describeReason(error), { cause: error });
}

function describeReason(error: unknown): string {
  const code = readSlackError(error);
  switch (code) {
    case 'missing_scope':
      return 'The bot lacks the permission to send files: an admin has to install it again with the current manifest.';
    case 'file_uploads_disabled':
    case 'file_upload_size_restricted':
    case 'blocked_file_type':
      return 'Your workspace does not allow this file.';
    case 'not_in_channel':
    case 'channel_not_found':
      return 'The bot is not in that channel: invite it and try again.';
    case undefined:
      break;
    default:
      return `Slack refused the file (${code}).`;
  }
  if (error instanceof Error && error.name === 'TimeoutError') return 'Slack took too long to take the file.';
  if (error instanceof Error && error.name === 'AbortError') return 'The bot was stopped meanwhile.';
  return 'The file could not be made or sent.';
}
