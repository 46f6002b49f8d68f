import { z } from 'zod';
import { UserError } from '../../errors.ts';
import { type DayRange, toUtcDay } from '../../lib/time.ts';
import { hasSecret } from '../../secrets/key-in-text.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { formatCode } from '../../views/blocks/text.ts';
import {
  renderLinkChoice,
  renderLinkForm,
  renderLinkLoading,
  renderOriginErrorForm,
} from '../../views/origin-errors/forms.ts';
import * as views from '../../views/origin-errors/origin-errors.ts';
import { type Picture, pictureNames } from '../../views/origin-errors/pictures.ts';
import {
  type FileKind,
  fileKinds,
  renderFile,
  renderNoFile,
  type ZoneName,
} from '../../views/origin-errors/report.ts';
import { renderUnclearZone } from '../../views/zones/rows.ts';
import type { Context, With } from '../define.ts';
import { type Action, type Command, defineForm, type Feature, type Shortcut } from '../define.ts';
import type { Words } from '../words.ts';
import { pickedZone } from '../zones/details.ts';
import { findLinkedHosts, lookUpZone } from '../zones/lookup.ts';
import { findChannelZone, hereCommand } from './channel-zone.ts';
import { maxDays, type RequestedDays, readDays, readRequestedDays } from './days.ts';
import { writeEntries, writeRows } from './file.ts';
import { type CountedReport, createReport, findCachedReport } from './report.ts';

const errorsCommand: Command<'names' | 'tempDirectory' | 'zoneCache'> = {
  name: 'errors',
  aliases: ['error', 'origin-errors'],
  keywords: { logs: 'errors' },
  usage: 'errors <zone> [today|2026-11-20|2026-11-18..20|last 3 days]',
  summary: 'Why a zone’s origin fails: errors grouped by code, server zone and address, hour by hour',
  label: 'Origin errors',
  examples: ['errors shop', 'errors shop yesterday', 'errors cdn.example.com last 3 days'],
  needs: 'read',
  shares: true,
  async file(words, as, context) {
    const { zone, days } = readRequestedDays(words.list, context.now());
    const found = await lookUpZone(zone, context);
    return found.kind === 'one' ? createFile({ zone: found.zone, days, as }, context) : { text: '' };
  },
  modal: (words) => renderFormFor(words),
  skipsModal: async (_, context) => (await findChannelZone(context)) !== undefined,
  async run(words, context) {
    const { zone: typed, days } = readRequestedDays(words.list, context.now());
    const zone = typed.trim() || (await findChannelZone(context))?.id;
    if (zone === undefined)
      throw new UserError(
        'Which zone?',
        'Type it before the day: `/cdn errors shop 2026-11-20`. `/cdn errors` opens a form.',
      );
    const picture = readPicture(words.named['show']);
    return countErrors(zone, days, context, { picture, isOfChannel: typed.trim() === '' });
  },
};

function readPicture(typed: string | undefined): Picture | undefined {
  return pictureNames.find((name) => name === typed?.toLowerCase());
}

const showDay: Action<'zoneCache'> = {
  id: 'origin-errors:day',
  needs: 'read',
  async run(value, context) {
    const { zone, days, fresh, show } = parseButton(value, context.now());
    const known = fresh ? undefined : findCachedReport(zone, days, context).value;
    return renderReport(known ?? createReport(zone, days, context), { picture: show }, context);
  },
};

const sendFile: Action<'tempDirectory' | 'zoneCache'> = {
  id: 'origin-errors:file',
  needs: 'read',
  newMessage: true,
  run: (value, context) => createFile(parseButton(value, context.now()), context),
};

/**
 * A small report has its rows cached. Else the entries are read again, without those after the answer, so that the file
 * has what the answer counted as long as the report is cached.
 */
async function createFile(
  { zone, days, as = 'csv' }: { zone: ZoneName; days: DayRange; as?: FileKind | undefined },
  context: With<'tempDirectory' | 'zoneCache'>,
): Promise<Message> {
  const today = toUtcDay(context.now());
  const { value: report } = findCachedReport(zone, days, context);
  const asOf = report?.takenAt ?? context.now();
  const { rows, skipped = 0, incomplete = [] } = report ?? {};
  const file = rows
    ? await writeRows(rows, { skipped, incomplete }, as, context)
    : await writeEntries(zone.id, days, as, report && findLatest(report), context);
  if (!file) return renderNoFile(zone, days, today);
  return renderFile({ zone, days, today, as, asOf, ...file });
}

/** The newest counted entry: the CDN's clock may be ahead of ours. */
function findLatest({ takenAt, counts }: CountedReport): number {
  return Math.max(takenAt.getTime(), ...counts.groups.map(({ last }) => last ?? 0));
}

/** Looks up why a link in a message fails, without typing, and shows it to one person only. */
const lookUpLink: Shortcut<'zoneCache'> = {
  id: 'origin-errors:link',
  kind: 'message',
  name: 'Look up origin errors',
  description: 'Why the origin behind a link in this message fails today, shown to you alone',
  needs: 'read',
  modal(message) {
    const hosts = findLinkedHosts(message);
    if (hosts.length === 0) return renderLinkForm();
    return hosts.length > 1 ? renderLinkChoice(hosts) : renderLinkLoading(hosts[0]);
  },
  run(message, context) {
    const [host, ...others] = findLinkedHosts(message);
    return host === undefined || others.length > 0
      ? undefined
      : countErrors(host, getToday(context), context);
  },
};

export const originErrors: Feature<'names' | 'tempDirectory' | 'zoneCache'> = {
  name: 'origin-errors',
  commands: [errorsCommand, hereCommand],
  actions: [showDay, sendFile],
  forms: [
    defineForm({
      id: 'origin-errors:submit',
      needs: 'read',
      fields: z.object({ zone: pickedZone, days: z.enum(views.dayChoices, { error: 'Pick the days.' }) }),
      async run({ zone: id, days: chosen }, context) {
        const days = readDays(chosen, context.now());
        if (!days) throw new Error(`the form offers days that nobody can read: ${chosen}`);
        return countErrors(id, days, context);
      },
    }),
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
      run: ({ link }, context) => countErrors(findLinkedHosts(link)[0] ?? link, getToday(context), context),
    }),
  ],
  shortcuts: [lookUpLink],
};

/** A new question is counted now; the buttons of the answer use the cached report. */
async function countErrors(
  zone: string,
  days: RequestedDays,
  context: With<'zoneCache'>,
  shown: Pick<ReportOptions, 'picture' | 'isOfChannel'> = {},
): Promise<Message> {
  const found = await lookUpZone(zone, context);
  // The same days for any chosen zone, as dates, since the choice may be made tomorrow.
  if (found.kind !== 'one') return renderUnclearZone(found, 'errors', views.writeDays(days));
  return renderReport(
    createReport(found.zone, days, context),
    { ...shown, isRounded: days.rounded },
    context,
  );
}

function getToday(context: Context): DayRange {
  return { first: toUtcDay(context.now()), count: 1 };
}

/** The form that opens without a zone, with typed days chosen. It opens without I/O, so without a clock. */
function renderFormFor(words: Words): ReturnType<NonNullable<Command['modal']>> {
  if (words.list.length === 0) return renderOriginErrorForm('today');
  const typed = words.list.join(' ').toLowerCase();
  const chosen = views.dayChoices.find((choice) => choice === typed);
  return chosen ? renderOriginErrorForm(chosen) : undefined;
}

interface ReportOptions {
  readonly picture?: Picture | undefined;
  /** Hours were asked for, and these are the whole days that hold them. */
  readonly isRounded?: boolean | undefined;
  /** The zone was not typed: it is that of the channel. */
  readonly isOfChannel?: boolean;
}

/** Hours are those of the reader, as far as Slack tells their time zone. */
async function renderReport(
  counted: CountedReport | Promise<CountedReport>,
  { picture = 'kinds', ...shown }: ReportOptions,
  context: Context,
): Promise<Message> {
  const { people, person, now } = context;
  const [report, profile] = await Promise.all([counted, people.profile(person.userId)]);
  return views.renderOriginErrors(report, {
    today: toUtcDay(now()),
    picture,
    timeZone: profile?.timeZone,
    ...shown,
  });
}

const buttonSchema = z.object({
  zone: z.string().regex(/^\d{1,19}$/u),
  name: z.string().max(100).default(''),
  first: z.string().regex(/^\d{4}-\d{2}-\d{2}$/u),
  days: z.coerce.number().int().min(1).max(maxDays),
  fresh: z.literal('1').optional(),
  show: z.enum(pictureNames).optional(),
  as: z.enum(fileKinds).optional(),
});

function parseButton(value: string, now: Date) {
  const { data } = buttonSchema.safeParse(Object.fromEntries(new URLSearchParams(value)));
  if (!data || !readDays(data.first, now)) {
    throw new UserError(
      'This button is from an older version of the bot.',
      `Type ${formatCode('/cdn errors')} and the zone for a new answer.`,
    );
  }
  const { zone: id, name, first, days: count, fresh, show, as } = data;
  return { zone: { id, name }, days: { first, count }, fresh: fresh !== undefined, show, as };
}
