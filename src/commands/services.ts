import type { CdnClient } from '../api/cdn.ts';
import type { Audit } from '../auth/audit/audit.ts';
import type { Person } from '../auth/identity.ts';
import type { KeyStore } from '../auth/keys/key-store.ts';
import type { KeyPage } from '../auth/keys/links.ts';
import type { Names } from '../auth/names.ts';
import type { Policies } from '../auth/policy/policies.ts';
import type { Audience } from '../outbox/slack-port.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Attachment, Message } from '../views/blocks/blocks.ts';
import type { Finding } from '../views/doctor.ts';
import type { HelpGroup } from '../views/help.ts';
import type { ShareOutcome } from '../views/share.ts';
import type { ExportService } from './exports/service.ts';
import type { Ledger } from './operations/transitions.ts';
import type { Accounts } from './reports/accounts/reads.ts';
import type { ReportService } from './reports/life.ts';
import type { SettingsHistory } from './zones/history/history.ts';
import type { ZoneCache } from './zones/zone-cache.ts';

/** Services for some features only. A feature names its own: `Feature<'reports'>`. */
export interface Services {
  /** A client for a key that is not linked yet. */
  readonly cdnWith: (key: Secret) => CdnClient;
  readonly keyStore: KeyStore;
  /** The page of the bot where keys are entered (`PUBLIC_URL`); undefined = keys are entered in a form in Slack. */
  readonly keyPage: KeyPage | undefined;
  readonly zoneCache: ZoneCache;
  /** Accounts as jobs read them, within their budget. */
  readonly accounts: Pick<Accounts, 'open' | 'describeBudget' | 'drop' | 'preview'>;
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

/** Looks at what the bot needs in a person's workspace. */
export interface Doctor {
  /** Charts and tables that were refused there are tried anew from now on. */
  readonly retryNativeBlocks: (person: Person) => Promise<void>;
  /** Posts charts and tables to the person and takes them back; changes nothing else. */
  readonly examine: (person: Person) => Promise<readonly Finding[]>;
}

/** The way of an answer to a channel or thread, for this delivery. */
export interface Sharing {
  /** An answer that this person was shown within the last half hour. */
  readonly recall: (key: string) => Message | undefined;
  /** The id of a channel by its name; undefined = the bot sees none. */
  readonly findChannel: (name: string) => Promise<string | undefined>;
  /** Who reads a channel. */
  readonly readAudience: (channel: string) => Promise<Audience>;
  /** Posts for all who read there. What was posted with the same `once` is not posted again. Discards the files. */
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

export type Service = keyof Services;
