import { digestKindNames } from '../../digests/kinds/list.ts';
import type { Digest, DigestOrder } from '../../digests/model.ts';
import { prepareDigest } from '../../digests/prepare.ts';
import { findNextRuns } from '../../digests/schedule.ts';
import type { FormResult } from '../../views/blocks/message.ts';
import * as forms from '../../views/digests/form.ts';
import * as views from '../../views/digests/post.ts';
import * as outcomes from '../../views/digests/saved.ts';
import { describeNextRuns } from '../../views/digests/schedule.ts';
import type { Context, With } from '../context.ts';
import { type Action, defineForm, type Picker } from '../define.ts';
import { loadAllZones } from '../zones/lookup.ts';
import { matchesQuery } from '../zones/query.ts';
import { findChannelRefusal, findManagedDigest, nextThree, requireChanged } from './actions.ts';
import {
  digestFields,
  findKind,
  findProblems,
  formValuesOfDigest,
  readFormValues,
  readSchedule,
} from './fields.ts';

/** `typed`: words behind the command that may name kinds. */
export async function newForm(typed: readonly string[], context: Context) {
  const { person, people, channelId } = context;
  const named = typed.map(findKind).filter((kind) => kind !== undefined);
  const values: forms.FormValues = {
    kinds: named.length > 0 ? digestKindNames.filter((kind) => named.includes(kind)) : ['zones'],
    targets: [],
    channel: channelId !== undefined && /^[CG]/u.test(channelId) ? channelId : undefined,
    time: '09:00',
    days: ['workdays'],
    timeZone: (await people.profile(person.userId))?.timeZone ?? 'UTC',
    only: 'always',
    above: '10',
  };
  return forms.renderDigestForm(values, { next: describeNext(values, context) });
}

export async function editForm(id: string, context: With<'digests'>) {
  const digest = await findManagedDigest(id, context);
  const values = formValuesOfDigest(digest);
  return forms.renderDigestForm(values, {
    note: writeNote(digest),
    says: warnOfTakeover(digest, context),
    next: describeNext(values, context),
  });
}

/** A choice changes what the form says below it: when the digest runs, and what is counted. */
export const redraw: Action<'digests'> = {
  id: 'digests:redraw',
  fields: ['kind', 'days', 'time', 'timezone', 'only'],
  needs: 'read',
  preservesInputs: true,
  async redraw(_value, context) {
    const values = readFormValues(context.modal?.fields ?? {});
    const note = context.modal?.metadata;
    const edited = await findEdited(note, context);
    return forms.renderDigestForm(values, {
      note,
      says: edited && warnOfTakeover(edited, context),
      next: describeNext(values, context),
    });
  },
};

function warnOfTakeover({ owner }: Digest, { person }: Context): string | undefined {
  return owner.userId === person.userId
    ? undefined
    : `This digest is <@${owner.userId}>’s. If you save it, it is yours and runs with your key.`;
}

function describeNext(values: forms.FormValues, { now }: Context): string {
  const schedule = readSchedule(values);
  return schedule
    ? describeNextRuns(findNextRuns(schedule, now(), 3), schedule.zone)
    : 'Next: choose its days.';
}

export const digestForm = defineForm({
  id: 'digests:submit',
  needs: 'read',
  fields: digestFields,
  loadingView: forms.digestBusy(),
  async run(order, context: With<'digests'>) {
    const note = context.modal?.metadata;
    const refused = await findChannelRefusal(order.channel, context);
    if (refused !== undefined) return renderAgain(order, note, refused, context);
    return note === undefined ? saveNew(order, context) : saveChange(order, note, context);
  },
});

/** Prepares the digest by the same code as a run, and shows it to this person alone. */
export const preview: Action<'digests'> = {
  id: 'digests:preview',
  needs: 'read',
  modal: () => forms.digestSkeleton('Preview'),
  async load(_value, context) {
    const order = findProblems(context.modal?.fields ?? {});
    if ('problems' in order) return outcomes.renderNotYet(order.problems);
    const edited = await findEdited(context.modal?.metadata, context);
    const prepared = await prepareDigest(order.subject, {
      cdn: await context.cdn(),
      now: context.now(),
      ...(edited ? await context.digests.loadPast(edited) : { history: [], baseline: undefined }),
      signal: context.signal,
      explain: context.explain,
    });
    return outcomes.renderPreviewed(prepared satisfies views.RenderedDigest, order);
  },
};

const mostOptions = 100;

export const targetPicker: Picker<'zoneCache'> = {
  id: 'digests:targets',
  fields: ['target'],
  needs: 'read',
  async run(typed, context) {
    const search = typed.trim().toLowerCase();
    const { zones } = await loadAllZones(context);
    const found = zones.filter((zone) => matchesQuery(zone, search));
    // Other text is not given back: it may be a key that went into the wrong field.
    const shield = /^\d{1,10}$/u.test(search) ? search : undefined;
    const app = /^[a-z\d]{8,40}$/u.test(search) ? typed.trim() : undefined;
    const apps = new Set(found.map(({ appId }) => appId).filter((app) => app !== undefined));
    const offered = [
      ...(shield === undefined ? [] : [forms.targetOption(`shield:${shield}`)]),
      ...(app === undefined || apps.has(app) ? [] : [forms.targetOption(`app:${app}`)]),
      ...[...apps].slice(0, 20).map((app) => forms.targetOption(`app:${app}`)),
    ];
    const room = mostOptions - offered.length - 1;
    const more = found.length - room;
    return [
      ...found.slice(0, room).map(({ id: zone, name }) => forms.targetOption(`zone:${zone}`, name)),
      ...offered,
      ...(more > 0 ? [forms.noteOption(`… and ${more} more zones: keep typing`)] : []),
    ];
  },
};

/** Current names of zones that Node lists under their former ones. */
const renamedZones = [
  'Africa/Asmara',
  'America/Argentina/Buenos_Aires',
  'America/Argentina/Cordoba',
  'America/Argentina/Mendoza',
  'America/Indiana/Indianapolis',
  'America/Kentucky/Louisville',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
];

export const timeZonePicker: Picker = {
  id: 'digests:timezones',
  fields: ['timezone'],
  needs: 'none',
  async run(typed, context) {
    const wanted = typed.trim().toLowerCase().replaceAll(' ', '_');
    const own = (await context.people.profile(context.person.userId))?.timeZone;
    const all = [
      ...new Set([
        ...(own === undefined ? [] : [own]),
        'UTC',
        ...renamedZones,
        ...Intl.supportedValuesOf('timeZone'),
      ]),
    ];
    const found = all.filter((zone) => zone.toLowerCase().includes(wanted)).slice(0, mostOptions);
    return found.length > 0
      ? found.map((zone) => forms.zoneOption(zone))
      : [forms.noteOption('No time zone is called so: try a big city nearby')];
  },
};

async function saveNew(order: DigestOrder, context: With<'digests'>): Promise<FormResult> {
  const { digests, person } = context;
  const created = await digests.create(person, order);
  const isTold = await context.post(order.channel, outcomes.renderAnnouncement(created, person.userId));
  if (!isTold) {
    await digests.discard(created);
    return renderAgain(order, undefined, outcomes.renderInvite(order.channel), context);
  }
  return renderSaved(requireChanged(await digests.begin(created, person)), context);
}

async function saveChange(order: DigestOrder, note: string, context: With<'digests'>): Promise<FormResult> {
  const { digests, person } = context;
  const edited = await findEdited(note, context);
  const before = requireChanged(edited && writeNote(edited) === note ? edited : undefined);
  if (before.channel !== order.channel || before.paused?.reason === 'bot-removed') {
    const isTold = await context.post(
      order.channel,
      outcomes.renderAnnouncement({ ...before, ...order }, person.userId),
    );
    if (!isTold) return renderAgain(order, note, outcomes.renderInvite(order.channel), context);
  }
  return renderSaved(requireChanged(await digests.change(before, order, person)), context);
}

/** The form once more, with what is wrong above it: it keeps what was filled in. */
function renderAgain(
  order: DigestOrder,
  note: string | undefined,
  says: string,
  context: Context,
): FormResult {
  const values = formValuesOfDigest(order);
  return {
    modal: forms.renderDigestForm(values, {
      note,
      says: `:warning: ${says}`,
      next: describeNext(values, context),
    }),
    message: outcomes.renderNotSaved(says),
  };
}

function renderSaved(digest: Digest, context: Context): FormResult {
  return outcomes.renderSaved(digest, nextThree(digest, context));
}

/** Which digest a form changes, and its revision when the form was opened. */
function writeNote({ id, revision }: Digest): string {
  return `${id}|${revision}`;
}

async function findEdited(note: string | undefined, context: With<'digests'>): Promise<Digest | undefined> {
  const [id] = note?.split('|') ?? [];
  return id === undefined ? undefined : findManagedDigest(id, context);
}
