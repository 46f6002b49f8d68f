import type { ModalView } from '@slack/types';
import type { Action, Answer, Command, Context, Setup, Shortcut } from '../commands/define.ts';
import type { Words } from '../commands/words.ts';
import { UserError } from '../errors.ts';
import { carrying } from '../secret.ts';
import type { Message } from '../views/message.ts';
import { type Delivery, deliver, type Turn } from './dispatch.ts';
import { asModal, openModal, remembering, updateModal } from './modals.ts';
import { warmMenus } from './pickers.ts';
import type { Responder } from './responder.ts';

/** A modal as Slack sends it, with what was filled in. */
export interface SubmittedView {
  readonly id: string;
  readonly title?: { readonly text: string } | undefined;
  readonly hash?: string | undefined;
  readonly callback_id: string;
  readonly private_metadata?: string | undefined;
  /** The modal below it. */
  readonly previous_view_id?: string | null | undefined;
  readonly state?: { readonly values?: unknown } | undefined;
}

/** What a command, a button or a shortcut does: a modal, filled at once or later, or an answer. */
interface Work {
  readonly name: string;
  /** Above what it answers in a modal of its own. */
  readonly title?: string | undefined;
  readonly modal?: ((setup: Setup) => ModalView | undefined) | undefined;
  /** The modal opens before anything is looked up, and `run` answers in it. */
  readonly early?: true;
  readonly fill?: ((context: Context) => Promise<ModalView>) | undefined;
  readonly run?: ((context: Context) => Answer | undefined) | undefined;
  readonly redraw?: ((context: Context) => Promise<ModalView | undefined>) | undefined;
  readonly steady?: true | undefined;
}

export function typedWork({ command, words }: { command: Command; words: Words }): Work {
  const { name, label, modal, fill, run } = command;
  return {
    name,
    title: label ?? name,
    modal: modal && ((setup) => modal(words, setup)),
    fill: fill && ((context) => fill(words, context)),
    run: run && ((context) => run(words, context)),
  };
}

export function pressedWork({ id, modal, fill, run, redraw, steady }: Action, value: string): Work {
  return {
    name: id,
    modal: modal && ((setup) => modal(value, setup)),
    fill: fill && ((context) => fill(value, context)),
    run: run && ((context) => run(value, context)),
    redraw: redraw && ((context) => redraw(value, context)),
    steady,
  };
}

export function shortcutWork({ id, modal, fill, run }: Shortcut, message: unknown): Work {
  return {
    name: id,
    modal: () => modal(message),
    early: true,
    fill,
    run: run && ((context) => run(message, context)),
  };
}

type Opening = Pick<Delivery, 'first'> & {
  readonly work: (turn: Turn) => Promise<void>;
  readonly onFailure: (message: Message, turn: Pick<Turn, 'client'>) => Promise<boolean>;
};

interface At {
  readonly triggerId: string;
  readonly channelId: string | undefined;
  /** The modal a button is in. */
  readonly modal?: SubmittedView | undefined;
  /** What the button answers leaves that modal as it is: it comes on top, with a way back. */
  readonly apart?: boolean;
}

/** A modal that was opened for this work. */
interface Opened {
  readonly viewId: string | undefined;
  readonly title: string;
  readonly fill: Work['fill'];
}

/**
 * The steps of one command, press or shortcut. A modal that has to be filled opens as a skeleton before anything is
 * looked up (a trigger lives for three seconds), and what fills it, or why nothing does, takes its place. What is
 * pressed in a modal is answered there, or on top of it.
 */
export function openingOf(work: Work | undefined, at: At): Opening {
  const where = { channelId: at.channelId, above: at.modal?.id };
  let open: Opened | undefined;
  return {
    async first({ client, setup }) {
      const skeleton = skeletonOf(work, at, setup);
      if (!skeleton) return;
      const viewId = await openModal(await client(), at.triggerId, skeleton.view, where);
      open = { viewId, title: skeleton.view.title.text, fill: skeleton.fill };
    },
    async work(turn) {
      if (work?.redraw && at.modal) {
        const { id, hash } = at.modal;
        const drawn = await work.redraw(turn.context);
        // Drawn from what another press has changed meanwhile, it would undo that: what stands there stays.
        return drawn && showFilled(id, drawn, turn, at.channelId, work.steady ? undefined : hash);
      }
      const modal = work?.modal?.(turn.context);
      if (modal) warmMenus(modal, turn.context);
      if (open) return showIn(open, work, turn, at.channelId);
      if (modal) return void (await openModal(await turn.client(), at.triggerId, modal, where));
      const answer = work?.run?.(turn.context);
      if (!answer) throw new Error(`${work?.name ?? 'nothing'} has nothing to run`);
      return deliver(answer, at.modal ? inModal(at.modal, turn, at.channelId) : turn.responder);
    },
    async onFailure(message, { client }) {
      const viewId = open ? open.viewId : at.modal?.id;
      if (viewId === undefined) return false;
      return updateModal(await client(), viewId, asModal('That did not work', message));
    },
  };
}

/** What opens before anything is looked up, where something does, and what will fill it. */
function skeletonOf(
  work: Work | undefined,
  at: At,
  setup: Setup,
): { readonly view: ModalView; readonly fill?: Work['fill'] } | undefined {
  const view = work?.modal?.(setup);
  if (view) return work?.fill || work?.early ? { view, fill: work.fill } : undefined;
  return work?.run && at.modal && at.apart ? { view: waiting(work.title ?? 'CDN') } : undefined;
}

async function showIn(
  { viewId, title, fill }: Opened,
  work: Work | undefined,
  turn: Turn,
  channelId: string | undefined,
): Promise<void> {
  if (viewId === undefined) {
    throw new UserError('The form opened but could not be filled.', 'Close it and try the same again.');
  }
  if (fill) return showFilled(viewId, await fill(turn.context), turn, channelId);
  const answer = work?.run?.(turn.context);
  if (answer) await deliver(answer, inModal({ id: viewId, title: { text: title } }, turn, channelId));
}

async function showFilled(
  viewId: string,
  filled: ModalView,
  { client, context }: Turn,
  channelId: string | undefined,
  hash?: string,
): Promise<void> {
  warmMenus(filled, context);
  // Somebody who closed it meanwhile does not want it any more.
  await updateModal(await client(), viewId, remembering(filled, channelId), hash);
}

/** Answers in a modal that is open; to somebody who closed it, privately as ever. */
export function inModal(
  modal: Pick<SubmittedView, 'id' | 'title'>,
  { client, answering }: Pick<Turn, 'client' | 'answering'>,
  channelId: string | undefined,
): Responder {
  return answering((plain) => {
    const send = async (message: Message): Promise<void> => {
      const view = remembering(asModal(titleOf(modal), message), channelId);
      const shown = await carrying(message.carries ?? [], async () =>
        updateModal(await client(), modal.id, view),
      );
      if (!shown) await plain.send(message);
    };
    return {
      send,
      sendBeside: send,
      async sendUnlessLastUse(message) {
        await send(message);
        return true;
      },
      signOfLife: async () => undefined,
      // What is in the modal is drawn anew each time.
      replaces: () => true,
    };
  });
}

function titleOf(modal: Pick<SubmittedView, 'title'>): string {
  return modal.title?.text ?? 'Done';
}

/** Stands in a modal until its answer is there. */
export function waiting(title: string): ModalView {
  return asModal(title.charAt(0).toUpperCase() + title.slice(1), { text: 'Working on it…' });
}
