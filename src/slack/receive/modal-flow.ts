import type { ModalView } from '@slack/types';
import type { Action, Answer, Context, Entry, Setup } from '../../commands/define.ts';
import { findPicker } from '../../commands/registry.ts';
import { UserError } from '../../errors.ts';
import { allowSecrets } from '../../secrets/secret.ts';
import { capitalize } from '../../views/blocks/text.ts';
import { renderFormOffer } from '../../views/conversation.ts';
import type { Responder } from '../send/responder.ts';
import {
  openModal,
  type Place,
  type SubmittedView,
  toModal,
  updateModal,
  writeModalState,
} from './modals.ts';
import { type Interaction, sendAnswer, type Work } from './perform.ts';

/** A command, an action or a shortcut. */
interface Opening<Input> extends Omit<Entry<Input>, 'run'>, Pick<Action, 'preservesInputs'> {
  readonly run?: (input: Input, context: Context) => Answer | undefined;
  readonly redraw?: (input: Input, context: Context) => Promise<ModalView | undefined>;
}

/** Where a command, press or shortcut came from. */
interface Origin {
  /** Undefined for what was written in a message, which opens no modal. */
  readonly triggerId: string | undefined;
  readonly place: Place;
  /** The written words, for the button that opens their modal. */
  readonly written?: string | undefined;
  /** `modal` of the entry opens before authorization, and `run` answers in it. */
  readonly opensEarly?: true;
  /** The modal that holds the button. */
  readonly below?: SubmittedView | undefined;
  /** The title of an answer that opens on top of that modal and leaves it as it is. */
  readonly newModal?: string | undefined;
}

/**
 * The steps of one command, press or shortcut. A modal that must be loaded opens as a skeleton before anything is
 * looked up, since a trigger lives for three seconds; its content, or the failure, replaces it. A button in a modal is
 * answered in that modal, or on top of it.
 */
export function createModalFlow<Input>(entry: Opening<Input>, input: Input, origin: Origin) {
  const { triggerId, place, below, newModal, written = '' } = origin;
  const where = { ...place, above: below?.id };
  /** The modal that was opened before authorization. Its id is undefined if Slack did not say it. */
  let opened: { readonly id: string | undefined; readonly title: string } | undefined;

  const findSkeleton = (setup: Setup): ModalView | undefined => {
    const view = entry.modal?.(input, setup);
    if (view) return entry.load || origin.opensEarly ? view : undefined;
    return entry.run && below && newModal !== undefined ? renderWaiting(newModal) : undefined;
  };
  const show = async (viewId: string, view: ModalView, turn: Interaction, hash?: string): Promise<void> => {
    prefetchMenus(view, turn.context);
    // If the person closed the modal meanwhile, nothing is shown.
    await updateModal(await turn.client(), viewId, writeModalState(view, place), hash);
  };

  const flow: Pick<Work, 'beforeAuthorize' | 'run' | 'showFailure'> = {
    async beforeAuthorize({ client, setup }) {
      const skeleton = findSkeleton(setup);
      if (!skeleton || triggerId === undefined) return;
      opened = {
        id: await openModal(await client(), triggerId, skeleton, where),
        title: skeleton.title.text,
      };
    },
    async run(turn) {
      const { context, client, responder } = turn;
      if (entry.redraw && below) {
        const view = await entry.redraw(input, context);
        // With the hash, a view drawn before another press was handled does not undo it.
        if (view) await show(below.id, view, turn, entry.preservesInputs ? undefined : below.hash);
        return;
      }
      const modal = entry.modal?.(input, context);
      if (modal && triggerId === undefined)
        return sendAnswer(renderFormOffer(modal.title.text, written), responder);
      if (modal) prefetchMenus(modal, context);
      if (modal && triggerId !== undefined && !opened)
        return void (await openModal(await client(), triggerId, modal, where));
      if (opened && opened.id === undefined)
        throw new UserError('The form opened but could not be filled.', 'Close it and try the same again.');
      if (opened?.id && modal && entry.load) return show(opened.id, await entry.load(input, context), turn);
      const answer = entry.run?.(input, context);
      // The modal of a shortcut may be all of its answer.
      if (!answer) return;
      if (opened?.id) return sendAnswer(answer, answerInModal(opened.id, opened.title, turn, place));
      const inBelow = below && answerInModal(below.id, below.title?.text, turn, place);
      return sendAnswer(answer, inBelow ?? responder);
    },
    async showFailure(message, { client }) {
      const viewId = opened ? opened.id : below?.id;
      if (viewId === undefined) return false;
      return updateModal(await client(), viewId, toModal(message.title ?? 'That did not work', message));
    },
  };
  return flow;
}

/** Starts to read in the background what the menus of an opened form will ask for next. */
function prefetchMenus(view: ModalView, context: Context): void {
  for (const block of view.blocks) {
    if (!('element' in block) || block.element.type !== 'external_select') continue;
    findPicker(block.element.action_id ?? '')?.prefetch?.(context);
  }
}

/** Answers in an open modal; privately as a message if the person closed it. */
export function answerInModal(
  viewId: string,
  title: string | undefined,
  { client, wrapResponder }: Pick<Interaction, 'client' | 'wrapResponder'>,
  place: Place,
): Responder {
  return wrapResponder((plain) => ({
    async send(message, as) {
      if (as === 'progress') return false;
      const view = writeModalState(toModal(title ?? 'Done', message), place);
      const shown = await allowSecrets(message.carries ?? [], async () =>
        updateModal(await client(), viewId, view),
      );
      return shown || plain.send(message);
    },
    replaces: () => true,
  }));
}

/** Shown in a modal until its answer is ready. */
export function renderWaiting(title: string): ModalView {
  return toModal(capitalize(title), { text: 'Working on it…' });
}
