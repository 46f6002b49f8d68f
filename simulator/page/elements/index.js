// One drawer an element type. `cx` is {surface, block, input?, labelledBy?, describedBy?}: where the element stands.

import { el } from '../dom.js';
import { button, feedbackButtons, iconButton, workflowButton } from './button.js';
import { checkboxes, radioButtons } from './choices.js';
import { datePicker, dateTimePicker, fileInput, textInput, timePicker } from './fields.js';
import { multiSelect, overflow, select } from './menus.js';
import { picture } from './picture.js';

const drawers = {
  button,
  channels_select: select,
  checkboxes,
  conversations_select: select,
  datepicker: datePicker,
  datetimepicker: dateTimePicker,
  email_text_input: textInput,
  external_select: select,
  feedback_buttons: feedbackButtons,
  file_input: fileInput,
  icon_button: iconButton,
  image: (element) => picture(element, 'small'),
  multi_channels_select: multiSelect,
  multi_conversations_select: multiSelect,
  multi_external_select: multiSelect,
  multi_static_select: multiSelect,
  multi_users_select: multiSelect,
  number_input: textInput,
  overflow,
  plain_text_input: textInput,
  radio_buttons: radioButtons,
  rich_text_input: textInput,
  static_select: select,
  timepicker: timePicker,
  url_text_input: textInput,
  users_select: select,
  workflow_button: workflowButton,
};

export function drawElement(element, cx) {
  const draw = drawers[element?.type];
  const node = draw
    ? draw(element, cx)
    : el('span', { class: 'unknown' }, `Element “${element?.type}” is not drawn by this playground`);
  node.dataset.element = element?.type ?? 'none';
  if (element?.action_id) node.dataset.action = element.action_id;
  return node;
}
