import { loadHome } from '../../commands/home.ts';
import { features, findAction, findCommand, findShortcut } from '../../commands/registry.ts';
import { parseWords } from '../../commands/words.ts';
import type { SlackDeps } from './authorize.ts';
import { type Interaction, perform } from './dispatch.ts';
import { createModalFlow, outdatedWork, workOfAction, workOfCommand, workOfShortcut } from './modal-flow.ts';
import { readFieldsWithoutKeys, readModalState, type SubmittedView } from './modals.ts';

/** `/cdn …`, already acknowledged. */
export async function runCommand(
  deps: SlackDeps,
  body: { text: string; trigger_id: string; response_url?: string; channel_id?: string },
): Promise<void> {
  const { text, trigger_id: triggerId, response_url: responseUrl, channel_id: channelId } = body;
  const found = findCommand(parseWords(text));
  const { command, words } = found;
  const isRepeatable = command.needs === 'read' && text.length < 1000;
  const outcome = await perform(
    deps,
    {
      kind: 'command',
      feature: command.name,
      requested: command.name,
      body,
      claim: triggerId,
      needs: command.needsFor?.(words) ?? command.needs,
      route: { responseUrl, channelId },
      retry: isRepeatable ? { actionId: 'help:run', value: text } : undefined,
    },
    createModalFlow(workOfCommand(found), { triggerId, channelId }),
  );
  if (outcome === 'answered' && command.changesHome) await publishHomeAgain(deps, body);
}

interface Press {
  readonly actionId: string;
  readonly actionTs: string;
  readonly value: string;
  readonly triggerId: string;
  readonly responseUrl: string | undefined;
  readonly channelId: string | undefined;
  /** Of the message that holds the button; undefined if only one person sees it. */
  readonly messageTs: string | undefined;
  /** The modal that holds the button. */
  readonly modal: SubmittedView | undefined;
}

/** A press of a button or a choice in a menu, already acknowledged. */
export async function runAction(deps: SlackDeps, press: Press, body: object): Promise<void> {
  const { actionId, value, triggerId, responseUrl, modal, messageTs } = press;
  const action = findAction(actionId);
  const typed = action?.runsCommand ? findCommand(parseWords(value)) : undefined;
  const needs = typed
    ? (typed.command.needsFor?.(typed.words) ?? typed.command.needs)
    : (action?.needsFor?.(value) ?? action?.needs ?? 'none');
  const { channel, metadata } = readModalState(modal?.private_metadata);
  const channelId = press.channelId ?? channel;
  const separate = action?.newMessage ?? action?.runsCommand ?? false;
  const work = typed ? workOfCommand(typed) : action ? workOfAction(action, value) : outdatedWork('button');
  const outcome = await perform(
    deps,
    {
      kind: 'action',
      feature: action?.id ?? 'unknown',
      requested: typed?.command.name ?? action?.id.split(':')[0],
      body,
      claim: `${triggerId}:${press.actionTs}:${actionId}`,
      needs,
      route: {
        responseUrl,
        channelId,
        ...(action && !separate ? { replaces: true } : { separate: true }),
      },
      retry: needs === 'read' && action ? { actionId: action.id, value } : undefined,
      modal: modal && { metadata, fields: readFieldsWithoutKeys(modal.state?.values) },
      message:
        messageTs !== undefined && press.channelId !== undefined
          ? { channel: press.channelId, ts: messageTs }
          : undefined,
    },
    createModalFlow(work, { triggerId, channelId, modal, newModal: separate }),
  );
  if (outcome === 'answered' && (typed?.command ?? action)?.changesHome) await publishHomeAgain(deps, body);
}

/** An entry of Slack's ⚡ menu or of a message's menu, already acknowledged. */
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
    },
    createModalFlow(shortcut ? workOfShortcut(shortcut, body.message) : outdatedWork('shortcut'), {
      triggerId: body.trigger_id,
      channelId,
    }),
  );
}

/** The Home tab was opened. */
export async function runHome(deps: SlackDeps, body: { event_id?: string | undefined }): Promise<void> {
  await perform(deps, { ...homeDelivery, body, claim: body.event_id }, { run: publishHome });
}

/** After a change that the Home tab shows. The person did not request it, so a failure is only logged. */
export async function publishHomeAgain(deps: SlackDeps, body: object): Promise<void> {
  const flow = { run: publishHome, showFailure: async () => true };
  await perform(deps, { ...homeDelivery, body, claim: undefined }, flow);
}

const homeDelivery = { kind: 'home', feature: 'home', needs: 'none', route: {} } as const;

async function publishHome({ context, client }: Interaction): Promise<void> {
  const { userId } = context.person;
  await (await client()).views.publish({ user_id: userId, view: await loadHome(context, features) });
}
