import type { CdnClient } from '../../api/cdn.ts';
import type { Person } from '../../auth/identity.ts';
import type { People } from '../../auth/people.ts';
import type { Authorizer } from '../../auth/policy/authorizer.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { OpenSlack, Place } from '../../outbox/slack-port.ts';
import type { JobContext } from '../../store/queue/define-job.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type { Operations } from '../ledger.ts';

/** What the jobs of operations reach outwards with. */
export interface OperationPorts {
  readonly slack: OpenSlack;
  /** Messages that Slack must get exactly once. */
  readonly outbox: Outbox;
  /** The CDN with this person's own key. @throws UserError with an offer to connect where no key is linked. */
  readonly cdn: (person: Person, signal: AbortSignal) => Promise<CdnClient>;
  /** Decides by the policy of this moment: what was decided when a job was stored is decided again when it runs. */
  readonly authorizer: (person: Person) => Authorizer;
  readonly people: (place: Place) => People;
  readonly operations: Operations;
  /** A failure in words for a person, with the reference that is in the log. */
  readonly explain: (error: unknown, feature: string) => Failure;
}

export type OperationContext = JobContext<OperationPorts>;
