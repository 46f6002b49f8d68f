import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { Fields } from '../../commands/context.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/message.ts';
import { readSlackError } from '../installations.ts';

/** What a modal remembers: the channel its answer belongs to, and its own note. Never a right, never a secret. */
const memory = z.object({ channel: z.string().optional(), metadata: z.string().optional() });

/**
 * Opens a modal, on top of the one that is open where it was asked for in one. Its trigger lives for three seconds
 * and works once. Undefined where Slack opened it without saying its id.
 *
 * @throws UserError where Slack says that the trigger has died.
 */
export async function openModal(
  client: WebClient,
  triggerId: string,
  view: ModalView,
  where: { readonly channelId: string | undefined; readonly above?: string | undefined },
): Promise<string | undefined> {
  const shown = { trigger_id: triggerId, view: writeModalState(view, where.channelId) };
  try {
    const opened = await (where.above === undefined ? client.views.open(shown) : client.views.push(shown));
    return opened.view?.id;
  } catch (error) {
    // Our own repeat of an opening that Slack had taken although its answer got lost.
    if (readSlackError(error) === 'exchanged_trigger_id') return undefined;
    // Slack stacks three: the fourth takes the place of the third.
    if (readSlackError(error) === 'push_limit_reached' && where.above !== undefined) {
      await client.views.update({ view_id: where.above, view: shown.view });
      return where.above;
    }
    if (readSlackError(error) === 'expired_trigger_id') {
      throw new UserError('The form came too late: Slack waits three seconds for it.', 'Try the same again.');
    }
    throw error;
  }
}

/** A modal that remembers where it was opened, beside the note it carries. */
export function writeModalState(view: ModalView, channel: string | undefined): ModalView {
  return { ...view, private_metadata: JSON.stringify({ channel, metadata: view.private_metadata }) };
}

/** The channel a modal was opened in and its note, as far as it remembers. */
export function readModalState(privateMetadata: string | undefined): z.output<typeof memory> {
  try {
    return memory.parse(JSON.parse(privateMetadata ?? ''));
  } catch {
    return {};
  }
}

/**
 * Puts another view into an open modal. False where the person has closed it, or where `hash` says that it was drawn
 * from another view than the one that stands there now.
 */
export async function updateModal(
  client: WebClient,
  viewId: string,
  view: ModalView,
  hash?: string,
): Promise<boolean> {
  try {
    await client.views.update({ view_id: viewId, view, ...(hash === undefined ? {} : { hash }) });
    return true;
  } catch (error) {
    if (readSlackError(error) === undefined) throw error;
    return false;
  }
}

/** A message drawn as a modal, for answers to a form that is still open. */
export function toModal(title: string, message: Message): ModalView {
  return {
    type: 'modal',
    title: { type: 'plain_text', text: title.slice(0, 24) },
    close: { type: 'plain_text', text: 'Close' },
    blocks: message.blocks ?? [
      { type: 'section', text: { type: 'mrkdwn', text: message.text.slice(0, 3000) } },
    ],
  };
}

/**
 * What the inputs of a modal hold, by block id; each kind of input keeps its value under another name. Menus outside of
 * inputs, whose action ids are `feature:verb`, are told by these as well, since several stand in one block.
 */
export function readFields(values: unknown): Fields {
  const fields: Record<string, string | readonly string[] | undefined> = {};
  for (const [block, inputs] of Object.entries(stateValues.parse(values ?? {}))) {
    const state = Object.values(inputs)[0];
    fields[block] = state && fieldValue(state);
    for (const [id, chosen] of Object.entries(inputs)) if (id.includes(':')) fields[id] = fieldValue(chosen);
  }
  return fields;
}

/** The same where somebody typed something: by block id, the text. */
export function readTexts(values: unknown): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [block, inputs] of Object.entries(stateValues.parse(values ?? {}))) {
    const typed = Object.values(inputs).flatMap(({ value }) => value ?? []);
    if (typed.length > 0) texts[block] = typed.join('\n');
  }
  return texts;
}

const text = z.string().nullish();
const option = z.object({ value: z.string() });
const texts = z.array(z.string()).nullish();
const input = z.object({
  value: text,
  selected_option: option.nullish(),
  selected_options: z.array(option).nullish(),
  selected_date: text,
  selected_time: text,
  selected_date_time: z.number().nullish(),
  selected_user: text,
  selected_users: texts,
  selected_conversation: text,
  selected_conversations: texts,
  selected_channel: text,
  selected_channels: texts,
});
const stateValues = z.record(z.string(), z.record(z.string(), input));

/** The value of an input or of a pressed element. A menu's is its chosen option's. */
export function fieldValue(state: unknown): string | readonly string[] | undefined {
  const seen = input.safeParse(state).data;
  if (!seen) return undefined;
  const several =
    seen.selected_options?.map(({ value }) => value) ??
    seen.selected_users ??
    seen.selected_conversations ??
    seen.selected_channels;
  const one =
    seen.selected_option?.value ??
    seen.value ??
    seen.selected_date ??
    seen.selected_time ??
    seen.selected_date_time?.toString() ??
    seen.selected_user ??
    seen.selected_conversation ??
    seen.selected_channel;
  return several ?? one ?? undefined;
}
