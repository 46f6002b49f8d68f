import type { Json } from '../world.ts';
import { markedOption, ofOwnOptions, option, optionGroups, options, overflowOption } from './options.ts';
import { richText } from './rich-text.ts';
import {
  anyText,
  anything,
  flag,
  httpsUrl,
  id,
  integer,
  list,
  number,
  oneOf,
  pattern,
  plain,
  type Report,
  type Rule,
  shape,
  string,
  url,
} from './rules.ts';

const confirm = shape(
  { text: anyText(300) },
  { title: plain(100), confirm: plain(30), deny: plain(30), style: oneOf('primary', 'danger') },
);
const style = oneOf('primary', 'danger');
const common = { action_id: id };
const confirmable = { ...common, confirm };
const focus: Rule = (value, at, report) => {
  flag(value, at, report);
  if (value === true && report.count('focus_on_load') > 1)
    report.refuse(at, 'only one element may have focus_on_load');
};
const picker = { ...confirmable, focus_on_load: focus, placeholder: plain(150) };
const dispatch = shape(
  {},
  { trigger_actions_on: list(oneOf('on_enter_pressed', 'on_character_entered'), 2) },
);
const typed = { ...common, focus_on_load: focus, placeholder: plain(150), dispatch_action_config: dispatch };
const several = { max_selected_items: integer(1, Number.MAX_SAFE_INTEGER) };
const filter = shape(
  {},
  {
    include: list(oneOf('im', 'mpim', 'private', 'public'), 4),
    exclude_external_shared_channels: flag,
    exclude_bot_users: flag,
  },
  (value, at, report) => {
    if (Object.keys(value).length === 0) report.refuse(at, 'must not be empty');
  },
);
const date = pattern(/^\d{4}-\d{2}-\d{2}$/, 'a date in the form YYYY-MM-DD');
const time = pattern(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time in the form HH:mm');
const responding: Rule = (value, at, report) => {
  flag(value, at, report);
  if (value === true && report.surface !== 'modal')
    report.refuse(at, 'response_url_enabled works in modals only');
};
const feedback = shape({ text: plain(75), value: string(2000) }, { accessibility_label: string(75) });
const imageSource = {
  image_url: httpsUrl,
  slack_file: shape({}, { id: string(255), url }, exactlyOne('id', 'url')),
};

export const image = shape({ alt_text: string(2000) }, imageSource, exactlyOne('image_url', 'slack_file'));

/** Every element of Block Kit by its type, with the limits of docs.slack.dev/reference/block-kit. */
export const elements: Readonly<Record<string, Rule>> = {
  button: shape(
    { text: plain(75) },
    { ...confirmable, value: string(2000), url, style, accessibility_label: string(75) },
  ),
  icon_button: shape(
    { icon: string(255), text: plain(75) },
    {
      ...confirmable,
      value: string(2000),
      accessibility_label: string(75),
      visible_to_user_ids: list(string(255), 100),
    },
  ),
  feedback_buttons: shape({ positive_button: feedback, negative_button: feedback }, common),
  workflow_button: shape(
    { text: plain(75), workflow: anything },
    { ...confirmable, style, accessibility_label: string(75) },
  ),
  checkboxes: shape(
    { options: list(markedOption, 10) },
    { ...confirmable, focus_on_load: focus, initial_options: list(markedOption, 10) },
    ofOwnOptions,
  ),
  radio_buttons: shape(
    { options: list(markedOption, 10) },
    { ...confirmable, focus_on_load: focus, initial_option: markedOption },
    ofOwnOptions,
  ),
  overflow: shape({ options: list(overflowOption, 5) }, confirmable),
  datepicker: shape({}, { ...picker, initial_date: date }),
  timepicker: shape({}, { ...picker, initial_time: time, timezone: string(100) }),
  datetimepicker: shape(
    {},
    { ...confirmable, focus_on_load: focus, initial_date_time: integer(1_000_000_000, 9_999_999_999) },
  ),
  email_text_input: shape({}, { ...typed, initial_value: string(3000) }),
  url_text_input: shape({}, { ...typed, initial_value: string(3000) }),
  number_input: shape(
    { is_decimal_allowed: flag },
    { ...typed, initial_value: numeric(), min_value: numeric(), max_value: numeric() },
    (value, at, report) => {
      if (Number(value['min_value'] ?? 0) > Number(value['max_value'] ?? Infinity))
        report.refuse(at, 'min_value is greater than max_value');
    },
  ),
  plain_text_input: shape(
    {},
    {
      ...typed,
      initial_value: string(3000),
      multiline: flag,
      min_length: integer(0, 3000),
      max_length: integer(1, 3000),
    },
    textBounds,
  ),
  rich_text_input: shape(
    {},
    { ...typed, initial_value: richText, min_lines: integer(1, 100), max_lines: integer(1, 100) },
  ),
  file_input: shape({}, { ...common, filetypes: list(string(255), 100), max_files: integer(1, 10) }),
  static_select: shape(
    {},
    { ...picker, options, option_groups: optionGroups, initial_option: option },
    ofOwnOptions,
  ),
  multi_static_select: shape(
    {},
    { ...picker, ...several, options, option_groups: optionGroups, initial_options: list(option, 100) },
    ofOwnOptions,
  ),
  external_select: shape({}, { ...picker, initial_option: option, min_query_length: integer(0, 3000) }),
  multi_external_select: shape(
    {},
    { ...picker, ...several, initial_options: list(option, 100), min_query_length: integer(0, 3000) },
  ),
  users_select: shape({}, { ...picker, initial_user: string(255) }),
  multi_users_select: shape({}, { ...picker, ...several, initial_users: list(string(255), 1000) }),
  conversations_select: shape(
    {},
    {
      ...picker,
      initial_conversation: string(255),
      default_to_current_conversation: flag,
      filter,
      response_url_enabled: responding,
    },
  ),
  multi_conversations_select: shape(
    {},
    {
      ...picker,
      ...several,
      initial_conversations: list(string(255), 1000),
      default_to_current_conversation: flag,
      filter,
    },
  ),
  channels_select: shape({}, { ...picker, initial_channel: string(255), response_url_enabled: responding }),
  multi_channels_select: shape({}, { ...picker, ...several, initial_channels: list(string(255), 1000) }),
  image,
};

const selects = ['static', 'external', 'users', 'conversations', 'channels'].flatMap((kind) => [
  `${kind}_select`,
  `multi_${kind}_select`,
]);
const choices = [...selects, 'checkboxes', 'radio_buttons', 'datepicker', 'timepicker'];
/** The elements allowed in each block (the unions of @slack/types). */
export const inActions = [
  ...choices,
  'button',
  'overflow',
  'datetimepicker',
  'workflow_button',
  'rich_text_input',
];
export const inSection = [...choices, 'button', 'overflow', 'image', 'workflow_button'];
export const inInput = [
  ...choices,
  'datetimepicker',
  'email_text_input',
  'url_text_input',
  'number_input',
  'plain_text_input',
  'rich_text_input',
  'file_input',
];

function textBounds(value: Json, at: string, report: Report): void {
  const { min_length: least, max_length: most, initial_value: initial } = value;
  if (typeof least === 'number' && typeof most === 'number' && least > most)
    report.refuse(at, 'min_length is greater than max_length');
  if (typeof most === 'number' && typeof initial === 'string' && initial.length > most)
    report.refuse(at, 'initial_value is longer than max_length');
}

function numeric(): Rule {
  return (value, at, report) => {
    // Slack wants numbers as strings here.
    if (typeof value !== 'string') report.refuse(at, 'must be a string');
    else number(value.trim() === '' ? undefined : Number(value), at, report);
  };
}

/** Of two members exactly one. */
export function exactlyOne(one: string, other: string): (value: Json, at: string, report: Report) => void {
  return (value, at, report) => {
    if ((value[one] === undefined) === (value[other] === undefined))
      report.refuse(at, `must have exactly one of ${one} and ${other}`);
  };
}
