import type { ActionsBlockElement, Button, ConfirmationDialog, KnownBlock } from '@slack/types';
import {
  actions,
  context,
  limits,
  type Message,
  type MessageBlock,
  message,
  plain,
} from './blocks/blocks.ts';
import { button, commandButton, confirmation } from './blocks/buttons.ts';
import { truncate } from './blocks/text.ts';

export const sharedFiles = ['csv', 'ndjson'] as const;
export type SharedFile = (typeof sharedFiles)[number];

/** `post-only`: without its files. `unknown`: it may have been posted. `refused`: Slack's reason. */
export type ShareOutcome = 'posted' | 'post-only' | 'repeated' | 'unknown' | { readonly refused: string };

/** Shows an answer to everybody where it stands. `words`, typed, show the same. */
export function shareButton(words: string): Button {
  return button('Share', 'share:post', `${words} here`);
}

/** The same with all entries as a file in the thread; an entry of the `⋯` menu. */
export function shareFileButton(words: string, as: SharedFile): Button {
  return button(`Share with ${as.toUpperCase()}`, `share:post:${as}`, `${words} here with:${as}`);
}

/** The words that show the same as this answer; undefined = it is for one person alone. */
export function findSharedWords({ blocks = [] }: Message): string | undefined {
  const elements = blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
  return elements.find(isShareButton)?.value?.replace(/ here(?: shown:\w+)?$/u, '');
}

export interface AnswerPlace {
  readonly channelId: string | undefined;
  readonly threadTs: string | undefined;
}

/**
 * The answer with its *Share* for this place: a button that asks first, or a menu of channels where only one person
 * reads. `key` finds again what was shown.
 */
export function offerShare(answer: Message, { channelId, threadTs }: AnswerPlace, key: string): Message {
  const words = findSharedWords(answer);
  if (words === undefined) return answer;
  const isHere = isSharedPlace(channelId);
  const where = isHere ? `${threadTs ? 'this thread of ' : ''}<#${channelId}>` : 'that channel';
  const question = `Share this in ${where}? Everybody there sees what your key can read.`;
  const confirm: ConfirmationDialog = {
    ...confirmation('Share', '', 'Share', 'Cancel'),
    text: { type: 'mrkdwn', text: truncate(question, 300) },
  };
  const offer = (element: ActionsBlockElement): ActionsBlockElement => {
    if (element.type === 'overflow') {
      const options = element.options.map((option) =>
        option.value?.startsWith('share:post')
          ? { ...option, value: addKey(option.value, key, limits.optionValue) }
          : option,
      );
      return { ...element, options };
    }
    if (!isShareButton(element)) return element;
    if (isHere) return { ...element, value: addKey(element.value ?? '', key, limits.value), confirm };
    return {
      type: 'conversations_select',
      action_id: `share:to:${key} ${words}`.slice(0, limits.actionId).trimEnd(),
      placeholder: plain('Share in…'),
      filter: {
        include: ['public', 'private'],
        exclude_external_shared_channels: true,
        exclude_bot_users: true,
      },
      confirm,
    };
  };
  return mapElements(answer, (elements) => elements.map(offer));
}

/** The typed command of a choice in the menu of channels; of a repeated one it is the value itself. */
export function readSharePick(actionId: string, channel: string): string {
  if (!isSharedPlace(channel) || channel.includes(' ')) return channel;
  const [, key = '', words = ''] = /^share:to:(\w+) ([\s\S]*)$/u.exec(actionId) ?? [];
  return `${words} in <#${channel}> shown:${key}`;
}

/** Conversations between people have no button that shows something to all. */
export function isSharedPlace(channelId: string | undefined): channelId is string {
  return channelId !== undefined && /^[CG]/u.test(channelId);
}

export function renderSharedCopy(answer: Message, by: string): Message {
  const words = findSharedWords(answer) ?? '';
  const shown = (answer.blocks ?? []).filter(({ type }) => type !== 'actions').map(withoutAccessory);
  const last = shown.at(-1);
  const notes = last?.type === 'context' ? shown.pop() : undefined;
  return message(answer.text, [
    ...shown,
    actions(commandButton('Open with my key', words)),
    context([`Shared by <@${by}>`, ...(notes?.type === 'context' ? readNotes(notes) : [])]),
  ]);
}

export function renderShown(answer: Message, channel: string, lacksFile: boolean): Message {
  const rest = mapElements(answer, (elements) => elements.filter((element) => !isShareButton(element)));
  const lacking = lacksFile ? ', without the file: Slack did not accept it' : '';
  return addNote(rest, `Shared in <#${channel}>${lacking}`);
}

export function renderNotShown(answer: Message, channel: string): Message {
  return addNote(answer, `Not shared in <#${channel}>: nothing to share yet`);
}

function addNote(answer: Message, note: string): Message {
  const { blocks = [] } = answer;
  const last = blocks.at(-1);
  const added: MessageBlock[] =
    last?.type === 'context'
      ? [...blocks.slice(0, -1), context([...readNotes(last), note])]
      : [...blocks, context(note)];
  return { ...answer, blocks: added.slice(0, limits.blocks) };
}

function readNotes({ elements }: Extract<KnownBlock, { type: 'context' }>): string[] {
  return elements.flatMap((element) => (element.type === 'mrkdwn' ? [element.text] : []));
}

function withoutAccessory(block: MessageBlock): MessageBlock {
  if (block.type !== 'section') return block;
  const { accessory: _, ...rest } = block;
  return rest;
}

function isShareButton(element: ActionsBlockElement): element is Button {
  return element.type === 'button' && element.action_id === 'share:post';
}

function mapElements(
  answer: Message,
  map: (elements: ActionsBlockElement[]) => ActionsBlockElement[],
): Message {
  const { text, blocks = [] } = answer;
  const mapped = blocks.map((block) => (block.type === 'actions' ? actions(...map(block.elements)) : block));
  return { ...answer, ...message(text, mapped) };
}

function addKey(value: string, key: string, most: number): string {
  const keyed = `${value} shown:${key}`;
  return keyed.length > most ? value : keyed;
}
