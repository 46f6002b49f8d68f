import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { Fields } from '../../commands/context.ts';
import { hasCdnKey } from '../../commands/key-in-text.ts';
import { UserError } from '../../errors.ts';
import { section } from '../../views/blocks/blocks.ts';
import { replaceCharts } from '../../views/blocks/chart.ts';
import type { Message } from '../../views/blocks/message.ts';
import { readSlackError } from '../installations.ts';

/** A modal as Slack sends it, with its inputs. */
export interface SubmittedView {
  readonly id: string;
  readonly title?: { readonly text: string } | undefined;
  readonly hash?: string | undefined;
  readonly callback_id: string;
  readonly private_metadata?: string | undefined;
  /** The modal below it. */
  readonly previous_view_id?: string | null | undefined;
  readonly state?: { readonly values?: unknown } | undefined;
}

/** The `private_metadata` of every modal: the channel of its answer and its own metadata. Never a right or a secret. */
const modalState = z.object({ channel: z.string().optional(), metadata: z.string().optional() });

/**
 * Opens a modal, on top of `above` if there is one. A trigger lives for three seconds and works once. Returns the view
 * id; undefined if Slack opened the modal without saying its id.
 *
 * @throws UserError if the trigger has expired.
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
    // The client repeated a request that Slack had accepted although its answer was lost.
    if (readSlackError(error) === 'exchanged_trigger_id') return undefined;
    // Slack stacks three modals: the fourth replaces the third.
    if (readSlackError(error) === 'push_limit_reached' && where.above !== undefined) {
      await client.views.update({ view_id: where.above, view: shown.view });
      return where.above;
    }
    if (readSlackError(error) === 'expired_trigger_id') {
      throw new UserError('The form took too long: Slack waits three seconds for it.', 'Try the same again.');
    }
    throw error;
  }
}

/** Adds the channel where the modal was opened to its metadata. */
export function writeModalState(view: ModalView, channel: string | undefined): ModalView {
  return { ...view, private_metadata: JSON.stringify({ channel, metadata: view.private_metadata }) };
}

export function readModalState(privateMetadata: string | undefined): z.output<typeof modalState> {
  try {
    return modalState.parse(JSON.parse(privateMetadata ?? ''));
  } catch {
    return {};
  }
}

/** Replaces the view of an open modal. False if the person closed it, or if `hash` is not the current view's. */
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

/** A message as a modal, which takes no charts. */
export function toModal(title: string, message: Message): ModalView {
  return {
    type: 'modal',
    title: { type: 'plain_text', text: title.slice(0, 24) },
    close: { type: 'plain_text', text: 'Close' },
    blocks: message.blocks ? replaceCharts(message.blocks) : [section(message.text)],
  };
}

/**
 * The inputs of a modal by block id. Menus outside of inputs, whose action ids are `feature:verb`, are also keyed by
 * action id, since one block can hold several.
 */
export function readFields(values: unknown): Fields {
  const fields: Record<string, string | readonly string[] | undefined> = {};
  for (const [block, inputs] of Object.entries(stateValues.parse(values ?? {}))) {
    const state = Object.values(inputs)[0];
    fields[block] = state && readValue(state);
    for (const [id, chosen] of Object.entries(inputs)) if (id.includes(':')) fields[id] = readValue(chosen);
  }
  return fields;
}

/** The typed texts by block id. */
function readTexts(values: unknown): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [block, inputs] of Object.entries(stateValues.parse(values ?? {}))) {
    const typed = Object.values(inputs).flatMap(({ value }) => value ?? []);
    if (typed.length > 0) texts[block] = typed.join('\n');
  }
  return texts;
}

/** An error for each block with a CDN key in it. */
export function findKeys(values: unknown): Record<string, string> {
  const error =
    'This looks like a CDN key. Take it out: nothing of it was kept. Keys go into /cdn connect and nowhere else.';
  const blocks = Object.entries(readTexts(values)).filter(([, typed]) => hasCdnKey(typed));
  return Object.fromEntries(blocks.map(([block]) => [block, error]));
}

/** The inputs of an open form without keys, so that no key is drawn again. */
export function readFieldsWithoutKeys(values: unknown): Fields {
  const keys = findKeys(values);
  const fields = Object.entries(readFields(values));
  return Object.fromEntries(fields.map(([block, value]) => [block, block in keys ? undefined : value]));
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

/** The value of an input or a pressed element; each kind of element has its own field for it. */
export function readValue(state: unknown): string | readonly string[] | undefined {
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
