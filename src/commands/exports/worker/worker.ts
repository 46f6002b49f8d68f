import { pipeline, Readable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { createEventLogs } from '../../../api/event-logs.ts';
import { ApiError, type ApiErrorFacts } from '../../../api/http/errors.ts';
import type { Attempt } from '../../../api/http/request.ts';
import { type CdnOptions, createSend } from '../../../api/http/request.ts';
import { UserError } from '../../../errors.ts';
import { type FileReply, postFile } from '../../../lib/file-transfer.ts';
import { explainNetworkFailure } from '../../../lib/network-failure.ts';
import { type ProxySettings, useProxy } from '../../../lib/proxy.ts';
import { type NotedSecret, registerSecrets, Secret } from '../../../secrets/secret.ts';
import type { ExportRequest } from '../../../views/exports/exports.ts';
import { type GatheredLog, gatherLog, SecretInFile, type StoredFile } from './gather.ts';

export interface GatherTask {
  readonly cdn: Pick<CdnOptions, 'apiUrl' | 'originLoggingUrl'>;
  readonly key: string;
  readonly request: ExportRequest;
  readonly directory: string;
  /** In ms since the epoch. */
  readonly now: number;
}

interface SendTask {
  readonly file: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One task at a time. `secrets` must not be in a file. */
export type ToWorker =
  | { readonly gather: GatherTask }
  | { readonly send: SendTask }
  | { readonly secrets: readonly NotedSecret[] };

export type FromWorker =
  | { readonly progress: ExportProgress }
  | { readonly attempt: Attempt }
  | { readonly result: GatheredLog | FileReply }
  | { readonly failure: PackedFailure };

export interface ExportProgress {
  readonly bytes: number;
  readonly rows: number;
  readonly announced: number | undefined;
  readonly sent: number;
}

const progressEveryMs = 100;

const proxy = workerData as ProxySettings | undefined;
const isReady = proxy && useProxy(proxy);

let files: readonly StoredFile[] = [];
let progress: ExportProgress = { bytes: 0, rows: 0, announced: undefined, sent: 0 };

const post = (message: FromWorker): void => parentPort?.postMessage(message);
const onAttempt = (attempt: Attempt): void => post({ attempt });
const report = (change: Partial<ExportProgress>): void => {
  progress = { ...progress, ...change };
};

async function gather({ cdn, key, request, directory, now }: GatherTask): Promise<GatheredLog> {
  await isReady;
  const send = createSend(
    { ...cdn, fetch: fetchWhole, now: () => now, onAttempt },
    new Secret(key, 'cdn-key'),
  );
  const source = await createEventLogs(send, () => now).export(request.shieldZoneId, request);
  report({ announced: source.length });
  const log = await gatherLog(source, { wanted: request, directory, onProgress: report });
  files = log.files;
  return { ...log, files: files.map(({ kind, length, sha256 }) => ({ kind, length, sha256 })) };
}

/** Sends a request like `fetch`, which would take a compressed body that breaks off for a whole one. */
async function fetchWhole(...given: ConstructorParameters<typeof Request>): Promise<Response> {
  const { request } = await import('undici');
  const asked = new Request(...given);
  asked.headers.set('accept-encoding', 'identity');
  const { url, method, signal } = asked;
  const [headers, body] = [Object.fromEntries(asked.headers), await asked.text()];
  const answer = await request(url, { method: method as 'POST', headers, body, signal });
  const { 'content-encoding': encoding = 'identity' } = answer.headers;
  const decode = encoding === 'br' ? createBrotliDecompress : createUnzip;
  const whole = encoding === 'identity' ? answer.body : pipeline(answer.body, decode(), () => {});
  const init = { status: answer.statusCode, headers: answer.headers as Record<string, string> };
  return new Response(Readable.toWeb(whole) as ReadableStream, init);
}

async function send({ file, url, headers }: SendTask): Promise<FileReply> {
  const content = files[file]?.content;
  if (!content) throw new Error('the worker does not have this file');
  return postFile(content.read(), {
    url: new URL(url),
    headers,
    // The thread is terminated instead.
    signal: new AbortController().signal,
    moved: (bytes) => report({ sent: progress.sent + bytes }),
  });
}

parentPort?.on('message', (message: ToWorker) => {
  if ('secrets' in message)
    for (const { kind, value } of message.secrets) registerSecrets({ [kind]: [value] });
  else void run('gather' in message ? gather(message.gather) : send(message.send));
});

async function run(task: Promise<GatheredLog | FileReply>): Promise<void> {
  const timer = setInterval(() => post({ progress }), progressEveryMs);
  const outcome = await task.then(
    (result) => ({ result }),
    (error: unknown) => ({ failure: pack(error) }),
  );
  clearInterval(timer);
  post({ progress });
  post(outcome);
}

export type PackedFailure =
  | { readonly facts: ApiErrorFacts }
  | { readonly message: string; readonly hint: string | undefined }
  | { readonly kinds: readonly string[] }
  | { readonly code: string | undefined; readonly network: string | undefined };

/** Unknown errors keep only their code: their messages may quote the request. */
function pack(error: unknown): PackedFailure {
  if (error instanceof ApiError) return { facts: Object.assign({}, error) };
  if (error instanceof UserError) return { message: error.message, hint: error.hint };
  if (error instanceof SecretInFile) return { kinds: error.kinds };
  return { code: readCode(error), network: explainNetworkFailure(error)?.message };
}

function readCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return readCode(error.cause);
}
