import { AsyncLocalStorage } from 'node:async_hooks';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ApiError } from '../../../api/http/errors.ts';
import type { Attempt } from '../../../api/http/request.ts';
import { UserError } from '../../../errors.ts';
import type { FileReply, FileTarget } from '../../../lib/file-transfer.ts';
import { getProxySettings } from '../../../lib/proxy.ts';
import { findKnownSecrets, type NotedSecret, type Secret } from '../../../secrets/secret.ts';
import type { ExportRequest } from '../../../views/exports/exports.ts';
import { type GatheredFile, type GatheredLog, SecretInFile } from './gather.ts';
import type { ExportProgress, FromWorker, GatherTask, PackedFailure, ToWorker } from './worker.ts';

export type ExportThread = ReturnType<typeof startExportThread>;

/** The worker thread of one export: downloads, scans, counts, encrypts and uploads. No other thread sees the bytes. */
export function startExportThread({
  onAttempt,
  now,
  ...options
}: Pick<GatherTask, 'cdn' | 'directory'> & {
  /** Called in the job that started the thread. */
  readonly onAttempt?: (attempt: Attempt) => void;
  readonly now: () => Date;
}) {
  const worker = new Worker(new URL(`worker${extname(import.meta.filename)}`, import.meta.url), {
    workerData: getProxySettings(),
  });
  let progress: ExportProgress = { bytes: 0, rows: 0, announced: undefined, sent: 0 };
  let task: PromiseWithResolvers<unknown> | undefined;
  let failure: Error | undefined;
  let onSent: ((bytes: number) => void) | undefined;
  // The job meets further secrets meanwhile.
  const inJob = AsyncLocalStorage.snapshot();
  const sentSecrets = new Set<NotedSecret>();

  const fail = (error: Error): void => {
    failure ??= error;
    task?.reject(failure);
  };
  const post = (message: ToWorker): void => worker.postMessage(message);
  const sendSecrets = (): void => {
    const secrets = inJob(() => findKnownSecrets().lists.flat()).filter((secret) => !sentSecrets.has(secret));
    if (secrets.length > 0) post({ secrets });
    for (const secret of secrets) sentSecrets.add(secret);
  };
  worker
    .on('message', (message: FromWorker) => {
      if ('progress' in message) {
        const sent = message.progress.sent - progress.sent;
        progress = message.progress;
        if (sent > 0) onSent?.(sent);
        sendSecrets();
      } else if ('attempt' in message) inJob(() => onAttempt?.(message.attempt));
      else if ('result' in message) task?.resolve(message.result);
      else task?.reject(unpack(message.failure));
    })
    .on('error', fail)
    .on('exit', () => fail(new Error('the thread of an export ended unexpectedly')));

  async function run<Result>(message: ToWorker, signal: AbortSignal): Promise<Result> {
    if (failure) throw failure;
    signal.throwIfAborted();
    task = Promise.withResolvers();
    const abort = (): void => {
      fail(signal.reason as Error);
      void worker.terminate();
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      post(message);
      return (await task.promise) as Result;
    } finally {
      signal.removeEventListener('abort', abort);
      task = undefined;
    }
  }

  const createFile = (file: GatheredFile, index: number) => ({
    ...file,
    async send({ url, headers, signal, moved }: FileTarget): Promise<FileReply> {
      onSent = moved;
      return run<FileReply>({ send: { file: index, url: url.href, headers } }, signal);
    },
  });

  return {
    progress: () => progress,
    /** Once per thread. @throws ApiError, UserError, SecretInFile; others keep their code only. */
    async gather(key: Secret, request: ExportRequest, signal: AbortSignal) {
      sendSecrets();
      const task = { ...options, key: key.reveal(), request, now: now().getTime() };
      const log = await run<GatheredLog>({ gather: task }, signal);
      return { ...log, files: log.files.map(createFile) };
    },
    async close(): Promise<void> {
      fail(new Error('the thread of an export was closed'));
      await worker.terminate();
    },
  };
}

function unpack(failure: PackedFailure): Error {
  if ('facts' in failure) return new ApiError(failure.facts);
  if ('message' in failure) return new UserError(failure.message, failure.hint);
  if ('kinds' in failure) return new SecretInFile(failure.kinds);
  const { code, network = code ?? 'no code' } = failure;
  const error = new Error(`the thread of an export failed (${network})`);
  return code === undefined ? error : Object.assign(error, { code });
}
