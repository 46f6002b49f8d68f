import type { Fields, Service } from '../../commands/context.ts';
import type { Form } from '../../commands/define.ts';
import { loadHome } from '../../commands/home.ts';
import { hasCdnKey } from '../../commands/key-in-text.ts';
import { features, findAction, findCommand, findForm, findShortcut } from '../../commands/registry.ts';
import { parseWords } from '../../commands/words.ts';
import { UserError } from '../../errors.ts';
import type { FormResult, Message } from '../../views/blocks/message.ts';
import { deliver, type Interaction, perform, type SlackDeps } from './dispatch.ts';
import {
  answerInModal,
  findModal,
  type SubmittedView,
  waitingView,
  workOfAction,
  workOfCommand,
  workOfShortcut,
} from './modal-flow.ts';
import { readFields, readModalState, readTexts, toModal, updateModal, writeModalState } from './modals.ts';

/** `/cdn …`, acknowledged already. */
export async function runCommand(
  deps: SlackDeps,
  body: { text: string; trigger_id: string; response_url?: string; channel_id?: string },
): Promise<void> {
  const found = findCommand(parseWords(body.text));
  const { command, words } = found;
  const opening = findModal(workOfCommand(found), { triggerId: body.trigger_id, channelId: body.channel_id });
  const outcome = await perform(
    deps,
    {
      kind: 'command',
      feature: command.name,
      requested: command.name,
      body,
      claim: body.trigger_id,
      needs: command.needsFor?.(words) ?? command.needs,
      route: { responseUrl: body.response_url, channelId: body.channel_id },
      // A read does the same twice; what changes something is never repeated by a button.
      retry:
        command.needs === 'read' && body.text.length < 1000
          ? { actionId: 'help:run', value: body.text }
          : undefined,
      beforeAuthorize: opening.beforeAuthorize,
    },
    opening.work,
    opening.onFailure,
  );
  if (outcome === 'answered' && command.changesHome) await redrawHome(deps, body);
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
    /** Of the message the button is in; undefined where only one person sees it. */
    messageTs?: string | undefined;
    /** The modal the button is in. */
    modal?: SubmittedView | undefined;
  },
  raw: object,
): Promise<void> {
  const action = findAction(body.actionId);
  const stands = action?.runsCommand ? findCommand(parseWords(body.value)) : undefined;
  const needs = stands
    ? (stands.command.needsFor?.(stands.words) ?? stands.command.needs)
    : (action?.needsFor?.(body.value) ?? action?.needs ?? 'none');
  const memory = readModalState(body.modal?.private_metadata);
  const channelId = body.channelId ?? memory.channel;
  const opening = findModal(stands ? workOfCommand(stands) : action && workOfAction(action, body.value), {
    triggerId: body.trigger_id,
    channelId,
    modal: body.modal,
    apart: action?.newMessage ?? action?.runsCommand ?? false,
  });
  const outcome = await perform(
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
        ...(action && !action.newMessage && !action.runsCommand ? { replaces: true } : { apart: true }),
      },
      retry: needs === 'read' && action ? { actionId: action.id, value: body.value } : undefined,
      requested: stands?.command.name ?? action?.id.split(':')[0],
      modal: body.modal && { metadata: memory.metadata, fields: fieldsWithoutKeys(body.modal.state?.values) },
      message:
        body.messageTs !== undefined && body.channelId !== undefined
          ? { channel: body.channelId, ts: body.messageTs }
          : undefined,
      beforeAuthorize: opening.beforeAuthorize,
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
  if (outcome === 'answered' && (stands?.command ?? action)?.changesHome) await redrawHome(deps, raw);
}

/** What to acknowledge a submitted form with, decided without any I/O: its field errors, a busy view, or nothing. */
export function readForm(
  view: SubmittedView,
  now: Date,
): { form?: Form<Service>; values?: unknown; reply?: object } {
  const form = findForm(view.callback_id);
  if (!form) {
    const gone = { text: 'This form is from an older version of the bot. Type `/cdn` and start again.' };
    return { reply: { response_action: 'update', view: toModal('Too old', gone) } };
  }
  const keys = form.takesKeys ? {} : keyErrors(readTexts(view.state?.values));
  if (Object.keys(keys).length > 0) return { reply: { response_action: 'errors', errors: keys } };
  const { metadata, channel } = readModalState(view.private_metadata);
  const read = form.read(readFields(view.state?.values), { now, metadata });
  if ('errors' in read) return { reply: { response_action: 'errors', errors: read.errors } };
  if ('again' in read)
    return { reply: { response_action: 'update', view: writeModalState(read.again, channel) } };
  return {
    form,
    values: read.values,
    ...(stays(form, view)
      ? {
          reply: {
            response_action: 'update',
            view: form.loadingView ?? waitingView(view.title?.text ?? 'CDN'),
          },
        }
      : {}),
  };
}

/** By block, where a key was typed: nothing of it goes anywhere. */
function keyErrors(texts: Readonly<Record<string, string>>): Record<string, string> {
  const held = Object.entries(texts).filter(([, typed]) => hasCdnKey(typed));
  const error =
    'This looks like a CDN key. Take it out: nothing of it was kept. Keys go into /cdn connect and nowhere else.';
  return Object.fromEntries(held.map(([block]) => [block, error]));
}

/** What an open form holds when a button in it is pressed; a key in it is left out, so that it is drawn nowhere. */
function fieldsWithoutKeys(values: unknown): Fields {
  const held = keyErrors(readTexts(values));
  const fields = Object.entries(readFields(values));
  return Object.fromEntries(fields.map(([block, value]) => [block, block in held ? undefined : value]));
}

/** Whether the answer is shown in the form itself: where it says so, and where a message would be out of sight. */
function stays(form: Form<Service>, view: SubmittedView): boolean {
  const inChannel = readModalState(view.private_metadata).channel !== undefined;
  return form.loadingView !== undefined || !inChannel || Boolean(view.previous_view_id);
}

/** The work of a submitted form, acknowledged already. Its outcome is shown in the form if that stays open. */
export async function runForm(
  deps: SlackDeps,
  form: Form<Service>,
  values: unknown,
  view: SubmittedView,
  raw: object,
): Promise<void> {
  const memory = readModalState(view.private_metadata);
  const showInModal = async (message: Message, { client }: Pick<Interaction, 'client'>): Promise<boolean> =>
    stays(form, view) && updateModal(await client(), view.id, toModal('That did not work', message));
  const outcome = await perform(
    deps,
    {
      kind: 'form',
      feature: form.id,
      requested: form.id.split(':')[0],
      body: raw,
      claim: `${view.id}:${view.hash ?? ''}:${'trigger_id' in raw ? String(raw.trigger_id) : ''}`,
      needs: form.needs,
      route: { channelId: memory.channel },
      modal: { metadata: memory.metadata, fields: readFields(view.state?.values) },
    },
    async (turn) => {
      const result = await form.run(values, turn.context);
      if (!isFormResult(result)) {
        const { channel } = memory;
        return deliver(result, stays(form, view) ? answerInModal(view, turn, channel) : turn.responder);
      }
      const next = writeModalState(result.modal, memory.channel);
      const shown = await updateModal(await turn.client(), view.id, next);
      // Whoever closed the form meanwhile still hears how it ended.
      if (!shown) await turn.responder.send(result.message);
    },
    showInModal,
  );
  if (outcome === 'answered' && form.changesHome) await redrawHome(deps, raw);
}

function isFormResult(result: object): result is FormResult {
  return 'modal' in result;
}

/** The Home tab was opened. */
export async function runHome(deps: SlackDeps, raw: { event_id?: string | undefined }): Promise<void> {
  await perform(deps, { ...drawsHome, body: raw, claim: raw.event_id }, publishHome);
}

/** Somebody did what shows in their Home tab. Nobody asked for it, so a failure is told to the log alone. */
export async function redrawHome(deps: SlackDeps, raw: object): Promise<void> {
  await perform(deps, { ...drawsHome, body: raw, claim: undefined }, publishHome, async () => true);
}

const drawsHome = { kind: 'home', feature: 'home', needs: 'none', route: {} } as const;

async function publishHome({ context, client }: Interaction): Promise<void> {
  const { userId } = context.person;
  await (await client()).views.publish({ user_id: userId, view: await loadHome(context, features) });
}

/** An entry of Slack's ⚡ menu or of a message's menu, acknowledged already. */
export async function runShortcut(
  deps: SlackDeps,
  body: {
    callback_id: string;
    trigger_id: string;
    response_url?: string | undefined;
    channel?: { readonly id: string } | undefined;
    /** The message whose menu it was. */
    message?: unknown;
  },
): Promise<void> {
  const shortcut = findShortcut(body.callback_id);
  const channelId = body.channel?.id;
  const opening = findModal(shortcut && workOfShortcut(shortcut, body.message), {
    triggerId: body.trigger_id,
    channelId,
  });
  await perform(
    deps,
    {
      kind: 'shortcut',
      feature: shortcut?.id ?? 'unknown',
      requested: shortcut?.id.split(':')[0],
      body,
      claim: body.trigger_id,
      needs: shortcut?.needs ?? 'none',
      route: { responseUrl: body.response_url, channelId },
      beforeAuthorize: opening.beforeAuthorize,
    },
    async (turn) => {
      if (!shortcut)
        throw new UserError(
          'This shortcut is from another version of the bot.',
          'Type `/cdn` to see what there is.',
        );
      return opening.work(turn);
    },
    opening.onFailure,
  );
}
