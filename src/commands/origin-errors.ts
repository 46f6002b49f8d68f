import { z } from 'zod';
import { UserError } from '../errors.ts';
import { type Days, dayOf, startOf } from '../reports/days.ts';
import type { Message } from '../views/message.ts';
import { originErrorForm } from '../views/origin-error-form.ts';
import * as views from '../views/origin-errors.ts';
import { code } from '../views/text.ts';
import { notOneZone } from '../views/zone-choice.ts';
import { type Action, type Command, type Context, defineForm, type Feature } from './define.ts';
import { mostDays, readAsked, readDays } from './origin-error-days.ts';
import { type FileKind, fileKinds, spoolEntries } from './origin-error-file.ts';
import { newReport, type Report, reportOf, type ZoneName } from './origin-error-report.ts';
import type { Words } from './words.ts';
import { lookUpZone } from './zone-lookup.ts';

const errorsCommand: Command = {
  name: 'errors',
  aliases: ['error', 'origin-errors'],
  usage: 'errors <zone> [today|yesterday|2026-11-20|last 3 days]',
  summary: 'Show why a zone’s origin fails: errors grouped by code, server zone and address, hour by hour',
  examples: ['errors shop', 'errors shop yesterday', 'errors cdn.example.com last 3 days'],
  needs: 'read',
  modal: (words) => formFor(words),
  async run(words, context) {
    const { zone, days } = readAsked(words.list, context.now());
    if (zone.trim() === '')
      throw new UserError(
        'Which zone?',
        'Type it before the day: `/cdn errors shop 2026-11-20`. `/cdn errors` opens a form.',
      );
    const found = await lookUpZone(zone, context);
    // The same days for whichever zone is chosen. A single one is exact, since the choice may be made tomorrow.
    if (found.kind !== 'one')
      return notOneZone(found, { command: 'errors', behind: typedDays(days, context) });
    // Whoever types wants to know how it is now; the buttons of the answer act on what it counted.
    return drawn(await newReport(found.zone, days, context), context, 'with picture');
  },
};

const showDay: Action = {
  id: 'origin-errors:day',
  needs: 'read',
  async run(value, context) {
    const { zone, days, fresh } = parseButton(value, context.now());
    return drawn(await (fresh ? newReport : reportOf)(zone, days, context), context);
  },
};

/** Reads the entries once more, since counting keeps none of them: there may be half a million. */
const sendFile: Action = {
  id: 'origin-errors:file',
  needs: 'read',
  apart: true,
  async run(value, context) {
    const { zone, days, as = 'csv' } = parseButton(value, context.now());
    const today = dayOf(context.now());
    const file = await spoolEntries(zone.id, days, as, context);
    if (!file) return views.noOriginErrorFile(zone, days, today);
    return views.originErrorFile({ zone, days, today, as, asOf: context.now(), ...file });
  },
};

export const originErrors: Feature = {
  name: 'origin-errors',
  commands: [errorsCommand],
  actions: [showDay, sendFile],
  forms: [
    defineForm({
      id: 'origin-errors:submit',
      needs: 'read',
      fields: z.object({
        zone: z
          .string({ error: 'Pick a zone.' })
          .regex(/^\d+$/u, { error: 'This line is no zone. Pick one.' }),
        days: z.enum(views.choices, { error: 'Pick the days.' }),
      }),
      async run({ zone: id, days: chosen }, context) {
        const days = readDays(chosen, context.now());
        if (!days) throw new Error(`the form offers days that nobody can read: ${chosen}`);
        const found = await lookUpZone(id, context);
        if (found.kind !== 'one')
          return notOneZone(found, { command: 'errors', behind: typedDays(days, context) });
        return drawn(await newReport(found.zone, days, context), context, 'with picture');
      },
    }),
  ],
};

/** Without a zone there is a form; days that were typed are chosen in it. It opens without I/O, so without a clock too. */
function formFor(words: Words): ReturnType<NonNullable<Command['modal']>> {
  if (words.list.length === 0) return originErrorForm('today');
  const typed = words.list.join(' ').toLowerCase();
  const chosen = views.choices.find((choice) => choice === typed);
  return chosen ? originErrorForm(chosen) : undefined;
}

function drawn(report: Report, context: Context, how: 'with picture' | 'text' = 'text'): Message {
  const today = dayOf(context.now());
  return views.originErrors({ report, today, value: buttonValue, picture: how === 'with picture' });
}

function typedDays(days: Days, context: Context): string {
  if (days.count === 1) return days.first;
  // Only days up to today can be typed as a number of them.
  const behind = (startOf(dayOf(context.now())) - startOf(days.first)) / 86_400_000 + 1;
  return `last ${behind} days`;
}

function buttonValue(zone: ZoneName, days: Days, more: Readonly<Record<string, string>> = {}): string {
  const name = zone.name.slice(0, 100).toWellFormed();
  return new URLSearchParams({
    zone: zone.id,
    name,
    first: days.first,
    days: String(days.count),
    ...more,
  }).toString();
}

const inButton = z.object({
  zone: z.string().regex(/^\d{1,19}$/u),
  name: z.string().max(100).default(''),
  first: z.string().regex(/^\d{4}-\d{2}-\d{2}$/u),
  days: z.coerce.number().int().min(1).max(mostDays),
  fresh: z.literal('1').optional(),
  as: z.enum(fileKinds).optional(),
});

interface Button {
  readonly zone: ZoneName;
  readonly days: Days;
  readonly fresh: boolean;
  readonly as: FileKind | undefined;
}

function parseButton(value: string, now: Date): Button {
  const { data } = inButton.safeParse(Object.fromEntries(new URLSearchParams(value)));
  if (!data || !readDays(data.first, now)) {
    throw new UserError(
      'This button is from an older version of the bot.',
      `Type ${code('/cdn errors')} and the zone for a new answer.`,
    );
  }
  const zone = { id: data.zone, name: data.name };
  return {
    zone,
    days: { first: data.first, count: data.days },
    fresh: data.fresh !== undefined,
    as: data.as,
  };
}
