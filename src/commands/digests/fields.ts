import { z } from 'zod';
import { type TargetType, targetTypes } from '../../digests/kinds/kind.ts';
import {
  type DigestKindName,
  digestKindNames,
  digestKinds,
  findDigestKind,
} from '../../digests/kinds/list.ts';
import type { DigestOrder, Threshold } from '../../digests/model.ts';
import { isTimeZone, type Schedule } from '../../digests/schedule.ts';
import { formatInteger } from '../../views/blocks/text.ts';
import type { FormValues } from '../../views/digests/form.ts';
import { mostAbove, mostTargets, onlyValues } from '../../views/digests/form.ts';
import type { Fields } from '../context.ts';

const weekdayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const everyDay = [1, 2, 3, 4, 5, 6, 7];

/** Words for several days. */
const daySets: Readonly<Record<string, readonly number[]>> = {
  daily: everyDay,
  everyday: everyDay,
  workdays: [1, 2, 3, 4, 5],
  weekdays: [1, 2, 3, 4, 5],
  weekend: [6, 7],
};

// A menu sends a list, a typed line one text.
const several = (missing: string) =>
  z
    .union([z.string(), z.array(z.string())], { error: missing })
    .transform((given) => (typeof given === 'string' ? given.split(/[,;]/u) : [...given]))
    .transform((given) => given.map((text) => text.trim()).filter((text) => text !== ''));

/** Parses the form's fields. A message is the error of its field. */
export const digestFields = z
  .object({
    kind: several('Choose at least one.').refine((kinds) => kinds.length > 0, {
      error: 'Choose at least one.',
    }),
    target: several('').default([]),
    channel: z
      .string({ error: 'Pick a channel.' })
      .regex(/^[CG][A-Z0-9]+$/, { error: 'Pick a channel, not a conversation between people.' }),
    time: z
      .string({ error: 'Pick a time.' })
      .regex(/^(?:[01]?\d|2[0-3]):[0-5]\d$/, { error: 'A time of day, such as 09:00.' })
      .transform((time) => time.padStart(5, '0')),
    days: several('Choose at least one day.'),
    timezone: z
      .string({ error: 'Pick a time zone.' })
      .refine(isTimeZone, { error: 'That is no time zone. Type a city, such as Vienna.' }),
    only: z.string().default('always'),
    above: z.string().optional(),
  })
  .transform((fields, refinement): DigestOrder => {
    const wrong = (path: string, message: string): void =>
      refinement.addIssue({ code: 'custom', path: [path], message });

    const kinds = [...new Set(fields.kind.map(findKind))].filter((kind) => kind !== undefined);
    if (kinds.length < new Set(fields.kind).size && kinds.length === 0)
      wrong('kind', 'Choose from the list.');
    const days = readDays(fields.days);
    if (!days) wrong('days', 'Choose days from the list.');
    else if (days.weekdays.length + days.monthDays.length === 0) wrong('days', 'Choose at least one day.');
    const only = readThreshold(fields.only, fields.above);
    if (typeof only === 'object' && 'field' in only) wrong(only.field, only.message);
    const targets = readTargets(fields.target, kinds);
    if (typeof targets === 'string') wrong('target', targets);
    else
      for (const { target, missingTarget } of kinds.map(findDigestKind))
        if (missingTarget !== undefined && targets[target].length === 0) wrong('target', missingTarget);
    return {
      subject: {
        kinds,
        targets: typeof targets === 'string' ? { zones: [], shieldZones: [], apps: [] } : targets,
        only: typeof only === 'object' && 'field' in only ? 'always' : only,
        timeZone: fields.timezone,
      },
      schedule: { time: fields.time, zone: fields.timezone, ...(days ?? { weekdays: [], monthDays: [] }) },
      channel: fields.channel,
    };
  });

/** The form's fields for an existing digest. */
export function formValuesOfDigest({ subject, schedule, channel }: DigestOrder): FormValues {
  return {
    kinds: subject.kinds,
    targets: targetEntries.flatMap(([type, { prefix }]) =>
      subject.targets[type].map((id) => `${prefix}:${id}`),
    ),
    channel,
    time: schedule.time,
    days: formatDays(schedule),
    timeZone: schedule.zone,
    ...onlyValues(subject.only),
  };
}

/** The form's fields as they are filled in, right or wrong. */
export function readFormValues(fields: Fields): FormValues {
  const one = (name: string): string | undefined => [fields[name] ?? []].flat()[0];
  const all = (name: string): string[] => [fields[name] ?? []].flat();
  return {
    kinds: digestKindNames.filter((kind) => all('kind').some((word) => findKind(word) === kind)),
    targets: all('target'),
    channel: one('channel'),
    time: one('time') ?? '09:00',
    days: all('days'),
    timeZone: one('timezone') ?? 'UTC',
    only: one('only') ?? 'always',
    above: one('above') ?? '10',
  };
}

/** Undefined until days, time and zone are filled in. */
export function readSchedule({ days, time, timeZone: zone }: FormValues): Schedule | undefined {
  const chosen = readDays(days);
  if (!chosen || chosen.weekdays.length + chosen.monthDays.length === 0) return undefined;
  return /^\d\d:\d\d$/u.test(time) && isTimeZone(zone) ? { time, zone, ...chosen } : undefined;
}

/** The order that the fields describe, or every problem with them. */
export function findProblems(fields: Fields): DigestOrder | { readonly problems: readonly string[] } {
  const parsed = digestFields.safeParse(fields);
  if (parsed.success) return parsed.data;
  return { problems: [...new Set(parsed.error.issues.map(({ message }) => message))] };
}

/** `errors`, `Origin errors`, `upload-scanning`: what a kind may be called. */
export function findKind(word: string): DigestKindName | undefined {
  return digestKinds.find(({ words }) => words.test(word))?.name;
}

function readDays(words: readonly string[]): Pick<Schedule, 'weekdays' | 'monthDays'> | undefined {
  const weekdays = new Set<number>();
  const monthDays = new Set<number>();
  for (const word of words) {
    const name = word.toLowerCase();
    const weekday = weekdayNames.findIndex((day) => name.startsWith(day)) + 1;
    const set = Object.hasOwn(daySets, name) ? daySets[name] : undefined;
    const inMonth = /^\d{1,2}$/u.test(name) ? Number(name) : 0;
    if (set) for (const day of set) weekdays.add(day);
    else if (weekday > 0) weekdays.add(weekday);
    else if (inMonth >= 1 && inMonth <= 31) monthDays.add(inMonth);
    else return undefined;
  }
  return { weekdays: sortDays(weekdays), monthDays: sortDays(monthDays) };
}

function sortDays(days: ReadonlySet<number>): number[] {
  return [...days].toSorted((a, b) => a - b);
}

function formatDays({ weekdays, monthDays }: Schedule): string[] {
  const same = (set: readonly number[]): boolean =>
    set.length === weekdays.length && set.every((day) => weekdays.includes(day));
  const named = same(everyDay)
    ? ['daily']
    : same([1, 2, 3, 4, 5])
      ? ['workdays']
      : weekdays.map((day) => weekdayNames[day - 1] ?? '');
  return [...named, ...monthDays.map(String)];
}

/** The two fields of the threshold, or which one is wrong. Typed on one line, the number stands in the first. */
function readThreshold(
  text: string,
  above: string | undefined,
): Threshold | { field: 'only' | 'above'; message: string } {
  if (text === 'always' || text === 'changed') return text;
  const isApart = text === 'above';
  // The field for the number appears a moment after the choice.
  if (isApart && above === undefined)
    return { field: 'only', message: 'Choose it once more, then say above how many.' };
  const number = isApart ? (above ?? '').trim() : text;
  if (/^\d{1,9}$/u.test(number)) return { above: Number(number) };
  return isApart
    ? { field: 'above', message: `A whole number from 0 to ${formatInteger(mostAbove)}.` }
    : { field: 'only', message: 'Choose from the list.' };
}

const targetEntries = Object.entries(targetTypes) as [TargetType, (typeof targetTypes)[TargetType]][];

/** Ids by their type, or what is wrong with them. `zone:1001` names its type, a plain id takes that of the kinds. */
function readTargets(
  words: readonly string[],
  kinds: readonly DigestKindName[],
): DigestOrder['subject']['targets'] | string {
  if (words.length > mostTargets) return `At most ${mostTargets}.`;
  const found = { zones: new Set<string>(), shieldZones: new Set<string>(), apps: new Set<string>() };
  const preferred = kinds.map((kind) => findDigestKind(kind).target);
  for (const word of words) {
    const [, prefix, id = ''] = /^(?:(\w+):)?(.+)$/u.exec(word) ?? [];
    const types: TargetType[] =
      prefix === undefined
        ? [...preferred, ...targetEntries.map(([type]) => type)]
        : targetEntries.filter(([, type]) => type.prefix === prefix).map(([type]) => type);
    const type = types.find((one) => targetTypes[one].id.test(id));
    if (type === undefined) return 'Pick from the list, or type an id.';
    found[type].add(id);
  }
  return { zones: [...found.zones], shieldZones: [...found.shieldZones], apps: [...found.apps] };
}
