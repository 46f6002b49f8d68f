import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { createAgentOptions } from '../lib/proxy.ts';
import { version } from '../lib/version.ts';
import { findSecretKinds, textOf } from '../secrets/scanner.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from './log.ts';
import { findReference, isContinued } from './reference.ts';
import { type Attributes, useTracing } from './spans.ts';

/**
 * Sends spans to a collector by OTLP over HTTP. Imported only where tracing is on: with its packages it is ten megabytes of
 * memory. Nothing is instrumented but what names its spans itself, no global provider is registered, and no header
 * `traceparent` is sent to anybody.
 *
 * The trace's id is made of the work's reference, and so is that of its first span, so that the spans of a job hang below
 * those of the delivery that enqueued it, in whatever process. The returned function sends what is left.
 */
export function startTracing(options: {
  /** The collector, without `/v1/traces`. */
  readonly endpoint: string;
  /** `name=value,…`, for the collector alone. */
  readonly headers: Secret | undefined;
  readonly log: Log;
}): () => Promise<void> {
  const { endpoint, headers, log } = options;
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/u, '')}/v1/traces`,
    headers: readHeaders(headers?.reveal()),
    httpAgentOptions: createAgentOptions(),
    // A stop waits for it.
    timeoutMillis: 2_000,
  });
  let isFailing = false;
  const reporting: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined;
        if (failed && !isFailing) log.warn({ reason: result.error?.message }, 'the collector takes no spans');
        isFailing = failed;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
  const random = new RandomIdGenerator();
  let ids: { readonly traceId: string; readonly spanId?: string } | undefined;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'cdn-chatops', 'service.version': version }),
    idGenerator: {
      generateTraceId: () => ids?.traceId ?? random.generateTraceId(),
      generateSpanId: () => ids?.spanId ?? random.generateSpanId(),
    },
    spanProcessors: [new BatchSpanProcessor({ exporter: reporting })],
  });
  const tracer = provider.getTracer('cdn-chatops');
  const current = new AsyncLocalStorage<Span>();

  const check = (attributes: Attributes): Attributes => {
    const kinds = findSecretKinds(textOf(Object.values(attributes).map(String)));
    if (kinds.length === 0) return attributes;
    log.error({ kinds }, 'blocked a secret in a span');
    return {};
  };
  const start = (name: string, kind: SpanKind, attributes: Attributes, startTime = Date.now()): Span => {
    const parent = current.getStore();
    const reference = findReference();
    const settings = {
      kind,
      startTime,
      attributes: { ...check(attributes), ...(reference && { reference }) },
    };
    if (parent) return tracer.startSpan(name, settings, trace.setSpan(ROOT_CONTEXT, parent));
    if (reference === undefined) return tracer.startSpan(name, settings, ROOT_CONTEXT);
    const first = toIds(reference);
    // A call outside of any span, such as of a page, is not the first span of its work.
    if (kind === SpanKind.CLIENT || isContinued())
      return tracer.startSpan(name, settings, continueFrom(first));
    ids = first;
    try {
      return tracer.startSpan(name, settings, ROOT_CONTEXT);
    } finally {
      ids = undefined;
    }
  };

  const stopUsing = useTracing({
    async run(name, attributes, work) {
      const isNested = current.getStore() !== undefined;
      const span = start(name, isNested ? SpanKind.INTERNAL : SpanKind.SERVER, attributes);
      try {
        return await current.run(span, work);
      } catch (error) {
        // Not its message: it may quote what was typed.
        fail(span, error instanceof Error ? error.name : 'Error');
        throw error;
      } finally {
        span.end();
      }
    },
    describe(attributes) {
      current.getStore()?.setAttributes(check(attributes));
    },
    add(name, attributes, { startedAt, seconds }) {
      const span = start(name, SpanKind.CLIENT, attributes, startedAt);
      const failure = attributes['error.type'];
      if (typeof failure === 'string') fail(span, failure);
      span.end(startedAt + seconds * 1000);
    },
  });
  return async () => {
    stopUsing();
    await provider.shutdown().catch((error: unknown) => log.warn({ error }, 'cannot send the last spans'));
  };
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function toIds(reference: string): { traceId: string; spanId: string } {
  const hash = createHash('sha256').update(reference).digest('hex');
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

function continueFrom(ids: { traceId: string; spanId: string }): Context {
  return trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags: 1, isRemote: true });
}

function readHeaders(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 ? [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())] as const] : [];
  });
  return Object.fromEntries(pairs);
}
