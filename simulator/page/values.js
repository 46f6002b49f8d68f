// Typed and chosen values that are not sent yet: kept beside the DOM, so that a redraw never loses them.

const typed = new Map();
const name = (surface, block, element) => `${surface.key}|${block.block_id}|${element.action_id ?? ''}`;

/** The control's name on the page: finds it again after a redraw. */
export const focusName = name;

export function remember(surface, block, element, value) {
  typed.set(name(surface, block, element), value);
  onTyping(surface, block);
}

let onTyping = () => {};
/** Calls `listener(surface, block)` after each typed character or choice. */
export function watchTyping(listener) {
  onTyping = listener;
}

/** The control's value: as typed, else as the server stored it, else its initial value. */
export function valueOf(surface, block, element) {
  const key = name(surface, block, element);
  if (typed.has(key)) return typed.get(key);
  const known = knownStates.get(surface.key)?.[block.block_id]?.[element.action_id];
  return known ? fromState(known) : initial(element);
}

const knownStates = new Map();
/**
 * Takes the server's values of a view (Slack's `state.values`). True where that changes a control into which nobody
 * has typed since: it has to be drawn again.
 */
export function serverKnows(surfaceKey, values = {}) {
  const before = knownStates.get(surfaceKey) ?? {};
  knownStates.set(surfaceKey, values);
  return Object.entries(values).some(([blockId, elements]) =>
    Object.entries(elements).some(([actionId, value]) => {
      const old = before[blockId]?.[actionId];
      const mine = typed.has(name({ key: surfaceKey }, { block_id: blockId }, { action_id: actionId }));
      return old !== undefined && !mine && JSON.stringify(old) !== JSON.stringify(value);
    }),
  );
}

/** Forgets what was typed into a surface that is gone. */
export function forget(surfaceKey) {
  knownStates.delete(surfaceKey);
  forgetTyped(surfaceKey);
}

/** Forgets what was typed because the server has it now. */
export function forgetTyped(surfaceKey) {
  for (const key of typed.keys()) if (key.startsWith(`${surfaceKey}|`)) typed.delete(key);
}

/** Forgets what was typed into controls that a surface no longer has. */
export function keepOnly(surfaceKey, controls) {
  const kept = new Set(controls.map(({ block, element }) => name({ key: surfaceKey }, block, element)));
  for (const key of typed.keys()) if (key.startsWith(`${surfaceKey}|`) && !kept.has(key)) typed.delete(key);
}

const option = (one) => (one ? { value: one.value, text: one.text?.text ?? one.value } : undefined);

/** Selects hold {value, text}; other controls what goes over the wire. */
function initial(element) {
  switch (element.type) {
    case 'static_select':
    case 'external_select':
      return option(element.initial_option);
    case 'multi_static_select':
    case 'multi_external_select':
      return (element.initial_options ?? []).map(option);
    case 'users_select':
      return named(element.initial_user);
    case 'conversations_select':
      return named(element.initial_conversation);
    case 'channels_select':
      return named(element.initial_channel);
    case 'multi_users_select':
      return (element.initial_users ?? []).map(named);
    case 'multi_conversations_select':
      return (element.initial_conversations ?? []).map(named);
    case 'multi_channels_select':
      return (element.initial_channels ?? []).map(named);
    case 'radio_buttons':
      return element.initial_option?.value;
    case 'checkboxes':
      return (element.initial_options ?? []).map((one) => one.value);
    case 'datepicker':
      return element.initial_date;
    case 'timepicker':
      return element.initial_time;
    case 'datetimepicker':
      return element.initial_date_time;
    case 'rich_text_input':
      return plainOf(element.initial_value);
    default:
      return element.initial_value;
  }
}

/** A control's entry in Slack's `state.values`, as the control holds it. */
function fromState({ type, ...entry }) {
  const [member] = Object.keys(entry);
  const value = entry[member] ?? undefined;
  switch (member) {
    case 'selected_option':
      return type === 'radio_buttons' ? value?.value : option(value);
    case 'selected_options':
      return (value ?? []).map(type === 'checkboxes' ? (one) => one.value : option);
    case 'selected_user':
    case 'selected_conversation':
    case 'selected_channel':
      return named(value);
    case 'selected_users':
    case 'selected_conversations':
    case 'selected_channels':
      return (value ?? []).map(named);
    case 'rich_text_value':
      return plainOf(value);
    default:
      return value;
  }
}

const named = (id) => (id ? { value: id } : undefined);

const plainOf = (part) =>
  typeof part?.text === 'string'
    ? part.text
    : (part?.elements ?? []).map(plainOf).join(part?.type === 'rich_text' ? '\n' : '');

/** A control's value as it goes over the wire: a string, a list of strings, a number, or undefined where empty. */
export function wire(value) {
  if (Array.isArray(value)) return value.map(wire);
  if (value && typeof value === 'object' && 'value' in value) return value.value;
  return value === '' ? undefined : value;
}
