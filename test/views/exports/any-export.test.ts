import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as views from '../../../src/views/exports/exports.ts';
import {
  type EventFigures,
  renderEventChart,
  renderFileComment,
} from '../../../src/views/exports/exports.ts';
import { renderExportForm } from '../../../src/views/exports/form.ts';
import { findMessageProblems, findViewProblems } from '../../support/slack-limits.ts';

const text = fc.string({ unit: 'binary', maxLength: 600 });
const moment = fc.date({ min: new Date('2026-11-18'), max: new Date('2026-11-21'), noInvalidDate: true });
const filter = fc.record({
  field: text,
  op: fc.oneof(text, fc.constantFrom('eq', 'in', 'cidr', '__proto__')),
  value: fc.array(text, { minLength: 1, maxLength: 50 }),
});
const summary: fc.Arbitrary<views.ExportSummary> = fc.record({
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
  }),
  state: fc.constantFrom('asked', 'waiting', 'running', 'sharing', 'done', 'failed', 'cancelled', 'unknown'),
  canCancel: fc.boolean(),
  rows: fc.nat(),
  bytes: fc.nat({ max: 2e9 }),
  askedAt: moment,
  filesDeletedAt: fc.option(moment, { nil: undefined }),
});
const count = fc.tuple(text, fc.nat());
const top = fc.option(fc.array(count, { maxLength: 5 }), { nil: undefined });
const bars = fc.option(
  fc.record({
    from: fc.integer({ min: Date.UTC(2026, 10, 18), max: Date.UTC(2026, 10, 21) }),
    minutes: fc.constantFrom(10, 30, 60, 360, 1440),
    counts: fc.array(fc.nat({ max: 1e6 }), { minLength: 1, maxLength: 13 }),
  }),
  { nil: undefined },
);
const figures: fc.Arbitrary<EventFigures> = fc.record({
  bars,
  untimed: fc.nat(),
  top: fc.record({ action: top, country: top, rule: top, ip: top, url: top }),
});
const told = fc.record({ bars, top: fc.record({ action: top, country: top }) });
const unread = fc.constantFrom(undefined, 'json', 'large', 'no-header', 'not-csv');
const now = new Date('2026-11-21T12:00:00Z');
/** Markup that only we may write. */
const foreignMarkup = /<(?!!date\^\d|@U0ALICE00>|#C0OPS0000>)/u;

test('whatever was asked for, every message of an export is one that Slack takes, with nobody else’s markup', () => {
  fc.assert(
    fc.property(
      summary,
      fc.array(summary, { maxLength: 10 }),
      text,
      told,
      unread,
      (one, others, words, summary, unread) => {
        const progress = {
          phase: 'reading',
          rows: 1,
          bytes: 2,
          of: 3,
          elapsedMs: 61_000,
          attempt: 2,
        } as const;
        const failure = { message: words, hint: words, reference: 'ABCDEFGH' };
        for (const message of [
          views.renderProgress(one, progress),
          views.renderUnderWay(one, 'The CDN is rate limiting.'),
          views.renderOutcome(one, { kind: 'done', files: 2, summary, unread }),
          views.renderOutcome(one, { kind: 'done', files: 0 }),
          views.renderOutcome(one, { kind: 'cancelled', by: 'U0ALICE00' }),
          views.renderOutcome(one, { kind: 'cancelled', by: 'system' }),
          views.renderOutcome(one, { kind: 'unknown' }),
          views.renderBlocked(one, 'ABCD2345'),
          views.renderOutcome(one, { kind: 'failed', failure }),
          views.renderExportList([one, ...others], now),
          views.renderExportList([], now),
          views.renderStarted(one.channel),
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
    fc.property(summary, figures, (one, counted) => {
      const sha256 = 'f'.repeat(64);
      const comment = renderFileComment(one, counted, sha256);
      expect(comment.length).toBeLessThanOrEqual(3500);
      expect(comment).toContain(sha256);
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
        filters: typed.slice(0, 3000),
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

test('a log without readable times has no chart', () => {
  expect(renderEventChart({})).toEqual([]);
});
