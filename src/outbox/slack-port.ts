import type { Person } from '../auth/identity.ts';
import type { Attachment, Message } from '../views/blocks/message.ts';

/** An installation: its workspace, and its organisation where it was installed for all of it. */
export type Place = Pick<Person, 'enterpriseId' | 'teamId'>;

/** Slack, as the installation that this person (or anybody of the same place) belongs to. */
export type OpenSlack = (place: Place, signal: AbortSignal) => SlackPort;

/** Where a message is, to change it or to answer in its thread. */
export interface Posted {
  readonly channel: string;
  readonly ts: string;
}

/** What finds a message of ours again. Never a secret: every app in the channel may read it. */
export interface Marker {
  /** Lower case with underscores: `digest_run`. */
  readonly type: string;
  readonly payload: Readonly<Record<string, string | number | boolean>>;
}

/** Slack for jobs: its own clients, which never hold up an answer to a person. Every method throws `SlackFailure`. */
export interface SlackPort {
  /** Posts into a channel the bot is in, or, with a user's id, into their direct messages. Never tried twice by itself. */
  post(channel: string, message: Message, options?: PostOptions): Promise<Posted>;
  /** Puts another message in the place of one that was posted. */
  update(at: Posted, message: Message): Promise<void>;
  /**
   * Looks for a message of the bot's that carries this marker: what was posted before a crash, or without an answer.
   * Undefined = it is certainly not there. Fails with `missing_scope` where the workspace does not let the bot read.
   */
  find(marker: Marker, where: FindWhere): Promise<Posted | undefined>;
  /** Shares files with one message. Spooled files are taken away, however it ends. */
  share(files: readonly Attachment[], target: ShareTarget): Promise<{ readonly fileIds: readonly string[] }>;
  /** Takes a file out of Slack; one that is gone already is no failure. */
  deleteFile(fileId: string): Promise<void>;
}

export interface PostOptions {
  /** Answers in the thread of that message. */
  readonly thread?: string | undefined;
  readonly marker?: Marker | undefined;
}

export interface FindWhere {
  readonly channel: string;
  /** Not before, by our clock: what Slack's may differ by is looked through as well. */
  readonly since: Date;
  /** In the thread of that message. */
  readonly thread?: string | undefined;
}

export interface ShareTarget {
  /** A channel the bot is in; a person's direct messages are the channel that a post to them answered with. */
  readonly channel: string;
  readonly thread?: string | undefined;
  /** mrkdwn, above the files. */
  readonly comment?: string | undefined;
  /** Runs once Slack has all bytes and nobody sees them. Where it throws, nobody ever will, and that is thrown on. */
  readonly beforeShare?: ((fileIds: readonly string[]) => Promise<void>) | undefined;
}

/**
 * Slack did not do it (`refused`), or nobody knows whether it did (`unknown`: no answer came back, so doing it again
 * may do it twice).
 */
export class SlackFailure extends Error {
  override readonly name = 'SlackFailure';
  readonly outcome: 'refused' | 'unknown';
  /** Slack's own word (`not_in_channel`, `ratelimited`, `held_back` for what the bot stopped itself), or `no_answer`. */
  readonly code: string;
  /** With `ratelimited`, and with uploads: the pause that was asked for. */
  readonly retryAfterSeconds: number | undefined;
  /** With `held_back`: where the log tells of it. */
  readonly reference: string | undefined;

  constructor(
    outcome: 'refused' | 'unknown',
    code: string,
    options: {
      retryAfterSeconds?: number | undefined;
      reference?: string | undefined;
      cause?: unknown;
      message?: string;
    } = {},
  ) {
    super(options.message ?? `Slack: ${code}`, { cause: options.cause });
    this.outcome = outcome;
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.reference = options.reference;
  }
}
