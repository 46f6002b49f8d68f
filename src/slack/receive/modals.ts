import type { ViewOutput, ViewStateValue } from '@slack/bolt';
import type { ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { Fields } from '../../commands/define.ts';
import { UserError } from '../../errors.ts';
import { hasCdnKey } from '../../secrets/key-in-text.ts';
import { type Message, section } from '../../views/blocks/blocks.ts';
import { modal } from '../../views/blocks/inputs.ts';
import { replaceNativeBlocks } from '../../views/blocks/native.ts';
import { readSlackError } from '../installations.ts';

/** A modal as Slack sends it, with its inputs. */
export type SubmittedView = Pick<ViewOutput, 'id' | 'callback_id'> &
  Partial<Pick<ViewOutput, 'title' | 'hash' | 'private_metadata' | 'previous_view_id' | 'state'>>;

/** The channel and thread where something was typed or pressed. */
export interface Place {
  readonly channelId: string | undefined;
  readonly threadTs: string | undefined;
}

/** The `private_metadata` of every modal: the place of its answer and its own metadata. Never a right or a secret. */
const modalState = z.object({
  channel: z.string().optional(),
  thread: z.string().optional(),
  metadata: z.string().optional(),
});

/**
 * Opens a modal, on top of `above` if there is one. A trigger lives for three seconds and works once. Returns the view
 * id; undefined if Slack opened the modal without saying its id.
 *
 * @throws UserError if the trigger has expired.
 */
export async function openModal(
  client: WebClient,
  triggerId: string,
  modalView: ModalView,
  { above, ...place }: Place & { readonly above: string | undefined },
): Promise<string | undefined> {
  const view = writeModalState(modalView, place);
  const shown = { trigger_id: triggerId, view };
  try {
    const opened = await (above === undefined ? client.views.open(shown) : client.views.push(shown));
    return opened.view?.id;
  } catch (error) {
    const code = readSlackError(error);
    // The client repeated a request that Slack had accepted although its answer was lost.
    if (code === 'exchanged_trigger_id') return undefined;
    // Slack stacks three modals: the fourth replaces the third.
    if (code === 'push_limit_reached' && above !== undefined) {
      await client.views.update({ view_id: above, view });
      return above;
    }
    if (code === 'expired_trigger_id')
      throw new UserError('The form took too long: Slack waits three seconds for it.', 'Try the same again.');
    throw error;
  }
}

/** Adds the place where the modal was opened to its metadata. */
export function writeModalState(view: ModalView, { channelId: channel, threadTs: thread }: Place): ModalView {
  return { ...view, private_metadata: JSON.stringify({ channel, thread, metadata: view.private_metadata }) };
}

/** The modal's own metadata and the place where it was opened. */
export function readModalState(
  privateMetadata: string | undefined,
): Place & { readonly metadata: string | undefined } {
  const { channel, thread, metadata } = parseModalState(privateMetadata);
  return { channelId: channel, threadTs: thread, metadata };
}

function parseModalState(privateMetadata: string | undefined): z.output<typeof modalState> {
  if (privateMetadata === undefined) return {};
  try {
    return modalState.parse(JSON.parse(privateMetadata));
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
export function toModal(title: string, { text, blocks }: Message): ModalView {
  return modal({ title }, blocks ? replaceNativeBlocks(blocks) : [section(text)]);
}

/**
 * The inputs of a modal by block id. Menus outside of inputs, whose action ids are `feature:verb`, are also keyed by
 * action id, since one block can hold several.
 */
export function readFields({ state }: SubmittedView): Fields {
  const fields: Record<string, Fields[string]> = {};
  for (const [block, inputs] of Object.entries(state?.values ?? {})) {
    fields[block] = Object.values(inputs).slice(0, 1).map(readValue)[0];
    // `from:2` is `from`, drawn again.
    fields[nameOf(block)] = fields[block];
    for (const [id, chosen] of Object.entries(inputs)) if (id.includes(':')) fields[id] = readValue(chosen);
  }
  return fields;
}

/** Errors by name as errors by block: `from` as `from:2` where that is the block of the view. */
export function toBlockErrors(errors: Readonly<Record<string, string>>, { state }: SubmittedView) {
  const blocks = Object.keys(state?.values ?? {});
  const find = (name: string): string =>
    blocks.find((block) => block === name) ?? blocks.find((block) => nameOf(block) === name) ?? name;
  return Object.fromEntries(Object.entries(errors).map(([name, message]) => [find(name), message]));
}

function nameOf(block: string): string {
  return block.replace(/:.*/u, '');
}

/** An error for each block with a CDN key in it. */
export function findKeys({ state }: SubmittedView): Record<string, string> {
  const error =
    'This looks like a CDN key. Take it out: nothing of it was kept. Keys go into /cdn connect and nowhere else.';
  const keys: Record<string, string> = {};
  for (const [block, inputs] of Object.entries(state?.values ?? {})) {
    if (Object.values(inputs).some(({ value }) => hasCdnKey(value ?? ''))) keys[block] = error;
  }
  return keys;
}

/** The inputs of an open form without keys, so that no key is drawn again. */
export function readFieldsWithoutKeys(view: SubmittedView): Fields {
  const blocks = Object.keys(findKeys(view));
  const withKeys = new Set(blocks.flatMap((block) => [block, nameOf(block)]));
  return Object.fromEntries(Object.entries(readFields(view)).filter(([block]) => !withKeys.has(block)));
}

/** The value of an input or a pressed element; each kind of element has its own field for it. */
export function readValue(element: object): Fields[string] {
  const state: Partial<ViewStateValue> = element;
  const several =
    state.selected_options?.map(({ value }) => value) ??
    state.selected_users ??
    state.selected_conversations ??
    state.selected_channels;
  const one =
    state.selected_option?.value ??
    state.value ??
    state.selected_date ??
    state.selected_time ??
    state.selected_date_time?.toString() ??
    state.selected_user ??
    state.selected_conversation ??
    state.selected_channel;
  return several ?? one ?? undefined;
}
