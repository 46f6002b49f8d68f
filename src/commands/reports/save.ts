import type { ModalView } from '@slack/types';
import { type FormResult, type Message, message, section } from '../../views/blocks/blocks.ts';
import type { Action, Context, Fields, With } from '../define.ts';
import type { Service } from '../services.ts';
import type { Life } from './life.ts';
import type { createManagement } from './manage.ts';
import type { Scheduled } from './model.ts';

/** What a form is drawn with beside its fields. */
export interface FormNotes {
  /** Comes back with the form: which one it changes. */
  readonly note?: string | undefined;
  /** Above the fields. */
  readonly says?: string | undefined;
}

interface About<Item extends Scheduled & Order, Order, Needs extends Service> {
  readonly noun: 'digest' | 'alert';
  readonly management: Pick<
    ReturnType<typeof createManagement<Item, Needs>>,
    'findManaged' | 'requireChanged'
  >;
  readonly life: (context: With<Needs>) => Pick<Life<Item, Order>, 'create' | 'begin' | 'discard' | 'change'>;
  readonly writeFields: (order: Order) => Fields;
  readonly renderForm: (fields: Fields, notes: FormNotes, context: Context) => ModalView;
  readonly renderSaved: (item: Item, now: Date) => FormResult;
  /** For the channel of a new or moved one. */
  readonly renderAnnouncement: (item: Item, by: string) => Message;
}

/** How the form of digests or alerts opens, changes and is saved. */
export function createSaving<
  Item extends Scheduled & Order,
  Order extends { readonly channel: string },
  Needs extends Service,
>(about: About<Item, Order, Needs>) {
  const { noun, management, writeFields, renderForm, renderSaved, renderAnnouncement } = about;
  const lifeOf = about.life as (context: Context) => ReturnType<typeof about.life>;

  /** The one that the open form changes. */
  async function findEdited({ modal, ...context }: Context): Promise<Item | undefined> {
    const [id] = modal?.metadata?.split('|') ?? [];
    return id === undefined ? undefined : management.findManaged(id, { modal, ...context });
  }

  async function openEdit(id: string, context: With<Needs>): Promise<ModalView> {
    const item = await management.findManaged(id, context);
    const notes = { note: writeNote(item), says: warnOfTakeover(item, context) };
    return renderForm(writeFields(item), notes, context);
  }

  /** The form once more, with what was chosen meanwhile. */
  async function redraw(_value: string, context: With<Needs>): Promise<ModalView> {
    const edited = await findEdited(context);
    const says = edited && warnOfTakeover(edited, context);
    return renderForm(context.modal?.fields ?? {}, { note: context.modal?.metadata, says }, context);
  }

  function warnOfTakeover({ owner }: Item, { person }: Context): string | undefined {
    return owner.userId === person.userId
      ? undefined
      : `This ${noun} belongs to <@${owner.userId}>. If you save it, it becomes yours and uses your key.`;
  }

  /** Stores what the form orders once its channel was told; else nothing. */
  async function save(order: Order, context: With<Needs>): Promise<FormResult> {
    const { person, modal, now } = context;
    const life = lifeOf(context);
    if (modal?.metadata === undefined) {
      const created = await life.create(person, order);
      if (!(await announce(created, context))) {
        await life.discard(created);
        return invite(order, context);
      }
      return renderSaved(management.requireChanged(await life.begin(created, person)), now());
    }
    const edited = await findEdited(context);
    const isCurrent = edited && writeNote(edited) === modal.metadata;
    const before = management.requireChanged(isCurrent ? edited : undefined);
    const mustTell = before.channel !== order.channel || before.paused?.reason === 'bot-removed';
    if (mustTell && !(await announce({ ...before, ...order }, context))) return invite(order, context);
    return renderSaved(management.requireChanged(await life.change(before, order, person)), now());
  }

  /** False if the bot cannot write there. */
  async function announce(item: Item, { person, post }: Context): Promise<boolean> {
    return item.channel === person.userId || post(item.channel, renderAnnouncement(item, person.userId));
  }

  function invite({ channel }: Order, context: Context): FormResult {
    const problem = `The bot can't post in <#${channel}>, so nothing was saved. Invite it there (\`/invite @cdn\`), then save again.`;
    return showAgain(problem, context);
  }

  /** The form with what is wrong above it: it keeps what was filled in. */
  function showAgain(problem: string, context: Context): FormResult {
    const says = `:warning: ${problem}`;
    const { metadata: note, fields = {} } = context.modal ?? {};
    return { modal: renderForm(fields, { note, says }, context), message: message(problem, [section(says)]) };
  }

  return { findEdited, openEdit, redraw: redraw satisfies Action<Needs>['redraw'], save, showAgain };
}

/** Which one a form changes, and its revision when the form was opened. */
function writeNote({ id, revision }: Scheduled): string {
  return `${id}|${revision}`;
}

/** The channel in which somebody opens a form for a new one; undefined in a conversation between people. */
export function findOwnChannel({ channelId }: Context): string | undefined {
  return channelId !== undefined && /^[CG]/u.test(channelId) ? channelId : undefined;
}
