import type {
  ActionsBlock,
  ActionsBlockElement,
  Button,
  ContextBlock,
  HeaderBlock,
  KnownBlock,
  ModalView,
  MrkdwnElement,
  PlainTextElement,
  PlainTextOption,
  SectionBlock,
} from '@slack/types';
import type { FileReply, FileTarget } from '../../lib/file-transfer.ts';
import { join, type Maybe, type Texts, truncate, truncateMarkup } from './text.ts';

export interface Message {
  readonly text: string;
  readonly blocks?: MessageBlock[];
  /** The title of the modal that shows it; by default the label of the pressed button, or that it did not work. */
  readonly title?: string;
  /** Kinds of secrets that this message may contain (`link-token`); any other secret blocks it. */
  readonly carries?: readonly string[];
  /** Sent after the text, to the person's direct messages: Slack has no private files in channels. */
  readonly files?: readonly Attachment[];
}

export type MessageBlock = KnownBlock | ChartBlock;

/** A chart that Slack draws; not in @slack/types 3.2.0. https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block */
export interface ChartBlock {
  readonly type: 'data_visualization';
  readonly title: string;
  readonly chart: {
    readonly type: 'line' | 'bar';
    readonly series: readonly {
      readonly name: string;
      readonly data: readonly { readonly label: string; readonly value: number }[];
    }[];
    readonly axis_config: { readonly categories: readonly string[]; readonly y_label: string };
  };
}

/** The view that replaces a form's loading view; `message` says the same if the person closed it meanwhile. */
export type FormResult = { readonly modal: ModalView; readonly message: Message };

export interface Attachment {
  readonly name: string;
  readonly title: string;
  readonly mimetype: string;
  /** The bytes; a temporary file, deleted after sending; or a file that only its thread can send. */
  readonly content: Uint8Array | { readonly path: string } | SpooledFile;
}

export function jsonFile(name: string, json: string): Attachment {
  const content = new TextEncoder().encode(json);
  return { name: `${name}.json`, title: name, mimetype: 'application/json', content };
}

/** A file without a name, scanned for secrets while it was written. Its creator discards it. */
export interface SpooledFile {
  readonly length: number;
  readonly send: (to: FileTarget) => Promise<FileReply>;
}

/** Slack's limits by element: https://docs.slack.dev/reference/block-kit/blocks */
export const limits = {
  title: 24,
  section: 3000,
  header: 150,
  button: 75,
  value: 2000,
  actionId: 255,
  url: 3000,
  option: 75,
  optionValue: 150,
  options: 100,
  overflow: 5,
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
  return { type: 'mrkdwn', text: truncateMarkup(text, limits.section), verbatim: true };
}

export function header(text: string): HeaderBlock {
  return { type: 'header', text: plain(truncate(text, limits.header)) };
}

export function section(lines: Texts, accessory?: Maybe<Button>): SectionBlock {
  return { type: 'section', text: mrkdwn(join(lines, '\n')), ...(accessory ? { accessory } : {}) };
}

export function context(facts: Texts): ContextBlock {
  return { type: 'context', elements: [mrkdwn(join(facts, ' · '))] };
}

export function actions(...elements: Maybe<ActionsBlockElement>[]): ActionsBlock {
  return { type: 'actions', elements: elements.filter((element) => !!element) };
}

export function picked(id: string): PlainTextOption {
  return { text: plain(truncate(id, limits.option)), value: id.slice(0, limits.option) };
}

export function message(text: string, blocks: readonly Maybe<MessageBlock>[]): Message {
  return { text, blocks: compact(blocks) };
}

export function say(text: string, ...blocks: readonly Maybe<MessageBlock>[]): Message {
  return message(text, [section(text), ...blocks]);
}
