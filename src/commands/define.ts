import type { KnownBlock, ModalView, Option, PlainTextOption } from '@slack/types';
import type { z } from 'zod';
import type { CdnClient } from '../api/cdn.ts';
import type { Audit } from '../auth/audit/audit.ts';
import type { People, Person } from '../auth/identity.ts';
import type { ClientTokens } from '../auth/keys/client-tokens.ts';
import type { KeyStore } from '../auth/keys/key-store.ts';
import type { KeyPage } from '../auth/keys/links.ts';
import type { Names } from '../auth/names.ts';
import type { Authorizer } from '../auth/policy/authorizer.ts';
import type { Policies } from '../auth/policy/policies.ts';
import type { Decision, Right } from '../auth/policy/policy.ts';
import type { Audience } from '../outbox/slack-port.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Attachment, FormResult, Message } from '../views/blocks/blocks.ts';
import type { PanelPages } from '../views/blocks/buttons.ts';
import type { Failure } from '../views/blocks/failure.ts';
import type { Finding } from '../views/doctor.ts';
import type { CommandSummary, HelpGroup } from '../views/help.ts';
import type { SharedFile, ShareOutcome } from '../views/share.ts';
import type { ExportService } from './exports/exports.ts';
import type { Ledger } from './operations/transitions.ts';
import type { Accounts } from './reports/accounts/reads.ts';
import type { ReportService } from './reports/life.ts';
import type { Words } from './words.ts';
import type { SettingsHistory } from './zones/history.ts';
import type { ZoneCache } from './zones/zone-cache.ts';

/** Available to every command, button and form: the person, the place, the CDN and the policy. Independent of Slack. */
export interface Context extends Services {
  readonly person: Person;
  /** The CDN with the person's own key, until a signal aborts. @throws UserError that offers to connect without a key. */
  readonly cdn: (until?: AbortSignal) => Promise<CdnClient>;
  /** The channel of the command or press; undefined in the Home tab. */
  readonly channelId: string | undefined;
  /** The thread of the mention or press, by its first message; undefined outside of threads. */
  readonly threadTs: string | undefined;
  readonly authorizer: Authorizer;
  /** Decides for the current channel. `fresh` reads settings and groups again: use it before a change. */
  readonly decide: (needs: Right, options?: { readonly fresh?: boolean }) => Promise<Decision>;
  /** Counts a refusal that is decided after the first one of the delivery. */
  readonly refused: (reason: Decision['reason']) => void;
  readonly people: People;
  /** False if the bot cannot write there. */
  readonly post: (channelId: string, message: Message) => Promise<boolean>;
  /** The message that holds the pressed button, if its whole channel can see it. */
  readonly message: { readonly channel: string; readonly ts: string } | undefined;
  readonly modal: OpenModal | undefined;
  readonly now: () => Date;
  readonly panel: PanelPages;
  /** For a failure that does not end the answer: logs it and returns its text with the logged reference. */
  readonly explain: (error: unknown) => Failure;
  /** Aborts when the bot stops or when the answer can no longer be delivered. */
  readonly signal: AbortSignal;
}

export interface Services {
  readonly cdnWith: (key: Secret) => CdnClient;
  readonly keyStore: KeyStore;
  /** The page of the bot where keys are entered (`PUBLIC_URL`); undefined = keys are entered in a form in Slack. */
  readonly keyPage: KeyPage | undefined;
  readonly clientTokens: ClientTokens;
  readonly zoneCache: ZoneCache;
  readonly accounts: Pick<Accounts, 'open' | 'drop' | 'recentErrors'>;
  readonly names: Names;
  readonly settingsHistory: SettingsHistory;
  readonly policies: Policies;
  readonly audit: Audit;
  readonly ledger: Ledger;
  readonly exports: ExportService;
  readonly reports: ReportService;
  readonly sharing: Sharing;
  readonly doctor: Doctor;
  /** Directory for files before they are sent. Readable by the bot's own user only. */
  readonly tempDirectory: string;
  readonly features: readonly HelpGroup[];
}

export interface Doctor {
  /** Charts and tables that were refused there are tried again from now on. */
  readonly retryNativeBlocks: (person: Person) => Promise<void>;
  /** Posts charts and tables to the person and takes them back; changes nothing else. */
  readonly examine: (person: Person) => Promise<readonly Finding[]>;
}

/** The way of an answer to a channel or thread, for this delivery. */
export interface Sharing {
  /** An answer that this person was shown within the last half hour. */
  readonly recall: (key: string) => Message | undefined;
  readonly findChannel: (name: string) => Promise<string | undefined>;
  /** False for a private channel that this person is not in. */
  readonly isSeen: (channel: string) => Promise<boolean>;
  /** Whether the bot is in a channel; true where Slack does not say. */
  readonly hasBot: (channel: string) => Promise<boolean>;
  readonly readAudience: (channel: string) => Promise<Audience>;
  /** Posts for all who read there, once for each value of `once`. Discards the files. */
  readonly post: (
    message: Message,
    to: {
      readonly channel: string;
      readonly threadTs: string | undefined;
      readonly files: readonly Attachment[];
      readonly once: string | undefined;
    },
  ) => Promise<ShareOutcome>;
}

export interface OpenModal {
  /** The `private_metadata` of the view. Never a right, never a secret. */
  readonly metadata: string | undefined;
  readonly fields: Fields;
}

/** A modal's inputs by block id (menus outside of inputs by action id), secrets included. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One message, or several of which each replaces the one before (a first answer, then the complete one). */
export type Answer = Message | Promise<Message> | AsyncIterable<Message>;

export type Setup = Pick<Context, 'keyPage' | 'panel'>;

/** The work of a command with its words, or of an action with its value. */
export interface Entry<Input> {
  /** The right for some of its inputs, if it differs from `needs`: stopping something needs no key. */
  readonly needsFor?: (input: Input) => Right;
  /** A modal to open instead of running. No I/O, so that it opens at once. */
  readonly modal?: (input: Input, setup: Setup) => ModalView | undefined;
  /** With `modal`: the view that replaces it. The modal is then a skeleton that opens before the policy decides. */
  readonly load?: (input: Input, context: Context) => Promise<ModalView>;
  readonly run?: (input: Input, context: Context) => Answer;
  readonly changesHome?: true;
}

export interface Command extends CommandSummary, Entry<Words> {
  /** Allows UUIDs after a command that needs no right to the CDN; elsewhere a UUID is taken for a key. */
  readonly ids?: true;
  /** Its answer can be shown to others: by *Share* in it, or typed with `in #ops` or `here` at the end. `never`: that is refused. */
  readonly shares?: true | 'never';
  /** Shows its answer to others, so it is not offered once more. */
  readonly showsOthers?: true;
  /** With `shares`: all entries of its answer as a file, which can go with it. */
  readonly file?: (words: Words, as: SharedFile, context: Context) => Answer;
}

/** `value` is the button's value or the chosen option's. The answer replaces the message or modal of the button. */
export interface Action extends Entry<string> {
  /** `feature:verb`, the action_id. Slack wants ids unique in a block: `feature:verb:anything` also routes here. */
  readonly id: string;
  readonly needs: Right;
  /**
   * For an element in a form: the form's next view, drawn from `context.modal.fields`; undefined = unchanged. Slack
   * keeps the input of an unchanged block id, so an input that must show something else gets another one: `from:2` is
   * read as `from`. If two presses come at once, one is dropped.
   */
  readonly redraw?: (value: string, context: Context) => Promise<ModalView | undefined>;
  /** With `redraw`: changes only what is between the inputs, so of two presses at once both count. */
  readonly preservesInputs?: true;
  /** Inputs that also route here, by their own names. */
  readonly fields?: readonly string[];
  /** Answers in a new message; in a modal, in one on top of it. */
  readonly newMessage?: boolean;
  /** In a modal its answer takes the place of the view, so that it is pressed once. */
  readonly replacesModal?: boolean;
  /** `value` is a typed command: it runs, or opens its modal, with that command's own right; `newMessage` unless false. */
  readonly runsCommand?: true;
  /** With `runsCommand`, for a menu whose values are not ours: the typed command of a choice. */
  readonly toCommand?: (actionId: string, chosen: string) => string;
}

export interface Form {
  /** The callback_id of the modal. */
  readonly id: string;
  readonly needs: Right;
  /** Reads and checks the fields before the acknowledgement, so no I/O. */
  readonly read: (fields: Fields, submitted: SubmitInfo) => ReadResult;
  /** Shown while `run` works. Without it the modal closes at once and the answer is a message. */
  readonly loadingView?: ModalView;
  /**
   * With `loadingView`: the modal that replaces it. Without: a private answer where the form was opened, or in the
   * form itself if that was on top of another modal or in no channel.
   */
  readonly run: (values: unknown, context: Context) => Answer | Promise<FormResult>;
  readonly changesHome?: true;
  /** A CDN key may be typed into it. In every other form a key is a field error before anything is read. */
  readonly takesKeys?: true;
  /** Fields whose values are not drawn again after a failure. */
  readonly secretFields?: readonly string[];
}

/** Errors by block id; the form again with something to review; or the values. */
export type ReadResult = { errors: Record<string, string> } | { again: ModalView } | { values: unknown };

export type SubmitInfo = { readonly now: Date; readonly metadata: string | undefined };

/** Serves the options of a select with search (external select). */
export interface Picker {
  readonly id: string;
  readonly fields?: readonly string[];
  readonly needs: Right;
  readonly run: (typed: string, context: Context) => Promise<readonly (Option | PlainTextOption)[]>;
}

/** An entry of Slack's ⚡ menu or of a message's menu: its name and kind are in manifest.yml. */
export interface Shortcut {
  /** The callback_id in the manifest. */
  readonly id: string;
  readonly needs: Right;
  /** Opens before the policy decides: a form, or a skeleton until `load` or `run` is done. */
  readonly modal: (message: unknown) => ModalView;
  readonly load?: (message: unknown, context: Context) => Promise<ModalView>;
  /** The answer in that modal; undefined = the modal stays. */
  readonly run?: (message: unknown, context: Context) => Answer | undefined;
}

export interface Feature {
  readonly name: string;
  readonly commands: readonly Command[];
  readonly actions?: readonly Action[];
  readonly forms?: readonly Form[];
  readonly pickers?: readonly Picker[];
  readonly shortcuts?: readonly Shortcut[];
  /**
   * Its part of the Home tab, heading included. The whole tab waits for it, so it reads the bot's own store and never
   * the CDN. If it fails, the tab shows the failure in its place.
   */
  readonly homeSection?: (context: Context) => Promise<readonly KnownBlock[]>;
}

/** A form whose `read` is a zod schema: each issue becomes the error of its block. */
export function defineForm<Schema extends z.ZodType>({
  fields: schema,
  run,
  ...form
}: Omit<Form, 'read' | 'run'> & {
  fields: Schema;
  run: (values: z.output<Schema>, context: Context) => Answer | Promise<FormResult>;
}): Form {
  return {
    ...form,
    read(fields) {
      const parsed = schema.safeParse(fields);
      if (parsed.success) return { values: parsed.data };
      const errors: Record<string, string> = {};
      for (const issue of parsed.error.issues) errors[String(issue.path[0])] ??= issue.message;
      return { errors };
    },
    run: (values, context) => run(values as z.output<Schema>, context),
  };
}

/** The complete answer, without those that it replaces. */
export async function findLast(answer: Answer | undefined): Promise<Message> {
  let last: Message = { text: '' };
  const settled = (await answer) ?? last;
  if (!(Symbol.asyncIterator in settled)) return settled;
  for await (const message of settled) last = message;
  return last;
}
