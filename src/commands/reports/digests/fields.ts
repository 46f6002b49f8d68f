import { z } from 'zod';
import { isTimeZone } from '../../../lib/time-zone.ts';
import { formatInteger } from '../../../views/blocks/format.ts';
import { mostAbove, mostTargets, repeatChoices, weekdayChoices } from '../../../views/reports/form.ts';
import type { Fields } from '../../define.ts';
import type { DigestOrder } from '../model.ts';
import type { Schedule } from '../schedule.ts';
import { type Targets, type TargetType, targetTypes } from './kinds/kind.ts';
import { digestKindNames, findDigestKind } from './kinds/list.ts';

/** The fields of a schedule. A message is the error of its field. */
const scheduleFields = {
  time: z
    .string({ error: 'Pick a time.' })
    .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, { error: 'A time of day, such as 09:00.' }),
  days: z.array(z.string(), { error: 'Choose at least one day.' }).transform((words, issues) => {
    const days = { weekdays: new Set<number>(), monthDays: new Set<number>() };
    for (const word of words) {
      const choice = weekdayChoices[word];
      for (const day of choice?.days ?? []) days.weekdays.add(day);
      if (!choice) days.monthDays.add(Number(word));
    }
    if (words.length === 0) issues.addIssue('Choose at least one day.');
    if (![...days.monthDays].every((day) => day >= 1 && day <= 31)) issues.addIssue('Choose from the list.');
    return { weekdays: sortDays(days.weekdays), monthDays: sortDays(days.monthDays) };
  }),
  repeat: z
    .string()
    .default('')
    .refine((hours) => hours === '' || repeatChoices.includes(Number(hours)), {
      error: 'Choose from the list.',
    })
    .transform((hours) => (hours === '' ? undefined : Number(hours))),
  timezone: z
    .string({ error: 'Pick a time zone.' })
    .refine(isTimeZone, { error: 'That is no time zone. Type a city, such as Vienna.' }),
};

function sortDays(days: ReadonlySet<number>): number[] {
  return [...days].toSorted((a, b) => a - b);
}

/** Undefined until days, time and zone are filled in. */
export function readSchedule(fields: Fields): Schedule | undefined {
  const { data } = z.object(scheduleFields).safeParse(fields);
  return data && { time: data.time, everyHours: data.repeat, zone: data.timezone, ...data.days };
}

const targetEntries = Object.entries(targetTypes) as [TargetType, (typeof targetTypes)[TargetType]][];

/** Parses the form's fields. */
export const digestFields = z
  .object({
    ...scheduleFields,
    kind: z
      .array(z.enum(digestKindNames), { error: 'Choose at least one.' })
      .min(1, { error: 'Choose at least one.' }),
    target: z
      .array(z.string())
      .max(mostTargets, { error: `At most ${mostTargets}.` })
      .default([])
      .transform((chosen, issues): Targets => {
        const ids = targetEntries.map(([type, { prefix, id }]) => {
          const own = chosen.flatMap((one) =>
            one.startsWith(`${prefix}:`) ? [one.slice(prefix.length + 1)] : [],
          );
          return [type, [...new Set(own)].filter((one) => id.test(one))] as const;
        });
        const known = ids.reduce((sum, [, own]) => sum + own.length, 0);
        if (known < new Set(chosen).size) issues.addIssue('Pick from the list, or type an id.');
        return Object.fromEntries(ids) as Record<TargetType, string[]>;
      }),
    channel: z
      .string({ error: 'Pick a channel.' })
      .regex(/^[CG][A-Z0-9]+$/, { error: 'Pick a channel, not a conversation between people.' }),
    only: z.enum(['always', 'changed', 'new', 'above'], { error: 'Choose from the list.' }).default('always'),
    above: z.string().optional(),
  })
  .transform((fields, issues): DigestOrder => {
    const { kind: kinds, target: targets, channel, days, time, repeat, timezone, only, above } = fields;
    const wrong = (field: keyof typeof fields, message: string): void =>
      issues.addIssue({ code: 'custom', path: [field], message });
    for (const { target, missingTarget } of kinds.map(findDigestKind))
      if (missingTarget !== undefined && targets[target].length === 0) wrong('target', missingTarget);
    // The field for the number appears a moment after the choice.
    if (only === 'above' && above === undefined)
      wrong('only', 'Choose it once more, then say above how many.');
    else if (only === 'above' && !/^\s*\d{1,9}\s*$/u.test(above ?? ''))
      wrong('above', `A whole number from 0 to ${formatInteger(mostAbove)}.`);
    const threshold = only === 'above' ? { above: Number(above) } : only;
    return {
      subject: { kinds, targets, only: threshold, timeZone: timezone },
      schedule: { time, everyHours: repeat, zone: timezone, ...days },
      channel,
    };
  });

/** The form's fields for an existing digest. */
export function writeFields({ subject: { kinds, targets, only }, schedule, channel }: DigestOrder): Fields {
  const { weekdays, monthDays, time, everyHours, zone } = schedule;
  const chosen = findChoice(weekdays) ?? weekdays.flatMap((day) => findChoice([day]) ?? []);
  return {
    kind: kinds,
    target: targetEntries.flatMap(([type, { prefix }]) => targets[type].map((id) => `${prefix}:${id}`)),
    channel,
    time,
    ...(everyHours === undefined ? {} : { repeat: String(everyHours) }),
    days: [chosen, monthDays.map(String)].flat(),
    timezone: zone,
    ...(typeof only === 'string' ? { only } : { only: 'above', above: String(only.above) }),
  };
}

function findChoice(days: readonly number[]): string | undefined {
  return Object.keys(weekdayChoices).find((name) => weekdayChoices[name]?.days.join() === days.join());
}
