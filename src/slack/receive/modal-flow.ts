import type { ModalView } from '@slack/types';
import type { Service, With } from '../../commands/context.ts';
import type { Action, Answer, Command, Setup, Shortcut } from '../../commands/define.ts';
import { findPicker } from '../../commands/registry.ts';
import type { Words } from '../../commands/words.ts';
import { UserError } from '../../errors.ts';
import { allowSecrets } from '../../secrets/secret.ts';
import type { Message } from '../../views/blocks/message.ts';
import type { Responder } from '../send/responder.ts';
import { type Flow, type Interaction, sendAnswer } from './dispatch.ts';
import { openModal, type SubmittedView, toModal, updateModal, writeModalState } from './modals.ts';

/** What a command, button or shortcut does: it opens or redraws a modal, or answers. */
export interface Work {
  readonly name: string;
  /** Title of the answer if it gets a modal of its own. */
  readonly title?: string | undefined;
  readonly modal?: ((setup: Setup) => ModalView | undefined) | undefined;
  /** `modal` opens before authorization, and `run` answers in it. */
  readonly opensEarly?: true;
  readonly load?: ((context: With<Service>) => Promise<ModalView>) | undefined;
  readonly run?: ((context: With<Service>) => Answer | undefined) | undefined;
  readonly redraw?: ((context: With<Service>) => Promise<ModalView | undefined>) | undefined;
  readonly preservesInputs?: true | undefined;
}

export function workOfCommand({ command, words }: { command: Command<Service>; words: Words }): Work {
  const { name, label = name } = command;
  return { name, title: label, ...bindInput(command, words) };
}

export function workOfAction(action: Action<Service>, value: string): Work {
  const { id, redraw, preservesInputs } = action;
  return {
    name: id,
    ...bindInput(action, value),
    redraw: redraw && ((context) => redraw(value, context)),
    preservesInputs,
  };
}

export function workOfShortcut(shortcut: Shortcut<Service>, message: unknown): Work {
  return { name: shortcut.id, opensEarly: true, ...bindInput(shortcut, message) };
}

/** For an id that is not in the registry. */
export function outdatedWork(what: 'button' | 'shortcut'): Work {
  return {
    name: 'unknown',
    run() {
      throw new UserError(
        `This ${what} is from an older version of the bot.`,
        'Type `/cdn` and start again.',
      );
    },
  };
}

function bindInput<Input>(
  entry: {
    readonly modal?: (input: Input, setup: Setup) => ModalView | undefined;
    readonly load?: (input: Input, context: With<Service>) => Promise<ModalView>;
    readonly run?: (input: Input, context: With<Service>) => Answer | undefined;
  },
  input: Input,
): Pick<Work, 'modal' | 'load' | 'run'> {
  const { modal, load, run } = entry;
  return {
    modal: modal && ((setup) => modal(input, setup)),
    load: load && ((context) => load(input, context)),
    run: run && ((context) => run(input, context)),
  };
}

/** Where a command, button or shortcut was used. */
interface Origin {
  readonly triggerId: string;
  readonly channelId: string | undefined;
  /** The modal that holds the button. */
  readonly modal?: SubmittedView | undefined;
  /** The answer leaves that modal as it is and opens on top of it. */
  readonly newModal?: boolean;
}

/** The modal that was opened before authorization. `viewId` is undefined if Slack did not say it. */
interface Opened {
  readonly viewId: string | undefined;
  readonly title: string;
}

/**
 * The steps of one command, press or shortcut. A modal that must be loaded opens as a skeleton before anything is
 * looked up, since a trigger lives for three seconds; its content, or the failure, replaces it. A button in a modal is
 * answered in that modal, or on top of it.
 */
export function createModalFlow(work: Work, origin: Origin): Flow {
  const { triggerId, channelId, modal: below } = origin;
  const where = { channelId, above: below?.id };
  let opened: Opened | undefined;
  return {
    async beforeAuthorize({ client, setup }) {
      const skeleton = findSkeleton(work, origin, setup);
      if (!skeleton) return;
      const viewId = await openModal(await client(), triggerId, skeleton, where);
      opened = { viewId, title: skeleton.title.text };
    },
    async run(turn) {
      const { context, client, responder } = turn;
      if (work.redraw && below) {
        const view = await work.redraw(context);
        // With the hash, a view drawn before another press was handled does not undo it.
        return (
          view && showLoaded(below.id, view, turn, channelId, work.preservesInputs ? undefined : below.hash)
        );
      }
      const modal = work.modal?.(context);
      if (modal) prefetchMenus(modal, context);
      if (opened) return showInOpened(opened, modal ? work.load : undefined, work, turn, channelId);
      if (modal) return void (await openModal(await client(), triggerId, modal, where));
      const answer = work.run?.(context);
      if (!answer) throw new Error(`${work.name} has nothing to run`);
      return sendAnswer(answer, below ? answerInModal(below, turn, channelId) : responder);
    },
    async showFailure(message, { client }) {
      const viewId = opened ? opened.viewId : below?.id;
      if (viewId === undefined) return false;
      return updateModal(await client(), viewId, toModal('That did not work', message));
    },
  };
}

/** The modal to open before authorization, if there is one. */
function findSkeleton(work: Work, { modal, newModal }: Origin, setup: Setup): ModalView | undefined {
  const view = work.modal?.(setup);
  if (view) return work.load || work.opensEarly ? view : undefined;
  return work.run && modal && newModal ? renderWaiting(work.title ?? 'CDN') : undefined;
}

async function showInOpened(
  { viewId, title }: Opened,
  load: Work['load'],
  work: Work,
  turn: Interaction,
  channelId: string | undefined,
): Promise<void> {
  if (viewId === undefined)
    throw new UserError('The form opened but could not be filled.', 'Close it and try the same again.');
  if (load) return showLoaded(viewId, await load(turn.context), turn, channelId);
  const answer = work.run?.(turn.context);
  if (answer)
    await sendAnswer(answer, answerInModal({ id: viewId, title: { text: title } }, turn, channelId));
}

async function showLoaded(
  viewId: string,
  view: ModalView,
  { client, context }: Interaction,
  channelId: string | undefined,
  hash?: string,
): Promise<void> {
  prefetchMenus(view, context);
  // If the person closed the modal meanwhile, nothing is shown.
  await updateModal(await client(), viewId, writeModalState(view, channelId), hash);
}

/** Starts to read in the background what the menus of an opened form will ask for next. */
function prefetchMenus(view: ModalView, context: With<Service>): void {
  for (const block of view.blocks) {
    if (!('element' in block) || block.element.type !== 'external_select') continue;
    findPicker(block.element.action_id ?? '')?.prefetch?.(context);
  }
}

/** Answers in an open modal; privately as a message if the person closed it. */
export function answerInModal(
  modal: Pick<SubmittedView, 'id' | 'title'>,
  { client, wrapResponder }: Pick<Interaction, 'client' | 'wrapResponder'>,
  channelId: string | undefined,
): Responder {
  return wrapResponder((plain) => {
    const send = async (message: Message): Promise<void> => {
      const view = writeModalState(toModal(modal.title?.text ?? 'Done', message), channelId);
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
      showProgress: async () => undefined,
      replaces: () => true,
    };
  });
}

/** Shown in a modal until its answer is ready. */
export function renderWaiting(title: string): ModalView {
  return toModal(title.charAt(0).toUpperCase() + title.slice(1), { text: 'Working on it…' });
}
