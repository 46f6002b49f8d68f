import type { CdnClient } from '../api/cdn.ts';
import type { Audit } from '../auth/audit/audit.ts';
import type { People, Person } from '../auth/identity.ts';
import type { KeyStore } from '../auth/keys/key-store.ts';
import type { KeyPage } from '../auth/keys/links.ts';
import type { Authorizer } from '../auth/policy/authorizer.ts';
import type { Policies } from '../auth/policy/policies.ts';
import type { Decision, Right } from '../auth/policy/policy.ts';
import type { DigestService } from '../digests/service.ts';
import type { ExportService } from '../exports/service.ts';
import type { Ledger } from '../operations/transitions.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Failure } from '../views/blocks/failure.ts';
import type { Message } from '../views/blocks/message.ts';
import type { HelpGroup } from '../views/help.ts';
import type { ZoneCache } from './zones/zone-cache.ts';

/** What every command, button and form can use: the person, the place, the CDN and the policy. Independent of Slack. */
export interface Context {
  readonly person: Person;
  /**
   * The CDN with the person's own key, until `signal` or the given signal aborts. Throws a UserError that offers to
   * connect if no key is linked.
   */
  readonly cdn: (until?: AbortSignal) => Promise<CdnClient>;
  /** The channel of the command or press; undefined in the Home tab. */
  readonly channelId: string | undefined;
  readonly authorizer: Authorizer;
  /** Decides for the current channel. `fresh` reads settings and groups again: use it before a change. */
  readonly decide: (needs: Right, options?: { readonly fresh?: boolean }) => Promise<Decision>;
  /** The people of this person's organisation or workspace. */
  readonly people: People;
  /** Posts in a channel; false if the bot cannot write there. */
  readonly post: (channelId: string, message: Message) => Promise<boolean>;
  /** The message that holds the pressed button, if its whole channel can see it. */
  readonly message: { readonly channel: string; readonly ts: string } | undefined;
  /** The modal that was submitted or that holds the button. */
  readonly modal: OpenModal | undefined;
  readonly now: () => Date;
  /** For a failure that does not end the answer: logs it and returns its text with the logged reference. */
  readonly explain: (error: unknown) => Failure;
  /** Aborts when the bot stops or when the answer can no longer be delivered. */
  readonly signal: AbortSignal;
}

/** What only some features use. A feature names its services: `Feature<'digests'>`. */
export interface Services {
  /** A client for a key that is not linked yet. */
  readonly cdnWith: (key: Secret) => CdnClient;
  readonly keyStore: KeyStore;
  /** The page of the bot where keys are entered (`PUBLIC_URL`); undefined = keys are entered in a form in Slack. */
  readonly keyPage: KeyPage | undefined;
  readonly zoneCache: ZoneCache;
  readonly policies: Policies;
  readonly audit: Audit;
  readonly ledger: Ledger;
  readonly exports: ExportService;
  readonly digests: DigestService;
  /** Where files are written before they are sent. Readable by the bot's own user only. */
  readonly tempDirectory: string;
  /** Every registered feature, in the order of the help. */
  readonly features: readonly HelpGroup[];
}

export type Service = keyof Services;

/** The context with the named services. */
export type With<Needs extends Service> = Context & Pick<Services, Needs>;

export interface OpenModal {
  /** The `private_metadata` of the view. Never a right, never a secret. */
  readonly metadata: string | undefined;
  readonly fields: Fields;
}

/** A modal's inputs by block id (menus outside of inputs by action id): what was typed or chosen, secrets included. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;
