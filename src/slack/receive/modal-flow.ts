import type { ModalView } from '@slack/types';
import type { Service, With } from '../../commands/context.ts';
import type { Action, Answer, Command, Setup, Shortcut } from '../../commands/define.ts';
import type { Words } from '../../commands/words.ts';
import { UserError } from '../../errors.ts';
import { allowSecrets } from '../../secrets/secret.ts';
import type { Message } from '../../views/blocks/message.ts';
import type { Responder } from '../send/responder.ts';
import { type Delivery, deliver, type Interaction } from './dispatch.ts';
import { openModal, toModal, updateModal, writeModalState } from './modals.ts';
import { prefetchMenus } from './pickers.ts';

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
  readonly fill?: ((context: With<Service>) => Promise<ModalView>) | undefined;
  readonly run?: ((context: With<Service>) => Answer | undefined) | undefined;
  readonly redraw?: ((context: With<Service>) => Promise<ModalView | undefined>) | undefined;
  readonly steady?: true | undefined;
}

export function workOfCommand({ command, words }: { command: Command<Service>; words: Words }): Work {
  const { name, label, modal, load: fill, run } = command;
  return {
    name,
    title: label ?? name,
    modal: modal && ((setup) => modal(words, setup)),
    fill: fill && ((context) => fill(words, context)),
    run: run && ((context) => run(words, context)),
  };
}

export function workOfAction(
  { id, modal, load: fill, run, redraw, preservesInputs: steady }: Action<Service>,
  value: string,
): Work {
  return {
    name: id,
    modal: modal && ((setup) => modal(value, setup)),
    fill: fill && ((context) => fill(value, context)),
    run: run && ((context) => run(value, context)),
    redraw: redraw && ((context) => redraw(value, context)),
    steady,
  };
}

export function workOfShortcut({ id, modal, load: fill, run }: Shortcut<Service>, message: unknown): Work {
  return {
    name: id,
    modal: () => modal(message),
    early: true,
    fill,
    run: run && ((context) => run(message, context)),
  };
}

type Opening = Pick<Delivery, 'beforeAuthorize'> & {
  readonly work: (turn: Interaction) => Promise<void>;
  readonly onFailure: (message: Message, turn: Pick<Interaction, 'client'>) => Promise<boolean>;
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
export function findModal(work: Work | undefined, at: At): Opening {
  const where = { channelId: at.channelId, above: at.modal?.id };
  let open: Opened | undefined;
  return {
    async beforeAuthorize({ client, setup }) {
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
      if (modal) prefetchMenus(modal, turn.context);
      if (open) return showIn(open, work, turn, at.channelId);
      if (modal) return void (await openModal(await turn.client(), at.triggerId, modal, where));
      const answer = work?.run?.(turn.context);
      if (!answer) throw new Error(`${work?.name ?? 'nothing'} has nothing to run`);
      return deliver(answer, at.modal ? answerInModal(at.modal, turn, at.channelId) : turn.responder);
    },
    async onFailure(message, { client }) {
      const viewId = open ? open.viewId : at.modal?.id;
      if (viewId === undefined) return false;
      return updateModal(await client(), viewId, toModal('That did not work', message));
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
  return work?.run && at.modal && at.apart ? { view: waitingView(work.title ?? 'CDN') } : undefined;
}

async function showIn(
  { viewId, title, fill }: Opened,
  work: Work | undefined,
  turn: Interaction,
  channelId: string | undefined,
): Promise<void> {
  if (viewId === undefined) {
    throw new UserError('The form opened but could not be filled.', 'Close it and try the same again.');
  }
  if (fill) return showFilled(viewId, await fill(turn.context), turn, channelId);
  const answer = work?.run?.(turn.context);
  if (answer) await deliver(answer, answerInModal({ id: viewId, title: { text: title } }, turn, channelId));
}

async function showFilled(
  viewId: string,
  filled: ModalView,
  { client, context }: Interaction,
  channelId: string | undefined,
  hash?: string,
): Promise<void> {
  prefetchMenus(filled, context);
  // Somebody who closed it meanwhile does not want it any more.
  await updateModal(await client(), viewId, writeModalState(filled, channelId), hash);
}

/** Answers in a modal that is open; to somebody who closed it, privately as ever. */
export function answerInModal(
  modal: Pick<SubmittedView, 'id' | 'title'>,
  { client, wrapResponder: answering }: Pick<Interaction, 'client' | 'wrapResponder'>,
  channelId: string | undefined,
): Responder {
  return answering((plain) => {
    const send = async (message: Message): Promise<void> => {
      const view = writeModalState(toModal(titleOf(modal), message), channelId);
      const shown = await allowSecrets(message.carries ?? [], async () =>
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
export function waitingView(title: string): ModalView {
  return toModal(title.charAt(0).toUpperCase() + title.slice(1), { text: 'Working on it…' });
}
