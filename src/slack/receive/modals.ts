import type { ViewOutput } from '@slack/bolt';
import type { KnownBlock, ModalView } from '@slack/types';
import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { Answer, Context, Entry, Fields, Setup } from '../../commands/define.ts';
import { findForm } from '../../commands/registry.ts';
import { SecretLeakBlocked, UserError } from '../../errors.ts';
import { hasCdnKey } from '../../secrets/key-in-text.ts';
import { allowSecrets } from '../../secrets/secret.ts';
import { limits, type Message, section } from '../../views/blocks/blocks.ts';
import { readPressed } from '../../views/blocks/buttons.ts';
import { addFailure, openAgain } from '../../views/blocks/failure.ts';
import { modal, renderSkeleton } from '../../views/blocks/inputs.ts';
import { replaceNativeBlocks } from '../../views/blocks/native.ts';
import { capitalize } from '../../views/blocks/text.ts';
import { renderFormOffer } from '../../views/conversation.ts';
import { isThere, readSlackError } from '../installations.ts';
import type { Respond } from '../send/responder.ts';
import { type Failed, type Interaction, sendAnswer, type Work } from './perform.ts';

interface Opening<Input> extends Omit<Entry<Input>, 'run'> {
  readonly run?: (input: Input, context: Context) => Answer | undefined;
  readonly redraw?: (input: Input, context: Context) => Promise<ModalView | undefined>;
}

export interface Origin {
  /** Undefined for commands in a message, which opens no modal. */
  readonly triggerId: string | undefined;
  readonly place: Place;
  readonly written?: string | undefined;
  /** `modal` opens before authorization, and `run` answers in it. */
  readonly opensEarly?: true;
  readonly below?: SubmittedView | undefined;
  /** Title of an answer that opens on top of that modal. */
  readonly newModal?: string | undefined;
}

export const working = 'Working on it…';

/** A modal that must be loaded opens as a skeleton before any look-up, since a trigger lives for three seconds. */
export function createModalFlow<Input>(entry: Opening<Input>, input: Input, origin: Origin) {
  const { triggerId, place, below, newModal, written = '' } = origin;
  const where = { ...place, above: below?.id };
  /** Opened before authorization. Its id is undefined if Slack did not say it. */
  let opened: { readonly id: string | undefined; readonly title: string } | undefined;

  const findSkeleton = (setup: Setup): ModalView | undefined => {
    const view = entry.modal?.(input, setup);
    if (view) return entry.load || origin.opensEarly ? view : undefined;
    return entry.run && below && newModal !== undefined
      ? renderSkeleton(capitalize(newModal), working)
      : undefined;
  };
  const show = async (viewId: string, view: ModalView, turn: Interaction, hash?: string): Promise<void> => {
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
      const { context, client, respond } = turn;
      if (entry.redraw && below) {
        const view = await entry.redraw(input, context);
        // With the hash, a view drawn before another press was handled does not undo it.
        if (view) await show(below.id, view, turn, below.hash);
        return;
      }
      const modal = entry.modal?.(input, context);
      if (modal && triggerId === undefined)
        return sendAnswer(renderFormOffer(modal.title.text, written), respond);
      if (modal && triggerId !== undefined && !opened)
        return void (await openModal(await client(), triggerId, modal, where));
      if (opened && opened.id === undefined)
        throw new UserError('The form opened but could not be filled.', 'Close it and try again.');
      if (opened?.id && modal && entry.load) return show(opened.id, await entry.load(input, context), turn);
      const answer = entry.run?.(input, context);
      if (!answer) return;
      const { id, title } = opened ?? { id: below?.id, title: below?.title?.text };
      return sendAnswer(answer, id === undefined ? respond : answerInModal(id, title, turn, place));
    },
    async showFailure(failed) {
      if (!opened) return below !== undefined && showInForm(below, failed);
      return opened.id !== undefined && showInForm({ id: opened.id, callback_id: '' }, failed);
    },
  };
  return flow;
}

/** As a message if the person closed it. */
export function answerInModal(
  viewId: string,
  title: string | undefined,
  { client, wrapRespond }: Pick<Interaction, 'client' | 'wrapRespond'>,
  place: Place,
): Respond {
  return wrapRespond((plain) => async (message, as) => {
    if (as === 'progress') return false;
    const view = writeModalState(toModal(title ?? 'Done', message), place);
    const update = async () => updateModal(await client(), viewId, view);
    // Where Slack takes no edit, the answer is a message: what was done must not be told as a failure.
    const isShown = await allowSecrets(message.carries ?? [], update).catch(notShown);
    return isShown || plain(message);
  });
}

export type SubmittedView = Pick<ViewOutput, 'id' | 'callback_id'> & Partial<ViewOutput>;

export interface Place {
  readonly channelId: string | undefined;
  readonly threadTs: string | undefined;
}

const optional = z.string().optional();
/** The `private_metadata` of every modal. Never a right or a secret. */
const modalState = z.object({ channel: optional, thread: optional, metadata: optional });

/** Opens a modal and returns its id, if Slack says it. @throws UserError if the trigger has expired. */
async function openModal(
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
    // The client repeated a request whose answer was lost.
    if (code === 'exchanged_trigger_id') return undefined;
    // Slack stacks three modals: the fourth replaces the third.
    if (code === 'push_limit_reached' && above !== undefined) {
      await client.views.update({ view_id: above, view });
      return above;
    }
    if (code === 'expired_trigger_id')
      throw new UserError('The form took too long: Slack waits only three seconds.', 'Try again.');
    throw error;
  }
}

export function writeModalState(view: ModalView, { channelId: channel, threadTs: thread }: Place): ModalView {
  return { ...view, private_metadata: JSON.stringify({ channel, thread, metadata: view.private_metadata }) };
}

export function readModalState(privateMetadata = '{}'): Place & { readonly metadata: string | undefined } {
  try {
    const { channel, thread, metadata } = modalState.parse(JSON.parse(privateMetadata));
    return { channelId: channel, threadTs: thread, metadata };
  } catch {
    return { channelId: undefined, threadTs: undefined, metadata: undefined };
  }
}

/** @throws what the secret scanner held back */
export function notShown(error: unknown): false {
  if (error instanceof SecretLeakBlocked) throw error;
  return false;
}

/** False if the person closed it, or if `hash` is not the current view's. */
export function updateModal(
  client: WebClient,
  viewId: string,
  view: ModalView,
  hash?: string,
): Promise<boolean> {
  return isThere(client.views.update({ view_id: viewId, view, ...(hash === undefined ? {} : { hash }) }));
}

export function toModal(title: string, { text, blocks }: Message): ModalView {
  return modal({ title }, blocks ? replaceNativeBlocks(blocks) : [section(text)]);
}

/** Inputs by block id. Menus outside of inputs (`feature:verb`) also by action id: one block can hold several. */
export function readFields({ state }: Pick<SubmittedView, 'state'>): Fields {
  const fields: Record<string, Fields[string]> = {};
  for (const [block, inputs] of Object.entries(state?.values ?? {})) {
    fields[block] = Object.values(inputs).slice(0, 1).map(readValue)[0];
    // `from:2` is `from`, drawn again.
    fields[nameOf(block)] = fields[block];
    for (const [id, chosen] of Object.entries(inputs)) if (id.includes(':')) fields[id] = readValue(chosen);
  }
  return fields;
}

export function toBlockErrors(errors: Readonly<Record<string, string>>, { state }: SubmittedView) {
  const blocks = Object.keys(state?.values ?? {});
  const find = (name: string): string =>
    blocks.find((block) => block === name) ?? blocks.find((block) => nameOf(block) === name) ?? name;
  return Object.fromEntries(Object.entries(errors).map(([name, message]) => [find(name), message]));
}

function nameOf(block: string): string {
  return block.replace(/:.*/u, '');
}

export function findKeys({ state }: SubmittedView): Record<string, string> {
  const error =
    'This looks like a CDN key. Remove it: nothing was kept. Keys go into /cdn connect and nowhere else.';
  const keys: Record<string, string> = {};
  for (const [block, inputs] of Object.entries(state?.values ?? {})) {
    if (Object.values(inputs).some(({ value }) => hasCdnKey(value ?? ''))) keys[block] = error;
  }
  return keys;
}

export function readFieldsWithoutKeys(view: SubmittedView): Fields {
  const blocks = Object.keys(findKeys(view));
  const withKeys = new Set(blocks.flatMap((block) => [block, nameOf(block)]));
  return Object.fromEntries(Object.entries(readFields(view)).filter(([block]) => !withKeys.has(block)));
}

/** Above the inputs, which keep what was typed but for secrets. */
export async function showInForm(
  view: SubmittedView,
  { client, failure, message }: Failed,
): Promise<boolean> {
  const show = async (filled: ModalView): Promise<boolean> => updateModal(await client(), view.id, filled);
  const typed = view.state?.values ?? {};
  const { callback_id, private_metadata = '', title, submit, close, blocks = [] } = view;
  if (Object.keys(typed).length === 0 || blocks.length === 0 || !title)
    return show(toModal(message.title ?? 'That did not work', message));
  const buttons = { ...(submit ? { submit } : {}), ...(close ? { close } : {}) };
  const form = { type: 'modal' as const, title, callback_id, private_metadata, ...buttons };
  const refill = (values: typeof typed) =>
    addFailure(
      { ...form, blocks: fillBlocks(blocks as KnownBlock[], (block) => values[block] ?? {}) },
      failure,
    ).modal;
  const kept = Object.fromEntries(
    Object.entries(typed).filter(([block]) => !findSecretBlocks(view).has(block)),
  );
  try {
    return await show(refill(kept));
  } catch (error) {
    if (error instanceof SecretLeakBlocked) return show(refill({}));
    throw error;
  }
}

function findSecretBlocks(view: SubmittedView): ReadonlySet<string> {
  const { takesKeys, secretFields = [] } = findForm(view.callback_id) ?? {};
  const blocks = Object.keys(view.state?.values ?? {});
  const secret = blocks.filter((block) => takesKeys || secretFields.includes(nameOf(block)));
  return new Set([...secret, ...Object.keys(findKeys(view))]);
}

/** The value of *Open the form again*: what opens it and what was typed, without secrets. Undefined if it is too long. */
export function writeAgain(view: SubmittedView): string | undefined {
  const { metadata } = readModalState(view.private_metadata);
  const opens = findForm(view.callback_id)?.again?.(readFields(view), metadata);
  const secret = findSecretBlocks(view);
  const typed = Object.entries(view.state?.values ?? {}).flatMap(([block, inputs]) =>
    secret.has(block) ? [] : Object.entries(inputs),
  );
  const value = [opens?.join(' '), JSON.stringify(Object.fromEntries(typed)), metadata ?? ''].join('\n');
  return opens && value.length <= limits.value ? value : undefined;
}

export function readAgain(actionId: string, value: string) {
  if (actionId !== openAgain) return undefined;
  const [opens = '', typed = '{}', ...metadata] = value.split('\n');
  const inputs = JSON.parse(typed) as Values[string];
  const values = Object.fromEntries(Object.entries(inputs).map(([id, input]) => [id, { [id]: input }]));
  const filled = { inputs, metadata: metadata.join('\n') };
  return { ...readPressed(opens), filled, fields: readFields({ state: { values } }) };
}

/** The form with what was typed into it before, and as it was seen then: a later change of another person stands. */
export function refill<Input>(
  entry: Opening<Input>,
  filled: { readonly inputs: Values[string]; readonly metadata: string } | undefined,
): Opening<Input> {
  const { modal, load } = entry;
  if (!filled || !modal) return entry;
  const { inputs: typed, metadata } = filled;
  const fill = (view: ModalView): ModalView => ({
    ...view,
    ...(metadata && view.submit ? { private_metadata: metadata } : {}),
    blocks: fillBlocks(view.blocks as KnownBlock[], (block) => {
      const own = typed[nameOf(block)];
      return own ? { ...typed, [block]: own } : typed;
    }),
  });
  if (load) return { ...entry, load: async (...given) => fill(await load(...given)) };
  return {
    ...entry,
    modal(...given) {
      const view = modal(...given);
      return view && fill(view);
    },
  };
}

type Values = NonNullable<SubmittedView['state']>['values'];

function fillBlocks(
  blocks: readonly KnownBlock[],
  typedInto: (block: string) => Values[string],
): KnownBlock[] {
  return blocks.map((block) => {
    const typed = typedInto(block.block_id ?? '');
    const fill = <Element extends object>(element: Element): Element => fillElement(element, typed);
    if ('element' in block) return { ...block, element: fill(block.element) };
    if (block.type === 'actions') return { ...block, elements: block.elements.map(fill) };
    if (block.type === 'section' && block.accessory) return { ...block, accessory: fill(block.accessory) };
    return block;
  });
}

/** `selected_option` becomes `initial_option`, `value` becomes `initial_value`. */
function fillElement<Element extends object>(element: Element, typed: Values[string]): Element {
  const { action_id: id = '' } = element as { readonly action_id?: string };
  const state = typed[id];
  // The label of a button is its value, too.
  if (!state || ('type' in element && element.type === 'button')) return element;
  const given = Object.entries(element).filter(([name]) => !name.startsWith('initial_'));
  const kept = Object.entries(state).flatMap(([name, value]) => {
    const isEmpty = value === null || value === undefined || value === '' || [value].flat().length === 0;
    const initial = name === 'value' ? 'initial_value' : name.replace(/^selected_/u, 'initial_');
    return isEmpty || !initial.startsWith('initial_') ? [] : [[initial, value] as const];
  });
  return Object.fromEntries([...given, ...kept]) as Element;
}

/** What was typed into a form, by its labels, without secrets. */
export function listTyped(view: SubmittedView): (readonly [label: string, text: string])[] {
  const secret = findSecretBlocks(view);
  return (view.blocks ?? []).flatMap((block) => {
    if (!('label' in block) || !('element' in block) || secret.has(block.block_id ?? '')) return [];
    const [state] = Object.values(view.state?.values[block.block_id ?? ''] ?? {});
    const options = [state?.selected_options ?? state?.selected_option ?? []].flat();
    const text = options.map((option) => option.text.text).join(', ') || state?.value;
    return text ? [[block.label?.text ?? '', text] as const] : [];
  });
}

/** An option, an id, or a moment. */
type Chosen = { readonly value: string } | string | number;

/** What was typed or chosen in an element: Slack names it by the kind of the element. */
export function readValue(element: object): Fields[string] {
  const [chosen] = Object.entries(element).flatMap(([name, value]: [string, Chosen | Chosen[] | null]) => {
    const isValue = name === 'value' || name.startsWith('selected_');
    return isValue && value !== null && value !== undefined ? [value] : [];
  });
  if (chosen === undefined) return undefined;
  return Array.isArray(chosen) ? chosen.map(readChosen) : readChosen(chosen);
}

function readChosen(chosen: Chosen): string {
  return typeof chosen === 'object' ? chosen.value : String(chosen);
}
