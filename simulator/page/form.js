// The controls of a view that hold values, and the checks that Slack makes before a form reaches the bot.

const holdsNothing = new Set(['button', 'feedback_buttons', 'icon_button', 'overflow', 'workflow_button']);

/** Every input and every other control of a view that holds a value, with its block. */
export function controls(view) {
  const inside = (blocks) =>
    blocks.flatMap((block) => [
      ...[block.element, block.accessory, ...(block.type === 'actions' ? block.elements : [])]
        .filter((element) => element?.action_id && !holdsNothing.has(element.type))
        .map((element) => ({ block, element })),
      ...inside(block.child_blocks ?? []),
    ]);
  return inside(view.blocks);
}

const empty = (value) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** The error of a field's value in words; undefined where it may be sent. */
export function wrongWith(block, value) {
  const { element } = block;
  if (empty(value)) return block.optional ? undefined : 'Please complete this required field.';
  const text = typeof value === 'string' ? value : '';
  switch (element.type) {
    case 'plain_text_input':
      if (element.min_length && text.length < element.min_length)
        return `Please write at least ${element.min_length} characters.`;
      return undefined;
    case 'email_text_input':
      return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) ? undefined : 'Please enter a valid email address.';
    case 'url_text_input':
      return URL.canParse(text) ? undefined : 'Please enter a valid URL, such as https://example.com.';
    case 'number_input':
      return wrongNumber(element, text);
    default:
      return undefined;
  }
}

function wrongNumber(element, text) {
  const number = Number(text);
  if (Number.isNaN(number)) return 'Please enter a number.';
  if (!element.is_decimal_allowed && !Number.isInteger(number)) return 'Please enter a whole number.';
  if (element.min_value !== undefined && number < Number(element.min_value))
    return `Please enter ${element.min_value} or more.`;
  if (element.max_value !== undefined && number > Number(element.max_value))
    return `Please enter ${element.max_value} or less.`;
  return undefined;
}
