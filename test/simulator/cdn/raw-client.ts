import { type CdnOptions, type CdnSimulator, startCdn } from '../../../simulator/cdn/server.ts';

/** Noon, so that a UTC day has as much behind as before it. */
export const noon = Date.parse('2026-11-20T12:00:00Z');

export interface RawAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; a body that is no JSON fails the test that asks for it. */
  json: () => unknown;
}

export interface RawOptions {
  method?: string;
  /** Null sends none. */
  key?: string | null;
  body?: unknown;
  contentType?: string;
  headers?: Record<string, string>;
}

/** A simulator with the clock at noon, and plain fetch at it: what is asserted is what was on the wire. */
export async function openCdn(options: CdnOptions = {}) {
  const cdn: CdnSimulator = await startCdn({ now: () => noon, ...options });
  const ask = async (base: string, path: string, options: RawOptions = {}): Promise<RawAnswer> => {
    const { method = 'GET', key = cdn.key, body, contentType = 'application/json' } = options;
    const response = await fetch(base + path, {
      method,
      headers: {
        ...(key === null ? {} : { AccessKey: key }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
  };
  return {
    cdn,
    main: (path: string, options?: RawOptions) => ask(cdn.url, path, options),
    origin: (path: string, options?: RawOptions) => ask(cdn.originLoggingUrl, path, options),
    [Symbol.asyncDispose]: () => cdn.close(),
  };
}
