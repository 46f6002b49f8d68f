import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createOriginErrorCounter } from '../../../src/api/origin-errors/counts.ts';
import type { OriginError } from '../../../src/api/origin-errors/origin-errors.ts';
import { listDays, minuteMs } from '../../../src/lib/time.ts';
import { daysOf, rollBack, wholeDays } from '../../../src/views/blocks/period.ts';
import {
  pictureNames,
  renderFile,
  renderNoFile,
  renderOriginErrors,
} from '../../../src/views/origin-errors/origin-errors.ts';
import { renderOverview } from '../../../src/views/origin-errors/overview.ts';
import { chooseParts } from '../../../src/views/origin-errors/question.ts';
import { findMessageProblems } from '../../support/slack-limits.ts';
import { findProblems, maybe, longText as text } from '../any.ts';

const asOf = new Date('2026-11-21T12:00:00Z');
const entry = fc
  .record({
    id: text,
    at: maybe(fc.integer({ min: 1, max: 253_402_300_799_999 })),
    errorCode: maybe(text),
    statusCode: maybe(fc.integer()),
    serverZone: maybe(text),
    url: maybe(text),
    message: maybe(text),
  })
  .map(({ url, message, ...entry }) => {
    const details = { requestUrl: url, message };
    return { ...entry, path: () => url, details: () => details } as unknown as OriginError;
  });
const minute = fc.integer({ min: 1, max: 6 * 24 * 60 });
const part = fc.oneof(
  minute.map((last) => rollBack(last, asOf)),
  fc.tuple(minute, minute).map(([ago, length]) => {
    const from = asOf.getTime() - ago * minuteMs;
    return { from, to: from + length * minuteMs };
  }),
);
const filters = fc.record(
  {
    code: fc.constant(['http_timeout', 'dns_lookup']),
    status: fc.constant(['5xx']),
    path: fc.constantFrom(['/img/*'], ['/<!channel>`&*']),
    in: fc.constant(['DE']),
  },
  { requiredKeys: [] },
);
const failure = fc.record({ message: fc.constant('The CDN did not answer.'), reference: maybe(text) });

test('any log is a message that Slack takes', () => {
  fc.assert(
    fc.property(
      fc.record({
        entries: fc.array(entry, { maxLength: 60 }),
        name: text,
        days: fc.integer({ min: 1, max: 7 }),
        before: maybe(fc.record({ total: fc.nat(), codes: fc.array(text), incomplete: fc.boolean() })),
        holes: fc.boolean(),
        recent: maybe(fc.nat()),
        timeZone: fc.constantFrom(undefined, 'Europe/Vienna', 'Asia/Kolkata', '+05:45'),
        why: failure,
        part: maybe(part),
        filters,
      }),
      ({ entries, name, days: count, before, holes, recent, timeZone, why, part, filters }) => {
        const period = part ?? wholeDays({ first: '2026-11-15', count });
        const { start, length, count: hours } = chooseParts(period);
        const counter = createOriginErrorCounter({ start, hours, hourLength: length });
        for (const one of entries) counter.add(one);
        const zone = { id: '9007199254740993', name };
        const all = listDays(daysOf(period));
        const report = {
          zone,
          period,
          filters,
          all: entries.length,
          undated: holes ? 1 : 0,
          takenAt: asOf,
          counts: counter.result(),
          recent,
          skipped: holes ? 1 : 0,
          incomplete: holes ? all : [],
          unread: holes ? all.map((day) => ({ day, why })) : [],
          before: before && { name: 'day before', ...before, codes: new Set(before.codes) },
          origin: name,
          change: before && { at: 0, text: name },
        };
        for (const picture of pictureNames) {
          const answer = renderOriginErrors(report, { today: '2026-11-21', picture, timeZone });
          expect(findProblems(answer)).toEqual([]);
        }
        const file = renderFile({
          question: { zone, period, filters },
          today: '2026-11-21',
          as: 'csv',
          path: '/spool/a',
          entries: 3,
          skipped: 1,
          incomplete: all,
          asOf,
        });
        expect(file.files?.[0]?.name).toMatch(/^[\w.-]{1,120}$/u);
        expect(findMessageProblems({ text: file.text, blocks: file.blocks } as { text: string })).toEqual([]);
        expect(findMessageProblems(renderNoFile({ zone, period, filters }, '2026-11-21'))).toEqual([]);
        const zones = entries.map(({ at, errorCode }, nth) => ({
          zone: { id: zone.id, name: nth % 2 === 0 ? name : `${name}-${nth}` },
          total: nth,
          all: nth + 1,
          recent: recent === undefined ? undefined : nth % 3,
          mostly: { errorCode },
          last: at,
          hasMore: holes,
          undated: holes ? nth : 0,
        }));
        const overview = renderOverview(
          {
            zone: undefined,
            period,
            filters,
            takenAt: asOf,
            zones,
            unread: holes ? [{ zone, why }] : [],
            asked: zones.length + 1,
            of: zones.length + 2,
          },
          { today: '2026-11-21', timeZone },
        );
        expect(findMessageProblems(overview)).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
});
