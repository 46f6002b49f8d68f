import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { tenantId } from '../../../auth/identity.ts';
import { isTimeZone } from '../../../lib/time-zone.ts';
import { type Message, say } from '../../../views/blocks/blocks.ts';
import { andMore, formatInteger } from '../../../views/blocks/format.ts';
import { option, renderSkeleton } from '../../../views/blocks/inputs.ts';
import { createNotes, maxOptions } from '../../../views/blocks/menu.ts';
import { formatCode } from '../../../views/blocks/text.ts';
import { matchesKnown } from '../../../views/names.ts';
import { describeDigest } from '../../../views/reports/card.ts';
import * as views from '../../../views/reports/form.ts';
import {
  type DigestOrder,
  type Targets,
  type TargetType,
  targetTypes,
} from '../../../views/reports/report.ts';
import type { Action, Context, Fields, Picker } from '../../define.ts';
import { loadAllZones } from '../../zones/lookup.ts';
import { matchesQuery } from '../../zones/query.ts';
import { digestKinds } from '../checks/list.ts';
import { defineReportFeature, findReady, findReport } from '../feature.ts';
import type { DigestPast } from '../store.ts';
import { collectDigest, renderDigest } from './run-digest.ts';

function sortDays(days: readonly number[]): number[] {
  return [...new Set(days)].toSorted((a, b) => a - b);
}

const targetEntries = Object.entries(targetTypes) as [TargetType, (typeof targetTypes)[TargetType]][];

/** A message is the error of its field. */
export const digestFields = z
  .object({
    time: z
      .string({ error: 'Pick a time.' })
      .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/u, { error: 'A time of day, such as 09:00.' }),
    days: z.array(z.string(), { error: 'Choose at least one day.' }).transform((words, issues) => {
      const weekdays = words.flatMap((word) => views.weekdayChoices[word]?.days ?? []);
      const monthDays = words.filter((word) => !views.weekdayChoices[word]).map(Number);
      if (words.length === 0) issues.addIssue('Choose at least one day.');
      if (!monthDays.every((day) => day >= 1 && day <= 31)) issues.addIssue('Choose from the list.');
      return { weekdays: sortDays(weekdays), monthDays: sortDays(monthDays) };
    }),
    repeat: z
      .string()
      .default('')
      .refine((hours) => hours === '' || views.repeatChoices.includes(Number(hours)), {
        error: 'Choose from the list.',
      })
      .transform((hours) => (hours === '' ? undefined : Number(hours))),
    timezone: z
      .string({ error: 'Pick a time zone.' })
      .refine(isTimeZone, { error: 'That is not a time zone. Type a city, such as Vienna.' }),
    kind: z
      .array(z.string(), { error: 'Choose at least one.' })
      .refine((names) => digestKinds.some(({ name }) => names.includes(name)), {
        error: 'Choose at least one.',
      }),
    target: z
      .array(z.string())
      .max(views.mostTargets, { error: `At most ${views.mostTargets}.` })
      .default([])
      .transform((chosen, issues): Targets => {
        const targets = { zones: [] as string[], shieldZones: [] as string[], apps: [] as string[] };
        const others = [...new Set(chosen)].filter((one) => {
          const [prefix, id = ''] = one.split(':');
          const [type] = targetEntries.find(([, type]) => type.prefix === prefix && type.id.test(id)) ?? [];
          if (type) targets[type].push(id);
          return !type;
        });
        if (others.length > 0) issues.addIssue('Pick from the list, or type an ID.');
        return targets;
      }),
    channel: z
      .string({ error: 'Pick a channel.' })
      .regex(/^[CG][A-Z0-9]+$/, { error: 'Pick a channel, not a conversation between people.' }),
    only: z.enum(['always', 'changed', 'new'], { error: 'Choose from the list.' }).default('always'),
    above: z.string().default(''),
  })
  .transform((fields, issues): DigestOrder => {
    const kinds = digestKinds.filter(({ name }) => fields.kind.includes(name));
    const { target: targets, channel, days, time, repeat, timezone, only, above } = fields;
    const wrong = (field: keyof typeof fields, message: string): void =>
      issues.addIssue({ code: 'custom', path: [field], message });
    for (const { target, missingTarget } of kinds)
      if (missingTarget !== undefined && targets[target].length === 0) wrong('target', missingTarget);
    const number = above.trim();
    if (!/^\d{0,9}$/u.test(number))
      wrong('above', `A whole number from 0 to ${formatInteger(views.mostAbove)}.`);
    const threshold = number === '' ? only : { above: Number(number) };
    return {
      subject: { kinds, targets, only: threshold, timeZone: timezone },
      schedule: { time, everyHours: repeat, zone: timezone, ...days },
      channel,
    };
  });

export function writeFields({ subject: { kinds, targets, only }, schedule, channel }: DigestOrder): Fields {
  const { weekdays, monthDays, time, everyHours, zone } = schedule;
  const chosen = findChoice(weekdays) ?? weekdays.flatMap((day) => findChoice([day]) ?? []);
  return {
    kind: kinds.map(({ name }) => name),
    target: targetEntries.flatMap(([type, { prefix }]) => targets[type].map((id) => `${prefix}:${id}`)),
    channel,
    time,
    ...(everyHours === undefined ? {} : { repeat: String(everyHours) }),
    days: [chosen, monthDays.map(String)].flat(),
    timezone: zone,
    ...(typeof only === 'string' ? { only } : { above: String(only.above) }),
  };
}

function findChoice(days: readonly number[]): string | undefined {
  const choices = Object.entries(views.weekdayChoices);
  return choices.find(([, choice]) => choice.days.join() === days.join())?.[0];
}

/** A digest as this person's own key reads it, by the same code as a run, for them alone. */
async function preview(
  order: Pick<DigestOrder, 'subject' | 'schedule'>,
  { accounts, person, explain, now, signal }: Context,
  past: DigestPast = { history: [], baseline: undefined },
): Promise<ModalView> {
  const account = await accounts.open(person, signal);
  const { collected } = await collectDigest(order.subject, { account, now: now(), explain, ...past });
  return views.renderPreviewed(renderDigest(collected), order);
}

/** Nothing of the owner’s goes into it, not even what their runs found. */
const openOwn: Action = {
  id: 'digests:look',
  needs: 'read',
  modal: () => renderSkeleton('Open with my key'),
  load: async (id, context) => preview(await findReport('digest', id, context), context),
};

const mostApps = 20;

const targetPicker: Picker = {
  id: 'digests:targets',
  fields: ['target'],
  needs: 'read',
  async run(typed, context) {
    const search = typed.trim().toLowerCase();
    const [{ zones }, known] = await Promise.all([
      loadAllZones(context),
      context.names.known(context.person, 'shield'),
    ]);
    const shields = known.filter((one) => matchesKnown(one, search));
    const found = zones.filter((zone) => matchesQuery(zone, search));
    // Other text is not given back: it may be a key that went into the wrong field.
    const isNew = /^\d{1,10}$/u.test(search) && !shields.some(({ id }) => id === search);
    const shieldZones = isNew ? [`shield:${search}`] : [];
    const typedApp = /^[a-z\d]{8,40}$/u.test(search) ? [typed.trim()] : [];
    const linked = new Set(found.flatMap(({ appId }) => appId ?? []));
    const apps = [...typedApp.filter((app) => !linked.has(app)), ...[...linked].slice(0, mostApps)];
    const others = [
      ...shields.map(({ id, name }) => views.targetOption(`shield:${id}`, name)),
      ...[...shieldZones, ...apps.map((app) => `app:${app}`)].map((one) => views.targetOption(one)),
    ];
    const room = maxOptions - others.length - 1;
    const more = found.length - room;
    return [
      ...found.slice(0, room).map(({ id, name }) => views.targetOption(`zone:${id}`, name)),
      ...others,
      ...createNotes(more > 0 ? [`… ${andMore(more, 'zone')}: keep typing`] : []),
    ];
  },
};

/** Current names of zones that Node lists under their former ones. */
const renamedZones = [
  ...['Buenos_Aires', 'Cordoba', 'Mendoza'].map((city) => `America/Argentina/${city}`),
  ...['Indiana/Indianapolis', 'Kentucky/Louisville', 'Nuuk'].map((city) => `America/${city}`),
  ...['Ho_Chi_Minh', 'Kathmandu', 'Kolkata', 'Yangon'].map((city) => `Asia/${city}`),
  'Africa/Asmara',
  'Atlantic/Faroe',
  'Europe/Kyiv',
];

const timeZonePicker: Picker = {
  id: 'digests:timezones',
  fields: ['timezone'],
  needs: 'none',
  async run(typed, { people, person }) {
    const wanted = typed.trim().toLowerCase().replaceAll(' ', '_');
    const own = (await people.profile(person.userId))?.timeZone ?? 'UTC';
    const all = new Set([own, 'UTC', ...renamedZones, ...Intl.supportedValuesOf('timeZone')]);
    const found = [...all].filter((zone) => zone.toLowerCase().includes(wanted)).slice(0, maxOptions);
    return found.length > 0
      ? found.map((zone) => option(zone, zone))
      : createNotes(['No such time zone: try a big city nearby']);
  },
};

export const digest = defineReportFeature('digest', {
  aliases: [],
  usage: 'digest [new|list|run <id>|pause <id>|resume <id>|edit <id>|delete <id>]',
  summary: `Posts a summary on a schedule: ${digestKinds.map(({ label }) => label.toLowerCase()).join(', ')}, and what changed`,
  label: 'Digests',
  examples: ['digest new', 'digest list', 'digest run k7f3q'],
  otherVerbs: { check: 'run', now: 'run', test: 'run' },
  verbs: { run },
  schema: digestFields,
  defaults(typed, zones) {
    const named = digestKinds.filter(({ words }) => typed.some((word) => words.test(word)));
    const kind = named.length > 0 ? named.map(({ name }) => name) : ['zones'];
    const words = typed.map((word) =>
      word
        .toLowerCase()
        .replace(/^weekly$/u, 'mon')
        .replace(/^(?:every)?day$/u, 'daily'),
    );
    const days = Object.keys(views.weekdayChoices).filter((day) =>
      words.some((word) => word === day || (/^[a-z]+days?$/u.test(word) && word.startsWith(day))),
    );
    const [, hour = '9', minutes = '00', half] =
      /(?:^| )([01]?\d|2[0-3])(?::([0-5]\d))?(?: ?([ap])m)?(?= |$)/u.exec(words.join(' ')) ?? [];
    const at = half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'p' ? 12 : 0);
    return {
      kind,
      target: zones.map((id) => `zone:${id}`),
      time: `${String(at).padStart(2, '0')}:${minutes}`,
      days: days.length > 0 ? days : ['workdays'],
    };
  },
  writeFields,
  render: (fields, notes) => views.renderDigestForm(fields, notes, digestKinds),
  redrawsOn: [],
  targetsOf: ({ kinds, targets: { apps, ...targets } }) =>
    kinds.some(({ target }) => target === 'apps') ? { ...targets, apps } : targets,
  preview: {
    verb: 'preview',
    title: 'Preview',
    load: async (order, edited, context) =>
      preview(order, context, edited && (await context.reports.loadPast(edited))),
  },
  async readStates({ reports, person }) {
    const last = await reports.listLastRuns(tenantId(person));
    return (digest) => describeDigest(digest, last.get(digest.id));
  },
  actions: [openOwn],
  pickers: [targetPicker, timeZonePicker],
});

async function run(id: string, context: Context): Promise<Message> {
  const digest = await findReady('digest', id, context);
  const isNew = await context.reports.runNow(digest, context.person);
  return say(
    `The digest ${formatCode(digest.id)} is ${isNew ? '' : 'already '}on its way to <#${digest.channel}>.`,
  );
}
