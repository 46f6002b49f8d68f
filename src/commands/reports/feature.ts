import type { ModalView } from '@slack/types';
import type { z } from 'zod';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { tenantId } from '../../auth/identity.ts';
import { assertKnown } from '../../auth/policy/authorizer.ts';
import { decideDestination } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { readCode, SlackFailure } from '../../outbox/slack-port.ts';
import type { FormResult, Message } from '../../views/blocks/blocks.ts';
import { openAgain } from '../../views/blocks/failure.ts';
import { formatCount } from '../../views/blocks/format.ts';
import { renderSkeleton } from '../../views/blocks/inputs.ts';
import { capitalize, formatCode } from '../../views/blocks/text.ts';
import * as views from '../../views/reports/card.ts';
import type { FormNotes } from '../../views/reports/form.ts';
import {
  type AlertOrder,
  canBeTakenOver,
  type DigestOrder,
  describePause,
  formatPlace,
  isChannelReason,
  type Order,
  type Report,
  type ReportKind,
  type ReportOf,
} from '../../views/reports/report.ts';
import { type Action, type Command, type Context, defineForm, type Feature, type Fields } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import { assertAdminFor, createRefusal } from '../operations/propose.ts';
import { assertReaders } from '../share.ts';
import type { Words } from '../words.ts';
import { hasHostname, readHost } from '../zones/hosts.ts';
import { loadAllZones, quoteNames } from '../zones/lookup.ts';
import { createChangedError, undoMinutes } from './life.ts';
import { isId } from './store.ts';

type Targets = Readonly<Partial<Record<'zones' | 'apps' | 'shieldZones', readonly string[]>>>;

type Verb = (id: string, context: Context, more?: string) => Promise<Message>;

/** What a form orders. With an empty channel: into its owner's conversation. */
type OrderOf<Kind extends ReportKind> = Kind extends 'digest' ? DigestOrder : AlertOrder;

interface About<Kind extends ReportKind>
  extends Pick<Command, 'usage' | 'summary' | 'label' | 'examples'>,
    Required<Pick<Feature, 'actions' | 'pickers'>> {
  readonly aliases: readonly string[];
  readonly otherVerbs: Readonly<Record<string, string>>;
  /** By word or button. `more`: the word behind the id. */
  readonly verbs: Readonly<Record<string, Verb>>;
  readonly readStates: (context: Context) => Promise<(report: ReportOf<Kind>) => views.State>;
  readonly schema: z.ZodType<OrderOf<Kind>>;
  /** `zones`: ids of the zones that the typed words name. */
  readonly defaults: (typed: readonly string[], zones: readonly string[]) => Fields;
  readonly writeFields: (report: ReportOf<Kind>) => Fields;
  readonly render: (fields: Fields, notes: FormNotes) => ModalView;
  readonly redrawsOn: readonly string[];
  /** Problems that are not of a single field, in words. */
  readonly findProblem?: (subject: OrderOf<Kind>['subject'], context: Context) => Promise<string | undefined>;
  readonly targetsOf: (subject: OrderOf<Kind>['subject']) => Targets;
  /** Shows what is filled in to this person alone. */
  readonly preview: {
    readonly verb: string;
    readonly title: string;
    readonly load: (
      ordered: OrderOf<Kind>,
      edited: ReportOf<Kind> | undefined,
      context: Context,
    ) => Promise<ModalView>;
  };
}

/** A pasted line may have hundreds. */
const mostHosts = 5;

/** What people say for a verb. */
const meantVerbs = { remove: 'delete', stop: 'pause', start: 'resume', show: 'list', help: 'list' };

export function defineReportFeature<Kind extends ReportKind>(kind: Kind, about: About<Kind>): Feature {
  const { usage, summary, label, examples, aliases, otherVerbs, readStates, actions, pickers } = about;
  const form = createForm(kind, about);
  const shared = createVerbs(kind);
  const verbs: Readonly<Record<string, Verb>> = { ...about.verbs, ...shared.verbs };
  const verbButtons = Object.entries(verbs).map(
    ([verb, work]): Action => ({
      id: `${kind}s:${verb}`,
      ...ownMessage,
      run(value, context) {
        const [id = '', more] = value.split('|');
        return work(id, context, more);
      },
    }),
  );
  const known = ['new', 'list', 'edit', ...Object.keys(verbs)];
  /** Words that are no verb, nor nearly one, nor an id, are about a new one. */
  const readWords = ({ list: words }: Words) => {
    const [typed = 'list', id, more] = words;
    const lower = typed.toLowerCase();
    const verb = { ...meantVerbs, ...otherVerbs }[lower] ?? lower;
    const isVerb = known.includes(verb) || isId(verb) || findClosest(verb, known, 1).length > 0;
    return isVerb ? { verb, id, more, about: words.slice(1) } : { verb: 'new', about: words };
  };

  /** The person's own, and those of others that `isVisible` picks. */
  async function list(
    context: Context,
    isVisible: (report: Report, admin: boolean) => boolean,
  ): Promise<views.Listed[]> {
    const { authorizer, person, reports } = context;
    const [{ admin }, all, readState] = await Promise.all([
      authorizer.actor(),
      reports.list(tenantId(person)),
      readStates(context),
    ]);
    return all.flatMap((report) => {
      const own = report.owner.userId === person.userId;
      if (report.kind !== kind || !(own || isVisible(report, admin))) return [];
      return [{ report, state: readState(report as ReportOf<Kind>), own, manages: admin || own }];
    });
  }

  const command: Command = {
    usage,
    summary,
    ...(label === undefined ? {} : { label }),
    examples,
    name: kind,
    aliases: [`${kind}s`, ...aliases],
    task: 'Act',
    changesHome: true,
    needs: 'read',
    needsFor(words) {
      const { verb } = readWords(words);
      return verb === 'list' || Object.hasOwn(verbs, verb) ? 'none' : 'read';
    },
    modal(words) {
      const { verb, id } = readWords(words);
      const opens = verb === 'new' || (verb === 'edit' && id !== undefined);
      return opens ? renderSkeleton(`${capitalize(verb)} ${kind}`) : undefined;
    },
    load(words, context) {
      const { verb, id = '', about } = readWords(words);
      return verb === 'edit' ? form.openEdit(id, context) : form.openNew(about, context);
    },
    async run(words, context) {
      const { verb, id, more } = readWords(words);
      if (verb === 'list') {
        const isVisible = ({ channel }: Report, admin: boolean) => admin || channel === context.channelId;
        const rows = await list(context, isVisible);
        return views.renderList(kind, rows, { asOf: context.now(), page: Number(id ?? 1) });
      }
      const work = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
      if (work && id !== undefined) return work(id, context, more);
      if (!work && verb !== 'edit') throw createUnknownVerb(verb);
      // With an id, `edit` opens a form instead.
      const example = `\`/cdn ${kind} list\` shows the IDs. Then: \`/cdn ${kind} ${verb} k7f3q\``;
      throw new UserError(`Which ${kind}?`, example);
    },
  };

  function createUnknownVerb(verb: string): UserError {
    const [meant] = findClosest(verb, known, 1);
    return new UserError(
      `${formatCode(verb, 30)} is not ${kind === 'alert' ? 'an alert' : 'a digest'} command.`,
      meant === undefined
        ? `\`/cdn ${kind} new\` creates one, \`/cdn ${kind} list\` shows all.`
        : `Did you mean \`/cdn ${kind} ${meant}\`?`,
    );
  }

  return {
    name: `${kind}s`,
    commands: [command],
    actions: [...form.actions, ...verbButtons, ...actions, ...shared.actions],
    forms: [form.form],
    pickers,
    // For admins also what the bot paused.
    homeSection: async (context) =>
      views.renderAtHome(kind, await list(context, (report, admin) => admin && canBeTakenOver(report))),
  };
}

/** Answered in a new message, since everybody in the channel shares the old one. Needs no key: the owner's is used. */
export const ownMessage = { needs: 'none', newMessage: true } as const;

export async function findReport<Kind extends ReportKind>(
  kind: Kind,
  id: string,
  { reports, person }: Context,
): Promise<ReportOf<Kind>> {
  const found = await reports.find(tenantId(person), id.trim().toLowerCase());
  if (found?.kind === kind && !found.deletedAt) return found as ReportOf<Kind>;
  throw new UserError(
    `No ${kind} has the ID ${formatCode(id, 20)}${found?.kind === kind ? ' any more' : ''}.`,
    `\`/cdn ${kind} list\` shows all.`,
  );
}

export async function findManaged<Kind extends ReportKind>(
  kind: Kind,
  id: string,
  context: Context,
): Promise<ReportOf<Kind>> {
  const report = await findReport(kind, id, context);
  await requireManager(report, context);
  return report;
}

async function requireManager({ kind, owner }: Report, context: Context): Promise<void> {
  if (owner.userId === context.person.userId) return;
  const what = `only <@${owner.userId}>, who owns this ${kind}, and admins can do that.`;
  await assertAdminFor(what, `Create your own: \`/cdn ${kind} new\`.`, context);
}

/** One that can run or check now; a digest also while a person has paused it. */
export async function findReady<Kind extends ReportKind>(
  kind: Kind,
  id: string,
  context: Context,
): Promise<ReportOf<Kind>> {
  const report = await findManaged(kind, id, context);
  const { paused } = report;
  if (paused && (kind === 'alert' || paused.reason !== 'by-hand'))
    throw new UserError(
      `The ${kind} ${formatCode(report.id)} is paused: ${describePause(paused.reason, paused.by)}.`,
      `Once that is fixed: \`/cdn ${kind} resume ${report.id}\``,
    );
  return report;
}

/** An alert may have nothing to post for weeks: whether the bot is back in its channel is asked now. */
async function requirePlace({ kind, id, channel, paused }: Report, { sharing }: Context): Promise<void> {
  if (!paused || !isChannelReason(paused.reason) || (await sharing.hasBot(channel))) return;
  throw new UserError(
    `I can’t post in ${formatPlace(channel)}, so the ${kind} ${formatCode(id)} stays paused.`,
    `Invite me there (\`/invite @cdn\`) and resume it, or pick another channel: \`/cdn ${kind} edit ${id}\``,
  );
}

function createVerbs(kind: ReportKind) {
  async function pause(id: string, context: Context): Promise<Message> {
    const report = await findManaged(kind, id, context);
    const paused = report.paused ? report : await context.reports.pause(report, context.person);
    return views.renderPaused(paused, { others: false });
  }

  async function resume(id: string, context: Context): Promise<Message> {
    const report = await findManaged(kind, id, context);
    if (report.paused) {
      await requirePlace(report, context);
      if (report.channel !== report.owner.userId) await assertReaders('report', report.channel, context);
    }
    const resumed = report.paused ? await context.reports.resume(report, context.person) : report;
    return views.renderDone(resumed, context.now(), 'resumed');
  }

  async function remove(id: string, context: Context): Promise<Message> {
    const report = await findManaged(kind, id, context);
    return views.renderDeleted(await context.reports.delete(report, context.person), undoMinutes);
  }

  async function restore(id: string, context: Context): Promise<Message> {
    const { reports, person, now } = context;
    const report = await reports.find(tenantId(person), id);
    if (report) await requireManager(report, context);
    const restored = report?.deletedAt ? await reports.restore(report, person) : report;
    if (restored) return views.renderDone(restored, now(), 'restored');
    throw new UserError(
      `The ${kind} ${formatCode(id, 20)} is gone. Deletions can be undone for ${formatCount(undoMinutes, 'minute')}.`,
      `Create a new one: \`/cdn ${kind} new\``,
    );
  }

  async function takeOver(id: string, context: Context): Promise<Message> {
    const { person, reports } = context;
    const report = await findReport(kind, id, context);
    if (!canBeTakenOver(report)) {
      const { paused, owner } = report;
      throw new UserError(
        paused
          ? `The ${kind} ${formatCode(report.id)} is ${describePause(paused.reason, paused.by)}: only its owner and admins can change that.`
          : `The ${kind} ${formatCode(report.id)} is running again, with the key of <@${owner.userId}>.`,
        `\`/cdn ${kind} list\` shows its state.`,
      );
    }
    await assertChannel(kind, report.channel, context);
    await requirePlace(report, context);
    // Its channel sees it in the place of the notice; pressed elsewhere, the channel is notified.
    const isSeen = context.message?.channel === report.channel;
    const taken = await reports.takeOver(report, person, isSeen);
    return views.renderDone(taken, context.now(), 'taken over');
  }

  /** Their answer replaces the message that offered the button. */
  const actions: readonly Action[] = [
    { id: `${kind}s:undo`, needs: 'none', run: restore },
    { id: `${kind}s:take-over`, needs: 'read', run: takeOver },
  ];
  return { verbs: { pause, resume, delete: remove }, actions };
}

/** @throws UserError where a person’s report may not go into a channel, by the settings of this moment. */
async function assertChannel(kind: ReportKind, channel: string, context: Context): Promise<void> {
  const { authorizer } = context;
  const decision = await authorizer.decide('read', channel, { fresh: true });
  const destination = decideDestination(await authorizer.policy({ fresh: true }), 'digest', channel);
  const failed = [...decision.trace, ...destination.trace].find(({ ok }) => !ok);
  const place = formatPlace(channel);
  if (failed) {
    const refusal = await createRefusal(assertKnown(decision.allowed ? destination : decision), context);
    const message = `Not allowed yet: your ${kind} can’t post in ${place}: ${failed.says}.`;
    // *Why?* would tell of the channel that this was pressed in.
    throw new UserError(message, refusal.hint, refusal.offer === 'why' ? 'ask' : refusal.offer);
  }
  await assertReaders('report', channel, context);
}

function createForm<Kind extends ReportKind>(
  kind: Kind,
  { schema, defaults, writeFields, render, redrawsOn, findProblem, targetsOf, preview }: About<Kind>,
) {
  async function openNew(typed: readonly string[], context: Context) {
    const { channelId, modal, people, person } = context;
    const fields = {
      // Not a conversation between people.
      channel: channelId !== undefined && /^[CG]/u.test(channelId) ? channelId : undefined,
      timezone: (await people.profile(person.userId))?.timeZone ?? 'UTC',
      ...(await readTyped(typed, context)),
      ...(modal?.metadata === openAgain ? modal.fields : {}),
    };
    return render(fields, {});
  }

  /** Without the list of zones the form opens with none chosen. */
  async function readTyped(typed: readonly string[], context: Context): Promise<Fields> {
    const all = typed.length > 0 && (await loadAllZones(context).catch(() => undefined));
    const zones = all ? all.zones : [];
    const tokens = typed.map((word) => ({ typed: word, text: word.replace(/[,;]+$/u, ''), value: word }));
    const called = new Set(zones.map(({ name }) => name.toLowerCase()));
    const isName = (text: string): boolean => called.has(text.toLowerCase());
    const named = quoteNames(tokens, isName, () => false);
    const words = named.map(({ text }) => text.toLowerCase());
    const names = new Set(words);
    const hosts = words.filter((word) => /\.\p{L}/u.test(word)).slice(0, mostHosts);
    const isTyped = (zone: ZoneSummary): boolean =>
      names.has(zone.name.toLowerCase()) || hosts.some((host) => hasHostname(zone, readHost(host)));
    const found = zones.filter(isTyped);
    // `web-app failing` is not about an app.
    const zoneWords = new Set([...hosts, ...found.map(({ name }) => name.toLowerCase())]);
    const others = words.filter((word) => !zoneWords.has(word));
    const ids = found.map(({ id }) => id);
    return defaults(others.length > 0 ? others : words, ids);
  }

  async function openEdit(id: string, context: Context): Promise<ModalView> {
    const report = await findManaged(kind, id, context);
    const { modal } = context;
    const fields = modal?.metadata === openAgain ? modal.fields : writeFields(report);
    return render(fields, { note: writeNote(report), says: describeEdit(report, context) });
  }

  async function findEdited(context: Context): Promise<ReportOf<Kind> | undefined> {
    const [id] = context.modal?.metadata?.split('|') ?? [];
    return id === undefined ? undefined : findManaged(kind, id, context);
  }

  async function save(ordered: OrderOf<Kind>, context: Context): Promise<FormResult> {
    const edited = await findEdited(context);
    if (edited && writeNote(edited) !== context.modal?.metadata) throw createChangedError(kind);
    const saved = await store(ordered, edited, context);
    const isOwn = edited?.owner.userId === context.person.userId;
    const undo =
      edited && isOwn ? JSON.stringify([saved.id, saved.revision, writeFields(edited)]) : undefined;
    return views.renderSaved(saved, context.now(), undo);
  }

  /** Saves the fields that an edit has changed again, unless another change came since. */
  async function undoEdit(value: string, context: Context): Promise<Message> {
    const [id, revision, fields] = JSON.parse(value) as [string, number, Fields];
    const edited = await findManaged(kind, id, context);
    if (edited.revision !== revision)
      throw new UserError(
        `Somebody changed this ${kind} since, so nothing was undone.`,
        `\`/cdn ${kind} edit ${id}\` opens it.`,
      );
    // `every:errors` is the form's block of `every`.
    const named = Object.entries(fields).map(([block, typed]) => [block.replace(/:.*/u, ''), typed]);
    const ordered = schema.parse({ ...Object.fromEntries(named), ...fields });
    return views.renderDone(await store(ordered, edited, context), context.now(), 'undone');
  }

  /** Stores what the form orders once its channel was told; else nothing. */
  async function store(
    ordered: OrderOf<Kind>,
    edited: ReportOf<Kind> | undefined,
    context: Context,
  ): Promise<Report> {
    const { person, post, reports } = context;
    const channel = ordered.channel || person.userId;
    const isOwn = channel === person.userId;
    if (!isOwn) await assertChannel(kind, channel, context);
    const problem = await findProblem?.(ordered.subject, context);
    if (problem !== undefined) throw new UserError(problem);
    const called = await findNames(targetsOf(ordered.subject), context);
    const order = { ...ordered, channel, subject: { ...ordered.subject, called } } as unknown as Order;
    const isNews = !edited || edited.channel !== channel || edited.paused?.reason === 'bot-removed';
    const id = edited?.id ?? (await reports.newId());
    if (!isOwn && isNews) {
      const refused = await post(channel, views.renderAnnouncement(id, order, person.userId));
      if (refused && readCode(refused) === 'place')
        throw new UserError(
          `The bot can’t post in <#${channel}>, so nothing was saved. Invite it there (\`/invite @cdn\`), then save again.`,
        );
      if (refused) throw new SlackFailure(refused);
    }
    return edited ? reports.change(edited, order, person) : reports.create(person, order, id);
  }

  const actions: readonly Action[] = [
    { id: `${kind}s:undo-edit`, needs: 'read', changesHome: true, run: undoEdit },
    {
      id: `${kind}s:edit`,
      needs: 'read',
      modal: () => renderSkeleton(`Edit ${kind}`),
      load: openEdit,
    },
    {
      id: `${kind}s:redraw`,
      fields: redrawsOn,
      needs: 'read',
      async redraw(_value, context) {
        const edited = await findEdited(context);
        const says = edited && describeEdit(edited, context);
        return render(context.modal?.fields ?? {}, { note: context.modal?.metadata, says });
      },
    },
    {
      id: `${kind}s:${preview.verb}`,
      needs: 'read',
      modal: () => renderSkeleton(preview.title),
      async load(_value, context) {
        const read = schema.safeParse(context.modal?.fields ?? {});
        if (read.success) return preview.load(read.data, await findEdited(context), context);
        const problems = new Set(read.error.issues.map(({ message }) => message));
        throw new UserError([...problems].join(' '), 'Go back and fix that.');
      },
    },
  ];
  const form = defineForm({
    id: `${kind}s:submit`,
    needs: 'read',
    fields: schema,
    loadingView: renderSkeleton(capitalize(kind)),
    changesHome: true,
    again: (_, note) => ['help:run', note ? `${kind} edit ${note.split('|')[0]}` : `${kind} new`],
    run: save,
  });
  return { openNew, openEdit, actions, form };
}

function describeEdit({ kind, owner }: Report, { person }: Context): string {
  return owner.userId === person.userId
    ? 'You can undo an edit once it is saved.'
    : `This ${kind} belongs to <@${owner.userId}>. If you save it, it becomes yours and uses your key.`;
}

/** Which one a form changes, and its revision when the form was opened. */
function writeNote({ id, revision }: Report): string {
  return `${id}|${revision}`;
}

/** Names of chosen targets by id, or of all apps where they are a target and none is chosen. What cannot be read now is called by its id. */
async function findNames(
  { zones = [], apps, shieldZones = [] }: Targets,
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
    apps === undefined ? [] : names.known(person, 'app'),
    shieldZones.length === 0 ? [] : names.known(person, 'shield'),
  ]);
  const namedApps = apps?.length === 0 ? knownApps.map(({ id }) => id) : (apps ?? []);
  const chosen = new Set([...zones, ...namedApps, ...shieldZones]);
  const named = [...all, ...knownApps, ...knownShields].flatMap(({ id, name }) =>
    name !== undefined && chosen.has(id) ? [[id, name] as const] : [],
  );
  return Object.fromEntries(named);
}
