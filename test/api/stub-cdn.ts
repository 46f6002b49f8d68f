import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type CdnClient, createCdn } from '../../src/api/cdn.ts';
import { ApiError } from '../../src/api/http/errors.ts';
import type { CdnOptions } from '../../src/api/http/request.ts';
import { Secret } from '../../src/secrets/secret.ts';

/** A key that would be noticed anywhere. */
export const key = 'CANARY-the-key-that-was-linked';

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type StubHandler = (request: StubRequest, response: ServerResponse, count: number) => unknown;

export interface StubCdn {
  readonly url: string;
  readonly requests: StubRequest[];
  /** What the client waited between tries, ms. */
  readonly waits: number[];
  readonly client: (options?: Partial<CdnOptions>, signal?: AbortSignal) => CdnClient;
}

/**
 * A CDN of one test: whatever `answer` returns is sent as JSON with status 200, unless it answered by itself.
 * Retries do not wait.
 */
export async function startStubCdn(answer: StubHandler): Promise<StubCdn> {
  const requests: StubRequest[] = [];
  const waits: number[] = [];
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const url = new URL(request.url ?? '/', 'http://local');
    const { method = 'GET', headers } = request;
    const one = { method, path: url.pathname, query: Object.fromEntries(url.searchParams), headers, body };
    requests.push(one);
    const result = await answer(one, response, requests.length);
    if (result !== undefined) sendBody(response, 200, result);
  }
  const server = createServer((request, response) => {
    // A test whose answer fails sees its request fail.
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const options: CdnOptions = {
    apiUrl: url,
    originLoggingUrl: `${url}/origin-logging`,
    timeoutMs: 5_000,
    random: () => 0,
    sleep: async (ms) => void waits.push(ms),
  };
  return {
    url,
    requests,
    waits,
    client: (more = {}, signal) => createCdn({ ...options, ...more }).withKey(new Secret(key), signal),
  };
}

/** A CDN that answers everything alike. */
export const answerAlways = (status: number, body: unknown, headers?: Record<string, string>) =>
  startStubCdn((_, response) => sendBody(response, status, body, headers));

/** Answers with JSON, or with text as it is. */
export function sendBody(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): undefined {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** The ApiError that `work` ends with. */
export async function expectApiError(work: Promise<unknown>): Promise<ApiError> {
  const outcome = await work.then(
    () => 'nothing was thrown',
    (error: unknown) => error,
  );
  if (outcome instanceof ApiError) return outcome;
  throw new Error('expected an ApiError', { cause: outcome });
}

export const codeOf = async (work: Promise<unknown>) => (await expectApiError(work)).code;

/** A page of List Pull Zones. */
export function makePage(
  items: readonly unknown[],
  more: { page?: number; total?: number; more?: boolean } = {},
) {
  const { page = 1, total = items.length, more: hasMore = false } = more;
  return { Items: items, CurrentPage: page, TotalItems: total, HasMoreItems: hasMore };
}

export const makeZone = (id: number) => ({ Id: id, Name: `zone-${id}`, Enabled: true });
export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** An account of so many zones, in pages. */
export function answerAccount(
  zones: number,
  change: (body: ReturnType<typeof makePage>, page: number) => unknown = (body) => body,
): StubHandler {
  return ({ query }) => {
    const page = Number(query['page']);
    const perPage = Number(query['perPage']);
    const first = (page - 1) * perPage + 1;
    const items = first > zones ? [] : numbers(first, Math.min(zones, first + perPage - 1)).map(makeZone);
    return change(makePage(items, { page, total: zones, more: page * perPage < zones }), page);
  };
}
