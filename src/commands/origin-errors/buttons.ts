import { z } from 'zod';
import type { Filters } from '../../api/origin-errors/filters.ts';
import { UserError } from '../../errors.ts';
import { startOfDay, toUtcDay } from '../../lib/time.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { decodePeriod, type Period } from '../../views/origin-errors/period.ts';
import { type Picture, pictureNames } from '../../views/origin-errors/pictures.ts';
import type { ZoneName } from '../../views/origin-errors/question.ts';
import { type FileKind, fileKinds } from '../../views/origin-errors/report.ts';
import { readFilterPairs } from './filters.ts';
import { maxDays } from './period.ts';

const minutesOfDays = maxDays * 24 * 60;

const schema = z.object({
  zone: z
    .string()
    .regex(/^\d{1,19}$/u)
    .optional(),
  name: z.string().max(100).default(''),
  first: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/u)
    .optional(),
  days: z.coerce.number().int().min(1).max(maxDays).optional(),
  last: z.coerce.number().int().min(1).max(minutesOfDays).optional(),
  at: z
    .string()
    .regex(/^[\da-z]{1,8}-[\da-z]{0,8}$/u)
    .optional(),
  fresh: z.literal('1').optional(),
  show: z.enum(pictureNames).optional(),
  as: z.enum(fileKinds).optional(),
});

export interface Pressed {
  readonly zone: ZoneName | undefined;
  readonly period: Period;
  readonly filters: Filters;
  /** To be read again. */
  readonly fresh: boolean;
  readonly show: Picture | undefined;
  readonly as: FileKind | undefined;
}

/** Parses the value of `encodeQuestion`. @throws UserError for a button of an older version */
export function readButton(value: string, now: Date): Pressed {
  const params = new URLSearchParams(value);
  const { data } = schema.safeParse(Object.fromEntries(params));
  const { first, days: count } = data ?? {};
  const isDay = first !== undefined && isUtcDay(first) && first <= toUtcDay(now);
  const days = isDay && count !== undefined ? { first, count } : undefined;
  const period = data && decodePeriod({ ...data, days }, now);
  if (!data || !period)
    throw new UserError(
      'This button is from an older version of the bot.',
      `Type ${formatCode('/cdn errors')} for a new answer.`,
    );
  // What has no end grows while its button waits; the last minutes may touch one day more.
  if (period.days.count > maxDays + 1)
    throw new UserError(
      `That is ${period.days.count} days by now, and ${maxDays} can be read at once.`,
      'Pick another time.',
    );
  const { zone: id, name, fresh, show, as } = data;
  const zone = id === undefined ? undefined : { id, name };
  return { zone, period, filters: readFilterPairs(params), fresh: fresh !== undefined, show, as };
}

/** The same for a button about one zone. @throws UserError */
export function readZoneButton(value: string, now: Date): Pressed & { readonly zone: ZoneName } {
  const pressed = readButton(value, now);
  if (pressed.zone) return { ...pressed, zone: pressed.zone };
  throw new UserError('This button names no zone.', `Type ${formatCode('/cdn errors')} for a new answer.`);
}

function isUtcDay(day: string): boolean {
  const start = startOfDay(day);
  return !Number.isNaN(start) && toUtcDay(new Date(start)) === day;
}
