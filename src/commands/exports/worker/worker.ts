import { parentPort } from 'node:worker_threads';
import { createEventLogs } from '../../../api/event-logs.ts';
import type { Attempt } from '../../../api/http/attempt.ts';
import { ApiError, type ApiErrorFacts } from '../../../api/http/errors.ts';
import { type CdnOptions, createSend } from '../../../api/http/request.ts';
import { UserError } from '../../../errors.ts';
import { findSecretKinds } from '../../../secrets/scanner.ts';
import { type NotedSecret, registerSecrets, Secret } from '../../../secrets/secret.ts';
import type { Taken } from '../../../views/blocks/blocks.ts';
import type { ExportRequest } from '../model.ts';
import type { EncryptedTempFile } from './encrypted-temp-file.ts';
import { type ExportProgress, type GatheredFile, type GatheredLog, gatherLog } from './gather.ts';
import { fetchFile, postBody } from './http.ts';
import { type ExportLimits, ExportTooLarge, SecretFound } from './limits.ts';

export interface GatherTask {
  readonly cdn: Pick<CdnOptions, 'apiUrl' | 'originLoggingUrl'>;
  readonly key: string;
  readonly request: ExportRequest;
  readonly limits: ExportLimits;
  readonly directory: string;
  /** The process's clock, ms since the epoch. */
  readonly now: number;
}

export interface SendTask {
  /** Index in the gathered files. */
  readonly file: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One task at a time. `secrets`: live secrets that must not be in a file. `reset`: releases the files. */
export type ToWorker =
  | { readonly gather: GatherTask }
  | { readonly send: SendTask }
  | { readonly secrets: readonly NotedSecret[] }
  | 'reset';

export type FromWorker =
  | { readonly progress: ExportProgress }
  | { readonly attempt: Attempt }
  | { readonly result: GatheredLog | Taken }
  | { readonly failure: PackedFailure };

const progressEveryMs = 100;

let files: readonly (GatheredFile & { readonly content: EncryptedTempFile })[] = [];
let forgetSecrets: (() => void)[] = [];
let progress: ExportProgress = { bytes: 0, rows: 0, announced: undefined, sent: 0 };

const onAttempt = (attempt: Attempt): void => tell({ attempt });

function report(change: Partial<ExportProgress>): void {
  progress = { ...progress, ...change };
}

async function gather({ cdn, key, request, limits, directory, now }: GatherTask): Promise<GatheredLog> {
  const toCdn: typeof fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    // The key travels to the CDN and nowhere else.
    if (new URL(url).origin !== new URL(cdn.apiUrl).origin || findSecretKinds(url).length > 0)
      throw new Error('a request of an export does not go to the CDN');
    return fetchFile(url, init);
  };
  const { shieldZoneId, ...wanted } = request;
  const send = createSend({ ...cdn, fetch: toCdn, now: () => now, onAttempt }, new Secret(key, 'cdn-key'));
  const source = await createEventLogs(send, () => now).export(shieldZoneId, wanted);
  report({ announced: source.length });
  const log = await gatherLog(source, { wanted: request, limits, directory, onProgress: report });
  files = log.files;
  return { ...log, files: files.map(({ kind, part, length, sha256 }) => ({ kind, part, length, sha256 })) };
}

async function send({ file, url, headers }: SendTask): Promise<Taken> {
  const content = files[file]?.content;
  if (!content) throw new Error('the worker does not have this file');
  const body = content.read((bytes) => report({ sent: progress.sent + bytes }));
  return postBody(url, headers, body);
}

function reset(): void {
  for (const { content } of files) content.discard();
  for (const forget of forgetSecrets) forget();
  files = [];
  forgetSecrets = [];
  progress = { bytes: 0, rows: 0, announced: undefined, sent: 0 };
}

function tell(message: FromWorker): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (message: ToWorker) => {
  if (message === 'reset') return reset();
  if ('secrets' in message) {
    const byKind = Object.groupBy(message.secrets, ({ kind }) => kind);
    const values = Object.entries(byKind).map(([kind, all = []]) => [kind, all.map(({ value }) => value)]);
    forgetSecrets.push(registerSecrets(Object.fromEntries(values)));
    return undefined;
  }
  void run('gather' in message ? gather(message.gather) : send(message.send));
  return undefined;
});

async function run(task: Promise<GatheredLog | Taken>): Promise<void> {
  const timer = setInterval(() => tell({ progress }), progressEveryMs);
  const outcome = await task.then(
    (result) => ({ result }),
    (error: unknown) => ({ failure: pack(error) }),
  );
  clearInterval(timer);
  tell({ progress });
  tell(outcome);
}

export type PackedFailure = ReturnType<typeof pack>;

/** An error as it crosses threads. Of unknown errors only the code does: their messages may quote what was sent. */
function pack(error: unknown) {
  if (error instanceof ApiError)
    return { kind: 'api', facts: Object.assign({}, error) as ApiErrorFacts } as const;
  if (error instanceof UserError) return { kind: 'user', message: error.message, hint: error.hint } as const;
  if (error instanceof ExportTooLarge) {
    const { bytes, announced, limit } = error;
    return { kind: 'too-large', bytes, announced, limit } as const;
  }
  if (error instanceof SecretFound) return { kind: 'secret', kinds: error.kinds } as const;
  return { kind: 'other', code: readCode(error) } as const;
}

function readCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return readCode(error.cause);
}
