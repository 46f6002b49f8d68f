import type { Audit } from '../../auth/audit/audit.ts';
import type { Installation, People, Person } from '../../auth/identity.ts';
import type { Authorizer } from '../../auth/policy/authorizer.ts';
import type { Decision } from '../../auth/policy/policy.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { OpenSlack, SlackFailure } from '../../outbox/slack-port.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { JobContext } from '../../store/queue/define-job.ts';
import type { Enqueue } from '../../store/queue/queue.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import type { ExportThread } from './worker/thread.ts';

export interface ExportPorts {
  readonly slack: OpenSlack;
  /** Messages that Slack must get exactly once. */
  readonly outbox: Outbox;
  /** The person's own key. @throws UserError with an offer to connect where no key is linked. */
  readonly cdnKey: (person: Person) => Promise<Secret>;
  /** Starts the worker thread of one export. Close it. */
  readonly exportThread: () => ExportThread;
  /** Decides by the current policy. */
  readonly authorizer: (person: Person) => Authorizer;
  /** Counts a refusal by the policy's reason. */
  readonly refused: (reason: Decision['reason']) => void;
  readonly people: (installation: Installation) => People;
  readonly audit: Audit;
  readonly enqueue: Enqueue;
  /** Logs a failure and explains it to a person, with the log's reference. */
  readonly explain: (error: unknown, feature: string) => Failure;
  /** Logs that a file was not sent since live secrets of these kinds are in it. Returns the failure `held_back`. */
  readonly blockFile: (kinds: readonly string[]) => SlackFailure;
}

export type ExportContext = JobContext<ExportPorts>;
