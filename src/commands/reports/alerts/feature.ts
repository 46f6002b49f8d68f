import { z } from 'zod';
import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { findGroups, tenantId } from '../../../auth/identity.ts';
import { UserError } from '../../../errors.ts';
import { minuteMs } from '../../../lib/time.ts';
import { isTimeZone } from '../../../lib/time-zone.ts';
import { type Message, say } from '../../../views/blocks/blocks.ts';
import { formatInteger } from '../../../views/blocks/format.ts';
import { option } from '../../../views/blocks/inputs.ts';
import { isNote } from '../../../views/blocks/menu.ts';
import { escapeMrkdwn, formatCode } from '../../../views/blocks/text.ts';
import { describeAlert } from '../../../views/reports/card.ts';
import * as views from '../../../views/reports/form.ts';
import * as incidents from '../../../views/reports/incident.ts';
import {
  type Alert,
  type AlertOrder,
  type AlertSubject,
  describeHours,
  isGroupId,
  type WeekHours,
} from '../../../views/reports/report.ts';
import { renderZoneOption } from '../../../views/zones/rows.ts';
import type { Context, Fields } from '../../define.ts';
import { readOriginHost } from '../../origin-errors/choose-zones.ts';
import { createNameIndex, defineZonePicker } from '../../zones/pickers.ts';
import { originErrors } from '../checks/errors.ts';
import { conditions, evaluate } from '../checks/list.ts';
import { zoneState } from '../checks/zones.ts';
import { defineReportFeature, findManaged, findReady, findReport, ownMessage } from '../feature.ts';

const numbers = z.string().optional();

/** A message is the error of its field. */
export const alertFields = z
  .looseObject({
    condition: z.string({ error: 'Choose what to alert on.' }).transform((name, issues) => {
      const found = conditions.find((one) => one.name === name);
      if (!found) issues.addIssue('Choose what to alert on.');
      return found ?? z.NEVER;
    }),
    target: z
      .array(z.string())
      .max(views.mostTargets, { error: `At most ${views.mostTargets}.` })
      .default([]),
    threshold: numbers,
    window: numbers,
    every: z.string({ error: 'Choose how often.' }),
    channel: z.string().default(''),
    hours: z.string().default(''),
    timezone: z
      .string({ error: 'Pick a time zone.' })
      .refine(isTimeZone, { error: 'That is not a time zone. Type a city, such as Vienna.' }),
    people: z.array(z.string()).default([]),
    groups: z.array(z.string()).default([]),
    lifeSign: z.array(z.string()).default([]),
  })
  .transform((fields, issues): AlertOrder => {
    const { condition, target, channel, timezone: timeZone, people, groups, lifeSign } = fields;
    const wrong = (field: keyof typeof fields, message: string): void =>
      issues.addIssue({ code: 'custom', path: [field], message });
    const { threshold: limits, window: counted, leastEvery = 5 } = condition;
    const [drawn] = Object.keys(fields).flatMap((field) => /^every:(.+)/u.exec(field)?.[1] ?? []);
    if (drawn !== undefined && drawn !== condition.name)
      wrong('condition', 'The form was still updating. Check it, then save again.');
    const targets = [...new Set(target)];
    if (targets.some((one) => isNote(one))) wrong('target', 'Pick one of the other lines.');
    if (condition.missingTarget !== undefined && targets.length === 0)
      wrong('target', condition.missingTarget);
    const threshold = limits ? Number(fields.threshold ?? limits.initial) : 0;
    if (limits && !(threshold >= limits.least && threshold <= limits.most))
      wrong(
        'threshold',
        `A whole number from ${formatInteger(limits.least)} to ${formatInteger(limits.most)}.`,
      );
    const every = Number(fields.every);
    if (!views.everyChoices.includes(every) || every < leastEvery) wrong('every', 'Choose from the list.');
    const window = counted ? Number(fields.window ?? counted.initial) : 0;
    if (counted && !views.windowChoices.includes(window)) wrong('window', 'Choose from the list.');
    else if (counted && window < every)
      wrong('window', 'At least the time between two checks, or some errors are never counted.');
    const hours = fields.hours.trim() === '' ? undefined : parseHours(fields.hours);
    if (fields.hours.trim() !== '' && !hours)
      wrong('hours', 'Days, hours, or both, such as: Mon-Fri 08:00-18:00');
    if (people.length + groups.length > views.mostNamed)
      wrong('people', `At most ${views.mostNamed} in all.`);
    return {
      channel,
      subject: {
        condition,
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

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const allDays = [1, 2, 3, 4, 5, 6, 7];
const groups = new Map([
  ['workdays', 'mon-fri'],
  ['weekdays', 'mon-fri'],
  ['weekend', 'sat-sun'],
]);
const typedHours =
  /^(?<names>[a-z][a-z,-]*)?\s*(?:(?<from>(?:[01]?\d|2[0-3]):[0-5]\d)-(?<until>(?:[01]?\d|2[0-3]):[0-5]\d|24:00))?$/u;

/** Reads `Mon-Fri 08:00-18:00`, `Sat, Sun`, `22:00–06:00`; undefined for other text, and for the whole week. */
export function parseHours(text: string): WeekHours | undefined {
  const plain = text
    .trim()
    .toLowerCase()
    .replaceAll(/[–—]/gu, '-')
    .replaceAll(/\s*([-,])\s*/gu, '$1');
  const { names, from = '00:00', until = '24:00' } = typedHours.exec(plain)?.groups ?? {};
  const weekdays = names === undefined ? allDays : parseDays(names);
  const [start, end] = [from.padStart(5, '0'), until.padStart(5, '0')];
  const isWhole = names === undefined && start === '00:00' && end === '24:00';
  if (!weekdays || isWhole || start === end) return undefined;
  // Until midnight is until the beginning of the next day.
  return { weekdays, from: start, until: end === '24:00' ? '00:00' : end };
}

function parseDays(names: string): number[] | undefined {
  const chosen = names.split(',').map((part) => {
    const ends = (groups.get(part) ?? part).split('-').map((name) => dayNames.indexOf(name.slice(0, 3)) + 1);
    const [first = 0, last = first] = ends;
    if (first === 0 || last === 0 || ends.length > 2) return [];
    return allDays.filter((day) =>
      first <= last ? day >= first && day <= last : day >= first || day <= last,
    );
  });
  if (chosen.some(({ length }) => length === 0)) return undefined;
  return allDays.filter((day) => chosen.some((days) => days.includes(day)));
}

function writeFields({ subject, channel }: AlertOrder): Fields {
  const { targets, threshold, window, every, hours, timeZone, names, lifeSign } = subject;
  const { name, target, ...takes } = subject.condition;
  return {
    condition: name,
    [`target:${target}`]: targets,
    ...(takes.threshold ? { [`threshold:${name}`]: String(threshold) } : {}),
    ...(takes.window ? { [`window:${name}`]: String(window) } : {}),
    [`every:${name}`]: String(every),
    ...(/^[CG]/u.test(channel) ? { channel } : {}),
    hours: hours ? describeHours({ hours, timeZone: '' }).trim() : '',
    timezone: timeZone,
    people: names.filter((id) => !isGroupId(id)),
    groups: names.filter(isGroupId),
    lifeSign: lifeSign ? ['on'] : [],
  };
}

type Origin = { readonly zone: ZoneSummary } | ReturnType<typeof listHosts>[number];

/** Origin hosts, for a condition that takes them also zones. */
const originPickers = (['hosts', 'origins'] as const).map((target) =>
  defineZonePicker({
    id: `alerts:${target}`,
    fields: [`target:${target}`],
    list: (zones): readonly Origin[] => [
      ...(target === 'origins' ? zones.map((zone) => ({ zone })) : []),
      ...listHosts(zones),
    ],
    toCandidate: (origin) =>
      'zone' in origin
        ? { id: origin.zone.id, names: [origin.zone.name, ...origin.zone.hostnames] }
        : { id: origin.host, names: [origin.host, ...origin.zones] },
    toOption: (origin) =>
      'zone' in origin
        ? renderZoneOption(origin.zone)
        : option(target === 'origins' ? `${origin.host} · origin host` : origin.host, origin.host),
    idShape: /^[a-z\d][a-z\d.-]{0,70}$/iu,
    messages: { none: 'No origins found: type a host', noMatch: 'None of your zones’ origins matches' },
  }),
);

function listHosts(zones: readonly ZoneSummary[]) {
  return [...createNameIndex(zones, readOriginHost)].map(([host, zones]) => ({ host, zones }));
}

export const alert = defineReportFeature('alert', {
  aliases: ['watch', 'watches'],
  usage: 'alert [new|list|check <id>|why <id>|snooze <id> [2h]|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary:
    'Tells you when something starts, changes or resolves: origin errors, zones, limits, settings, apps, charges',
  label: 'Alerts',
  examples: ['alert new errors', 'alert list', 'alert snooze k7f3q 2h'],
  otherVerbs: { look: 'check', run: 'check', now: 'check', test: 'check', silence: 'snooze', mute: 'snooze' },
  verbs: { check, why, snooze },
  schema: alertFields,
  defaults(typed, zones) {
    const text = typed.join(' ');
    const { name, target } = conditions.findLast(({ words }) => words.test(text)) ?? originErrors;
    const takesZones = target === 'zones' || target === 'origins';
    return { condition: name, ...(takesZones ? { [`target:${target}`]: zones } : {}) };
  },
  writeFields,
  render(fields, notes) {
    const chosen = conditions.find(({ name }) => name === fields['condition']);
    return views.renderAlertForm(fields, notes, chosen ?? zoneState, conditions);
  },
  redrawsOn: ['condition'],
  findProblem: findGroupProblem,
  targetsOf: ({ condition: { target }, targets }) => ({
    [target === 'origins' ? 'zones' : target]: targets,
  }),
  preview: {
    verb: 'try',
    title: 'Try it now',
    async load({ subject }, _edited, { accounts, person, signal, now }) {
      const account = await accounts.open(person, signal);
      const about = { account, now: now(), lookedAt: undefined, memory: undefined };
      return views.renderTried(await evaluate(subject, about), subject);
    },
  },
  async readStates({ reports, person }) {
    const recent = await reports.listRecentIncidents(tenantId(person));
    const byAlert = Map.groupBy(recent, ({ alertId }) => alertId);
    return (alert) => describeAlert(alert, byAlert.get(alert.id) ?? []);
  },
  actions: [
    { id: 'alerts:acknowledge', ...ownMessage, run: (id, context) => acknowledge(id, context, false) },
    { id: 'alerts:undo-acknowledge', needs: 'none', run: (id, context) => acknowledge(id, context, true) },
  ],
  pickers: originPickers,
});

/** Who is not in a user group could call it with an alert at any hour; admins answer for what they do. */
async function findGroupProblem(
  { names }: AlertSubject,
  { authorizer, people, person }: Context,
): Promise<string | undefined> {
  const groups = names.filter(isGroupId);
  if (groups.length === 0 || (await authorizer.actor()).admin) return undefined;
  const { groups: own } = await findGroups(people, person.userId, groups);
  const known = new Map((await people.groups()).map(({ id, handle }) => [id, `@${handle}`]));
  const others = groups.filter((id) => !own.includes(id)).map((id) => known.get(id) ?? id);
  if (others.length === 0) return undefined;
  return `An alert can mention only user groups that you are in: remove ${escapeMrkdwn(others.join(', '))}.`;
}

async function check(id: string, context: Context): Promise<Message> {
  const alert = await findReady('alert', id, context);
  await context.reports.checkNow(alert);
  return incidents.renderChecking(alert);
}

/** For its owner, admins, and those who read its messages. */
async function findReadable(id: string, context: Context): Promise<Alert> {
  const alert = await findReport('alert', id, context);
  return context.channelId === alert.channel ? alert : findManaged('alert', id, context);
}

async function why(id: string, context: Context, page?: string): Promise<Message> {
  const alert = await findReadable(id, context);
  const known = await context.reports.listIncidents(alert.id);
  return incidents.renderWhy(alert, known, context.now(), Number(page ?? 1));
}

const longestSnoozeMinutes = 7 * 24 * 60;

/** Snoozes an alert for so many minutes; 0 = ends the snooze. Whoever is on call may. */
async function snooze(id: string, context: Context, typed = '1h'): Promise<Message> {
  const alert = await findReadable(id, context);
  const minutes = readMinutes(typed);
  if (minutes === undefined || minutes > longestSnoozeMinutes)
    throw new UserError(
      `I can’t read ${formatCode(typed, 20)} as a time to snooze.`,
      `Up to seven days: \`/cdn alert snooze ${alert.id} 2h\`, \`30m\`, \`1d\``,
    );
  const until = minutes === 0 ? undefined : new Date(context.now().getTime() + minutes * minuteMs);
  return incidents.renderSnoozed(await context.reports.snooze(alert, until, context.person));
}

/** `2h`, `30m`, `1d`, or minutes. */
function readMinutes(typed: string): number | undefined {
  const [, count, unit = 'm'] = /^(\d{1,5})\s*([mhd])?$/iu.exec(typed.trim()) ?? [];
  const sizes: Readonly<Record<string, number>> = { m: 1, h: 60, d: 24 * 60 };
  return count === undefined ? undefined : Number(count) * (sizes[unit.toLowerCase()] ?? 1);
}

/** `isUndone`: takes the person's own acknowledgement back. */
async function acknowledge(id: string, { reports, person }: Context, isUndone: boolean): Promise<Message> {
  const incident = await reports.findIncident(id);
  const alert = incident && (await reports.find(tenantId(person), incident.alertId));
  if (!incident || alert?.kind !== 'alert')
    throw new UserError(
      'This incident is no longer stored, or its alert was deleted.',
      'See `/cdn alert list`.',
    );
  const changed = await reports.acknowledge(incident, alert, person, isUndone);
  if (changed && isUndone) return say('No longer acknowledged.');
  const current = changed ?? (await reports.findIncident(id)) ?? incident;
  return incidents.renderAcknowledged(current, alert, changed !== undefined);
}
