import type {
  ActionsBlock,
  ActionsBlockElement,
  Button,
  ConfirmationDialog,
  ContextBlock,
  HeaderBlock,
  MrkdwnElement,
  PlainTextElement,
  PlainTextOption,
  SectionBlock,
} from '@slack/types';
import type { Message, MessageBlock } from './message.ts';
import { join, type Maybe, type Texts, truncate } from './text.ts';

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

/** The blocks that are there: without those left out, and without rows that have no button. */
export function compact<Block extends MessageBlock>(blocks: readonly Maybe<Block>[]): Block[] {
  return blocks.filter(
    (block): block is Block => !!block && (block.type !== 'actions' || block.elements.length > 0),
  );
}

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

/** Lines of mrkdwn. */
export function section(lines: Texts, accessory?: Maybe<Button>): SectionBlock {
  return { type: 'section', text: mrkdwn(join(lines, '\n')), ...(accessory ? { accessory } : {}) };
}

/** Facts in one small line. */
export function context(facts: Texts): ContextBlock {
  return { type: 'context', elements: [mrkdwn(join(facts, ' · '))] };
}

export function actions(...elements: Maybe<ActionsBlockElement>[]): ActionsBlock {
  return { type: 'actions', elements: elements.filter((element) => !!element) };
}

/** Asks before a button does its work. */
export function confirmation(title: string, text: string, confirm: string, deny: string): ConfirmationDialog {
  return { title: plain(title), text: plain(text), confirm: plain(confirm), deny: plain(deny) };
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

export function message(text: string, blocks: readonly Maybe<MessageBlock>[]): Message {
  return { text, blocks: compact(blocks) };
}

/** A message of one sentence, and what stands below it. */
export function say(text: string, ...blocks: readonly Maybe<MessageBlock>[]): Message {
  return message(text, [section(text), ...blocks]);
}
