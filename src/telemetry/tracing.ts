import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import { unescape } from 'node:querystring';
import { version } from '../lib/version.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from './log.ts';
import type { Call } from './metrics.ts';
import { findReference, withReference } from './reference.ts';

/** Names from the code, numbers and codes: never anything typed, an id of a person, or a message of an error. */
type Attributes = Readonly<Record<string, string | number | undefined>>;

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startedAt: number;
  readonly attributes: Attributes;
}

let exporter: ((span: Span, endedAt: number, failure?: string) => void) | undefined;
const current = new AsyncLocalStorage<Span>();

const [internal, server, client] = [1, 2, 3];

/** Runs work in a span, below that of the surrounding work and with its reference. Without tracing it just runs. */
export function withSpan<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  if (!exporter) return work();
  return withReference(async () => {
    const span = startSpan(name, current.getStore() ? internal : server, attributes, Date.now());
    let failure: string | undefined;
    try {
      return await current.run(span, work);
    } catch (error) {
      // Not its message: it may quote what was typed.
      failure = error instanceof Error ? error.name : 'Error';
      throw error;
    } finally {
      exporter?.(span, Date.now(), failure);
    }
  });
}

export function describeSpan(attributes: Attributes): void {
  Object.assign(current.getStore()?.attributes ?? {}, attributes);
}

export function addCallSpan(service: 'CDN' | 'Slack', call: Call): void {
  if (!exporter) return;
  const { name, outcome, status, startedAt, seconds } = call;
  const attributes = { 'rpc.system': service, 'rpc.method': name, 'http.response.status_code': status };
  const span = startSpan(`${service} ${name}`, client, attributes, startedAt);
  exporter(span, startedAt + seconds * 1000, outcome === 'ok' ? undefined : outcome);
}

/** The ids of a trace and of its first span are made of the reference, so that jobs hang below what enqueued them. */
function startSpan(name: string, kind: number, given: Attributes, startedAt: number): Span {
  const reference = findReference() ?? '';
  const hash = createHash('sha256').update(reference).digest('hex');
  const { traceId, spanId } = current.getStore() ?? {
    traceId: hash.slice(0, 32),
    spanId: hash.slice(32, 48),
  };
  const isFirst = kind === server && !name.startsWith('job ');
  const own = isFirst ? { spanId } : { spanId: randomBytes(8).toString('hex'), parentSpanId: spanId };
  return { traceId, ...own, name, kind, startedAt, attributes: { ...given, reference } };
}

const [sendEveryMs, patienceMs, mostWaiting] = [2_000, 2_000, 2_000];

/** Sends spans to a collector by OTLP over HTTP in JSON. The returned function ends that and sends what is left. */
export function startTracing(endpoint: string, headers: Secret | undefined, log: Log): () => Promise<void> {
  const waiting: object[] = [];
  let isFailing = false;
  const send = async (): Promise<void> => {
    const spans = waiting.splice(0);
    if (spans.length === 0) return;
    const resource = { attributes: encode({ 'service.name': 'cdn-chatops', 'service.version': version }) };
    try {
      const { ok, status } = await fetch(`${endpoint.replace(/\/+$/u, '')}/v1/traces`, {
        method: 'POST',
        headers: { ...readHeaders(headers), 'content-type': 'application/json' },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }),
        signal: AbortSignal.timeout(patienceMs),
      });
      if (!ok) throw new Error(`HTTP ${status}`);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ error }, 'the collector takes no spans');
      isFailing = true;
    }
  };
  const exportSpan: typeof exporter = ({ startedAt, attributes, ...span }, endedAt, failure) => {
    if (waiting.length >= mostWaiting) return;
    waiting.push({
      ...span,
      startTimeUnixNano: `${Math.round(startedAt * 1000)}000`,
      endTimeUnixNano: `${Math.round(endedAt * 1000)}000`,
      attributes: encode({ ...attributes, 'error.type': failure }),
      status: { code: failure === undefined ? 0 : 2 },
    });
  };
  exporter = exportSpan;
  const timer = setInterval(() => void send(), sendEveryMs).unref();
  return async () => {
    clearInterval(timer);
    if (exporter === exportSpan) exporter = undefined;
    await send();
  };
}

function encode(attributes: Attributes): object[] {
  const known = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return known.map(([key, value]) => {
    return { key, value: typeof value === 'number' ? { intValue: value } : { stringValue: value } };
  });
}

/** `name=value,…`, percent-encoded, as the collector wants them. */
export function readHeaders(headers: Secret | undefined): Record<string, string> {
  const pairs = [...(headers?.reveal() ?? '').matchAll(/([^=,]+)=([^,]*)/gu)];
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name.trim(), unescape(value.trim())]));
}
