import { setTimeout } from 'node:timers/promises';
import type { BlockSuggestion, ViewOutput, ViewSubmitAction } from '@slack/bolt';
import type { Option } from '@slack/types';
import type { Form } from '../../commands/define.ts';
import { findCommandOf, findForm, findPicker } from '../../commands/registry.ts';
import { addTyped } from '../../views/blocks/failure.ts';
import { createNotes, stillReading } from '../../views/blocks/menu.ts';
import { stripMarkup } from '../../views/blocks/text.ts';
import { showsChanges } from './handlers.ts';
import {
  answerInModal,
  findKeys,
  listTyped,
  readFields,
  readModalState,
  renderWaiting,
  type SubmittedView,
  showInForm,
  toBlockErrors,
  toModal,
  updateModal,
  writeModalState,
} from './modals.ts';
import { perform, type SlackDeps, sendAnswer } from './perform.ts';

/** The acknowledgement of a submitted form, without any I/O: field errors, a loading view, or nothing. */
export function readForm(view: SubmittedView, now: Date): { form?: Form; values?: unknown; reply?: object } {
  const form = findForm(view.callback_id);
  if (!form)
    return {
      reply: refuseForm(
        view,
        'Too old',
        'This form is from an older version of the bot. Type /cdn and start again.',
      ),
    };
  const keys = form.takesKeys ? {} : findKeys(view);
  if (Object.keys(keys).length > 0) return { reply: { response_action: 'errors', errors: keys } };
  const { metadata, ...place } = readModalState(view.private_metadata);
  const read = form.read(readFields(view), { now, metadata });
  if ('errors' in read)
    return { reply: { response_action: 'errors', errors: toBlockErrors(read.errors, view) } };
  if ('again' in read)
    return { reply: { response_action: 'update', view: writeModalState(read.again, place) } };
  if (!staysOpen(form, view)) return { form, values: read.values };
  const waiting = form.loadingView ?? renderWaiting(view.title?.text ?? 'CDN');
  return { form, values: read.values, reply: { response_action: 'update', view: waiting } };
}

/** A submitted form, already acknowledged. The answer is shown in the form if that stays open. */
export async function runForm(
  deps: SlackDeps,
  form: Form,
  values: unknown,
  body: ViewSubmitAction,
): Promise<void> {
  const { view } = body;
  const { metadata, ...place } = readModalState(view.private_metadata);
  await perform(
    deps,
    // A form that is sent twice is one request: each new view of it has another hash.
    { kind: 'form', body, claim: `${view.id}:${view.hash}` },
    {
      feature: form.id,
      requested: findCommandOf(form.id),
      needs: form.needs,
      route: place,
      modal: { metadata, fields: readFields(view) },
      async run(turn) {
        const { client, context, responder } = turn;
        const result = await form.run(values, context);
        if (!('modal' in result)) {
          const inForm = staysOpen(form, view) && answerInModal(view.id, view.title.text, turn, place);
          return sendAnswer(result, inForm || responder);
        }
        const shown = await updateModal(await client(), view.id, writeModalState(result.modal, place));
        // The person closed the form meanwhile.
        if (!shown) await responder.send(result.message);
      },
      showFailure: async (_, turn) => staysOpen(form, view) && showInForm(view, turn),
      addTyped: (message) => addTyped(message, listTyped(view)),
      afterwards: showsChanges(deps, body, form),
    },
  );
}

/** The acknowledgement that refuses a form below its first field, so that what was typed stays. */
export function refuseForm(view: SubmittedView | undefined, title: string, text: string): object {
  const [field] = Object.keys(view?.state?.values ?? {});
  return field === undefined
    ? { response_action: 'update', view: toModal(title, { text }) }
    : { response_action: 'errors', errors: { [field]: text } };
}

/** Whether the answer is shown in the form: if the form wants it, or if a message would be out of sight. */
function staysOpen(form: Form, view: SubmittedView): boolean {
  const inChannel = readModalState(view.private_metadata).channelId !== undefined;
  return form.loadingView !== undefined || !inChannel || Boolean(view.previous_view_id);
}

// Slack waits three seconds for the options of a menu; people wait less.
const pickerMs = 1_900;

/** The options of a menu with search. Answers in time, whatever happens. */
export async function runPicker(
  deps: SlackDeps,
  body: { readonly channel?: { readonly id: string } | undefined; readonly view?: ViewOutput },
  { action_id: actionId, value: typed }: Pick<BlockSuggestion, 'action_id' | 'value'>,
): Promise<readonly Option[]> {
  const picker = findPicker(actionId);
  if (!picker) return createNotes(['This menu is from an older version of the bot']);
  const { id: feature, needs } = picker;
  const channelId = body.channel?.id ?? readModalState(body.view?.private_metadata).channelId;
  let options: readonly Option[] = [];
  const work = perform(
    deps,
    { kind: 'picker', body },
    {
      feature,
      needs,
      route: { channelId },
      async run({ context }) {
        options = await picker.run(typed, context);
      },
      async showFailure(message) {
        options = createNotes([stripMarkup(message.text)]);
        return true;
      },
    },
  );
  const late = setTimeout(pickerMs, createNotes([stillReading]), { ref: false });
  return Promise.race([work.then(() => options), late]);
}
