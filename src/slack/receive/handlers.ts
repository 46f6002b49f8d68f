import type { BlockAction, BlockElementAction, SlackShortcut, SlashCommand } from '@slack/bolt';
import { z } from 'zod';
import { loadHome } from '../../commands/home.ts';
import { features, findAction, findCommand, findCommandOf, findShortcut } from '../../commands/registry.ts';
import { parseWords } from '../../commands/words.ts';
import { UserError } from '../../errors.ts';
import { registerShown } from '../../secrets/secret.ts';
import { context as contextBlock } from '../../views/blocks/blocks.ts';
import { readChoice } from '../../views/blocks/buttons.ts';
import { readNativeOffer } from '../../views/conversation.ts';
import { isConversation } from '../send/responder.ts';
import { createModalFlow, readFieldsWithoutKeys, readModalState, readValue } from './modals.ts';
import {
  type Interaction,
  perform,
  progressMs,
  type ReadFacts,
  type SlackDeps,
  type Work,
} from './perform.ts';

export function runCommand(deps: SlackDeps, body: SlashCommand): Promise<unknown> {
  const { text, trigger_id: triggerId, response_url: responseUrl, channel_id: channelId } = body;
  const route = { responseUrl, channelId };
  return perform(deps, { kind: 'command', body, claim: triggerId, route }, async (facts) => {
    const typed = await findTyped(facts, text);
    const origin = { triggerId, place: { channelId, threadTs: undefined } };
    return {
      ...describeTyped(deps, body, typed, text),
      ...createModalFlow(typed.command, typed.words, origin),
      route,
    };
  });
}

type Typed = ReturnType<typeof findCommand>;

/** What is known of a typed command before it runs; `text` repeats it, where that does the same for its person alone. */
export function describeTyped(deps: SlackDeps, body: object, { command, words }: Typed, text: string) {
  const { name, needs, showsOthers } = command;
  const isRepeatable = needs === 'read' && !showsOthers && text.length < 1000;
  return {
    feature: name,
    requested: name,
    needs: command.needsFor?.(words) ?? needs,
    retry: isRepeatable ? { actionId: 'help:run', value: text } : undefined,
    afterwards: showsChanges(deps, body, command),
  };
}

/** The typed command. Its text may be repeated, except the person's own key, whose shape does not matter: it is known by then. */
export async function findTyped(facts: ReadFacts, text: string) {
  registerShown(text);
  // A key that does not open is refused where it is used.
  if (shortestKey.test(text)) {
    const reveal = async () => (await facts())?.reveal();
    await reveal().catch(() => undefined);
  }
  return findCommand(parseWords(text));
}

const shortestKey = /\S{12}/u;

export function showsChanges(
  deps: SlackDeps,
  body: object,
  work: { readonly changesHome?: boolean } | undefined,
): (() => Promise<void>) | undefined {
  return work?.changesHome ? () => publishHomeAgain(deps, body) : undefined;
}

export async function runAction(
  deps: SlackDeps,
  body: BlockAction,
  pressed: BlockElementAction,
): Promise<void> {
  const { trigger_id: triggerId, channel, message, view } = body;
  const chosen = [readValue(pressed) ?? []].flat().join(',');
  const offered = readNativeOffer(pressed.action_id, chosen);
  const choice = offered ??
    readChoice(pressed.action_id, chosen) ?? { actionId: pressed.action_id, value: chosen };
  const { actionId } = choice;
  if (isLink(actionId)) return;
  const claim = `${triggerId}:${pressed.action_ts}:${pressed.action_id}`;
  await perform(deps, { kind: 'action', body, claim }, async (facts) => {
    const action = findAction(actionId);
    const value = action?.toCommand?.(actionId, choice.value) ?? choice.value;
    const typed = action?.runsCommand ? await findTyped(facts, value) : undefined;
    const needs = typed
      ? (typed.command.needsFor?.(typed.words) ?? typed.command.needs)
      : (action?.needsFor?.(value) ?? action?.needs ?? 'none');
    const modal = view?.type === 'modal' ? view : undefined;
    const { metadata, ...openedIn } = readModalState(modal?.private_metadata);
    const place = channel ? { channelId: channel.id, threadTs: readThread(body.container) } : openedIn;
    const shared =
      message && channel && body.container['is_ephemeral'] !== true
        ? { channel: channel.id, ts: message.ts }
        : undefined;
    const isSeparate = action?.newMessage ?? action?.runsCommand ?? false;
    const title = typed ? (typed.command.label ?? typed.command.name) : 'CDN';
    const origin = {
      triggerId,
      place,
      below: modal,
      newModal: isSeparate && !action?.replacesModal ? title : undefined,
    };
    const flow = typed
      ? createModalFlow(typed.command, typed.words, origin)
      : createModalFlow(action ?? refuseOutdated('button'), value, origin);
    return {
      feature: action?.id ?? 'unknown',
      requested: typed?.command.name ?? (action && findCommandOf(action.id)),
      needs,
      route: {
        ...place,
        responseUrl: body.response_url || undefined,
        ...(action && !isSeparate && !offered ? { replaces: true } : { separate: true }),
        inConversation: offered
          ? { channel: body.user.id, isElsewhere: true }
          : shared && isConversation(shared.channel)
            ? {
                channel: shared.channel,
                threadTs: place.threadTs,
                replaces: action && !isSeparate ? shared.ts : undefined,
              }
            : undefined,
      },
      retry:
        needs === 'read' && action && !typed?.command.showsOthers
          ? { actionId: action.id, value }
          : undefined,
      modal: modal && { metadata, fields: readFieldsWithoutKeys(modal) },
      message: shared,
      ...flow,
      ...(view?.type === 'home' ? showInHome(flow) : {}),
      afterwards: showsChanges(deps, body, typed?.command ?? action),
    };
  });
}

/** Slack also delivers presses of link buttons (`feature:link`), which open a page in the browser. */
function isLink(actionId: string): boolean {
  return /^[^:]+:link(?::|$)/u.test(actionId);
}

/** An entry of Slack's ⚡ menu or of a message's menu, already acknowledged. */
export async function runShortcut(deps: SlackDeps, body: SlackShortcut): Promise<void> {
  const shortcut = findShortcut(body.callback_id);
  const { trigger_id: triggerId } = body;
  // Only the entry of a message's menu has a place.
  const from = body.type === 'message_action' ? body : undefined;
  const place = { channelId: from?.channel?.id, threadTs: readThread(from?.message) };
  const entry = shortcut ?? refuseOutdated('shortcut');
  await perform(
    deps,
    { kind: 'shortcut', body, claim: triggerId },
    {
      feature: shortcut?.id ?? 'unknown',
      requested: shortcut?.id.split(':')[0],
      needs: shortcut?.needs ?? 'none',
      route: { ...place, responseUrl: from?.response_url },
      ...createModalFlow<unknown>(entry, from?.message, { triggerId, place, opensEarly: true }),
    },
  );
}

/** The thread that a message is a reply in. The first message of a thread names the thread too, and stands outside. */
function readThread(message: object | undefined): string | undefined {
  const { thread_ts: thread, ts, message_ts: at = ts } = replied.parse(message ?? {});
  return thread === at ? undefined : thread;
}

const timestamp = z.string().min(1).optional().catch(undefined);
const replied = z.object({ thread_ts: timestamp, ts: timestamp, message_ts: timestamp });

function refuseOutdated(what: 'button' | 'shortcut') {
  return {
    run() {
      throw new UserError(
        `This ${what} is from an older version of the bot.`,
        'Type `/cdn` and start again.',
      );
    },
  };
}

const homeWork: Work = { feature: 'home', needs: 'none', route: {}, run: (turn) => publishHome(turn) };

export async function runHome(deps: SlackDeps, body: { readonly event_id: string }): Promise<void> {
  await perform(deps, { kind: 'home', body, claim: body.event_id }, homeWork);
}

/** After a change that the Home tab shows. The person did not request it, so a failure is only logged. */
async function publishHomeAgain(deps: SlackDeps, body: object): Promise<void> {
  await perform(deps, { kind: 'home', body }, { ...homeWork, showFailure: async () => true });
}

// Slack's limit.
const maxHomeBlocks = 100;

async function publishHome({ context, client }: Interaction, note?: string): Promise<void> {
  const { blocks, ...view } = await loadHome(context, features);
  const shown = note === undefined ? blocks : [contextBlock(note), ...blocks].slice(0, maxHomeBlocks);
  const { userId } = context.person;
  await (await client()).views.publish({ user_id: userId, view: { ...view, blocks: shown } });
}

/** The same work; where it takes long, the Home tab with its button says so meanwhile. */
function showInHome(flow: Pick<Work, 'run'>): Pick<Work, 'run'> {
  return {
    async run(turn) {
      let shown: Promise<void> | undefined;
      const tell = (note?: string) => publishHome(turn, note).catch(() => undefined);
      const progress = setTimeout(() => void (shown = tell('Working on it…')), progressMs);
      try {
        await flow.run(turn);
      } finally {
        clearTimeout(progress);
        if (shown) await shown.then(() => tell());
      }
    },
  };
}
