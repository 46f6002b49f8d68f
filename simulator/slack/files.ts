import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newId } from './clock.ts';
import { contentType, multipartFile, type Route, readBody } from './http.ts';
import type { Install } from './installs.ts';
import type { VisibleFile } from './messages.ts';
import type { Script } from './script.ts';

export interface StoredFile {
  readonly id: string;
  readonly install: Install;
  readonly name: string;
  /** The announced length; the upload must have exactly this many bytes. */
  readonly length: number;
  readonly altText: string | undefined;
  title: string;
  /** Announced, uploaded, or completed and thereby visible. */
  state: 'announced' | 'uploaded' | 'completed';
  sha256: string;
  channels: string[];
}

export interface Files {
  /** Announces a file: where its bytes go, for one use. */
  announce(
    install: Install,
    file: { name: string; length: number; altText?: string | undefined },
  ): { file: StoredFile; uploadUrl: string };
  find(id: string): StoredFile | undefined;
  remove(id: string): void;
  readonly visible: (id: string) => VisibleFile | undefined;
  /** What people see of files, and that of an earlier run in its place. */
  completed(): readonly StoredFile[];
  restore(files: readonly StoredFile[]): void;
  /** Takes uploads and serves completed files. */
  readonly route: Route;
  close(): Promise<void>;
}

/** The three-step upload (docs.slack.dev/messaging/working-with-files). Bytes are kept in temporary files, so that a large upload costs no memory. */
export function createFiles(options: {
  base: () => string;
  problem: (text: string) => void;
  script: Script;
  called: (call: { install: Install; args: Record<string, unknown>; ok: boolean; error?: string }) => void;
  mayRead: (request: IncomingMessage, file: StoredFile) => boolean;
  /** Where their bytes stay; without it they end with this Slack. */
  keep?: string | undefined;
}): Files {
  const files = new Map<string, StoredFile>();
  const tickets = new Map<string, StoredFile>();
  let folder: Promise<string> | undefined;
  const pathOf = async (file: StoredFile): Promise<string> => {
    folder ??= options.keep
      ? mkdir(options.keep, { recursive: true }).then(() => String(options.keep))
      : mkdtemp(join(tmpdir(), 'slack-simulator-'));
    return join(await folder, file.id);
  };

  async function take(request: IncomingMessage, response: ServerResponse, ticket: string): Promise<void> {
    const file = tickets.get(ticket);
    tickets.delete(ticket);
    const answer = (status: number, text: string, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(text);
    if (!file) {
      request.resume();
      return answer(404, 'not found');
    }
    if (request.headers.authorization !== undefined) {
      options.problem('files.upload: a token was sent to the upload address, which takes none');
    }
    const fault = await options.script.interfere('files.upload');
    if (fault) {
      request.resume();
      options.called({ install: file.install, args: { file: file.id }, ok: false, error: fault.error });
      const { status, error, retryAfter } = fault;
      const pause = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) };
      return answer(status === 200 ? 500 : status, error, pause);
    }
    let bytes = 0;
    const hash = createHash('sha256');
    const count = new Transform({
      transform(part: Buffer, _encoding, done) {
        bytes += part.length;
        hash.update(part);
        done(null, part);
      },
    });
    const multipart = (request.headers['content-type'] ?? '').startsWith('multipart/form-data');
    const source = multipart
      ? [multipartFile(await readBody(request), request.headers['content-type'] ?? '')]
      : request;
    try {
      await pipeline(source, count, createWriteStream(await pathOf(file), { mode: 0o600 }));
    } catch {
      // The sender went away: the file stays announced, and completing it fails.
      options.called({ install: file.install, args: { file: file.id, bytes }, ok: false, error: 'aborted' });
      return;
    }
    const exact = bytes === file.length;
    if (!exact) options.problem(`files.upload: ${bytes} bytes came, ${file.length} were announced`);
    file.state = exact ? 'uploaded' : 'announced';
    file.sha256 = hash.digest('hex');
    options.called({
      install: file.install,
      args: { file: file.id, bytes, sha256: file.sha256 },
      ok: exact,
      ...(exact ? {} : { error: 'length_mismatch' }),
    });
    await options.script.answering('files.upload');
    if (options.script.drops('files.upload')) request.socket.destroy();
    else answer(exact ? 200 : 400, exact ? `OK - ${bytes}` : 'length mismatch');
  }

  return {
    announce(install, { name, length, altText }) {
      const file: StoredFile = {
        id: newId('F'),
        install,
        name,
        length,
        altText,
        title: name,
        state: 'announced',
        sha256: '',
        channels: [],
      };
      const ticket = randomBytes(16).toString('hex');
      files.set(file.id, file);
      tickets.set(ticket, file);
      return { file, uploadUrl: `${options.base()}/upload/v1/${ticket}` };
    },
    find: (id) => files.get(id),
    remove: (id) => void files.delete(id),
    visible(id) {
      const file = files.get(id);
      if (file?.state !== 'completed') return undefined;
      const url = `/ui/files/${id}/${encodeURIComponent(file.name)}`;
      return {
        id,
        name: file.name,
        title: file.title,
        mimetype: contentType(file.name),
        size: file.length,
        altText: file.altText,
        url,
      };
    },
    async route(request, response, url) {
      const [, area = '', ...rest] = url.pathname.split('/');
      if (area === 'upload' && request.method === 'POST') {
        await take(request, response, rest[1] ?? '');
        return true;
      }
      const id = area === 'files-pri' ? rest[0] : area === 'ui' && rest[0] === 'files' ? rest[1] : undefined;
      if (id === undefined) return false;
      const file = files.get(id);
      if (file?.state !== 'completed' || (area === 'files-pri' && !options.mayRead(request, file))) {
        // As in Slack, a download without the right token ends at a page to sign in, not at an error.
        response
          .writeHead(area === 'files-pri' ? 200 : 404, { 'content-type': 'text/html' })
          .end('<!doctype html><title>Sign in | Slack</title>');
        return true;
      }
      const headers = {
        'content-type': contentType(file.name),
        'content-length': file.length,
        'x-content-type-options': 'nosniff',
      };
      response.writeHead(
        200,
        extname(file.name) === '.html' ? { ...headers, 'content-type': 'text/plain' } : headers,
      );
      await pipeline(createReadStream(await pathOf(file)), response).catch(() => response.destroy());
      return true;
    },
    completed: () => [...files.values()].filter(({ state }) => state === 'completed'),
    restore(kept) {
      for (const file of kept) files.set(file.id, file);
    },
    async close() {
      if (folder && !options.keep) await rm(await folder, { recursive: true, force: true });
    },
  };
}
