import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ExportSummary, exportStates } from '../../../src/commands/exports/model.ts';
import type { TopValues } from '../../../src/commands/exports/stats/counts.ts';
import type { EventStats } from '../../../src/commands/exports/stats/event-stats.ts';
import { summarizeEvents } from '../../../src/commands/exports/stats/summary.ts';
import * as views from '../../../src/views/exports/exports.ts';
import { another, mostRows, renderExportForm } from '../../../src/views/exports/form.ts';
import * as ends from '../../../src/views/exports/outcome-messages.ts';
import { renderEventChart, renderFileComment } from '../../../src/views/exports/report.ts';
import { findMessageProblems, findViewProblems } from '../../support/slack-limits.ts';

const text = fc.string({ unit: 'binary', maxLength: 600 });
const moment = fc.date({ min: new Date('2026-11-18'), max: new Date('2026-11-21'), noInvalidDate: true });
const filter = fc.record({
  field: text,
  op: fc.oneof(text, fc.constantFrom('eq', 'in', 'cidr', '__proto__')),
  value: fc.array(text, { minLength: 1, maxLength: 50 }),
});
const summary: fc.Arbitrary<ExportSummary> = fc.record({
  id: fc.string({ unit: fc.constantFrom('a', 'B', '-', '_'), minLength: 12, maxLength: 12 }),
  userId: fc.constant('U0ALICE00'),
  channel: fc.constantFrom(undefined, 'C0OPS0000'),
  request: fc.record({
    shieldZoneId: fc.oneof(fc.constant('501'), text),
    from: moment,
    to: moment,
    query: text,
    filters: fc.array(filter, { maxLength: 20 }),
    spreadsheetSafe: fc.boolean(),
    pseudonyms: fc.boolean(),
    split: fc.boolean(),
  }),
  state: fc.constantFrom(...exportStates),
  rows: fc.nat(),
  bytes: fc.nat({ max: 2e9 }),
  askedAt: moment,
  endedAt: fc.option(moment, { nil: undefined }),
  filesDeletedAt: fc.option(moment, { nil: undefined }),
});
const top: fc.Arbitrary<TopValues | undefined> = fc.option(
  fc.record({ words: fc.array(fc.tuple(text, fc.nat()), { maxLength: 5 }), missed: fc.nat({ max: 2 }) }),
  { nil: undefined },
);
const slots: fc.Arbitrary<EventStats['slots']> = fc
  .record({ counts: fc.array(fc.nat({ max: 1e6 }), { maxLength: 6 * 24 * 32 }), from: fc.nat({ max: 500 }) })
  .map(({ counts, from }) =>
    counts.map((count, nth) => [Date.UTC(2026, 10, 20, 0, 10 * (from + nth)), count]),
  );
const figures: fc.Arbitrary<EventStats> = fc.record({
  rows: fc.nat(),
  broken: fc.nat({ max: 3 }),
  bytes: fc.nat(),
  sha256: fc.constant('0'.repeat(64)),
  slots,
  untimed: fc.nat(),
  empty: fc.boolean(),
  top: fc.record({ action: top, country: top, rule: top, ip: top, url: top }),
});
const now = new Date('2026-11-21T12:00:00Z');
/** Markup that only we may write. */
const foreignMarkup = /<(?!!date\^\d|@U0ALICE00>|#C0OPS0000>)/u;

test('whatever was asked for, every message of an export is one that Slack takes, with nobody else’s markup', () => {
  fc.assert(
    fc.property(
      summary,
      fc.array(summary, { maxLength: 10 }),
      text,
      figures,
      (one, others, words, counted) => {
        const told = summarizeEvents(counted);
        const offer = { from: one.request.from, to: one.request.to, split: true };
        const progress = {
          phase: 'reading',
          rows: 1,
          bytes: 2,
          of: 3,
          elapsedMs: 61_000,
          attempt: 2,
        } as const;
        for (const message of [
          views.renderProgress(one, progress),
          views.renderWaiting(one, 'The CDN asks for a pause.'),
          ends.renderDone(one, { files: 20, summary: told }),
          ends.renderDone(one, { files: 0 }),
          ends.renderCancelled(one, 'U0ALICE00'),
          ends.renderCancelled(one, 'system'),
          ends.renderNotBegun(one),
          ends.renderUnknown(one),
          ends.renderUnknown(one, 'directly'),
          ends.renderAlreadyEnded(one),
          ends.renderDone(one, { files: 1, summary: told, told: 'directly' }),
          ends.renderBlocked(one, 'failed', 'ABCD2345'),
          ends.renderFailed(
            one,
            { message: words, hint: words, reference: 'ABCDEFGH' },
            Array.from({ length: 9 }, () => offer),
          ),
          views.renderExportList([one, ...others], now),
          views.renderExportList([], now),
          views.renderStarted(one.channel, [words, words]),
        ]) {
          expect(findMessageProblems(message)).toEqual([]);
          const shown = [
            ...JSON.stringify(message.blocks).matchAll(/"type":"mrkdwn","text":"((?:[^"\\]|\\.)*)"/g),
          ];
          for (const [, mrkdwn = ''] of shown) expect(mrkdwn).not.toMatch(foreignMarkup);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('whatever the log holds, the words beside the file stay short and harmless', () => {
  fc.assert(
    fc.property(summary, figures, fc.integer({ min: 1, max: 10 }), (one, counted, parts) => {
      const files = Array.from({ length: parts }, (_, nth) => ({
        name: `events-501-part${nth}.csv`,
        kind: 'raw' as const,
        length: 1,
        sha256: String(nth).repeat(64),
      }));
      const comment = renderFileComment(one, counted, { files, sha256: 'f'.repeat(64) });
      expect(comment.length).toBeLessThanOrEqual(3500);
      for (const { sha256 } of files) expect(comment).toContain(sha256);
      expect(comment.includes('f'.repeat(64))).toBe(parts > 1);
      expect(comment).not.toMatch(foreignMarkup);
    }),
    { numRuns: 60 },
  );
});

test('whatever was typed, the form that comes back is one that Slack takes', () => {
  fc.assert(
    fc.property(summary, text, fc.nat({ max: 9 }), (one, typed, drawn) => {
      const form = renderExportForm({
        ...one.request,
        filters: Array.from({ length: mostRows }, (_, nth) => ({
          id: nth + 1,
          drawn,
          field: nth % 2 === 0 ? another : 'ip',
          otherField: typed,
          op: nth % 3 === 0 ? another : 'cidr',
          otherOp: typed,
          values: typed.repeat(6),
        })),
        nextRow: 21,
        channel: one.channel,
        timeZone: 'Europe/Vienna',
        drawn,
        problem: typed,
      });
      expect(findViewProblems(form)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('every event of a log is in its chart, in at most thirteen bars', () => {
  fc.assert(
    fc.property(slots, (slots) => {
      const [chart, ...more] = renderEventChart(summarizeEvents({ slots, top: {} }), 7);
      expect(more).toEqual([]);
      expect(chart === undefined).toBe(slots.length === 0);
      const data = chart?.type === 'data_visualization' ? (chart.chart.series[0]?.data ?? []) : [];
      expect(data.length > 0).toBe(slots.length > 0);
      expect(data.length).toBeLessThanOrEqual(13);
      const all = slots.reduce((sum, [, count]) => sum + count, 0);
      expect(data.reduce((sum, { value }) => sum + value, 0)).toBe(all);
    }),
    { numRuns: 60 },
  );
});

const titleOf = (...starts: string[]) => {
  const slots = starts.map((start, nth) => [Date.parse(start), nth + 1] as const);
  const [chart] = renderEventChart(summarizeEvents({ slots, top: {} }), 7);
  return chart?.type === 'data_visualization' ? chart.title : undefined;
};

test('a worst hour is told by its time, on another day by its day too, and at midnight as well', () => {
  const end = 'in the worst hour, from';
  expect(titleOf('2026-11-24T01:00Z', '2026-11-24T02:50Z')).toBe(`2 ${end} 02:00 UTC`);
  expect(titleOf('2026-11-24T00:00Z', '2026-11-24T00:50Z', '2026-11-24T01:00Z')).toBe(`3 ${end} 00:00 UTC`);
  expect(titleOf('2026-11-23T22:00Z', '2026-11-24T02:10Z')).toBe(`2 ${end} 24 Nov 02:00 UTC`);
  expect(titleOf('2026-11-23T22:00Z', '2026-11-24T00:10Z')).toBe(`2 ${end} 24 Nov 00:00 UTC`);
});
