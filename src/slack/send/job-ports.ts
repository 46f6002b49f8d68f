import type { CdnClient } from '../../api/cdn.ts';
import { type Person, tenantId } from '../../auth/identity.ts';
import { requireKey } from '../../auth/keys/key-store.ts';
import type { OffboardingPorts } from '../../auth/offboarding.ts';
import { createAuthorizer } from '../../auth/policy/authorizer.ts';
import type { ExportPorts } from '../../commands/exports/exports.ts';
import type { ExportThread } from '../../commands/exports/worker/thread.ts';
import type { OperationPorts } from '../../commands/operations/execute.ts';
import type { ReportPorts } from '../../commands/reports/store.ts';
import { createCache } from '../../lib/cache.ts';
import { minuteMs } from '../../lib/time.ts';
import type { DeliverPorts } from '../../outbox/deliver.ts';
import { classifySlackFailure, SlackFailure } from '../../outbox/slack-port.ts';
import type { Secret } from '../../secrets/secret.ts';
import { explainFailure } from '../receive/failures.ts';
import type { SlackDeps } from '../receive/perform.ts';
import type { SlackClock } from './clients.ts';
import type { Egress } from './egress.ts';
import { openSlack } from './slack-port.ts';

type Needed =
  | 'access'
  | 'apiUrl'
  | 'audit'
  | 'clients'
  | 'keyStore'
  | 'ledger'
  | 'log'
  | 'metrics'
  | 'people'
  | 'policies';

export interface JobPortsOptions extends Pick<SlackDeps, Needed> {
  readonly cdn: { withKey(key: Secret, signal?: AbortSignal): CdnClient };
  readonly exportThread: () => ExportThread;
  readonly egress: Pick<Egress, 'block' | 'file'>;
  readonly clock?: Pick<SlackClock, 'skew'>;
  readonly now: () => Date;
}

export type JobPorts = Omit<
  ReportPorts & ExportPorts & OperationPorts & DeliverPorts,
  'accounts' | 'enqueue' | 'outbox'
> &
  Omit<OffboardingPorts, 'endAccess'>;

export function createJobPorts(options: JobPortsOptions): JobPorts {
  const { access, keyStore, policies, people, audit, ledger, egress, log, metrics } = options;
  const cdnKey = async (person: Person): Promise<Secret> => (await requireKey(keyStore, person)).key;
  /** When Slack last said of a channel that only people of this organization read it. */
  const readByOwn = createCache<number>({ now: options.now, ttlMs: 10 * minuteMs, maxEntries: 2_000 });
  const ports: JobPorts = {
    audit,
    ledger,
    policies,
    cdnKey,
    exportThread: options.exportThread,
    blockFile(kinds) {
      const cause = egress.block('file', kinds);
      return new SlackFailure('held_back', { cause, reference: cause.reference });
    },
    refused: metrics.refused,
    untold: metrics.untold,
    people,
    isInstalled: (place) => access.isInstalled(place),
    explain: (error, feature) => explainFailure(error, { kind: 'job', feature }, log),
    cdn: async (person: Person, signal: AbortSignal) => options.cdn.withKey(await cdnKey(person), signal),
    // They may have been deactivated since.
    authorizer: (person) =>
      createAuthorizer({ person, foreign: undefined, policies, people: people(person), keyStore }),
    slack: (place, signal) => openSlack(options, place, signal),
    async readAudience(owner, channel, { signal, knownMs }) {
      const tenant = tenantId(owner);
      const key = `${tenant}:${channel}`;
      const at = options.now().getTime();
      // A clock that was set back makes no answer fresh again.
      if (Math.abs(at - (readByOwn.get(key) ?? 0)) <= knownMs) return 'own';
      const audience = await ports
        .slack(owner, signal)
        .readAudience(channel)
        .catch((error: unknown) => ({ unknown: classifySlackFailure(error).code }));
      readByOwn.set(key, audience === 'own' ? at : 0);
      if (typeof audience === 'string') return audience;
      const { approvalChannel, exportChannels, postChannels } = await policies.current(tenant);
      // An admin who named it knows who reads it.
      return [approvalChannel, ...exportChannels, ...postChannels].includes(channel) ? 'own' : audience;
    },
  };
  return ports;
}
