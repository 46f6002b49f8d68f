import { setTimeout as pause } from 'node:timers/promises';
import type {
  BlockAction,
  BlockElementAction,
  BlockSuggestion,
  SlackShortcut,
  SlashCommand,
  ViewSubmitAction,
} from '@slack/bolt';
import type { Option } from '@slack/types';
import { z } from 'zod';
import { refusePastedKey } from '../../commands/connect.ts';
import type { Form } from '../../commands/define.ts';
import {
  findAction,
  findCommand,
  findCommandOf,
  findForm,
  findPicker,
  findShortcut,
} from '../../commands/registry.ts';
import { parseWords, stripDecoration } from '../../commands/words.ts';
import { UserError } from '../../errors.ts';
import { readChoice } from '../../views/blocks/buttons.ts';
import { addTyped, openAgain } from '../../views/blocks/failure.ts';
import { renderSkeleton } from '../../views/blocks/inputs.ts';
import { createNotes, stillReading } from '../../views/blocks/menu.ts';
import { stripMarkup } from '../../views/blocks/text.ts';
import { readNativeOffer } from '../../views/conversation.ts';
import { isConversation } from '../send/responder.ts';
import {
  answerInModal,
  createModalFlow,
  findKeys,
  listTyped,
  notShown,
  type Origin,
  readAgain,
  readFields,
  readFieldsWithoutKeys,
  readModalState,
  readValue,
  refill,
  type SubmittedView,
  showInForm,
  toBlockErrors,
  toModal,
  updateModal,
  working,
  writeAgain,
  writeModalState,
} from './modals.ts';
import {
  homeWork,
  openHome,
  perform,
  progressMs,
  publishHome,
  type RevealKey,
  type SlackDeps,
  sendAnswer,
  type Work,
} from './perform.ts';

export async function runCommand(deps: SlackDeps, body: SlashCommand): Promise<void> {
  const { trigger_id: triggerId, response_url: responseUrl, channel_id: channelId } = body;
  const text = stripDecoration(body.text);
  const route = { responseUrl, channelId };
  const origin = { triggerId, place: { channelId, threadTs: undefined } };
  await perform(deps, { kind: 'command', body, claim: triggerId, route }, async (reveal) => ({
    ...describeTyped(await findTyped(reveal, text), text, origin),
    route,
  }));
}

/** `text` repeats it, where that shows the same to its person alone. */
function describeTyped({ command, words }: ReturnType<typeof findCommand>, text: string, origin: Origin) {
  const { name, needs, showsOthers } = command;
  const isRepeatable = needs === 'read' && !showsOthers && text.length < 1000;
  return {
    feature: name,
    requested: name,
    needs: command.needsFor?.(words) ?? needs,
    retry: isRepeatable ? { actionId: 'help:run', value: text } : undefined,
    changesHome: command.changesHome,
    ...createModalFlow(command, words, origin),
  };
}

/** The typed command. The person's own key is known by then, so that it is never repeated. */
async function findTyped(reveal: RevealKey, text: string) {
  // A key that does not open is refused where it is used.
  if (shortestKey.test(text)) await reveal().catch(() => undefined);
  return findCommand(parseWords(text));
}

const shortestKey = /\S{12}/u;

export async function runAction(
  deps: SlackDeps,
  body: BlockAction,
  pressed: BlockElementAction,
): Promise<void> {
  const { trigger_id: triggerId, channel, message, view } = body;
  const chosen = [readValue(pressed) ?? []].flat().join(',');
  const offered = readNativeOffer(pressed.action_id, chosen);
  const again = readAgain(pressed.action_id, chosen);
  const choice = offered ??
    again ??
    readChoice(pressed.action_id, chosen) ?? { actionId: pressed.action_id, value: chosen };
  const { actionId } = choice;
  // Slack also delivers presses of link buttons (`feature:link`).
  if (/^[^:]+:link(?::|$)/u.test(actionId)) return;
  const claim = `${triggerId}:${pressed.action_ts}:${pressed.action_id}`;
  await perform(deps, { kind: 'action', body, claim }, async (reveal) => {
    const action = findAction(actionId);
    const value = action?.toCommand?.(actionId, choice.value) ?? choice.value;
    const typed = action?.runsCommand ? await findTyped(reveal, value) : undefined;
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
    const isSeparate = again !== undefined || (action?.newMessage ?? action?.runsCommand ?? false);
    const title = typed ? (typed.command.label ?? typed.command.name) : 'CDN';
    const newModal = isSeparate && !action?.replacesModal ? title : undefined;
    const origin = { triggerId, place, below: modal, newModal };
    const flow = typed
      ? createModalFlow(refill(typed.command, again?.filled), typed.words, origin)
      : createModalFlow(refill(action ?? refuseOutdated('button'), again?.filled), value, origin);
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
      modal: again
        ? { metadata: openAgain, fields: again.fields }
        : modal && { metadata, fields: readFieldsWithoutKeys(modal) },
      message: shared,
      changesHome: (typed?.command ?? action)?.changesHome,
      ...flow,
      ...(view?.type === 'home' ? showInHome(flow) : {}),
    };
  });
}

export async function runShortcut(deps: SlackDeps, body: SlackShortcut): Promise<void> {
  const shortcut = findShortcut(body.callback_id);
  const { trigger_id: triggerId } = body;
  // Only a message's menu has a place.
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

/** The thread of a reply. The first message of a thread names the thread too, but stands outside. */
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

export async function runHome(deps: SlackDeps, body: { readonly event_id: string }): Promise<void> {
  await perform(deps, { kind: 'home', body, claim: body.event_id }, { ...homeWork, run: openHome });
}

/** The Home tab says so while a press takes long. */
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

/** The acknowledgement of a submitted form, without I/O: field errors, a loading view, or nothing. */
export function readForm(view: SubmittedView, now: Date): { form?: Form; values?: unknown; reply?: object } {
  const form = findForm(view.callback_id);
  if (!form) {
    const text = 'This form is from an older version of the bot. Type /cdn and start again.';
    return { reply: refuseForm(view, 'Too old', text) };
  }
  const keys = form.takesKeys ? {} : findKeys(view);
  if (Object.keys(keys).length > 0) return { reply: { response_action: 'errors', errors: keys } };
  const read = form.read(readFields(view), now);
  if ('errors' in read)
    return { reply: { response_action: 'errors', errors: toBlockErrors(read.errors, view) } };
  if (!staysOpen(form, view)) return { form, values: read.values };
  const waiting = form.loadingView ?? renderSkeleton(view.title?.text ?? 'CDN', working);
  return { form, values: read.values, reply: { response_action: 'update', view: waiting } };
}

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
    // A form that is sent twice is one request; each new view has another hash.
    { kind: 'form', body, claim: `${view.id}:${view.hash}` },
    {
      feature: form.id,
      requested: findCommandOf(form.id),
      needs: form.needs,
      route: place,
      modal: { metadata, fields: readFields(view) },
      changesHome: form.changesHome,
      async run(turn) {
        const { client, context, respond } = turn;
        const result = await form.run(values, context);
        if (!('modal' in result)) {
          const inForm = staysOpen(form, view) && answerInModal(view.id, view.title.text, turn, place);
          return sendAnswer(result, inForm || respond);
        }
        const next = writeModalState(result.modal, place);
        const shown = await updateModal(await client(), view.id, next).catch(notShown);
        if (!shown) await respond(result.message);
      },
      showFailure: async (failed) => staysOpen(form, view) && showInForm(view, failed),
      addTyped: (message) => addTyped(message, listTyped(view), writeAgain(view)),
    },
  );
}

/** Refuses a form below its first field, so that what was typed stays. */
export function refuseForm(view: SubmittedView | undefined, title: string, text: string): object {
  const [field] = Object.keys(view?.state?.values ?? {});
  return field === undefined
    ? { response_action: 'update', view: toModal(title, { text }) }
    : { response_action: 'errors', errors: { [field]: text } };
}

/** The form wants the answer, or a message would be out of sight. */
function staysOpen(form: Form, view: SubmittedView): boolean {
  const inChannel = readModalState(view.private_metadata).channelId !== undefined;
  return form.loadingView !== undefined || !inChannel || Boolean(view.previous_view_id);
}

// Slack waits three seconds for the options of a menu; people wait less.
const pickerMs = 1_900;

/** The options of a menu with search, always in time, and the work, which may go on. */
export function runPicker(
  deps: SlackDeps,
  body: BlockSuggestion,
): { readonly inTime: Promise<readonly Option[]>; readonly found: Promise<readonly Option[]> } {
  const { action_id: actionId, value: typed } = body;
  const picker = findPicker(actionId);
  if (!picker) {
    const found = Promise.resolve(createNotes(['This menu is from an older version of the bot']));
    return { inTime: found, found };
  }
  const channelId = body.channel?.id ?? readModalState(body.view?.private_metadata).channelId;
  let options: readonly Option[] = [];
  const work: Work = {
    feature: picker.id,
    needs: picker.needs,
    route: { channelId },
    async run({ context }) {
      options = await picker.run(typed, context);
    },
    async showFailure({ message }) {
      options = createNotes([stripMarkup(message.text)]);
      return true;
    },
  };
  const found = perform(deps, { kind: 'picker', body }, work).then(() => options);
  const late = pause(pickerMs, createNotes([stillReading]), { ref: false });
  return { inTime: Promise.race([found, late]), found };
}

const absent = z.undefined().optional();

/**
 * Bots, edits and Slack's own subtypes are excluded; a file, "also send to channel" and `/me` are a person speaking.
 */
const writtenMessage = z.object({
  event_id: z.string(),
  authorizations: z.array(z.object({ user_id: z.string().optional() })).optional(),
  event: z.object({
    type: z.enum(['app_mention', 'message']),
    channel: z.string().min(1),
    channel_type: z.string().optional(),
    user: z.string().min(1),
    text: z.string(),
    thread_ts: z.string().min(1).optional(),
    bot_id: absent,
    subtype: z.enum(['file_share', 'thread_broadcast', 'me_message']).optional(),
    edited: absent,
    hidden: absent,
  }),
});

/** Like `/cdn …`, but a form opens by a button, and there is no response_url. */
export async function runMessage(deps: SlackDeps, body: object): Promise<void> {
  const seen = writtenMessage.safeParse(body).data;
  if (!seen) return;
  const { type, user, channel, channel_type: kind, text, thread_ts: threadTs } = seen.event;
  const botUserId = seen.authorizations?.[0]?.user_id;
  if (user === botUserId) return;
  const isDirect = kind === 'im' || isConversation(channel);
  if (type === 'message' && !isDirect) return;
  const { words, others } = splitWritten(text, botUserId);
  const place = { channelId: channel, threadTs };
  await perform(deps, { kind: 'message', body, claim: seen.event_id }, async (reveal) => ({
    ...describeTyped(await findWritten(reveal, words, others), words, {
      triggerId: undefined,
      place,
      written: words,
    }),
    route: { ...place, inConversation: isDirect ? { channel, threadTs } : undefined },
  }));
}

/** A key anywhere in the message is refused. */
async function findWritten(reveal: RevealKey, words: string, others: string) {
  if (others === '') return findTyped(reveal, words);
  const whole = await findTyped(reveal, `${words} ${others}`);
  return whole.command === refusePastedKey ? whole : findTyped(reveal, words);
}

const anyMention = /<@[UW][A-Z0-9]+(?:\|[^<>]*)?>/u;

/** The command is the line behind the mention, else the one before it. `others`: the rest of what was written. */
function splitWritten(text: string, botUserId: string | undefined): { words: string; others: string } {
  const mention = botUserId === undefined ? anyMention : new RegExp(`<@${botUserId}(?:\\|[^<>]*)?>`, 'u');
  const [before = '', ...after] = text.split(mention);
  const lines = [...after, before].flatMap((part) =>
    part.split('\n').map((line) =>
      line
        .trim()
        .replace(/^```|```$/gu, '')
        .trim(),
    ),
  );
  const [line = '', ...others] = lines.filter((one) => one !== '');
  return { words: stripDecoration(line), others: others.join(' ') };
}
