// Stores a control's changed value and sends it to the bot where Slack would.

import { askFirst } from '../dialog.js';
import { remember, wire } from '../values.js';

/**
 * Takes a new value; asks first where the element wants that. Returns false where the person thought better of it.
 * An input sends nothing until its form is submitted, unless its block has `dispatch_action`.
 */
export async function commit(element, cx, value) {
  if (element.confirm && !(await askFirst(element.confirm))) return false;
  remember(cx.surface, cx.block, element, value);
  if (!cx.input || cx.block.dispatch_action) await cx.surface.choose(cx.block, element, wire(value));
  return true;
}

/** The name and description a control has for screen readers. */
export function labels(element, cx, fallback) {
  if (cx.labelledBy) return { 'aria-labelledby': cx.labelledBy, 'aria-describedby': cx.describedBy };
  const words = element.accessibility_label ?? fallback ?? element.placeholder?.text;
  return words ? { 'aria-label': words } : {};
}
