import { describe, expect, test } from 'vitest';
import type { Fault } from '../../simulator/cdn/faults.ts';
import { explainFailure } from '../../src/slack/receive/failures.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { renderFailure } from '../../src/views/blocks/failure.ts';
import { buttons, createCommandHarness, readText } from '../support/command-harness.ts';
import { findMessageProblems } from '../support/slack-limits.ts';

// Every way an answer can fail, what the person is told of it, and the next step they are given.
const never = new Promise<never>(() => {});
const unknownId = 'The CDN does not know this ID.';
const failures: readonly [Fault, says: string, next: string][] = [
  [{ status: 400, body: { Message: 'That <b>cannot</b> be.' } }, 'The CDN rejected it', 'Try again'],
  [{ status: 401 }, 'The CDN refused your key.', 'Connect your key'],
  [{ status: 403, body: '' }, 'The CDN refused', 'Connect your key'],
  [{ status: 404, body: '' }, unknownId, 'Try again'],
  [{ status: 429, retryAfter: 900 }, 'rate limiting your key', 'Try again'],
  [{ status: 500, body: '' }, 'The CDN has a problem (HTTP 500).', 'Try again'],
  [{ status: 503, body: 'html' }, 'The CDN has a problem (HTTP 503).', 'Try again'],
  [{ body: 'html' }, 'in a form I do not know', 'Try again'],
  [{ body: 'not json at all' }, 'in a form I do not know', 'Try again'],
  [{ body: `["${'x'.repeat(3_000_000)}"]` }, 'larger than the bot reads', 'Try again'],
  [{ drop: 'before-headers' }, 'cannot be reached', 'Try again'],
  [{ drop: 'mid-body' }, 'was cut off', 'Try again'],
  [{ delayMs: Number.POSITIVE_INFINITY }, 'took too long', 'Try again'],
  [{ hold: { afterBytes: 0, until: never } }, 'took too long', 'Try again'],
  [{ hold: { afterBytes: 1, until: never } }, 'took too long', 'Try again'],
  [{ headers: { 'content-length': '1000000' } }, 'took too long', 'Try again'],
  [{ headers: { 'content-length': '1' } }, 'was cut off', 'Try again'],
  [{ headers: { 'content-encoding': 'gzip' } }, 'was cut off', 'Try again'],
  [{ headers: { 'content-encoding': 'br' } }, 'was cut off', 'Try again'],
];

// Every operation that is read.
const readings: readonly [typed: string, host: 'main' | 'origin-logging'][] = [
  ['zones', 'main'],
  ['zone shop', 'main'],
  ['errors shop yesterday', 'origin-logging'],
  ['app app0api00000001', 'main'],
  ['scanning 501', 'main'],
  ['keys', 'main'],
];

describe.each(readings)('/cdn %s, reading from %s', (command, host) => {
  test.each(failures.map((failure) => [JSON.stringify(failure[0]).slice(0, 80), ...failure] as const))(
    'when the CDN fails with %s a sentence, a reference and a next step say so',
    async (_, fault, says, next) => {
      const silent = says === 'took too long';
      await using harness = await createCommandHarness({ zones: 3, ...(silent ? { timeoutMs: 50 } : {}) });
      harness.cdn.faults.add({ ...fault, match: { host }, times: 50 });
      const failed = {
        kind: 'command',
        feature: 'test',
        asks: command,
        retry: { actionId: 'help:run', value: command },
      };
      const error = await harness
        .person()
        .run(command)
        .catch((error: unknown) => error);
      const isUnknownApp = says === unknownId && command.startsWith('app');
      const told = renderFailure(explainFailure(error, failed, createLogger('silent')));
      expect(findMessageProblems(told)).toEqual([]);
      expect(readText(told)).toContain(isUnknownApp ? 'No app' : says);
      expect(readText(told)).toMatch(/Reference [A-Z0-9]{8}/);
      expect([...buttons(told).keys()]).toContain(isUnknownApp ? 'Choose an app' : next);
    },
  );
});

test.each(['app app0api00000001', 'scanning 501'])(
  '/cdn %s takes no list for its answer',
  async (command) => {
    await using harness = await createCommandHarness({ zones: 3 });
    harness.cdn.faults.add({ body: [] });
    await expect(harness.person().run(command)).rejects.toMatchObject({ code: 'unexpected' });
  },
);
