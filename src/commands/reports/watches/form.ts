import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { type FormResult, message, section } from '../../../views/blocks/blocks.ts';
import { option } from '../../../views/blocks/inputs.ts';
import { renderAnnouncement } from '../../../views/reports/watches/answers.ts';
import * as views from '../../../views/reports/watches/form.ts';
import { renderZoneOption } from '../../../views/zones/rows.ts';
import { type Action, type Context, defineForm, type Fields, type Picker, type With } from '../../define.ts';
import { groupPicker } from '../../settings/feature.ts';
import { createNameIndex, defineZonePicker } from '../../zones/pickers.ts';
import { findChannelRefusal } from '../schedules/manage.ts';
import { management } from './actions.ts';
import { readHost } from './conditions/errors/read.ts';
import { conditions, findCondition } from './conditions/list.ts';
import { readFormValues, watchFields, writeFields } from './fields.ts';
import type { Watch, WatchOrder } from './model.ts';

/** `typed`: words behind the command that may name a condition. */
export async function newForm(typed: readonly string[], context: Context) {
  const { person, people, channelId } = context;
  const text = typed.join(' ');
  const named = conditions.find(({ words }) => words.test(text)) ?? conditions[0];
  const fields: Fields = {
    condition: named?.name,
    channel: channelId !== undefined && /^[CG]/u.test(channelId) ? channelId : undefined,
    timezone: (await people.profile(person.userId))?.timeZone ?? 'UTC',
  };
  return views.renderWatchForm(readFormValues(fields), {});
}

export async function editForm(id: string, context: With<'watches'>) {
  const watch = await management.findManaged(id, context);
  const about = { note: writeNote(watch), says: warnOfTakeover(watch, context) };
  return views.renderWatchForm(readFormValues(writeFields(watch)), about);
}

/** Another condition has other fields. */
export const redraw: Action<'watches'> = {
  id: 'watches:redraw',
  fields: ['condition'],
  needs: 'read',
  async redraw(_value, context) {
    const edited = await findEdited(context);
    const says = edited && warnOfTakeover(edited, context);
    const { fields = {}, metadata: note } = context.modal ?? {};
    return views.renderWatchForm(readFormValues(fields), { note, says });
  },
};

function warnOfTakeover({ owner }: Watch, { person }: Context): string | undefined {
  return owner.userId === person.userId
    ? undefined
    : `This watch is <@${owner.userId}>’s. If you save it, it is yours and looks with your key.`;
}

/** Looks once with what is filled in, and shows the figures to this person alone. */
export const tryNow: Action<'accounts'> = {
  id: 'watches:try',
  needs: 'read',
  modal: () => views.watchSkeleton('Try it now'),
  async load(_value, { modal, accounts, person, signal, now }) {
    const { data, error } = watchFields.safeParse(modal?.fields ?? {});
    if (!data) return views.renderNotYet([...new Set(error.issues.map(({ message }) => message))]);
    const { subject } = data;
    const account = await accounts.open(person, signal);
    const about = { account, subject, now: now(), lookedAt: undefined, memory: undefined };
    return views.renderTried(await findCondition(subject.condition).evaluate(about), subject);
  },
};

export const watchForm = defineForm({
  id: 'watches:submit',
  needs: 'read',
  fields: watchFields,
  loadingView: { ...views.watchSkeleton(), callback_id: 'watches:busy' },
  changesHome: true,
  async run({ channel, subject }, context: With<'watches'>) {
    const order = { subject, channel: channel ?? context.person.userId };
    const refused = channel && (await findChannelRefusal('watch', channel, context));
    if (refused) return renderAgain(refused, context);
    return context.modal?.metadata === undefined ? saveNew(order, context) : saveChange(order, context);
  },
});

async function saveNew(order: WatchOrder, context: With<'watches'>): Promise<FormResult> {
  const { watches, person } = context;
  const created = await watches.create(person, order);
  if (!(await announce(created, context))) {
    await watches.discard(created);
    return renderInvite(order, context);
  }
  return views.renderSaved(management.requireChanged(await watches.begin(created, person)));
}

async function saveChange(order: WatchOrder, context: With<'watches'>): Promise<FormResult> {
  const { watches, person, modal } = context;
  const edited = await findEdited(context);
  const isCurrent = edited && writeNote(edited) === modal?.metadata;
  const before = management.requireChanged(isCurrent ? edited : undefined);
  const mustTell = before.channel !== order.channel || before.paused?.reason === 'bot-removed';
  if (mustTell && !(await announce({ ...before, ...order }, context))) return renderInvite(order, context);
  return views.renderSaved(management.requireChanged(await watches.change(before, order, person)));
}

/** Tells the channel of a new or moved watch; false if the bot cannot write there. */
async function announce(watch: Watch, { person, post }: Context): Promise<boolean> {
  return watch.channel === person.userId || post(watch.channel, renderAnnouncement(watch, person.userId));
}

function renderInvite({ channel }: WatchOrder, context: Context): FormResult {
  const says = `The bot cannot write to <#${channel}>, so nothing was saved. Invite it there (\`/invite @cdn\`), then save again.`;
  return renderAgain(says, context);
}

/** The form once more, with what is wrong above it: it keeps what was filled in. */
function renderAgain(problem: string, context: Context): FormResult {
  const says = `:warning: ${problem}`;
  const { metadata: note, fields = {} } = context.modal ?? {};
  const modal = views.renderWatchForm(readFormValues(fields), { note, says });
  return { modal, message: message(problem, [section(says)]) };
}

/** Which watch a form changes, and its revision when the form was opened. */
function writeNote({ id, revision }: Watch): string {
  return `${id}|${revision}`;
}

async function findEdited(context: With<'watches'>): Promise<Watch | undefined> {
  const [id] = context.modal?.metadata?.split('|') ?? [];
  return id === undefined ? undefined : management.findManaged(id, context);
}

export const hostPicker = defineZonePicker({
  id: 'watches:hosts',
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
  id: 'watches:origins',
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
  id: 'watches:groups',
  fields: ['groups'],
  needs: 'read',
};
