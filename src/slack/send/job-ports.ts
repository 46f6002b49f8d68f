import { ErrorCode, type WebAPIHTTPError, type WebAPIRateLimitedError, type WebClient } from '@slack/web-api';
import type { CdnClient } from '../../api/cdn.ts';
import type { ErrorBudget } from '../../api/http/retry.ts';
import type { Audit } from '../../auth/audit/audit.ts';
import type { Person } from '../../auth/identity.ts';
import type { KeyStore } from '../../auth/keys/key-store.ts';
import { createAuthorizer } from '../../auth/policy/authorizer.ts';
import type { Policies } from '../../auth/policy/policies.ts';
import type { Chart } from '../../charts/chart.ts';
import type { DigestPorts } from '../../digests/ports.ts';
import { UserError } from '../../errors.ts';
import type { ExportPorts } from '../../exports/ports.ts';
import type { ExportThread } from '../../exports/worker/thread.ts';
import type { OperationPorts } from '../../operations/execute.ts';
import type { Ledger } from '../../operations/transitions.ts';
import { type Place, SlackFailure, type SlackPort } from '../../outbox/slack-port.ts';
import { allowSecrets, type Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Message } from '../../views/blocks/message.ts';
import { type InstallationAccess, readSlackError } from '../installations.ts';
import type { PeopleOf } from '../people.ts';
import { explainFailure } from '../receive/failures.ts';
import type { Workspace } from '../sender.ts';
import type { Clients } from './clients.ts';
import { type Egress, SecretLeakBlocked } from './egress.ts';
import { findMarked } from './find-marked.ts';
import { UploadError } from './upload-bytes.ts';
import { createUploads } from './uploads.ts';

export interface JobPortsOptions {
  readonly access: InstallationAccess;
  readonly clients: Clients;
  readonly keyStore: KeyStore;
  readonly cdn: { withKey(key: Secret, signal?: AbortSignal, allowance?: ErrorBudget): CdnClient };
  readonly exportThread: () => ExportThread;
  readonly policies: Policies;
  readonly people: PeopleOf;
  readonly audit: Audit;
  readonly ledger: Ledger;
  readonly apiUrl: string;
  readonly draw: (chart: Chart) => Promise<Uint8Array>;
  readonly egress: Pick<Egress, 'block' | 'file'>;
  readonly log: Log;
}

/** What the jobs of all engines reach Slack, the CDN and policy with. */
export type JobPorts = Omit<DigestPorts & ExportPorts & OperationPorts, 'enqueue' | 'outbox'>;

export function createJobPorts(options: JobPortsOptions): JobPorts {
  const { access, clients, keyStore, policies, people, audit, ledger, egress, log } = options;
  const cdnKey = async (person: Person): Promise<Secret> => {
    const linked = await keyStore.reveal(person);
    if (linked) return linked.key;
    throw new UserError(
      `<@${person.userId}> has no CDN key connected any more.`,
      'Connect one, then ask again.',
      'connect',
    );
  };
  return {
    audit,
    ledger,
    cdnKey,
    exportThread: options.exportThread,
    blockFile: (kinds) => heldBack(egress.block('file', kinds)),
    people: (place) => people(workspaceOf(place)),
    explain: (error, feature) => explainFailure(error, { kind: 'job', feature }, log),
    cdn: async (
      person: Person,
      signal: AbortSignal,
      { allowance }: { readonly allowance?: ErrorBudget } = {},
    ) => options.cdn.withKey(await cdnKey(person), signal, allowance),
    authorizer: (person) =>
      createAuthorizer({
        person,
        foreign: false,
        policies,
        people: people(workspaceOf(person)),
        keyStore,
        linked: async () => (await keyStore.describe(person)) !== undefined,
      }),
    slack: (place, signal) => {
      const client = async (): Promise<WebClient> => clients.job(await access.token(workspaceOf(place)));
      const { apiUrl, draw } = options;
      return createSlackPort(
        client,
        createUploads({ client, apiUrl, draw, inspect: () => egress.file(), signal }),
      );
    },
  };
}

function createSlackPort(
  client: () => Promise<WebClient>,
  uploads: ReturnType<typeof createUploads>,
): SlackPort {
  return {
    post: (channel, message, { thread, marker } = {}) =>
      told(async () => {
        const answer = await allowSecrets(message.carries ?? [], async () =>
          (await client()).chat.postMessage({
            channel,
            ...shown(message),
            ...(thread === undefined ? {} : { thread_ts: thread }),
            ...(marker ? { metadata: { event_type: marker.type, event_payload: marker.payload } } : {}),
            unfurl_links: false,
            unfurl_media: false,
          }),
        );
        return { channel: answer.channel ?? channel, ts: answer.ts ?? '' };
      }),
    update: (at, message) =>
      told(async () => {
        await (await client()).chat.update({ channel: at.channel, ts: at.ts, ...shown(message) });
      }),
    find: (marker, where) => told(async () => findMarked(await client(), marker, where)),
    share: (files, { channel, thread, comment, beforeShare }) =>
      told(async () => uploads.share(files, { channelId: channel, threadTs: thread }, comment, beforeShare)),
    deleteFile: (file) =>
      told(async () => {
        try {
          await (await client()).files.delete({ file });
        } catch (error) {
          const code = readSlackError(error);
          if (code !== 'file_not_found' && code !== 'file_deleted') throw error;
        }
      }),
  };
}

function workspaceOf({ teamId, enterpriseId }: Place | Person): Workspace {
  return { teamId, enterpriseId, isEnterpriseInstall: enterpriseId !== undefined };
}

function shown({ text, blocks }: Message): { text: string; blocks: NonNullable<Message['blocks']> } {
  // A message that is updated without blocks would keep those it had.
  return { text, blocks: blocks ?? [] };
}

// Slack's own troubles: its documentation leaves open whether the call took effect.
const uncertain = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']);

async function told<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw failureOf(error);
  }
}

/** What a failed call means for whoever wonders whether it happened. */
function failureOf(error: unknown): unknown {
  if (error instanceof UploadError) {
    const told = { cause: error, message: error.message };
    const inner = error.cause === undefined ? undefined : failureOf(error.cause);
    if (!(inner instanceof SlackFailure)) {
      const { code, retryAfterSeconds } = error;
      return new SlackFailure('refused', code, { ...told, retryAfterSeconds });
    }
    const { outcome, code, retryAfterSeconds, reference } = inner;
    return new SlackFailure(outcome, code, { ...told, retryAfterSeconds, reference });
  }
  if (error instanceof SecretLeakBlocked) return heldBack(error);
  const code = readSlackError(error);
  if (code !== undefined) {
    return new SlackFailure(uncertain.has(code) ? 'unknown' : 'refused', code, { cause: error });
  }
  switch (codeOf(error)) {
    case ErrorCode.RateLimitedError: {
      const { retryAfter } = error as WebAPIRateLimitedError;
      return new SlackFailure('refused', 'ratelimited', { cause: error, retryAfterSeconds: retryAfter });
    }
    case ErrorCode.HTTPError:
      return new SlackFailure('unknown', `http_${(error as WebAPIHTTPError).statusCode}`, { cause: error });
    case ErrorCode.RequestError:
      return new SlackFailure('unknown', 'no_answer', { cause: error });
    default:
      // Not Slack's: no token for that workspace, a bug. Nothing was sent.
      return error;
  }
}

function heldBack(error: SecretLeakBlocked): SlackFailure {
  return new SlackFailure('refused', 'held_back', { cause: error, reference: error.reference });
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

/** Sends somebody a direct message that nothing they did in Slack asked for. @throws what Slack or the network says. */
export function createDirectMessenger(deps: {
  access: InstallationAccess;
  clients: Clients;
}): (person: Person, message: Message) => Promise<void> {
  return async ({ enterpriseId, teamId, userId }, { text, blocks, carries }) => {
    const isEnterpriseInstall = enterpriseId !== undefined;
    const token = await deps.access.token({ teamId, enterpriseId, isEnterpriseInstall });
    const client = deps.clients.interactive(token);
    await allowSecrets(carries ?? [], () =>
      client.chat.postMessage({
        channel: userId,
        text,
        ...(blocks ? { blocks } : {}),
        unfurl_links: false,
        unfurl_media: false,
      }),
    );
  };
}
