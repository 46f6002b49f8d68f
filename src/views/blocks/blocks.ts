import type {
  ActionsBlock,
  ActionsBlockElement,
  Button,
  ContextBlock,
  HeaderBlock,
  MrkdwnElement,
  PlainTextElement,
  PlainTextOption,
  SectionBlock,
} from '@slack/types';
import type { Message, MessageBlock } from './message.ts';
import { truncate } from './text.ts';

/** Slack's limits by element: https://docs.slack.dev/reference/block-kit/blocks */
export const limits = {
  title: 24,
  section: 3000,
  header: 150,
  button: 75,
  value: 2000,
  option: 75,
  blocks: 50,
  homeBlocks: 100,
  actions: 25,
} as const;

export function plain(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: true };
}

/** `verbatim`: Slack must not turn hostnames into links or names into mentions. */
function mrkdwn(text: string): MrkdwnElement {
  return { type: 'mrkdwn', text: truncate(text, limits.section), verbatim: true };
}

export function header(text: string): HeaderBlock {
  return { type: 'header', text: plain(truncate(text, limits.header)) };
}

export function section(text: string, accessory?: Button): SectionBlock {
  return { type: 'section', text: mrkdwn(text), ...(accessory ? { accessory } : {}) };
}

export function context(text: string): ContextBlock {
  return { type: 'context', elements: [mrkdwn(text)] };
}

export function actions(...elements: ActionsBlockElement[]): ActionsBlock {
  return { type: 'actions', elements };
}

/** A button. `actionId` is `feature:verb`, plus `:anything` if a block holds several of one kind. */
export function button(
  label: string,
  actionId: string,
  value: string,
  more: Pick<Button, 'style' | 'confirm'> = {},
): Button {
  return { type: 'button', text: plain(truncate(label, limits.button)), action_id: actionId, value, ...more };
}

/** A button that runs `/cdn <words>`. `nth` makes the id unique in its block. */
export function commandButton(
  label: string,
  words: string,
  nth = 0,
  more: Pick<Button, 'style'> = {},
): Button {
  return button(label, `help:run:${nth}`, words.slice(0, limits.value), more);
}

/** Opens the form for a key, or offers a link to the page. */
export function connectButton(
  label = 'Connect your key',
  more: Pick<Button, 'style'> = { style: 'primary' },
): Button {
  return button(label, 'connect:open', 'open', more);
}

/** The initial option of a menu with search: the id is its label. */
export function picked(id: string): PlainTextOption {
  return { text: plain(truncate(id, limits.option)), value: id.slice(0, limits.option) };
}

export function message(text: string, blocks: readonly MessageBlock[]): Message {
  return { text, blocks: [...blocks] };
}
