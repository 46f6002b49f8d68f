import { z } from 'zod';
import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { isTimeZone } from '../../../lib/time-zone.ts';
import { option } from '../../../views/blocks/inputs.ts';
import { isNote } from '../../../views/blocks/menu.ts';
import { describeHours } from '../../../views/reports/alerts/words.ts';
import * as views from '../../../views/reports/form.ts';
import { renderZoneOption } from '../../../views/zones/rows.ts';
import { type Action, type Context, defineForm, type Fields, type Picker } from '../../define.ts';
import { groupPicker } from '../../settings/feature.ts';
import { createNameIndex, defineZonePicker } from '../../zones/pickers.ts';
import { readHost } from '../checks/errors.ts';
import type { AlertOrder } from '../model.ts';
import { createSaving, findDefaults, findNames } from '../save.ts';
import { type ConditionName, conditionNames, conditions, findCondition } from './conditions/list.ts';
import { parseHours } from './hours.ts';

const saving = createSaving('alert', writeFields, (fields, notes) =>
  views.renderAlertForm(fillIn(fields), notes),
);

/** `typed`: words behind the command that may name a condition. */
export async function newForm(typed: readonly string[], context: Context) {
  const text = typed.join(' ');
  const named = conditions.find(({ words }) => words.test(text)) ?? conditions[0];
  return views.renderAlertForm(fillIn({ ...(await findDefaults(context)), condition: named?.name }), {});
}

export const editForm = saving.openEdit;

/** Another condition has other fields. */
export const redraw: Action = {
  id: 'alerts:redraw',
  fields: ['condition'],
  needs: 'read',
  redraw: saving.redraw,
};

const numbers = z.string().optional();

/** Parses the form's fields. A message is the error of its field. */
const alertFields = z
  .object({
    condition: z.enum(conditionNames, { error: 'Choose what to alert on.' }),
    target: z
      .array(z.string())
      .max(views.mostTargets, { error: `At most ${views.mostTargets}.` })
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
    if (!views.everyChoices.includes(every) || every < leastEvery) wrong('every', 'Choose from the list.');
    const window = counted && Number(fields.window ?? counted.initial);
    if (counted && !views.windowChoices.includes(window ?? 0)) wrong('window', 'Choose from the list.');
    else if (window !== undefined && window < every)
      wrong('window', 'At least the time between two checks, or some errors are never counted.');
    const hours = fields.hours.trim() === '' ? undefined : parseHours(fields.hours);
    if (fields.hours.trim() !== '' && !hours)
      wrong('hours', 'Days, hours, or both, such as: Mon-Fri 08:00-18:00');
    if (people.length + groups.length > views.mostNamed)
      wrong('people', `At most ${views.mostNamed} in all.`);
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

/** Checks once with what is filled in, and shows the numbers to this person alone. */
export const tryNow: Action = {
  id: 'alerts:try',
  needs: 'read',
  modal: () => views.reportSkeleton('alert', 'Try it now'),
  async load(_value, { modal, accounts, person, signal, now }) {
    const { data, error } = alertFields.safeParse(modal?.fields ?? {});
    if (!data) return views.renderNotYet('Try it now', error.issues);
    const { subject } = data;
    const account = await accounts.open(person, signal);
    const about = { account, subject, now: now(), lookedAt: undefined, memory: undefined };
    return views.renderTried(await findCondition(subject.condition).evaluate(about), subject);
  },
};

export const alertForm = defineForm({
  id: 'alerts:submit',
  needs: 'read',
  fields: alertFields,
  loadingView: { ...views.reportSkeleton('alert'), callback_id: 'alerts:busy' },
  changesHome: true,
  async run({ channel, subject }, context: Context) {
    const { target } = findCondition(subject.condition);
    const called = await findNames({ [target === 'origins' ? 'zones' : target]: subject.targets }, context);
    return saving.save(
      { subject: { ...subject, called }, channel: channel ?? context.person.userId },
      context,
    );
  },
});

/** The form's fields as they are filled in, right or wrong, with a condition and how often it is checked. */
export function fillIn(fields: Fields): Fields & { readonly condition: ConditionName } {
  const condition = conditionNames.find((name) => name === fields['condition']) ?? 'zone-state';
  return { ...fields, condition, [`every:${condition}`]: String(readEvery(fields, condition)) };
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

export const hostPicker = defineZonePicker({
  id: 'alerts:hosts',
  fields: ['target:hosts'],
  list: listHosts,
  toCandidate: ({ host, zones }) => ({ id: host, names: [host, ...zones] }),
  toOption: ({ host }) => option(host, host),
  idShape: /^[a-z\d][a-z\d.-]{2,70}$/iu,
  messages: { none: 'Your zones name no origin: type its host', noMatch: 'No origin of your zones matches' },
});

type Origin = { readonly zone: ZoneSummary } | ReturnType<typeof listHosts>[number];

/** Zones, and the hosts of their origins. */
export const originPicker = defineZonePicker({
  id: 'alerts:origins',
  fields: ['target:origins'],
  list: (zones): readonly Origin[] => [...zones.map((zone) => ({ zone })), ...listHosts(zones)],
  toCandidate: (origin) =>
    'zone' in origin
      ? { id: origin.zone.id, names: [origin.zone.name, ...origin.zone.hostnames] }
      : { id: origin.host, names: [origin.host, ...origin.zones] },
  toOption: (origin) =>
    'zone' in origin ? renderZoneOption(origin.zone) : option(`${origin.host} · origin host`, origin.host),
  idShape: /^[a-z\d][a-z\d.-]{0,70}$/iu,
  messages: { none: 'Your key sees no zones', noMatch: 'None of your zones and origins matches' },
});

function listHosts(zones: readonly ZoneSummary[]) {
  return [...createNameIndex(zones, readHost)].map(([host, zones]) => ({ host, zones }));
}

/** User groups, for people who may read. */
export const groupsPicker: Picker = {
  ...groupPicker,
  id: 'alerts:groups',
  fields: ['groups'],
  needs: 'read',
};
