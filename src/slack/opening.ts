import type { ModalView } from '@slack/types';
import type { Action, Answer, Command, Context, Setup } from '../commands/define.ts';
import type { Words } from '../commands/words.ts';
import { UserError } from '../errors.ts';
import { carrying } from '../secret.ts';
import type { Message } from '../views/message.ts';
import { type Delivery, deliver, type Turn } from './dispatch.ts';
import { asModal, openModal, remembering, updateModal } from './modals.ts';
import type { Responder } from './responder.ts';

/** A modal as Slack sends it, with what was filled in. */
export interface SubmittedView {
  readonly id: string;
  readonly title?: { readonly text: string } | undefined;
  readonly hash?: string | undefined;
  readonly callback_id: string;
  readonly private_metadata?: string | undefined;
  readonly state?: { readonly values?: unknown } | undefined;
}

/** What a command or a button does: a modal, filled at once or later, or an answer. */
interface Work {
  readonly name: string;
  readonly modal?: ((setup: Setup) => ModalView | undefined) | undefined;
  readonly fill?: ((context: Context) => Promise<ModalView>) | undefined;
  readonly run?: ((context: Context) => Answer) | undefined;
  readonly redraw?: ((context: Context) => Promise<ModalView>) | undefined;
}

export function typedWork({ command, words }: { command: Command; words: Words }): Work {
  const { name, modal, fill, run } = command;
  return {
    name,
    modal: modal && ((setup) => modal(words, setup)),
    fill: fill && ((context) => fill(words, context)),
    run: run && ((context) => run(words, context)),
  };
}

export function pressedWork({ id, modal, fill, run, redraw }: Action, value: string): Work {
  return {
    name: id,
    modal: modal && ((setup) => modal(value, setup)),
    fill: fill && ((context) => fill(value, context)),
    run: run && ((context) => run(value, context)),
    redraw: redraw && ((context) => redraw(value, context)),
  };
}

type Opening = Pick<Delivery, 'first'> & {
  readonly work: (turn: Turn) => Promise<void>;
  readonly onFailure: (message: Message, turn: Pick<Turn, 'client'>) => Promise<boolean>;
};

/**
 * The steps of one command or press. A modal that has to be filled opens as a skeleton before anything is looked up
 * (a trigger lives for three seconds), and what fills it, or why nothing does, takes its place. What is pressed in a
 * modal is answered there.
 */
export function openingOf(
  work: Work | undefined,
  at: { triggerId: string; channelId: string | undefined; modal?: SubmittedView | undefined },
): Opening {
  const where = { channelId: at.channelId, above: at.modal?.id };
  // The skeleton, once it is open: what follows is shown in it.
  let open: { readonly viewId: string | undefined } | undefined;
  const shows = work?.fill && work.modal;
  return {
    first:
      shows &&
      (async ({ client, setup }) => {
        const skeleton = shows(setup);
        if (skeleton) open = { viewId: await openModal(await client(), at.triggerId, skeleton, where) };
      }),
    async work(turn) {
      if (work?.redraw && at.modal)
        return fillModal(at.modal.id, await work.redraw(turn.context), turn, where);
      if (open && work?.fill) return fillModal(open.viewId, await work.fill(turn.context), turn, where);
      const modal = work?.modal?.(turn.context);
      if (modal) return void (await openModal(await turn.client(), at.triggerId, modal, where));
      if (!work?.run) throw new Error(`${work?.name ?? 'nothing'} has nothing to run`);
      return deliver(work.run(turn.context), at.modal ? inModal(at.modal, turn) : turn.responder);
    },
    async onFailure(message, { client }) {
      const viewId = open ? open.viewId : at.modal?.id;
      if (viewId === undefined) return false;
      return updateModal(await client(), viewId, asModal('That did not work', message));
    },
  };
}

async function fillModal(
  viewId: string | undefined,
  filled: ModalView,
  { client }: Turn,
  { channelId }: { readonly channelId: string | undefined },
): Promise<void> {
  if (viewId === undefined) {
    throw new UserError('The form opened but could not be filled.', 'Close it and try the same again.');
  }
  // Somebody who closed it meanwhile does not want it any more.
  await updateModal(await client(), viewId, remembering(filled, channelId));
}

/** Answers in the modal a button is in; to somebody who closed it, privately as ever. */
function inModal(modal: SubmittedView, { client, responder }: Turn): Responder {
  const send = async (message: Message): Promise<void> => {
    const view = asModal(modal.title?.text ?? 'Done', message);
    const shown = await carrying(message.carries ?? [], async () =>
      updateModal(await client(), modal.id, view),
    );
    if (!shown) await responder.send(message);
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
}
