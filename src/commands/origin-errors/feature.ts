import { z } from 'zod';
import { toLocalTime } from '../../lib/time-zone.ts';
import { hasSecret } from '../../secrets/key-in-text.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { renderLinkChoice, renderLinkForm, renderLinkLoading } from '../../views/origin-errors/forms.ts';
import { renderOriginErrors } from '../../views/origin-errors/origin-errors.ts';
import {
  type Overview,
  renderOverview,
  renderOverviewFile,
  renderReading,
} from '../../views/origin-errors/overview.ts';
import { rollBack } from '../../views/origin-errors/period.ts';
import { pictureNames } from '../../views/origin-errors/pictures.ts';
import {
  type Question,
  readZonePick,
  wordsBehindZone,
  type ZoneQuestion,
} from '../../views/origin-errors/question.ts';
import { type FileKind, fileKinds, renderFile, renderNoFile } from '../../views/origin-errors/report.ts';
import { renderNoZones } from '../../views/zones/list.ts';
import { everyZone } from '../../views/zones/query.ts';
import { renderUnclearZone } from '../../views/zones/rows.ts';
import { type Command, type Context, defineForm, type Feature, type Shortcut } from '../define.ts';
import type { Words } from '../words.ts';
import { findLinkedHosts } from '../zones/hosts.ts';
import { lookUpZone } from '../zones/lookup.ts';
import { findChannelZone, hereCommand } from './channel-zone.ts';
import { writeEntries, writeOverview } from './file.ts';
import { createReport, findCachedOverview, findCachedReport, isComplete, readOverview } from './read.ts';
import { readFilters, readRequestedPeriod } from './words.ts';

const errorsCommand: Command = {
  name: 'errors',
  aliases: ['error', 'origin-errors'],
  usage:
    'errors [<zone>|all] [today|2026-11-20|2026-11-18..20|last 3 days|24h|90m|10:00..11:00] ' +
    '[code:… status:… path:… in:…]',
  summary: 'Which zones fail now, and why: errors by code, server zone and address, hour by hour',
  label: 'Origin errors',
  examples: ['errors', 'errors shop', 'errors shop 10:00..11:00', 'errors shop yesterday status:5xx'],
  needs: 'read',
  shares: true,
  file: sendFile,
  async *run(words, context) {
    const as = fileKinds.find((kind) => kind === words.named['as']);
    if (as) return yield await sendFile(words, as, context);
    const { typed, question, isOfChannel } = await readQuestion(words, context);
    // A typed question is counted now; the buttons of an answer show what is cached.
    const shown = { fresh: words.named['seen'] === undefined, show: words.named['show'], isOfChannel };
    if (typed === undefined) yield* answerOverview(question, shown.fresh, context);
    else yield await findAndAnswer(typed, question, shown, context);
  },
};

/** What was typed. `typed` is the zone, or that of the channel; undefined = all zones. @throws UserError */
async function readQuestion(words: Words, context: Context) {
  const { people, person, now } = context;
  const filters = readFilters(words);
  const profile = await people.profile(person.userId);
  const { zone, period } = readRequestedPeriod(words, now(), profile?.timeZone ?? 'UTC');
  const question = { zone: undefined, period, filters };
  const typed = zone.trim();
  if (/^all(?: zones)?$/iu.test(typed)) return { question, typed: undefined };
  if (typed !== '') return { question, typed };
  const { id } = (await findChannelZone(context)) ?? {};
  return { question, typed: id, isOfChannel: id !== undefined };
}

interface Shown {
  /** To be counted now; else the cached answer is shown, if there is one. */
  readonly fresh: boolean;
  /** The picture that was typed. */
  readonly show?: string | undefined;
  /** The zone was not typed: it is that of the channel. */
  readonly isOfChannel?: boolean | undefined;
}

async function findAndAnswer(
  typed: string,
  question: Question,
  { fresh, show, isOfChannel = false }: Shown,
  context: Context,
): Promise<Message> {
  const found = await lookUpZone(typed, context);
  // The same days for any chosen zone, as dates, since the choice may be made tomorrow.
  if (found.kind !== 'one') return renderUnclearZone(found, 'errors', wordsBehindZone(question));
  const asked = { ...question, zone: found.zone };
  const cached = fresh ? undefined : findCachedReport(asked, context).value;
  const [report, view] = await Promise.all([cached ?? createReport(asked, context), readView(context)]);
  const picture = pictureNames.find((name) => name === show?.toLowerCase()) ?? 'kinds';
  return renderOriginErrors(report, { ...view, picture, isOfChannel });
}

/** The reader's day and time zone, as far as Slack tells it. */
async function readView({ people, person, now }: Context) {
  const { timeZone } = (await people.profile(person.userId)) ?? {};
  return { today: toLocalTime(timeZone ?? 'UTC', now()).day, timeZone };
}

/** Which zones fail, with the zones so far while they are read. @throws ApiError */
async function* answerOverview(
  question: Question,
  fresh: boolean,
  context: Context,
): AsyncGenerator<Message, void> {
  const cached = fresh ? undefined : findCachedOverview(question, context).value;
  const view = await readView(context);
  if (cached) return yield renderOverview(cached, view);
  for await (const overview of readOverview(question, context)) {
    if (overview.of === 0) return yield renderNoZones(everyZone, 0, []);
    yield isComplete(overview) ? renderOverview(overview, view) : renderReading(overview, view);
  }
}

async function sendFile(words: Words, as: FileKind, context: Context): Promise<Message> {
  const { typed, question } = await readQuestion(words, context);
  if (typed === undefined) return sendOverviewFile(question, as, context);
  const found = await lookUpZone(typed, context);
  return found.kind === 'one' ? sendZoneFile({ ...question, zone: found.zone }, as, context) : { text: '' };
}

/** Every entry that the answer counted: the logs are read again, without what came after it. */
async function sendZoneFile(question: ZoneQuestion, as: FileKind, context: Context): Promise<Message> {
  const { today } = await readView(context);
  const { value: report } = findCachedReport(question, context);
  // The last hours are those of the answer.
  const asked = report ? { ...question, period: report.period } : question;
  const asOf = report?.takenAt ?? context.now();
  // The CDN's clock may be ahead of ours.
  const until = report && Math.max(asOf.getTime(), report.counts.last ?? 0);
  const file = await writeEntries(asked, as, until, context);
  return file ? renderFile({ question: asked, today, as, asOf, ...file }) : renderNoFile(asked, today);
}

/** Each zone with errors in a file. */
async function sendOverviewFile(question: Question, as: FileKind, context: Context): Promise<Message> {
  const { today } = await readView(context);
  let overview: Overview | undefined = findCachedOverview(question, context).value;
  if (!overview) for await (const soFar of readOverview(question, context)) overview = soFar;
  const zones = overview?.zones.filter(({ total, undated }) => total > 0 || undated > 0) ?? [];
  const path = await writeOverview(zones, as, context);
  if (!overview || path === undefined) return renderNoFile(question, today);
  return renderOverviewFile(overview, { path, as, today });
}

/** Looks up why a link in a message fails, without typing, and shows it to one person only. */
const lookUpLink: Shortcut = {
  id: 'origin-errors:link',
  kind: 'message',
  name: 'Look up origin errors',
  description: 'Why the origin behind a link in this message fails, shown to you alone',
  needs: 'read',
  modal(message) {
    const hosts = findLinkedHosts(message);
    if (hosts.length === 0) return renderLinkForm();
    return hosts.length > 1 ? renderLinkChoice(hosts) : renderLinkLoading(hosts[0]);
  },
  run(message, context) {
    const [host, ...others] = findLinkedHosts(message);
    return host === undefined || others.length > 0 ? undefined : answerLastDay(host, context);
  },
};

function answerLastDay(host: string, context: Context): Promise<Message> {
  const question = { zone: undefined, period: rollBack(24 * 60, context.now()), filters: {} };
  return findAndAnswer(host, question, { fresh: true }, context);
}

export const originErrors: Feature = {
  name: 'origin-errors',
  commands: [errorsCommand, hereCommand],
  // Right, key and refusals are those of the command.
  actions: [
    { id: 'errors:show', needs: 'none', runsCommand: true, newMessage: false },
    { id: 'errors:file', needs: 'none', runsCommand: true },
    { id: 'origin-errors:pick', needs: 'none', runsCommand: true, toCommand: readZonePick },
  ],
  forms: [
    defineForm({
      id: 'origin-errors:link',
      needs: 'read',
      fields: z.object({
        link: z
          .string({ error: 'Paste a link.' })
          .trim()
          .min(1, { error: 'Paste a link.' })
          .refine((typed) => findLinkedHosts(typed).length > 0 || !hasSecret(typed), {
            error: 'That looks like a key, so nothing was looked up. Paste a link without it.',
          }),
      }),
      loadingView: renderLinkLoading(),
      run: ({ link }, context) => answerLastDay(findLinkedHosts(link)[0] ?? link, context),
    }),
  ],
  shortcuts: [lookUpLink],
};
