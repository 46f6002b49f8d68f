import type { CdnClient } from '../api/cdn.ts';
import type { ErrorBudget } from '../api/http/retry.ts';
import type { Audit } from '../auth/audit/audit.ts';
import type { Installation, People, Person } from '../auth/identity.ts';
import type { Authorizer } from '../auth/policy/authorizer.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { JobContext } from '../store/queue/define-job.ts';
import type { Enqueue } from '../store/queue/queue.ts';
import type { Failure } from '../views/blocks/failure.ts';

/** Ports of the digests' jobs and messages. */
export interface DigestPorts {
  readonly outbox: Outbox;
  /** The CDN with this person's own key. @throws UserError with an offer to connect where no key is linked. */
  readonly cdn: (
    person: Person,
    signal: AbortSignal,
    options?: { readonly allowance?: ErrorBudget },
  ) => Promise<CdnClient>;
  /** Decides by the policy of this moment: what was decided when a job was stored is decided again when it runs. */
  readonly authorizer: (person: Person) => Authorizer;
  readonly people: (installation: Installation) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  /** A failure in words for a person, with the reference that is in the log. */
  readonly explain: (error: unknown, feature: string) => Failure;
}

export type DigestContext = JobContext<DigestPorts>;
