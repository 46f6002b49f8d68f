import type { KnownBlock, ModalView, Option, PlainTextOption } from '@slack/types';
import type { z } from 'zod';
import type { CdnClient } from '../api/cdn.ts';
import type { Audit } from '../auth/audit/audit.ts';
import type { People, Person } from '../auth/identity.ts';
import type { KeyStore } from '../auth/keys/key-store.ts';
import type { ClientTokens, KeyPage } from '../auth/keys/tokens.ts';
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
import type { Accounts } from './reports/accounts.ts';
import type { ReportService } from './reports/life.ts';
import type { Words } from './words.ts';
import type { SettingsHistory } from './zones/history.ts';
import type { ZoneCache } from './zones/zone-cache.ts';

/** What every command, button and form has. Independent of Slack. */
export interface Context extends Services {
  readonly person: Person;
  /** With the person's own key. @throws UserError that offers to connect without one. */
  readonly cdn: (until?: AbortSignal) => Promise<CdnClient>;
  /** Undefined in the Home tab. */
  readonly channelId: string | undefined;
  /** By its first message; undefined outside of threads. */
  readonly threadTs: string | undefined;
  readonly authorizer: Authorizer;
  /** For the current channel. `fresh` reads settings and groups again: use it before a change. */
  readonly decide: (needs: Right, options?: { readonly fresh?: boolean }) => Promise<Decision>;
  /** Counts a further refusal of the delivery. */
  readonly refused: (reason: Decision['reason']) => void;
  readonly people: People;
  /** Slack's error code if it refused; undefined once it is posted. */
  readonly post: (channelId: string, message: Message) => Promise<string | undefined>;
  /** With the pressed button, if its whole channel sees it. */
  readonly message: { readonly channel: string; readonly ts: string } | undefined;
  readonly modal: OpenModal | undefined;
  readonly now: () => Date;
  readonly panel: PanelPages;
  /** For a failure that does not end the answer: logs it and returns its text. */
  readonly explain: (error: unknown) => Failure;
  readonly signal: AbortSignal;
}

export interface Services {
  readonly cdnWith: (key: Secret) => CdnClient;
  readonly keyStore: KeyStore;
  /** Where keys are entered (`PUBLIC_URL`); undefined = in a form in Slack. */
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
  /** For files before they are sent; of the bot's own user only. */
  readonly tempDirectory: string;
  readonly features: readonly HelpGroup[];
}

export interface Doctor {
  /** Tries refused charts and tables again. */
  readonly retryNativeBlocks: (person: Person) => Promise<void>;
  /** Posts charts and tables to the person and takes them back. */
  readonly examine: (person: Person) => Promise<readonly Finding[]>;
}

export interface Sharing {
  /** An answer of the last half hour to this person. */
  readonly recall: (key: string) => Message | undefined;
  readonly findChannel: (name: string) => Promise<string | undefined>;
  /** False for a private channel that this person is not in. */
  readonly isSeen: (channel: string) => Promise<boolean>;
  /** True where Slack does not say. */
  readonly hasBot: (channel: string) => Promise<boolean>;
  readonly readAudience: (channel: string) => Promise<Audience>;
  /** Once for each value of `once`. Discards the files. */
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
  /** Never a right, never a secret. */
  readonly metadata: string | undefined;
  readonly fields: Fields;
}

/** By block id (menus outside of inputs by action id), secrets included. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Each of several messages replaces the one before. */
export type Answer = Message | Promise<Message> | AsyncIterable<Message>;

export type Setup = Pick<Context, 'keyPage' | 'panel'>;

export interface Entry<Input> {
  /** Where it differs from `needs`: stopping something needs no key. */
  readonly needsFor?: (input: Input) => Right;
  /** Opens instead of `run`, so no I/O. */
  readonly modal?: (input: Input, setup: Setup) => ModalView | undefined;
  /** Replaces `modal`, which is then a skeleton that opens before the policy decides. */
  readonly load?: (input: Input, context: Context) => Promise<ModalView>;
  readonly run?: (input: Input, context: Context) => Answer;
  readonly changesHome?: true;
}

export interface Command extends CommandSummary, Entry<Words> {
  /** Takes UUIDs, which elsewhere count as keys, although the command needs no right to the CDN. */
  readonly ids?: true;
  /** Can be shown to others: by *Share*, or typed with `in #ops` or `here`. `never`: that is refused. */
  readonly shares?: true | 'never';
  /** Its answer is not offered once more. */
  readonly showsOthers?: true;
  /** With `shares`: a file that can go with the answer. */
  readonly file?: (words: Words, as: SharedFile, context: Context) => Answer;
}

/** `value` is the button's or the chosen option's. The answer replaces its message or modal. */
export interface Action extends Entry<string> {
  /** `feature:verb`; `feature:verb:anything` also routes here, since ids are unique in a block. */
  readonly id: string;
  readonly needs: Right;
  /**
   * The form's next view; undefined = unchanged. An input that must change gets another block id: `from:2` is `from`.
   */
  readonly redraw?: (value: string, context: Context) => Promise<ModalView | undefined>;
  readonly fields?: readonly string[];
  /** In a modal: one on top of it. */
  readonly newMessage?: boolean;
  /** So that it is pressed once. */
  readonly replacesModal?: boolean;
  /** `value` is a typed command, with its own right; `newMessage` unless false. */
  readonly runsCommand?: true;
  /** The typed command of a choice, for menus whose values are not ours. */
  readonly toCommand?: (actionId: string, chosen: string) => string;
}

export interface Form {
  readonly id: string;
  readonly needs: Right;
  /** Before the acknowledgement, so no I/O. */
  readonly read: (fields: Fields, now: Date) => ReadResult;
  /** Without it the modal closes at once and the answer is a message. */
  readonly loadingView?: ModalView;
  /** With `loadingView`: the modal that replaces it. Without: a private answer. */
  readonly run: (values: unknown, context: Context) => Answer | Promise<FormResult>;
  readonly changesHome?: true;
  /** Elsewhere a CDN key is a field error before anything is read. */
  readonly takesKeys?: true;
  /** The action and value that open it, for *Open the form again*. */
  readonly again?: (
    fields: Fields,
    metadata: string | undefined,
  ) => readonly [actionId: string, value: string];
  /** Not drawn again after a failure. */
  readonly secretFields?: readonly string[];
}

/** `errors` by block id. */
export type ReadResult = { errors: Record<string, string> } | { values: unknown };

/** Options of a select with search. */
export interface Picker {
  readonly id: string;
  readonly fields?: readonly string[];
  readonly needs: Right;
  readonly run: (typed: string, context: Context) => Promise<readonly (Option | PlainTextOption)[]>;
}

/** Its name and kind are in manifest.yml. */
export interface Shortcut {
  readonly id: string;
  readonly needs: Right;
  /** Opens before the policy decides. */
  readonly modal: (message: unknown) => ModalView;
  readonly load?: (message: unknown, context: Context) => Promise<ModalView>;
  /** Undefined = the modal stays. */
  readonly run?: (message: unknown, context: Context) => Answer | undefined;
}

export interface Feature {
  readonly name: string;
  readonly commands: readonly Command[];
  readonly actions?: readonly Action[];
  readonly forms?: readonly Form[];
  readonly pickers?: readonly Picker[];
  readonly shortcuts?: readonly Shortcut[];
  /** Its part of the Home tab, from the bot's own store only: the whole tab waits for it. */
  readonly homeSection?: (context: Context) => Promise<readonly KnownBlock[]>;
}

/** Each issue of the schema becomes the error of its block. */
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

/** Without the messages that it replaces. */
export async function findLast(answer: Answer | undefined): Promise<Message> {
  let last: Message = { text: '' };
  const settled = (await answer) ?? last;
  if (!(Symbol.asyncIterator in settled)) return settled;
  for await (const message of settled) last = message;
  return last;
}
