import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { option } from '../../../views/blocks/inputs.ts';
import { renderAnnouncement } from '../../../views/reports/alerts/answers.ts';
import * as views from '../../../views/reports/form.ts';
import { renderZoneOption } from '../../../views/zones/rows.ts';
import { type Action, type Context, defineForm, type Fields, type Picker, type With } from '../../define.ts';
import { groupPicker } from '../../settings/feature.ts';
import { createNameIndex, defineZonePicker } from '../../zones/pickers.ts';
import { readHost } from '../checks/errors.ts';
import { findChannelRefusal } from '../manage.ts';
import type { Alert, AlertOrder } from '../model.ts';
import { createSaving, type FormNotes, findOwnChannel } from '../save.ts';
import { findNames } from '../target-names.ts';
import { management } from './actions.ts';
import { conditions, findCondition } from './conditions/list.ts';
import { alertFields, readFormValues, writeFields } from './fields.ts';

const saving = createSaving<Alert, AlertOrder, 'alerts'>({
  noun: 'alert',
  management,
  life: ({ alerts }) => alerts,
  writeFields,
  renderForm,
  renderSaved: (alert) => views.renderAlertSaved(alert),
  renderAnnouncement,
});

/** `typed`: words behind the command that may name a condition. */
export async function newForm(typed: readonly string[], context: Context) {
  const { person, people } = context;
  const text = typed.join(' ');
  const named = conditions.find(({ words }) => words.test(text)) ?? conditions[0];
  const fields: Fields = {
    condition: named?.name,
    channel: findOwnChannel(context),
    timezone: (await people.profile(person.userId))?.timeZone ?? 'UTC',
  };
  return renderForm(fields, {});
}

export const editForm = saving.openEdit;

/** Another condition has other fields. */
export const redraw: Action<'alerts'> = {
  id: 'alerts:redraw',
  fields: ['condition'],
  needs: 'read',
  redraw: saving.redraw,
};

function renderForm(fields: Fields, notes: FormNotes) {
  return views.renderAlertForm(readFormValues(fields), notes);
}

/** Checks once with what is filled in, and shows the numbers to this person alone. */
export const tryNow: Action<'accounts'> = {
  id: 'alerts:try',
  needs: 'read',
  modal: () => views.reportSkeleton('alerts', 'Try it now'),
  async load(_value, { modal, accounts, person, signal, now }) {
    const { data, error } = alertFields.safeParse(modal?.fields ?? {});
    if (!data)
      return views.renderNotYet('Try it now', [...new Set(error.issues.map(({ message }) => message))]);
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
  loadingView: { ...views.reportSkeleton('alerts'), callback_id: 'alerts:busy' },
  changesHome: true,
  async run({ channel, subject }, context: With<'alerts' | 'names' | 'sharing' | 'zoneCache'>) {
    const refused = channel && (await findChannelRefusal('alert', channel, context));
    if (refused) return saving.showAgain(refused, context);
    const { target } = findCondition(subject.condition);
    const called = await findNames({ [target === 'origins' ? 'zones' : target]: subject.targets }, context);
    return saving.save(
      { subject: { ...subject, called }, channel: channel ?? context.person.userId },
      context,
    );
  },
});

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
