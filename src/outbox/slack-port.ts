import type { Installation } from '../auth/identity.ts';
import type { Attachment, Message } from '../views/blocks/blocks.ts';

export type OpenSlack = (installation: Installation, signal: AbortSignal) => SlackPort;

export type Posted = { readonly channel: string; readonly ts: string };

/** Slack for jobs: its own clients, which never delay an answer to a person. Every method throws `SlackFailure`. */
export interface SlackPort {
  /** Posts into a channel the bot is in, or, with a user's id, into their direct messages. Never retries. */
  post(
    channel: string,
    message: Message,
    /** `id`: metadata by which the message is found again. Never a secret. */
    options: { readonly id: string; readonly thread?: string | undefined },
  ): Promise<Posted>;
  update(at: Posted, message: Message): Promise<void>;
  /** Looks for a message of the bot's with this id. Undefined: it is certainly not there. */
  find(id: string, where: FindWhere): Promise<Posted | undefined>;
  /** Shares files with one message. Spooled files are deleted, however it ends. */
  share(
    files: readonly Attachment[],
    target: {
      readonly channel: string;
      readonly thread?: string | undefined;
      readonly comment?: string | undefined;
      /** Runs when Slack has all bytes and does not show them yet. If it throws, the files are never shown. */
      readonly beforeShare?: ((fileIds: readonly string[]) => Promise<void>) | undefined;
    },
  ): Promise<void>;
  /** Ends the run of a step of Workflow Builder; one that has ended already, or is gone, is no failure. */
  completeStep(
    run: string,
    end: { readonly outputs: Readonly<Record<string, unknown>> } | { readonly error: string },
  ): Promise<void>;
  readAudience(channel: string): Promise<Audience>;
  deleteFile(fileId: string): Promise<void>;
}

/** People of this organisation only, of others too, or unknown with Slack's reason. */
export type Audience = 'own' | 'others' | { readonly unknown: string };

export interface FindWhere {
  readonly channel: string;
  /** Posted between these moments of this machine's clock. */
  readonly since: Date;
  readonly until: Date;
  readonly thread?: string | undefined;
}

/** `refused`: Slack did not do it. `unknown`: no answer came back, so doing it again may do it twice. */
export class SlackFailure extends Error {
  override readonly name = 'SlackFailure';
  readonly outcome: 'refused' | 'unknown';
  /** Slack's own word (`not_in_channel`, `ratelimited`, `held_back` for what the bot stopped itself), or `no_answer`. */
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;
  readonly reference: string | undefined;
  readonly sentence: string | undefined;

  constructor(
    outcome: 'refused' | 'unknown',
    code: string,
    more: Partial<Pick<SlackFailure, 'retryAfterSeconds' | 'reference' | 'sentence' | 'cause'>> = {},
  ) {
    super(more.sentence ?? `Slack: ${code}`, { cause: more.cause });
    this.outcome = outcome;
    this.code = code;
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.reference = more.reference;
    this.sentence = more.sentence;
  }
}
