import type { CdnClient } from '../api/cdn.ts';
import type { Audit } from '../auth/audit/audit.ts';
import type { Person } from '../auth/identity.ts';
import type { People } from '../auth/people.ts';
import type { Authorizer } from '../auth/policy/authorizer.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { OpenSlack, Place } from '../outbox/slack-port.ts';
import type { JobContext } from '../store/queue/define-job.ts';
import type { Enqueue } from '../store/queue/queue.ts';
import type { Failure } from '../views/blocks/failure.ts';
import type { ExportLimits } from './files.ts';
import type { Transfer } from './worker/transfer.ts';

/** What the jobs of exports reach outwards with. */
export interface ExportPorts {
  readonly slack: OpenSlack;
  /** Messages that Slack must get exactly once. */
  readonly outbox: Outbox;
  /** The CDN with this person's own key. @throws UserError with an offer to connect where no key is linked. */
  readonly cdn: (
    person: Person,
    signal: AbortSignal,
    options?: { readonly through?: Transfer },
  ) => Promise<CdnClient>;
  /** Moves files without holding up those who are answered meanwhile. Close it. */
  readonly transfer: () => Transfer;
  /** Decides by the policy of this moment: what was decided when a job was stored is decided again when it runs. */
  readonly authorizer: (person: Person) => Authorizer;
  readonly people: (place: Place) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  /** A failure in words for a person, with the reference that is in the log. */
  readonly explain: (error: unknown, feature: string) => Failure;
  /** Where files wait to be sent; only this user of the machine can read it. */
  readonly tempDirectory: string;
  /** How large the files of exports may be. */
  readonly exportLimits: ExportLimits;
  /** Looks for live secrets in a file that will be sent, piece by piece; throws SlackFailure `held_back` where there is one. */
  readonly inspectFile: () => (piece: Uint8Array) => void;
}

export type ExportContext = JobContext<ExportPorts>;
