import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { openForm, saveSettings, submitForm, waitForEnd } from '../commands/exports/bot.ts';
import { says } from '../commands/exports/words.ts';
import { ask, connect, startBot } from '../support/bot.ts';
import { type CollectedSpan, startCollector } from '../support/collector.ts';
import { alice, ops } from '../support/people.ts';

const valueOf = (span: CollectedSpan, key: string): unknown =>
  Object.values(span.attributes.find((attribute) => attribute.key === key)?.value ?? {})[0];

test('a collector gets delivery, command, requests and jobs as one trace, and no secret', async () => {
  await using collector = await startCollector();
  const { spans } = collector;
  const headerSecret = 'collector-key-7f3d';
  await using bot = await startBot({
    zones: 5,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${headerSecret}`,
    },
  });
  const person = bot.slack.as(alice, ops);
  await connect(bot, alice, ops);
  await saveSettings(bot.slack, { operators: [alice] });
  bot.cdn.faults.add({ match: { path: /pullzone/ }, status: 503, times: 1 });
  await ask(person, 'zones shop-secret-words');
  await openForm(person);
  await submitForm(person);
  await waitForEnd(bot.slack, `D${alice}`, says.posted());
  // Sends what is left.
  await bot.app.stop();

  const find = (name: string, from = spans): CollectedSpan => {
    const found = from.find((span) => span.name === name);
    if (!found) throw new Error(`no span ${name} among ${from.map((span) => span.name).join(', ')}`);
    return found;
  };
  const childOf = (parent: CollectedSpan) =>
    spans.filter(({ parentSpanId }) => parentSpanId === parent.spanId);

  const command = find('command zones');
  const delivery = spans.find(({ spanId }) => spanId === command.parentSpanId);
  expect(delivery).toMatchObject({ name: 'delivery', traceId: command.traceId });
  expect(delivery).not.toHaveProperty('parentSpanId', expect.stringMatching(/./));
  // The trace is found by the reference that is in the log.
  const reference = String(valueOf(command, 'reference'));
  expect(command.traceId).toBe(createHash('sha256').update(reference).digest('hex').slice(0, 32));
  expect(valueOf(command, 'outcome')).toBe('answered');
  const requests = childOf(command).filter(({ name }) => name === 'CDN List Pull Zones');
  expect(requests.map((span) => valueOf(span, 'http.response.status_code'))).toEqual(
    expect.arrayContaining([503, 200]),
  );
  expect(requests.filter(({ status }) => status.code === 2)).toHaveLength(1);
  for (const { startTimeUnixNano: from, endTimeUnixNano: to } of spans)
    expect(BigInt(to) >= BigInt(from)).toBe(true);

  const form = find('form event-logs:submit');
  const trace = spans.filter(({ traceId }) => traceId === form.traceId);
  const job = find('job export', trace);
  // Jobs hang below the delivery.
  expect(job.parentSpanId).toBe(find('delivery', trace).spanId);
  expect(childOf(job).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['CDN Export Event Logs as CSV', 'Slack files.completeUploadExternal']),
  );

  const sent = collector.bodies.join('\n');
  const { slack, cdn } = bot;
  for (const secret of [
    cdn.key,
    slack.botToken,
    slack.appToken,
    headerSecret,
    'shop-secret-words',
    alice,
    ops,
  ])
    expect(sent).not.toContain(secret);
  expect(collector.headers[0]).toMatchObject({ 'x-collector-key': headerSecret });
  // Nobody else learns of the trace.
  expect(cdn.requests.filter(({ headers }) => 'traceparent' in headers)).toEqual([]);
  expect(slack.problems).toEqual([]);
  await fetch(`${slack.url}/api/api.test`, { method: 'POST', headers: { traceparent: '00-1-2-01' } });
  expect(slack.problems.splice(0)).toHaveLength(1);
});

test('a collector that is gone is logged once, and people are answered', async () => {
  await using collector = await startCollector();
  await using bot = await startBot({ zones: 5, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  await collector.close();
  await ask(bot.slack.as(alice, ops), 'help');
  await bot.app.stop();
  expect(bot.logs.filter((line) => line.includes('the collector takes no spans'))).toHaveLength(1);
});
