import { type FormResult, message, section } from '../../../views/blocks/blocks.ts';
import { option } from '../../../views/blocks/inputs.ts';
import { createNotes, maxOptions } from '../../../views/blocks/menu.ts';
import { matchesKnown } from '../../../views/names.ts';
import * as views from '../../../views/reports/digests/form.ts';
import { renderLooked } from '../../../views/reports/digests/notices.ts';
import { describeNextRuns } from '../../../views/reports/digests/schedule.ts';
import { type Action, type Context, defineForm, type Fields, type Picker, type With } from '../../define.ts';
import { loadAllZones } from '../../zones/lookup.ts';
import { matchesQuery } from '../../zones/query.ts';
import type { ReportReads } from '../accounts/reads.ts';
import { findChannelRefusal } from '../schedules/manage.ts';
import { management } from './actions.ts';
import { digestFields, readFormValues, readSchedule, writeFields } from './fields.ts';
import { digestKinds } from './kinds/list.ts';
import type { Digest, DigestOrder } from './model.ts';
import { prepareDigest } from './prepare.ts';

/** `typed`: words behind the command that may name kinds. */
export async function newForm(typed: readonly string[], context: Context) {
  const { person, people, channelId } = context;
  const named = digestKinds.filter(({ words }) => typed.some((word) => words.test(word)));
  const fields = {
    kind: named.length > 0 ? named.map(({ name }) => name) : ['zones'],
    channel: channelId !== undefined && /^[CG]/u.test(channelId) ? channelId : undefined,
    time: '09:00',
    days: ['workdays'],
    timezone: (await people.profile(person.userId))?.timeZone ?? 'UTC',
  };
  return renderForm(fields, {}, context);
}

export async function editForm(id: string, context: With<'digests'>) {
  const digest = await management.findManaged(id, context);
  const about = { note: writeNote(digest), says: warnOfTakeover(digest, context) };
  return renderForm(writeFields(digest), about, context);
}

/** A choice changes what the form says below it: when the digest runs, and what is counted. */
export const redraw: Action<'digests'> = {
  id: 'digests:redraw',
  fields: ['kind', 'days', 'time', 'repeat', 'timezone', 'only'],
  needs: 'read',
  preservesInputs: true,
  async redraw(_value, context) {
    const edited = await findEdited(context);
    const says = edited && warnOfTakeover(edited, context);
    return renderForm(context.modal?.fields ?? {}, { note: context.modal?.metadata, says }, context);
  },
};

function renderForm(
  fields: Fields,
  about: { readonly note?: string | undefined; readonly says?: string | undefined },
  { now }: Context,
) {
  const schedule = readSchedule(fields);
  const next = schedule ? describeNextRuns(schedule, now()) : 'Next: choose its days.';
  return views.renderDigestForm(readFormValues(fields), { ...about, next });
}

function warnOfTakeover({ owner }: Digest, { person }: Context): string | undefined {
  return owner.userId === person.userId
    ? undefined
    : `This digest is <@${owner.userId}>’s. If you save it, it is yours and runs with your key.`;
}

export const digestForm = defineForm({
  id: 'digests:submit',
  needs: 'read',
  fields: digestFields,
  loadingView: { ...views.digestSkeleton(), callback_id: 'digests:busy' },
  async run(order, context: With<'digests'>) {
    const refused = await findChannelRefusal('digest', order.channel, context);
    if (refused !== undefined) return renderAgain(refused, context);
    return context.modal?.metadata === undefined ? saveNew(order, context) : saveChange(order, context);
  },
});

async function saveNew(order: DigestOrder, context: With<'digests'>): Promise<FormResult> {
  const { digests, person } = context;
  const created = await digests.create(person, order);
  if (!(await announce(created, context))) {
    await digests.discard(created);
    return renderInvite(order, context);
  }
  return views.renderSaved(management.requireChanged(await digests.begin(created, person)), context.now());
}

async function saveChange(order: DigestOrder, context: With<'digests'>): Promise<FormResult> {
  const { digests, person, modal } = context;
  const edited = await findEdited(context);
  const before = management.requireChanged(
    edited && writeNote(edited) === modal?.metadata ? edited : undefined,
  );
  const mustTell = before.channel !== order.channel || before.paused?.reason === 'bot-removed';
  if (mustTell && !(await announce({ ...before, ...order }, context))) return renderInvite(order, context);
  return views.renderSaved(
    management.requireChanged(await digests.change(before, order, person)),
    context.now(),
  );
}

/** Tells the channel of a new or moved digest; false if the bot cannot write there. */
function announce(digest: Digest, { person, post }: Context): Promise<boolean> {
  return post(digest.channel, views.renderAnnouncement(digest, person.userId));
}

function renderInvite({ channel }: DigestOrder, context: Context): FormResult {
  const says = `The bot cannot write to <#${channel}>, so nothing was saved. Invite it there (\`/invite @cdn\`), then save again.`;
  return renderAgain(says, context);
}

/** The form once more, with what is wrong above it: it keeps what was filled in. */
function renderAgain(problem: string, context: Context): FormResult {
  const says = `:warning: ${problem}`;
  const { metadata: note, fields = {} } = context.modal ?? {};
  return { modal: renderForm(fields, { note, says }, context), message: message(problem, [section(says)]) };
}

/** Which digest a form changes, and its revision when the form was opened. */
function writeNote({ id, revision }: Digest): string {
  return `${id}|${revision}`;
}

async function findEdited(context: With<'digests'>): Promise<Digest | undefined> {
  const [id] = context.modal?.metadata?.split('|') ?? [];
  return id === undefined ? undefined : management.findManaged(id, context);
}

/** Prepares the digest by the same code as a run, and shows it to this person alone. */
export const preview: Action<'digests' | 'settingsHistory'> = {
  id: 'digests:preview',
  needs: 'read',
  modal: () => views.digestSkeleton('Preview'),
  async load(_value, context) {
    const { data: order, error } = digestFields.safeParse(context.modal?.fields ?? {});
    if (!order) return views.renderNotYet([...new Set(error.issues.map(({ message }) => message))]);
    const edited = await findEdited(context);
    const past = edited ? await context.digests.loadPast(edited) : { history: [], baseline: undefined };
    const cdn = await openReads(context);
    const { explain, now } = context;
    const prepared = await prepareDigest(order.subject, { cdn, now: now(), explain, ...past });
    return views.renderPreviewed(prepared, order);
  },
};

/** What a digest reads, with the person's own key. */
async function openReads({ cdn, person, settingsHistory }: With<'settingsHistory'>): Promise<ReportReads> {
  const client = await cdn();
  return { ...client, settings: settingsHistory.of(person, client) };
}

/** The same subject as a digest's, for the presser alone and with their own key: nothing of the owner's goes into it. */
export const look: Action<'digests' | 'settingsHistory'> = {
  id: 'digests:look',
  needs: 'read',
  newMessage: true,
  async run(id, context) {
    const digest = await management.find(id, context);
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
