import type { Option } from '@slack/types';
import type { Form, FormResult, Picker } from '../commands/define.ts';
import { findAction, findCommand, findForm, findPicker, home } from '../commands/registry.ts';
import { parseWords } from '../commands/words.ts';
import { UserError } from '../errors.ts';
import type { Message } from '../views/message.ts';
import { deliver, perform, type SlackDeps, type Turn } from './dispatch.ts';
import { asModal, fieldsOf, memoryOf, remembering, updateModal } from './modals.ts';
import { openingOf, pressedWork, type SubmittedView, typedWork } from './opening.ts';

/** `/cdn …`, acknowledged already. */
export async function runCommand(
  deps: SlackDeps,
  body: { text: string; trigger_id: string; response_url?: string; channel_id?: string },
): Promise<void> {
  const found = findCommand(parseWords(body.text));
  const { command } = found;
  const opening = openingOf(typedWork(found), { triggerId: body.trigger_id, channelId: body.channel_id });
  await perform(
    deps,
    {
      kind: 'command',
      feature: command.name,
      asks: command.name,
      body,
      claim: body.trigger_id,
      needs: command.needs,
      route: { responseUrl: body.response_url, channelId: body.channel_id },
      // A read does the same twice; what changes something is never repeated by a button.
      retry:
        command.needs === 'read' && body.text.length < 1000
          ? { actionId: 'help:run', value: body.text }
          : undefined,
      first: opening.first,
    },
    opening.work,
    opening.onFailure,
  );
}

/** A press of a button or a choice in a menu, acknowledged already. */
export async function runAction(
  deps: SlackDeps,
  body: {
    actionId: string;
    actionTs: string;
    value: string;
    trigger_id: string;
    response_url?: string | undefined;
    channelId?: string | undefined;
    /** The modal the button is in. */
    modal?: SubmittedView | undefined;
  },
  raw: unknown,
): Promise<void> {
  const action = findAction(body.actionId);
  const stands = action?.types ? findCommand(parseWords(body.value)) : undefined;
  const needs = stands?.command.needs ?? action?.needs ?? 'none';
  const memory = memoryOf(body.modal?.private_metadata);
  const channelId = body.channelId ?? memory.channel;
  const opening = openingOf(stands ? typedWork(stands) : action && pressedWork(action, body.value), {
    triggerId: body.trigger_id,
    channelId,
    modal: body.modal,
  });
  await perform(
    deps,
    {
      kind: 'action',
      feature: action?.id ?? 'unknown',
      body: raw,
      claim: `${body.trigger_id}:${body.actionTs}:${body.actionId}`,
      needs,
      route: {
        responseUrl: body.response_url,
        channelId,
        ...(action && !action.apart && !action.types ? { replaces: true } : { apart: true }),
      },
      retry: needs === 'read' && action ? { actionId: action.id, value: body.value } : undefined,
      asks: stands?.command.name ?? action?.id.split(':')[0],
      modal: body.modal && { note: memory.note, fields: fieldsOf(body.modal.state?.values) },
      first: opening.first,
    },
    async (turn) => {
      if (!action)
        throw new UserError(
          'This button is from an older version of the bot.',
          'Type `/cdn` and start again.',
        );
      return opening.work(turn);
    },
    opening.onFailure,
  );
}

/** What to acknowledge a submitted form with, decided without any I/O: its field errors, a busy view, or nothing. */
export function readForm(view: SubmittedView, now: Date): { form?: Form; values?: unknown; reply?: object } {
  const form = findForm(view.callback_id);
  if (!form) {
    const gone = { text: 'This form is from an older version of the bot. Type `/cdn` and start again.' };
    return { reply: { response_action: 'update', view: asModal('Too old', gone) } };
  }
  const { note } = memoryOf(view.private_metadata);
  const read = form.read(fieldsOf(view.state?.values), { now, note });
  if ('errors' in read) return { reply: { response_action: 'errors', errors: read.errors } };
  return {
    form,
    values: read.values,
    ...(form.busy ? { reply: { response_action: 'update', view: form.busy } } : {}),
  };
}

/** The work of a submitted form, acknowledged already. Its outcome is shown in the form if that stays open. */
export async function runForm(
  deps: SlackDeps,
  form: Form,
  values: unknown,
  view: SubmittedView,
  raw: object,
): Promise<void> {
  const memory = memoryOf(view.private_metadata);
  const showInModal = async (message: Message, { client }: Pick<Turn, 'client'>): Promise<boolean> =>
    form.busy !== undefined && updateModal(await client(), view.id, asModal('That did not work', message));
  await perform(
    deps,
    {
      kind: 'form',
      feature: form.id,
      asks: form.id.split(':')[0],
      body: raw,
      claim: `${view.id}:${view.hash ?? ''}:${'trigger_id' in raw ? String(raw.trigger_id) : ''}`,
      needs: form.needs,
      route: { channelId: memory.channel },
      modal: { note: memory.note, fields: fieldsOf(view.state?.values) },
    },
    async (turn) => {
      const result = await form.run(values, turn.context);
      if (!isFormResult(result)) return deliver(result, turn.responder);
      const next = remembering(result.modal, memory.channel);
      const shown = await updateModal(await turn.client(), view.id, next);
      // Whoever closed the form meanwhile still hears how it ended.
      if (!shown) await turn.responder.send(result.message);
    },
    showInModal,
  );
}

function isFormResult(result: object): result is FormResult {
  return 'modal' in result;
}

// Slack waits three seconds for the options of a menu (slack.md §3.1).
const pickerMs = 2_500;

/** The options of a menu with search. Answers within Slack's time, whatever happens. */
export async function runPicker(
  deps: SlackDeps,
  body: { actionId: string; typed: string; channelId: string | undefined },
  raw: unknown,
): Promise<readonly Option[]> {
  const picker = findPicker(body.actionId);
  if (!picker) return [note('This menu is from an older version of the bot')];
  const { channelId } = body;
  let options: readonly Option[] = [];
  const work = perform(
    deps,
    {
      kind: 'picker',
      feature: picker.id,
      body: raw,
      claim: undefined,
      needs: picker.needs,
      route: { channelId },
    },
    async ({ context }) => {
      options = await (picker satisfies Picker).run(body.typed, context);
    },
    async (message) => {
      options = [note(message.text)];
      return true;
    },
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      options = [note('Still loading: type another letter in a moment')];
      resolve();
    }, pickerMs);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
  return options;
}

/** A line in a menu that tells instead of offering. Choosing it does no harm: no id looks like it. */
function note(text: string): Option {
  return { text: { type: 'plain_text', text: text.slice(0, 75) }, value: 'note' };
}

/** The Home tab was opened. */
export async function runHome(
  deps: SlackDeps,
  raw: { event_id?: string | undefined },
  userId: string,
): Promise<void> {
  await perform(
    deps,
    { kind: 'home', feature: 'home', body: raw, claim: raw.event_id, needs: 'none', route: {} },
    async ({ context, client }) => {
      await (await client()).views.publish({ user_id: userId, view: await home(context) });
    },
  );
}
