import { z } from 'zod';
import { UserError } from '../../errors.ts';
import { toLocalTime } from '../../lib/time-zone.ts';
import { countOf, formatCount } from '../../views/blocks/format.ts';
import { rollBack } from '../../views/blocks/period.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { renderOriginErrors } from '../../views/origin-errors/origin-errors.ts';
import { type Overview, renderOverview } from '../../views/origin-errors/overview.ts';
import { type Question } from '../../views/origin-errors/question.ts';
import type { Context } from '../define.ts';
import { limitPeriod, readFilters } from '../origin-errors/feature.ts';
import { createReport, readOverview } from '../origin-errors/read.ts';
import { findPeriod } from '../periods.ts';
import {
  allZones,
  defineTool,
  findZone,
  type ToolAnswer,
  ToolRefusal,
  toDate,
  toOriginErrors,
  toZone,
  zoneArgument,
} from './tool.ts';

const most = { kinds: 10, places: 5, paths: 5, zones: 25 };

export const listOriginErrors = defineTool({
  name: 'list_origin_errors',
  command: 'errors',
  narrower: { period: '1h' },
  title: 'List origin errors',
  description:
    'Why zones fail: how often the CDN could not fetch from the origin, by error code, place and path, since when, and which ' +
    'setting changed shortly before. Without a zone: which zones fail now.',
  input: z.object({
    zone: zoneArgument().optional(),
    period: z
      .string()
      .trim()
      .max(100)
      .optional()
      .describe('Such as 24h, today, yesterday, since 10:00, 2026-11-20; the last 24 hours if left out'),
    code: z.string().trim().max(60).optional().describe('Only this error code, such as http_timeout'),
    status: z.string().trim().max(3).optional().describe('Only this status, such as 502 or 5xx'),
    path: z.string().trim().max(60).optional().describe('Only this path; * at its end stands for the rest'),
  }),
  async run({ zone: typed, period: typedPeriod, ...filters }, context: Context) {
    const profile = await context.people.profile(context.person.userId);
    const timeZone = profile?.timeZone ?? 'UTC';
    const question: Question = {
      zone: undefined,
      period: readPeriod(typedPeriod, { now: context.now(), timeZone }),
      filters: readArguments(filters),
    };
    const view = { today: toLocalTime(timeZone, context.now()).day, timeZone };
    return typed === undefined
      ? answerAll(question, view, context)
      : answerOne(typed, question, view, context);
  },
});

/** @throws ToolRefusal for what no error has; the call without filters helps */
function readArguments(given: Readonly<Record<string, string | undefined>>) {
  const pairs = Object.entries(given).flatMap(([kind, value]) => (value ? [[kind, value] as const] : []));
  try {
    return readFilters({ list: [], pairs });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const without = { code: undefined, status: undefined, path: undefined };
    throw new ToolRefusal(error.message, 'Such as status 502 or 5xx, code http_timeout, path /img/*.', [
      without,
    ]);
  }
}

function readPeriod(typed: string | undefined, clock: { readonly now: Date; readonly timeZone: string }) {
  if (typed === undefined || typed === '') return rollBack(24 * 60, clock.now);
  const found = findPeriod(typed, clock);
  if (found) return limitPeriod(found, clock);
  throw new ToolRefusal(
    `I can’t read ${formatCode(typed, 60)} as a time.`,
    'Try 24h, yesterday, last 3 days, since 10:00 or 2026-11-20.',
    [{ period: '24h' }],
  );
}

type View = { readonly today: string; readonly timeZone: string };

async function answerOne(
  typed: string,
  question: Question,
  view: View,
  context: Context,
): Promise<ToolAnswer> {
  const zone = await findZone(typed, context);
  const report = await createReport({ ...question, zone }, context);
  const message = renderOriginErrors(report, { ...view, picture: 'kinds' });
  const { counts, takenAt, before, change, origin, recent, undated, skipped, unread, incomplete } = report;
  const shown = counts.kinds.slice(0, most.kinds);
  return {
    asOf: takenAt,
    warnings: [
      ...unread.map(({ day }) => `The log of ${day} could not be read: there may be more errors.`),
      ...incomplete.map((day) => `The CDN has more errors of ${day} than it returned.`),
      undated > 0 && `${formatCount(undated, 'more error has', 'more errors have')} no readable time.`,
      skipped > 0 && `${formatCount(skipped, 'more entry', 'more entries')} could not be read.`,
    ],
    counts: [shown.length, counts.kinds.length],
    data: {
      from: toDate(question.period.from),
      to: toDate(question.period.to),
      zone: {
        id: zone.id,
        name: zone.name,
        origin: origin,
        errors: counts.total || (undated + skipped + incomplete.length + unread.length > 0 ? undefined : 0),
        errors_last_hour: recent,
        errors_in_equal_time_before: before?.total || (before?.incomplete ? undefined : before?.total),
        kinds: shown.map(({ errorCode, statusCode, count, first, last, places }) => ({
          code: errorCode,
          status: statusCode,
          errors: count,
          first: toDate(first),
          last: toDate(last),
          places: places.slice(0, most.places).map(([place, errors]) => ({ place, errors })),
        })),
        paths: counts.prefixes
          .slice(0, most.paths)
          .map(([path, errors]) => ({ path, errors_at_least: errors })),
        setting_changed_before_first_error: change && { at: toDate(change.at), change: change.text },
      },
      zones_not_checked: 0,
    },
    next: [
      { ...toZone(zone), label: 'Zone' },
      { label: 'Changed settings', tool: 'list_zone_changes', arguments: { zone: zone.id } },
    ],
    message,
  };
}

async function answerAll(question: Question, view: View, context: Context): Promise<ToolAnswer> {
  let found: Overview | undefined;
  for await (const soFar of readOverview(question, context)) found = soFar;
  if (!found) throw new Error('nothing was read');
  const message = renderOverview(found, view);
  const failing = found.zones.filter(({ total, undated }) => total > 0 || undated > 0);
  const shown = failing.slice(0, most.zones);
  const notChecked = found.of - found.zones.length;
  const undated = found.zones.reduce((sum, zone) => sum + zone.undated, 0);
  return {
    asOf: found.takenAt,
    warnings: [
      notChecked > 0 && `Not checked: ${countOf(notChecked, found.of, 'zone')}.`,
      undated > 0 && `${formatCount(undated, 'more error has', 'more errors have')} no readable time.`,
      found.zones.some(({ hasMore }) => hasMore) && 'The CDN has more errors than it returned.',
    ],
    counts: [shown.length, failing.length],
    data: {
      from: toDate(question.period.from),
      to: toDate(question.period.to),
      zones: shown.map(({ zone, total, recent, mostly, last }) => ({
        id: zone.id,
        name: zone.name,
        // Those without a time may be of the period.
        errors: total || undefined,
        errors_last_hour: recent,
        most_frequent_code: mostly?.errorCode,
        most_frequent_status: mostly?.statusCode,
        last: toDate(last),
      })),
      zones_not_checked: notChecked,
    },
    next:
      shown.length > 0
        ? shown
            .slice(0, 3)
            .map(({ zone }) => ({ ...toOriginErrors(zone), label: `Why ${zone.name || zone.id}` }))
        : [allZones],
    message,
  };
}
