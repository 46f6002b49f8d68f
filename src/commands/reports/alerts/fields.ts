import { z } from 'zod';
import { isTimeZone } from '../../../lib/time-zone.ts';
import { isNote } from '../../../views/blocks/menu.ts';
import { describeHours } from '../../../views/reports/alerts/words.ts';
import {
  type AlertValues,
  everyChoices,
  mostNamed,
  mostTargets,
  windowChoices,
} from '../../../views/reports/form.ts';
import type { Fields } from '../../define.ts';
import type { AlertOrder } from '../model.ts';
import { type ConditionName, conditionNames, findCondition } from './conditions/list.ts';
import { parseHours } from './typed-hours.ts';

const numbers = z.string().optional();

/** Parses the form's fields. A message is the error of its field. */
export const alertFields = z
  .object({
    condition: z.enum(conditionNames, { error: 'Choose what to alert on.' }),
    target: z
      .array(z.string())
      .max(mostTargets, { error: `At most ${mostTargets}.` })
      .default([]),
    threshold: numbers,
    window: numbers,
    every: z.string({ error: 'Choose how often.' }),
    channel: z.string().optional(),
    hours: z.string().default(''),
    timezone: z
      .string({ error: 'Pick a time zone.' })
      .refine(isTimeZone, { error: 'That is no time zone. Type a city, such as Vienna.' }),
    people: z.array(z.string()).default([]),
    groups: z.array(z.string()).default([]),
    lifeSign: z.array(z.string()).default([]),
  })
  .transform((fields, issues): Omit<AlertOrder, 'channel'> & { readonly channel: string | undefined } => {
    const { condition: name, target, channel, timezone: timeZone, people, groups, lifeSign } = fields;
    const wrong = (field: keyof typeof fields, message: string): void =>
      issues.addIssue({ code: 'custom', path: [field], message });
    const condition = findCondition(name);
    const { threshold: limits, window: counted, leastEvery = 5 } = condition;
    const targets = condition.target === 'account' ? [] : [...new Set(target)];
    if (targets.some((one) => isNote(one))) wrong('target', 'Pick one of the other lines.');
    if (condition.missingTarget !== undefined && targets.length === 0)
      wrong('target', condition.missingTarget);
    const threshold = limits && Number(fields.threshold ?? limits.initial);
    if (limits && !(threshold !== undefined && threshold >= limits.least && threshold <= limits.most))
      wrong('threshold', `A whole number from ${limits.least} to ${limits.most}.`);
    const every = Number(fields.every);
    if (!everyChoices.includes(every) || every < leastEvery) wrong('every', 'Choose from the list.');
    const window = counted && Number(fields.window ?? counted.initial);
    if (counted && !windowChoices.includes(window ?? 0)) wrong('window', 'Choose from the list.');
    else if (window !== undefined && window < every)
      wrong('window', 'At least the time between two checks, or some errors are never counted.');
    const hours = fields.hours.trim() === '' ? undefined : parseHours(fields.hours);
    if (fields.hours.trim() !== '' && !hours)
      wrong('hours', 'Days, hours, or both, such as: Mon-Fri 08:00-18:00');
    if (people.length + groups.length > mostNamed) wrong('people', `At most ${mostNamed} in all.`);
    return {
      channel,
      subject: {
        condition: name,
        targets,
        threshold,
        window,
        every,
        hours,
        timeZone,
        names: [...people, ...groups.filter((id) => !isNote(id))],
        lifeSign: lifeSign.length > 0,
      },
    };
  });

/** The form's fields as they are filled in, right or wrong. */
export function readFormValues(fields: Fields): AlertValues {
  const all = (name: string): string[] => [fields[name] ?? []].flat();
  const one = (name: string): string | undefined => all(name)[0];
  const condition = conditionNames.find((name) => name === one('condition')) ?? 'zone-state';
  const { target, threshold, window } = findCondition(condition);
  return {
    condition,
    // Those of another condition mean something else.
    target: all(`target:${target}`),
    threshold: threshold && (one(`threshold:${condition}`) ?? String(threshold.initial)),
    window: window && (one(`window:${condition}`) ?? String(window.initial)),
    every: String(readEvery(fields, condition)),
    channel: one('channel'),
    hours: one('hours') ?? '',
    timezone: one('timezone') ?? 'UTC',
    people: all('people'),
    groups: all('groups'),
    lifeSign: all('lifeSign').length > 0,
  };
}

/** How often a condition is checked where nobody chose otherwise. */
function defaultEvery(condition: ConditionName): number {
  return findCondition(condition).leastEvery ?? 5;
}

/** What was chosen; the default of the condition before is no choice, and does not carry over. */
function readEvery(fields: Fields, condition: ConditionName): number {
  const usual = defaultEvery(condition);
  const found = Object.entries(fields).find(([name]) => name.startsWith('every:'));
  const before = conditionNames.find((name) => found?.[0] === `every:${name}`);
  const chosen = Number([found?.[1] ?? []].flat()[0] ?? Number.NaN);
  if (before === undefined || Number.isNaN(chosen)) return usual;
  return before !== condition && chosen === defaultEvery(before) ? usual : Math.max(usual, chosen);
}

/** The form's fields for an existing alert. */
export function writeFields({ subject, channel }: AlertOrder): Fields {
  const { condition, targets, threshold, window, every, hours, timeZone, names, lifeSign } = subject;
  return {
    condition,
    [`target:${findCondition(condition).target}`]: targets,
    ...(threshold === undefined ? {} : { [`threshold:${condition}`]: String(threshold) }),
    ...(window === undefined ? {} : { [`window:${condition}`]: String(window) }),
    [`every:${condition}`]: String(every),
    ...(/^[CG]/u.test(channel) ? { channel } : {}),
    hours: hours ? describeHours({ hours, timeZone: '' }).trim() : '',
    timezone: timeZone,
    people: names.filter((id) => !id.startsWith('S')),
    groups: names.filter((id) => id.startsWith('S')),
    lifeSign: lifeSign ? ['on'] : [],
  };
}
