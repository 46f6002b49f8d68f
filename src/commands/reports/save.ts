import type { ModalView } from '@slack/types';
import { type FormResult, message, section } from '../../views/blocks/blocks.ts';
import { renderAnnouncement, renderSaved } from '../../views/reports/card.ts';
import type { FormNotes } from '../../views/reports/form.ts';
import type { Context, Fields } from '../define.ts';
import { loadAllZones } from '../zones/lookup.ts';
import { createChangedError } from './life.ts';
import { findChannelRefusal, findManaged } from './manage.ts';
import type { Order, Report, ReportKind, ReportOf } from './model.ts';

/** How the form of digests or alerts opens, changes and is saved. */
export function createSaving<Kind extends ReportKind>(
  kind: Kind,
  writeFields: (order: ReportOf<Kind>) => Fields,
  renderForm: (fields: Fields, notes: FormNotes, context: Context) => ModalView,
) {
  /** The one that the open form changes. */
  async function findEdited(context: Context): Promise<ReportOf<Kind> | undefined> {
    const [id] = context.modal?.metadata?.split('|') ?? [];
    return id === undefined ? undefined : findManaged(kind, id, context);
  }

  async function openEdit(id: string, context: Context): Promise<ModalView> {
    const report = await findManaged(kind, id, context);
    const notes = { note: writeNote(report), says: warnOfTakeover(report, context) };
    return renderForm(writeFields(report), notes, context);
  }

  /** The form once more, with what was chosen meanwhile. */
  async function redraw(_value: string, context: Context): Promise<ModalView> {
    const edited = await findEdited(context);
    const says = edited && warnOfTakeover(edited, context);
    return renderForm(context.modal?.fields ?? {}, { note: context.modal?.metadata, says }, context);
  }

  /** Stores what the form orders once its channel was told; else nothing. */
  async function save(order: Order, context: Context): Promise<FormResult> {
    const { person, modal, now, post, reports } = context;
    const { channel } = order;
    const isOwn = channel === person.userId;
    const refused = isOwn ? undefined : await findChannelRefusal(kind, channel, context);
    if (refused !== undefined) return showAgain(refused, context);
    const edited = await findEdited(context);
    if (edited && writeNote(edited) !== modal?.metadata) throw createChangedError(kind);
    const isNews = !edited || edited.channel !== channel || edited.paused?.reason === 'bot-removed';
    const id = edited?.id ?? (await reports.newId());
    if (!isOwn && isNews && !(await post(channel, renderAnnouncement(id, order, person.userId))))
      return showAgain(
        `The bot can't post in <#${channel}>, so nothing was saved. Invite it there (\`/invite @cdn\`), then save again.`,
        context,
      );
    const saved = edited
      ? await reports.change(edited, order, person)
      : await reports.create(person, order, id);
    return renderSaved(saved, now());
  }

  /** The form with what is wrong above it: it keeps what was filled in. */
  function showAgain(problem: string, context: Context): FormResult {
    const says = `:warning: ${problem}`;
    const { metadata: note, fields = {} } = context.modal ?? {};
    return { modal: renderForm(fields, { note, says }, context), message: message(problem, [section(says)]) };
  }

  return { findEdited, openEdit, redraw, save };
}

function warnOfTakeover({ kind, owner }: Report, { person }: Context): string | undefined {
  return owner.userId === person.userId
    ? undefined
    : `This ${kind} belongs to <@${owner.userId}>. If you save it, it becomes yours and uses your key.`;
}

/** Which one a form changes, and its revision when the form was opened. */
function writeNote({ id, revision }: Report): string {
  return `${id}|${revision}`;
}

/** What a new form begins with: the channel in which it opens, unless that is a conversation between people, and the person's zone. */
export async function findDefaults({ channelId, people, person }: Context) {
  return {
    channel: channelId !== undefined && /^[CG]/u.test(channelId) ? channelId : undefined,
    timezone: (await people.profile(person.userId))?.timeZone ?? 'UTC',
  };
}

/** The names of chosen zones, apps and shield zones by id. What cannot be read now is called by its id. */
export async function findNames(
  {
    zones = [],
    apps = [],
    shieldZones = [],
  }: Readonly<Partial<Record<'zones' | 'apps' | 'shieldZones', readonly string[]>>>,
  context: Context,
): Promise<Readonly<Record<string, string>>> {
  const { names, person } = context;
  const [all, knownApps, knownShields] = await Promise.all([
    zones.length === 0
      ? []
      : loadAllZones(context).then(
          (list) => list.zones,
          () => [],
        ),
    apps.length === 0 ? [] : names.known(person, 'app'),
    shieldZones.length === 0 ? [] : names.known(person, 'shield'),
  ]);
  const chosen = new Set([...zones, ...apps, ...shieldZones]);
  const named = [...all, ...knownApps, ...knownShields].flatMap(({ id, name }) =>
    name !== undefined && chosen.has(id) ? [[id, name] as const] : [],
  );
  return Object.fromEntries(named);
}
