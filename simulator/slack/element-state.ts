import { findElements } from './block-ids.ts';
import type { Json } from './world.ts';
import { isObject, textOf } from './world.ts';

/** Typed and chosen values: by block id, then by action id, as Slack puts them on the wire. */
export type StateValues = Record<string, Record<string, Json>>;

const asText = new Set(['plain_text_input', 'email_text_input', 'url_text_input', 'number_input']);
// The member that carries the choice, by type of element.
const chosen: Record<string, { one?: string; many?: string; initial: string }> = {
  users_select: { one: 'selected_user', initial: 'initial_user' },
  conversations_select: { one: 'selected_conversation', initial: 'initial_conversation' },
  channels_select: { one: 'selected_channel', initial: 'initial_channel' },
  datepicker: { one: 'selected_date', initial: 'initial_date' },
  timepicker: { one: 'selected_time', initial: 'initial_time' },
  datetimepicker: { one: 'selected_date_time', initial: 'initial_date_time' },
  multi_users_select: { many: 'selected_users', initial: 'initial_users' },
  multi_conversations_select: { many: 'selected_conversations', initial: 'initial_conversations' },
  multi_channels_select: { many: 'selected_channels', initial: 'initial_channels' },
};
const oneOption = new Set(['static_select', 'external_select', 'radio_buttons', 'overflow']);
const manyOptions = new Set(['multi_static_select', 'multi_external_select', 'checkboxes']);

/**
 * The state of an element when a person gives it a plain value: text, the value of an option, an id, a date.
 * Throws an Error that names the choices when an option does not exist.
 */
export function stateFor(element: Json, value: unknown, suggested: readonly Json[] = []): Json {
  const type = String(element['type']);
  if (asText.has(type)) return { type, value: value === undefined || value === '' ? null : textOf(value) };
  const member = chosen[type];
  if (member?.one) return { type, [member.one]: value === undefined || value === '' ? null : value };
  if (member?.many) return { type, [member.many]: asList(value) };
  const options = [...optionsOf(element), ...suggested];
  if (oneOption.has(type)) {
    return {
      type,
      selected_option: value === undefined || value === '' ? null : optionNamed(options, value, element),
    };
  }
  if (manyOptions.has(type)) {
    return { type, selected_options: asList(value).map((item) => optionNamed(options, item, element)) };
  }
  if (type === 'rich_text_input')
    return { type, rich_text_value: isObject(value) ? value : richTextOf(String(value)) };
  if (type === 'file_input') return { type, files: asList(value) };
  throw new Error(`An element of type ${type} holds no value`);
}

/** The state before anybody touched the element, from its `initial_…` members; undefined for buttons. */
function initialState(element: Json): Json | undefined {
  const type = String(element['type']);
  if (asText.has(type)) return { type, value: element['initial_value'] ?? null };
  const member = chosen[type];
  if (member?.one) return { type, [member.one]: element[member.initial] ?? null };
  if (member?.many) return { type, [member.many]: element[member.initial] ?? [] };
  if (type === 'overflow') return undefined;
  if (oneOption.has(type)) return { type, selected_option: element['initial_option'] ?? null };
  if (manyOptions.has(type)) return { type, selected_options: element['initial_options'] ?? [] };
  if (type === 'rich_text_input') return { type, rich_text_value: element['initial_value'] ?? null };
  if (type === 'file_input') return { type, files: [] };
  return undefined;
}

/** `state.values` of a view or message: what was typed where it still fits, else what the element began with. */
export function stateValues(blocks: readonly Json[], typed: StateValues): StateValues {
  const values: StateValues = {};
  for (const { block, element } of findElements(blocks)) {
    const initial = initialState(element);
    if (!initial) continue;
    const blockId = String(block['block_id']);
    const actionId = String(element['action_id']);
    const before = typed[blockId]?.[actionId];
    const state = before && before['type'] === initial['type'] ? before : initial;
    values[blockId] = { ...values[blockId], [actionId]: state };
  }
  return values;
}

/** Whether an input holds nothing, so that a required one cannot be submitted. */
export function isEmptyState(state: Json): boolean {
  const values = Object.entries(state).filter(([member]) => member !== 'type');
  return values.every(([, value]) => value === null || (Array.isArray(value) && value.length === 0));
}

/** The options of a menu with those inside its groups. */
function optionsOf(element: Json): Json[] {
  const groups = (element['option_groups'] as Json[] | undefined) ?? [];
  const initial = [
    element['initial_option'],
    ...((element['initial_options'] as unknown[] | undefined) ?? []),
  ].filter(isObject);
  const own = (element['options'] as Json[] | undefined) ?? [];
  return [...own, ...groups.flatMap((group) => group['options'] as Json[]), ...initial];
}

function optionNamed(options: readonly Json[], value: unknown, element: Json): Json {
  const found = options.find((option) => option['value'] === value);
  if (found) return found;
  const known =
    options.map((option) => String(option['value'])).join(', ') || 'none (ask for suggestions first)';
  throw new Error(`${String(element['action_id'])} has no option ${JSON.stringify(value)}; it has: ${known}`);
}

function asList(value: unknown): unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}

function richTextOf(text: string): Json {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] };
}
