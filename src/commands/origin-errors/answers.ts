import { toLocalTime } from '../../lib/time-zone.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { renderOriginErrors } from '../../views/origin-errors/origin-errors.ts';
import {
  type Overview,
  renderOverview,
  renderOverviewFile,
  renderReading,
} from '../../views/origin-errors/overview.ts';
import type { Picture } from '../../views/origin-errors/pictures.ts';
import type { Question, ZoneQuestion } from '../../views/origin-errors/question.ts';
import { type FileKind, renderFile, renderNoFile } from '../../views/origin-errors/report.ts';
import { renderNoZones } from '../../views/zones/list.ts';
import { everyZone } from '../../views/zones/query.ts';
import type { Context, With } from '../define.ts';
import { writeEntries, writeOverview } from './file.ts';
import {
  createReport,
  findCachedOverview,
  findCachedReport,
  isComplete,
  type ReportServices,
  readOverview,
} from './read.ts';

export interface Shown {
  readonly picture?: Picture | undefined;
  /** The zone was not typed: it is that of the channel. */
  readonly isOfChannel?: boolean;
  /** To be read again; else the cached answer is shown, if there is one. */
  readonly fresh: boolean;
}

/** The reader's day and time zone, as far as Slack tells it. */
async function readView({ people, person, now }: Context) {
  const profile = await people.profile(person.userId);
  const timeZone = profile?.timeZone;
  return { today: toLocalTime(timeZone ?? 'UTC', now()).day, timeZone };
}

/** The errors of one zone. @throws ApiError */
export async function answerZone(
  question: ZoneQuestion,
  { fresh, picture = 'kinds', ...shown }: Shown,
  context: With<ReportServices>,
): Promise<Message> {
  const cached = fresh ? undefined : findCachedReport(question, context).value;
  const [report, view] = await Promise.all([cached ?? createReport(question, context), readView(context)]);
  // The name in a button is cut.
  return renderOriginErrors(report, { ...view, picture, ...shown });
}

/** Which zones fail, with the zones so far while they are read. @throws ApiError */
export async function* answerOverview(
  question: Question,
  { fresh }: Pick<Shown, 'fresh'>,
  context: With<'zoneCache'>,
): AsyncGenerator<Message, void> {
  const cached = fresh ? undefined : findCachedOverview(question, context).value;
  const view = await readView(context);
  if (cached) return yield renderOverview(cached, view);
  for await (const overview of readOverview(question, context)) {
    if (overview.of === 0) return yield renderNoZones(everyZone, 0, []);
    yield isComplete(overview) ? renderOverview(overview, view) : renderReading(overview, view);
  }
}

/** Every entry that the answer counted: the logs are read again, without what came after it. */
export async function answerFile(
  question: ZoneQuestion,
  as: FileKind,
  context: With<'tempDirectory' | 'zoneCache'>,
): Promise<Message> {
  const { today } = await readView(context);
  const { value: report } = findCachedReport(question, context);
  // The last hours are those of the answer.
  const asked = report ? { ...question, period: report.period } : question;
  const asOf = report?.takenAt ?? context.now();
  // The CDN's clock may be ahead of ours.
  const until = report && Math.max(asOf.getTime(), report.counts.last ?? 0);
  const file = await writeEntries(asked, as, until, context);
  if (!file) return renderNoFile(asked, today);
  return renderFile({ question: asked, today, as, asOf, ...file });
}

/** Each zone with errors in a file. */
export async function answerOverviewFile(
  question: Question,
  as: FileKind,
  context: With<'tempDirectory' | 'zoneCache'>,
): Promise<Message> {
  const { today } = await readView(context);
  let overview: Overview | undefined = findCachedOverview(question, context).value;
  if (!overview) for await (const soFar of readOverview(question, context)) overview = soFar;
  const zones = overview?.zones.filter(({ total, undated }) => total > 0 || undated > 0) ?? [];
  const path = await writeOverview(zones, as, context);
  if (!overview || path === undefined) return renderNoFile(question, today);
  return renderOverviewFile(overview, { path, as, today });
}
