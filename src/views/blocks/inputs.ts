import type { InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import { compact, type FormResult, limits, message, plain, section } from './blocks.ts';
import { type Maybe, plainText, truncate } from './text.ts';

interface Modal {
  readonly title: string;
  readonly callbackId?: string | undefined;
  readonly submit?: string | undefined;
  /** `Cancel` by default if there is something to submit, else `Close`. */
  readonly close?: string;
  readonly metadata?: string | undefined;
}

export function modal(
  { title, callbackId, submit, close, metadata }: Modal,
  blocks: readonly Maybe<KnownBlock>[],
): ModalView {
  return withoutEmpty<ModalView>({
    type: 'modal',
    callback_id: callbackId,
    private_metadata: metadata,
    title: plain(truncate(title, limits.title)),
    submit: submit === undefined ? undefined : plain(submit),
    close: plain(close ?? (submit === undefined ? 'Close' : 'Cancel')),
    blocks: compact(blocks),
  });
}

/** Stands while something is looked up or done. */
export function renderSkeleton(title: string, text = 'One moment…', callbackId?: string): ModalView {
  return modal({ title, callbackId }, [section(`:hourglass_flowing_sand: ${text}`)]);
}

export function formResult(
  settings: Modal,
  text: string,
  blocks: readonly Maybe<KnownBlock>[] = [section(text)],
): FormResult {
  return { modal: modal({ close: 'Done', ...settings }, blocks), message: message(text, blocks) };
}

export function option(text: string, value: string, description?: string): PlainTextOption {
  return withoutEmpty<PlainTextOption>({
    text: plain(plainText(text, limits.option)),
    value,
    description: description === undefined ? undefined : plain(plainText(description, limits.option)),
  });
}

interface InputSettings {
  readonly hint?: string | undefined;
  readonly placeholder?: string;
  readonly optional?: boolean;
  readonly focus?: boolean;
  readonly dispatch?: boolean;
  readonly blockId?: string;
  readonly actionId?: string;
}

/** An input by the name of its field. Undefined, '' and [] in `element` are left out: Slack refuses them. */
export function input(
  name: string,
  label: string,
  element: Loose<InputBlock['element']>,
  { hint, placeholder, optional, focus, dispatch, blockId = name, actionId = name }: InputSettings = {},
): InputBlock {
  return withoutEmpty<InputBlock>({
    type: 'input',
    block_id: blockId,
    label: plain(label),
    hint: hint ? plain(hint) : undefined,
    optional,
    dispatch_action: dispatch,
    element: withoutEmpty<InputBlock['element']>({
      ...element,
      action_id: actionId,
      ...(placeholder === undefined ? {} : { placeholder: plain(placeholder) }),
      focus_on_load: focus,
    }),
  });
}

interface TextSettings extends InputSettings {
  readonly initial?: string | undefined;
  readonly maxLength?: number;
  readonly multiline?: boolean;
}

export function textInput(name: string, label: string, settings: TextSettings): InputBlock {
  const { initial, maxLength = 200, multiline } = settings;
  const initialValue = initial?.slice(0, maxLength);
  const type = 'plain_text_input';
  return input(
    name,
    label,
    { type, max_length: maxLength, multiline, initial_value: initialValue },
    settings,
  );
}

export function numberInput(
  name: string,
  label: string,
  [least, most]: readonly [number, number],
  settings: InputSettings & { readonly initial?: string | undefined },
): InputBlock {
  const range = { is_decimal_allowed: false, min_value: String(least), max_value: String(most) };
  return input(name, label, { type: 'number_input', ...range, initial_value: settings.initial }, settings);
}

type Chosen<Type> = InputSettings & { readonly chosen?: Type | undefined };

export function select(
  name: string,
  label: string,
  options: PlainTextOption[],
  settings: Chosen<string>,
): InputBlock {
  const initial = options.find(({ value }) => value === settings.chosen);
  return input(name, label, { type: 'static_select', options, initial_option: initial }, settings);
}

export function multiSelect(
  name: string,
  label: string,
  options: PlainTextOption[],
  settings: Chosen<readonly string[]>,
): InputBlock {
  const initial = options.filter(({ value }) => settings.chosen?.includes(value ?? ''));
  return input(name, label, { type: 'multi_static_select', options, initial_options: initial }, settings);
}

export function searchSelect(name: string, label: string, settings: Chosen<PlainTextOption>): InputBlock {
  const type = 'external_select';
  return input(name, label, { type, min_query_length: 0, initial_option: settings.chosen }, settings);
}

export function multiSearchSelect(
  name: string,
  label: string,
  max: number,
  settings: Chosen<PlainTextOption[]>,
): InputBlock {
  const limits = { min_query_length: 0, max_selected_items: max };
  return input(
    name,
    label,
    { type: 'multi_external_select', ...limits, initial_options: settings.chosen },
    settings,
  );
}

export function checkbox(
  name: string,
  label: string,
  box: PlainTextOption,
  { checked, ...settings }: InputSettings & { readonly checked?: boolean } = {},
): InputBlock {
  const initial = checked ? [box] : [];
  const element = { type: 'checkboxes' as const, options: [box], initial_options: initial };
  return input(name, label, element, { optional: true, ...settings });
}

const channelsOnly = { include: ['public' as const, 'private' as const], exclude_bot_users: true };

/** A menu of channels. `internal`: without those in which members of other organizations read. */
export function channelSelect(
  name: string,
  label: string,
  { chosen, internal, ...settings }: Chosen<string> & { readonly internal?: boolean },
): InputBlock {
  const filter = { ...channelsOnly, ...(internal ? { exclude_external_shared_channels: true } : {}) };
  return input(name, label, { type: 'conversations_select', filter, initial_conversation: chosen }, settings);
}

export function multiChannelSelect(
  name: string,
  label: string,
  max: number,
  { chosen = [], ...settings }: Chosen<readonly string[]>,
): InputBlock {
  const limits = { filter: channelsOnly, max_selected_items: max };
  const initial = [...chosen];
  const type = 'multi_conversations_select';
  return input(name, label, { type, ...limits, initial_conversations: initial }, settings);
}

type Loose<Type> = Type extends unknown ? { [Key in keyof Type]: Type[Key] | undefined } : never;

function withoutEmpty<Type extends object>(object: Loose<Type>): Type {
  const filled = Object.entries(object).filter(
    ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(filled) as unknown as Type;
}
