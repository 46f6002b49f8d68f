import type { HomeView, KnownBlock, ModalView, Option, PlainTextOption } from '@slack/types';
import type { z } from 'zod';
import type { CdnClient } from '../api/cdn.ts';
import type { Audit } from '../auth/audit/audit.ts';
import type { Person } from '../auth/identity.ts';
import type { KeyStore } from '../auth/keys/key-store.ts';
import type { KeyPage } from '../auth/keys/links.ts';
import type { People } from '../auth/people.ts';
import type { ActionRequest, Authorizer } from '../auth/policy/authorizer.ts';
import type { Policies } from '../auth/policy/policies.ts';
import type { Decision, Right } from '../auth/policy/policy.ts';
import type { DigestService } from '../digests/service.ts';
import type { ExportService } from '../exports/service.ts';
import type { Ledger } from '../operations/transitions.ts';
import type { Failure } from '../views/blocks/failure.ts';
import type { Message } from '../views/blocks/message.ts';
import type { ZoneCache } from './cache/zone-cache.ts';
import type { Words } from './words.ts';

/** One message, or several in a row where each replaces the one before (a first answer, then the whole). */
export type Answer = Message | Promise<Message> | AsyncIterable<Message>;

/** What a command, button or form has to work with. Nothing in here knows Slack. */
export interface Context {
  readonly person: Person;
  /**
   * The CDN, with the person's own key, until `signal` or what is given ends. Throws a UserError with an offer to
   * connect where no key is linked.
   */
  readonly cdn: (until?: AbortSignal) => Promise<CdnClient>;
  /** Checks a key that nobody has linked yet. */
  readonly cdnWith: (key: import('../secrets/secret.ts').Secret) => CdnClient;
  readonly keyStore: KeyStore;
  /** Where keys are entered on a page of the bot (`PUBLIC_URL`); undefined = in a form in Slack. */
  readonly keyPage: KeyPage | undefined;
  readonly zoneCache: ZoneCache;
  /** Where files are written before they are sent; only this user of the machine can read it. */
  readonly tempDirectory: string;
  readonly features: readonly Feature[];
  /** Where it was typed or pressed; undefined in the Home tab. */
  readonly channelId: string | undefined;
  /** What policy says of this person. */
  readonly authorizer: Authorizer;
  /** Decides where this was typed or pressed. `fresh` reads settings and groups again: before something changes. */
  readonly decide: (wanted: ActionRequest, options?: { readonly fresh?: boolean }) => Promise<Decision>;
  /** The people of this person's organisation or workspace. */
  readonly people: People;
  readonly policies: Policies;
  readonly audit: Audit;
  /** What was asked for, approved and done. */
  readonly ledger: Ledger;
  readonly exports: ExportService;
  readonly digests: DigestService;
  /** Tells a channel; false where the bot cannot write there. */
  readonly post: (channelId: string, message: Message) => Promise<boolean>;
  /** The message a pressed button is in, where everybody of its channel sees it. */
  readonly message: { readonly channel: string; readonly ts: string } | undefined;
  /** The modal that was submitted or that the button is in. */
  readonly modal: OpenModal | undefined;
  readonly now: () => Date;
  /** For a failure that an answer goes on after: logs it and gives its words with the reference that is in the log. */
  readonly explain: (error: unknown) => Failure;
  /** Ends when the bot stops or when nobody can read the answer any more. */
  readonly signal: AbortSignal;
}

export interface OpenModal {
  /** What the modal carries: the `private_metadata` it was drawn with. Never a right, never a secret. */
  readonly note: string | undefined;
  /** What its inputs hold. */
  readonly fields: Fields;
}

/** What a modal may be decided by, beside the words or the value: how this bot is set up. */
export type Setup = Pick<Context, 'keyPage'>;

export interface Command {
  /** The word after `/cdn`. */
  readonly name: string;
  /** Further words that mean the same. */
  readonly aliases?: readonly string[];
  /** Without the slash word: `zone <id|name|hostname>`. */
  readonly usage: string;
  readonly summary: string;
  /** On its button in the Home tab and the menu; the name where there is none. */
  readonly label?: string;
  readonly examples: readonly string[];
  readonly needs: Right;
  /** Where some words behind it need another right: to stop something nobody needs a key. */
  readonly needsFor?: (words: Words) => Right;
  /** Ids may stand behind it although it needs no right: a UUID there is not taken for a key. */
  readonly ids?: true;
  /** A modal to open instead of running, decided from the words and the setup: no I/O, so that it opens at once. */
  readonly modal?: (words: Words, setup: Setup) => ModalView | undefined;
  /**
   * With `modal`: what takes its place as soon as it is known. The modal is then a skeleton that opens before the
   * person's right is decided, and shows the refusal where there is none.
   */
  readonly fill?: (words: Words, context: Context) => Promise<ModalView>;
  readonly run?: (words: Words, context: Context) => Answer;
  readonly changesHome?: ChangesHome;
}

/** What it does shows in the Home tab of whoever does it: the tab is drawn again after it was answered. */
type ChangesHome = true;

export interface Action {
  /** `feature:verb`, the action_id of the button or menu. Slack wants ids unique in a block: `feature:verb:anything` also routes here. */
  readonly id: string;
  readonly needs: Right;
  /** As for a command. */
  readonly needsFor?: (value: string) => Right;
  /** A modal to open instead of running, decided from the button's value and the setup alone. */
  readonly modal?: (value: string, setup: Setup) => ModalView | undefined;
  /** With `modal`, as for a command. */
  readonly fill?: (value: string, context: Context) => Promise<ModalView>;
  /** `value` is the button's value or the chosen option's. Answers replace the message, or the modal, the button is in. */
  readonly run?: (value: string, context: Context) => Answer;
  /**
   * Of a button or menu in a form: what takes the form's place, drawn from what was typed (`context.modal.fields`).
   * Slack keeps what stands in an input whose block id stays, so an input that is to show something else gets another
   * one: `from:2` is read as `from`. Undefined where the form may stay as it is. Of two presses at once one is dropped.
   */
  readonly redraw?: (value: string, context: Context) => Promise<ModalView | undefined>;
  /** With `redraw`: it changes what stands between the inputs, never what is in them, so of two presses both count. */
  readonly steady?: true;
  /** Inputs of forms that tell of every change (`dispatch_action`), under their own names. */
  readonly fields?: readonly string[];
  /** Answers go into a message of their own instead; in a modal, into one on top of it, with a way back. */
  readonly apart?: true;
  /**
   * The button stands for a typed command: `value` is looked up (`findCommand`), decided by that command's own
   * right, and run, or its modal opened, as if it had been typed. Such an action has no `run` of its own.
   */
  readonly types?: true;
  readonly changesHome?: ChangesHome;
}

export interface Form {
  /** `feature:verb`, the callback_id of the modal. */
  readonly id: string;
  readonly needs: Right;
  /** Reads the fields and, where they are wrong, says so by field: runs before the acknowledgement, so no I/O. */
  readonly read: (fields: Fields, about: Typed) => ReadForm;
  /** Shown while `run` works. Without it the modal closes at once and the answer comes as a message. */
  readonly busy?: ModalView;
  /**
   * With `busy`: the modal that replaces it. Without: the answer, private, where the form was opened; in the form
   * itself where that was on top of another modal or in no channel.
   */
  readonly run: (values: unknown, context: Context) => Answer | Promise<FormResult>;
  readonly changesHome?: ChangesHome;
  /** A CDN key may be typed into it. In every other form it is a field error, before anything is read. */
  readonly takesKeys?: true;
}

/** Fields that are wrong, by block; the form once more, with something to look at before it is sent; or what it says. */
export type ReadForm = { errors: Record<string, string> } | { again: ModalView } | { values: unknown };

/** When a form was sent, and the note it carried. */
export interface Typed {
  readonly now: Date;
  readonly note: string | undefined;
}

/** `message` says the same to somebody who closed the modal meanwhile. */
export type FormResult = { readonly modal: ModalView; readonly message: Message };

/** A modal's inputs by block id, menus outside of them by action id too: what was typed and chosen; secrets included. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Answers a picker with search (external select). The action_id of the select is its id, or one of its fields. */
export interface Picker {
  readonly id: string;
  /** Inputs of forms that it serves under their own names. */
  readonly fields?: readonly string[];
  readonly needs: Right;
  /** A form with this menu opens: what it will be asked for can be read meanwhile, in the background. */
  readonly warm?: (context: Context) => void;
  readonly run: (typed: string, context: Context) => Promise<readonly (Option | PlainTextOption)[]>;
}

/**
 * An entry of Slack's own menus: of its ⚡ menu (`global`), or of the menu beside every message (`message`).
 * manifest.yml names each of them.
 */
export interface Shortcut {
  /** `feature:verb`, the callback_id in the manifest. */
  readonly id: string;
  readonly kind: 'global' | 'message';
  /** Up to 24 characters. */
  readonly name: string;
  /** Up to 150 characters. */
  readonly description: string;
  readonly needs: Right;
  /** Opens at once, before the person's right is decided: a form, or what stands there until `fill` or `run` is ready. */
  readonly modal: (message: unknown) => ModalView;
  readonly fill?: (context: Context) => Promise<ModalView>;
  /** The answer in that modal; undefined where the modal is all there is to say. */
  readonly run?: (message: unknown, context: Context) => Answer | undefined;
}

/** One feature, one word: the same file name in `commands`, `views` and, where the noun is the API's, `api`. */
export interface Feature {
  readonly name: string;
  readonly commands: readonly Command[];
  readonly actions?: readonly Action[];
  readonly forms?: readonly Form[];
  readonly pickers?: readonly Picker[];
  readonly shortcuts?: readonly Shortcut[];
  /** Draws the Home tab; one feature does. */
  readonly home?: (context: Context) => Promise<HomeView>;
  /**
   * What this feature adds to the Home tab for this person: its heading and what belongs to it, or nothing. The whole
   * tab waits for it, so it reads our own store and never the CDN. Where it fails, the tab says so in its place.
   */
  readonly homeSection?: (context: Context) => Promise<readonly KnownBlock[]>;
}

/** Ties a form's `read` to its `run` by a schema: field errors come from zod issues, by the block they are in. */
export function defineForm<Schema extends z.ZodType>(form: {
  id: string;
  needs: Right;
  fields: Schema;
  busy?: ModalView;
  run: (values: z.output<Schema>, context: Context) => Answer | Promise<FormResult>;
  changesHome?: true;
  takesKeys?: true;
}): Form {
  return {
    id: form.id,
    needs: form.needs,
    ...(form.busy ? { busy: form.busy } : {}),
    ...(form.changesHome && { changesHome: true }),
    ...(form.takesKeys && { takesKeys: true }),
    read(fields) {
      const parsed = form.fields.safeParse(fields);
      if (parsed.success) return { values: parsed.data };
      const errors: Record<string, string> = {};
      for (const issue of parsed.error.issues) errors[String(issue.path[0])] ??= issue.message;
      return { errors };
    },
    run: (values, context) => form.run(values as z.output<Schema>, context),
  };
}
