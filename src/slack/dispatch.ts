import type { WebClient } from '@slack/web-api';
import type { CdnClient } from '../api/cdn.ts';
import type { Person } from '../auth/identity.ts';
import type { Custody } from '../auth/keys.ts';
import { decide, type Right } from '../auth/policy.ts';
import type { Chart } from '../charts/chart.ts';
import type { Answer, Context, Message } from '../commands/define.ts';
import { features } from '../commands/registry.ts';
import type { Snapshots } from '../commands/snapshots.ts';
import { UserError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Secret } from '../secret.ts';
import type { Access } from './access.ts';
import { withFiles } from './answers.ts';
import type { Clients } from './clients.ts';
import { describeFailure, explainFailure, type Failed } from './failures.ts';
import type { InFlight } from './in-flight.ts';
import type { Kind, Metrics, Outcome } from './metrics.ts';
import { createResponder, type Responder, type Route } from './responder.ts';
import { type Sender, senderOf } from './sender.ts';
import { createUploads } from './uploads.ts';

/** What the paths of a delivery lean on; `app.ts` makes it once. */
export interface SlackDeps {
  readonly access: Access;
  readonly clients: Clients;
  readonly custody: Custody;
  readonly cdn: { withKey(key: Secret, signal?: AbortSignal): CdnClient };
  readonly snapshots: Snapshots;
  /** False where this delivery was taken before, here or by another replica. */
  readonly claim: (id: string) => Promise<boolean>;
  readonly inFlight: InFlight;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly spoolDirectory: string;
  readonly now: () => Date;
  readonly fetch: typeof globalThis.fetch;
  /** The Web API's base: files go to its hosts only. */
  readonly apiUrl: string;
  /** A chart as PNG. */
  readonly draw: (chart: Chart) => Promise<Uint8Array>;
}

/** One delivery from Slack, after it was acknowledged. */
export interface Delivery {
  readonly kind: Kind;
  /** A name from the registry, never anything typed: it becomes a metric label. */
  readonly feature: string;
  readonly body: unknown;
  /** What makes two deliveries the same one. Without it every delivery is new. */
  readonly claim: string | undefined;
  readonly needs: Right;
  readonly route: Omit<Route, 'userId'>;
  readonly retry?: Failed['retry'];
}

export interface Turn {
  readonly context: Context;
  readonly responder: Responder;
  readonly client: () => Promise<WebClient>;
}

/**
 * Runs the work of a delivery the way every one runs: once, identified, decided by policy, with the person's own
 * key, and with every failure told to the person. Never throws.
 *
 * `onFailure` shows a failure elsewhere than in a message (an open form); it says whether it could.
 */
export async function perform(
  deps: SlackDeps,
  delivery: Delivery,
  work: (turn: Turn) => Promise<void>,
  onFailure?: (message: Message, turn: Pick<Turn, 'client'>) => Promise<boolean>,
): Promise<void> {
  const started = performance.now();
  const outcome = await deps.inFlight.run(async (signal) => {
    const sender = senderOf(delivery.body, deps.access.own());
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
      draw: deps.draw,
      signal,
    });
    const { fetch, log } = deps;
    const responder = withFiles(createResponder({ route, client, fetch, log }), {
      uploads,
      userId: route.userId,
      log,
    });
    try {
      if (delivery.claim !== undefined && !(await deps.claim(`${delivery.kind}:${delivery.claim}`)))
        return 'duplicate';
      const context = await admit(deps, sender, delivery, signal);
      await work({ context, responder, client });
      return 'answered';
    } catch (error) {
      const message = describeFailure(error, delivery, deps.log);
      try {
        if (!(await onFailure?.(message, { client }))) await responder.send(message);
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
}

function report(deps: SlackDeps, delivery: Delivery, outcome: Outcome, seconds: number): void {
  deps.metrics.delivered(delivery.kind, delivery.feature, outcome, seconds);
  deps.log.debug(
    { kind: delivery.kind, feature: delivery.feature, outcome, ms: Math.round(seconds * 1000) },
    'delivery done',
  );
}

/** Decides by policy and hands out what the work may use. */
async function admit(
  deps: SlackDeps,
  sender: Sender,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<Context> {
  const { person, foreign } = sender;
  const { needs } = delivery;
  const linked = foreign || needs === 'none' ? undefined : await deps.custody.reveal(person);
  const decision = decide({ foreign, linked: linked !== undefined }, needs);
  if (!decision.allowed) throw refusal(decision.reason);
  return {
    person,
    cdn: async () => {
      const key = linked?.key ?? (await ownKey(deps, person));
      return deps.cdn.withKey(key, signal);
    },
    cdnWith: (key) => deps.cdn.withKey(key, signal),
    custody: deps.custody,
    snapshots: deps.snapshots,
    spoolDirectory: deps.spoolDirectory,
    features,
    now: deps.now,
    explain: (error) => explainFailure(error, delivery, deps.log),
    signal,
  };
}

async function ownKey(deps: SlackDeps, person: Person): Promise<Secret> {
  const linked = await deps.custody.reveal(person);
  if (!linked) throw refusal('no-key');
  return linked.key;
}

function refusal(reason: string): UserError {
  return reason === 'foreign'
    ? new UserError(
        'This bot answers people of its own organisation only.',
        'Ask somebody of the organisation that installed it.',
      )
    : new UserError('You have not connected a CDN key yet.', 'Connect yours: it takes a minute.', 'connect');
}

// Longer silence makes people type again.
const silenceMs = 1_500;
const stillWorking: Message = { text: 'Working on it…' };

/** Sends what a command answers, and a sign of life before it where that takes its time. */
export async function deliver(answer: Answer, responder: Responder): Promise<void> {
  const timer = setTimeout(
    () => void responder.sendUnlessLastUse(stillWorking).catch(() => undefined),
    silenceMs,
  );
  try {
    await deliverQuietly(answer, responder, () => clearTimeout(timer));
  } finally {
    clearTimeout(timer);
  }
}

/** Sends what a button answers: one message, or each as it comes with the next taking its place. */
export async function deliverQuietly(
  answer: Answer,
  responder: Responder,
  answered: () => void = () => undefined,
): Promise<void> {
  const settled = await answer;
  if (!(Symbol.asyncIterator in settled)) {
    answered();
    await responder.send(settled);
    return;
  }
  let held: Message | undefined;
  for await (const message of settled) {
    answered();
    held = (await responder.sendUnlessLastUse(message)) ? undefined : message;
  }
  if (held) await responder.send(held);
}
