import type { WebClient } from '@slack/web-api';
import type { CdnClient } from '../../api/cdn.ts';
import type { Audit } from '../../auth/audit/audit.ts';
import type { Person } from '../../auth/identity.ts';
import type { KeyStore } from '../../auth/keys/key-store.ts';
import type { KeyPage } from '../../auth/keys/links.ts';
import type { Policies } from '../../auth/policy/policies.ts';
import type { Chart } from '../../charts/chart.ts';
import type { ZoneCache } from '../../commands/cache/zone-cache.ts';
import type { Context, OpenModal, Service, With } from '../../commands/context.ts';
import type { Answer, Setup } from '../../commands/define.ts';
import type { DigestService } from '../../digests/service.ts';
import { UserError } from '../../errors.ts';
import type { ExportService } from '../../exports/service.ts';
import type { Ledger } from '../../operations/transitions.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Kind, Metrics, Outcome } from '../../telemetry/metrics.ts';
import type { Message } from '../../views/blocks/message.ts';
import type { InstallationAccess } from '../installations.ts';
import type { PeopleOf } from '../people.ts';
import type { Clients } from '../send/clients.ts';
import { createResponder, type Responder, type Route } from '../send/responder.ts';
import { createUploads } from '../send/uploads.ts';
import { withFiles } from '../send/with-files.ts';
import { readSender } from '../sender.ts';
import { type AuthorizeRequest, authorize, createSetup } from './authorize.ts';
import { describeFailure } from './failures.ts';
import type { InFlight } from './in-flight.ts';

/** What the paths of a delivery lean on; `app.ts` makes it once. */
export interface SlackDeps {
  readonly access: InstallationAccess;
  readonly clients: Clients;
  readonly keyStore: KeyStore;
  readonly cdn: { withKey(key: Secret, signal?: AbortSignal): CdnClient };
  readonly zoneCache: ZoneCache;
  /** Present where keys are entered on a page. `shownFor` is how the page names the person. */
  readonly keyPage?: ((person: Person, shownFor: string) => KeyPage) | undefined;
  readonly policies: Policies;
  readonly people: PeopleOf;
  readonly audit: Audit;
  readonly ledger: Ledger;
  readonly exports: ExportService;
  readonly digests: DigestService;
  /** False where a denied attempt like this one was recorded a moment ago. */
  readonly shouldRecordDenial: (key: string) => boolean;
  /** False where this delivery was taken before, here or by another replica. */
  readonly claim: (id: string) => Promise<boolean>;
  readonly inFlight: InFlight;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly tempDirectory: string;
  readonly now: () => Date;
  readonly fetch: typeof globalThis.fetch;
  /** The Web API's base: files go to its hosts only. */
  readonly apiUrl: string;
  /** A chart as PNG. */
  readonly renderChart: (chart: Chart) => Promise<Uint8Array>;
  /** Looks for live secrets in a file that is about to leave. */
  readonly createFileScanner: () => (piece: Uint8Array) => void;
}

/** One delivery from Slack, after it was acknowledged. */
export interface Delivery extends Omit<AuthorizeRequest, 'channelId' | 'modal' | 'message'> {
  readonly kind: Kind;
  /** A name from the registry, never anything typed: it becomes a metric label. */
  readonly feature: string;
  /** What makes two deliveries the same one. Without it every delivery is new. */
  readonly claim: string | undefined;
  readonly route: Omit<Route, 'userId'>;
  readonly modal?: OpenModal | undefined;
  readonly message?: Context['message'];
  /** Runs before anything is looked up or decided: opens what must not wait. Never for people from elsewhere. */
  readonly beforeAuthorize?:
    | ((early: Pick<Interaction, 'client'> & { readonly setup: Setup }) => Promise<void>)
    | undefined;
}

export interface Interaction {
  readonly context: With<Service>;
  readonly responder: Responder;
  /** Answers another way, which may fall back on the plain one; the files of an answer go along all the same. */
  readonly wrapResponder: (otherwise: (plain: Responder) => Responder) => Responder;
  readonly client: () => Promise<WebClient>;
}

/**
 * Runs the work of a delivery the way every one runs: once, identified, decided by policy, with the person's own
 * key, and with every failure told to the person. Never throws.
 *
 * `onFailure` shows a failure elsewhere than in a message (an open form); it says whether it could.
 * Resolves with how it ended.
 */
export async function perform(
  deps: SlackDeps,
  delivery: Delivery,
  work: (turn: Interaction) => Promise<void>,
  onFailure?: (message: Message, turn: Pick<Interaction, 'client'>) => Promise<boolean>,
): Promise<Outcome> {
  const started = performance.now();
  const outcome = await deps.inFlight.run(async (signal) => {
    const sender = readSender(delivery.body, deps.access.own());
    if (!sender) {
      deps.log.warn({ kind: delivery.kind }, 'a delivery named no user and no workspace');
      return 'failed';
    }
    const client = async (): Promise<WebClient> =>
      deps.clients.interactive(await deps.access.token(sender.workspace));
    const route = { ...delivery.route, userId: sender.person.userId };
    const uploads = createUploads({
      client: async () => deps.clients.job(await deps.access.token(sender.workspace)),
      apiUrl: deps.apiUrl,
      draw: deps.renderChart,
      inspect: deps.createFileScanner,
      signal,
    });
    const { fetch, log } = deps;
    const plain = createResponder({ route, client, fetch, log });
    const answering: Interaction['wrapResponder'] = (otherwise) =>
      withFiles(otherwise(plain), { uploads, userId: route.userId, log });
    const responder = answering(() => plain);
    try {
      if (delivery.claim !== undefined && !(await deps.claim(`${delivery.kind}:${delivery.claim}`)))
        return 'duplicate';
      if (delivery.beforeAuthorize && !sender.foreign) {
        await delivery.beforeAuthorize({ client, setup: createSetup(deps, sender, delivery.body) });
      }
      const { channelId } = route;
      const wanted = { ...delivery, channelId, modal: delivery.modal, message: delivery.message };
      const context = await authorize(deps, sender, wanted, { client, signal });
      await work({ context, responder, wrapResponder: answering, client });
      return 'answered';
    } catch (error) {
      const message = describeFailure(error, delivery, deps.log);
      try {
        if (!(await onFailure?.(message, { client }))) await responder.sendBeside(message);
      } catch (unreachable) {
        deps.log.error(
          { error: unreachable, kind: delivery.kind },
          'a failure could not be told to its person',
        );
      }
      return error instanceof UserError ? 'refused' : 'failed';
    }
  });
  report(deps, delivery, outcome, (performance.now() - started) / 1000);
  return outcome;
}

function report(deps: SlackDeps, delivery: Delivery, outcome: Outcome, seconds: number): void {
  deps.metrics.delivered(delivery.kind, delivery.feature, outcome, seconds);
  deps.log.debug(
    { kind: delivery.kind, feature: delivery.feature, outcome, ms: Math.round(seconds * 1000) },
    'delivery done',
  );
}

// Longer silence makes people type again.
const silenceMs = 1_500;

/** Sends what is answered, each message in the place of the one before, and a sign of life where that takes its time. */
export async function deliver(answer: Answer, responder: Responder): Promise<void> {
  const silence = setTimeout(() => void responder.signOfLife().catch(() => undefined), silenceMs);
  try {
    const settled = await answer;
    if (!(Symbol.asyncIterator in settled)) {
      clearTimeout(silence);
      await responder.send(settled);
      return;
    }
    let held: Message | undefined;
    for await (const message of settled) {
      clearTimeout(silence);
      held = (await responder.sendUnlessLastUse(message)) ? undefined : message;
    }
    if (held) await responder.send(held);
  } finally {
    clearTimeout(silence);
  }
}
