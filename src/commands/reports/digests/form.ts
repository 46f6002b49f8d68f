import { option } from '../../../views/blocks/inputs.ts';
import { createNotes, maxOptions } from '../../../views/blocks/menu.ts';
import { matchesKnown } from '../../../views/names.ts';
import { renderLooked } from '../../../views/reports/digests/notices.ts';
import { describeNextRuns } from '../../../views/reports/digests/schedule.ts';
import * as views from '../../../views/reports/form.ts';
import { type Action, type Context, defineForm, type Fields, type Picker, type With } from '../../define.ts';
import { loadAllZones } from '../../zones/lookup.ts';
import { matchesQuery } from '../../zones/query.ts';
import type { ReportReads } from '../accounts/reads.ts';
import { findReport } from '../manage.ts';
import { createSaving, findDefaults, findNames } from '../save.ts';
import { digestFields, readSchedule, writeFields } from './fields.ts';
import { digestKinds } from './kinds/list.ts';
import { prepareDigest } from './prepare.ts';

const saving = createSaving('digest', writeFields, renderForm);

/** `typed`: words behind the command that may name kinds. */
export async function newForm(typed: readonly string[], context: Context) {
  const named = digestKinds.filter(({ words }) => typed.some((word) => words.test(word)));
  const fields = {
    ...(await findDefaults(context)),
    kind: named.length > 0 ? named.map(({ name }) => name) : ['zones'],
    time: '09:00',
    days: ['workdays'],
  };
  return renderForm(fields, {}, context);
}

export const editForm = saving.openEdit;

/** A choice changes what the form says below it: when the digest runs, and what is counted. */
export const redraw: Action<'reports'> = {
  id: 'digests:redraw',
  fields: ['kind', 'days', 'time', 'repeat', 'timezone', 'only'],
  needs: 'read',
  preservesInputs: true,
  redraw: saving.redraw,
};

function renderForm(fields: Fields, notes: views.FormNotes, { now }: Context) {
  const schedule = readSchedule(fields);
  const next = schedule ? describeNextRuns(schedule, now()) : 'Next: choose the days.';
  return views.renderDigestForm(fields, notes, next);
}

export const digestForm = defineForm({
  id: 'digests:submit',
  needs: 'read',
  fields: digestFields,
  loadingView: { ...views.reportSkeleton('digest'), callback_id: 'digests:busy' },
  async run(order, context: With<'reports' | 'names' | 'sharing' | 'zoneCache'>) {
    const called = await findNames(order.subject.targets, context);
    return saving.save({ ...order, subject: { ...order.subject, called } }, context);
  },
});

/** Prepares the digest by the same code as a run, and shows it to this person alone. */
export const preview: Action<'accounts' | 'reports' | 'settingsHistory'> = {
  id: 'digests:preview',
  needs: 'read',
  modal: () => views.reportSkeleton('digest', 'Preview'),
  async load(_value, context) {
    const { data: order, error } = digestFields.safeParse(context.modal?.fields ?? {});
    if (!order) return views.renderNotYet('Preview', error.issues);
    const edited = await saving.findEdited(context);
    const past = edited ? await context.reports.loadPast(edited) : { history: [], baseline: undefined };
    const cdn = await openReads(context);
    const { explain, now } = context;
    const prepared = await prepareDigest(order.subject, { cdn, now: now(), explain, ...past });
    return views.renderPreviewed(prepared, order);
  },
};

/** What a digest reads, with the person's own key. */
async function openReads(context: With<'accounts' | 'settingsHistory'>): Promise<ReportReads> {
  const { accounts, cdn, person, settingsHistory } = context;
  const client = await cdn();
  const errors = await accounts.preview(person, client);
  return { ...client, ...errors, settings: settingsHistory.of(person, client) };
}

/** The same subject as a digest's, for the presser alone and with their own key: nothing of the owner's goes into it. */
export const look: Action<'accounts' | 'reports' | 'settingsHistory'> = {
  id: 'digests:look',
  needs: 'read',
  newMessage: true,
  async run(id, context) {
    const digest = await findReport('digest', id, context);
    const cdn = await openReads(context);
    const { explain, now } = context;
    const takenAt = now();
    const prepared = await prepareDigest(digest.subject, {
      cdn,
      now: takenAt,
      explain,
      history: [],
      baseline: undefined,
    });
    return renderLooked(prepared, digest, takenAt);
  },
};

const mostApps = 20;

export const targetPicker: Picker<'names' | 'zoneCache'> = {
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
      ...createNotes(more > 0 ? [`… and ${more} more zones: keep typing`] : []),
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

export const timeZonePicker: Picker = {
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
      : createNotes(['No time zone is called so: try a big city nearby']);
  },
};
