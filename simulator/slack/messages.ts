import { assignIds } from './block-ids.ts';
import type { StateValues } from './element-state.ts';
import { type Names, readsOf, renderMrkdwn } from './reads.ts';
import { type Json, memberKey, type World } from './world.ts';

export interface VisibleFile {
  id: string;
  name: string;
  title: string;
  mimetype: string;
  size: number;
  altText: string | undefined;
  /** The address from which the playground's page loads it. */
  url: string;
}

export interface VisibleMessage {
  ts: string;
  threadTs?: string;
  channel: string;
  text: string;
  blocks: Json[];
  ephemeral: boolean;
  edited: boolean;
  bot: boolean;
  user: string;
  files: VisibleFile[];
  reactions: string[];
  /** Everything a person would read, joined. */
  reads: string;
}

export interface StoredMessage {
  ts: string;
  channel: string;
  threadTs: string | undefined;
  text: string;
  blocks: Json[];
  /** The bot's user id, or the person's. */
  user: string;
  botId: string | undefined;
  /** `team/user` of the only person who sees it. */
  ephemeralFor: string | undefined;
  edited: boolean;
  files: string[];
  reactions: string[];
  metadata: Json | undefined;
  /** Attached by Slack or others: a shared message, an unfurled link. */
  attachments: readonly Json[];
  /** By `team/user`: what that person chose in it. */
  state: Map<string, StateValues>;
}

export interface Messages {
  post(fields: Partial<StoredMessage> & Pick<StoredMessage, 'channel' | 'user'>): StoredMessage;
  update(
    message: StoredMessage,
    change: { text?: string | undefined; blocks?: Json[] | undefined; metadata?: Json | undefined },
  ): void;
  remove(message: StoredMessage): void;
  find(channel: string, ts: string): StoredMessage | undefined;
  /** The messages that all members of a channel see, or in one thread of it, newest first. */
  history(channel: string, thread?: string): StoredMessage[];
  /** The messages one person sees, oldest first; without a channel in all conversations they are in. */
  visibleTo(who: { teamId: string; userId: string }, channel?: string): VisibleMessage[];
  /** All messages, oldest first, and those of an earlier run in their place. */
  all(): readonly StoredMessage[];
  restore(messages: readonly StoredMessage[]): void;
  readonly names: Names;
}

/** The messages of the simulated Slack. */
export function createMessages(options: {
  world: World;
  timestamp: () => string;
  changed: () => void;
  fileOf: (id: string) => VisibleFile | undefined;
}): Messages {
  const { world, changed } = options;
  let stored: StoredMessage[] = [];
  const names: Names = {
    user: (id) =>
      world.person(id)?.realName ?? (world.teams.some((team) => team.botUserId === id) ? 'CDN' : id),
    channel: (id) => world.channels.get(id)?.name ?? id,
  };

  function asSeen(message: StoredMessage): VisibleMessage {
    const files = message.files.map(options.fileOf).filter((file) => file !== undefined);
    const shown =
      message.blocks.length > 0 ? readsOf(message.blocks, names) : renderMrkdwn(message.text, names);
    return {
      ts: message.ts,
      ...(message.threadTs === undefined ? {} : { threadTs: message.threadTs }),
      channel: message.channel,
      text: message.text,
      blocks: message.blocks,
      ephemeral: message.ephemeralFor !== undefined,
      edited: message.edited,
      bot: message.botId !== undefined,
      user: message.user,
      files,
      reactions: message.reactions,
      reads: [shown, ...files.flatMap((file) => [file.title, file.name])]
        .filter((line, at, all) => line !== '' && all.indexOf(line) === at)
        .join('\n'),
    };
  }

  return {
    names,
    post(fields) {
      const message: StoredMessage = {
        ts: options.timestamp(),
        threadTs: undefined,
        text: '',
        botId: undefined,
        ephemeralFor: undefined,
        edited: false,
        files: [],
        reactions: [],
        metadata: undefined,
        attachments: [],
        state: new Map(),
        ...fields,
        blocks: assignIds(fields.blocks ?? []),
      };
      stored.push(message);
      changed();
      return message;
    },
    update(message, change) {
      // As in Slack: an update with text alone takes the blocks away.
      message.text = change.text ?? (change.blocks ? '' : message.text);
      message.blocks = assignIds(change.blocks ?? []);
      if (change.metadata) message.metadata = change.metadata;
      message.edited = true;
      changed();
    },
    remove(message) {
      stored = stored.filter((other) => other !== message);
      changed();
    },
    find: (channel, ts) => stored.find((message) => message.channel === channel && message.ts === ts),
    history: (channel, thread) =>
      stored
        .filter((message) => message.channel === channel && message.ephemeralFor === undefined)
        .filter(({ ts, threadTs }) =>
          thread === undefined ? threadTs === undefined : threadTs === thread || ts === thread,
        )
        .toReversed(),
    all: () => stored,
    restore(messages) {
      stored = [...messages];
    },
    visibleTo({ teamId, userId }, channel) {
      const member = memberKey(teamId, userId);
      return stored
        .filter((message) => channel === undefined || message.channel === channel)
        .filter((message) => world.channels.get(message.channel)?.members.has(member))
        .filter((message) => message.ephemeralFor === undefined || message.ephemeralFor === member)
        .map(asSeen);
    },
  };
}
