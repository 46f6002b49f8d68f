import { setTimeout as pause } from 'node:timers/promises';
import { App, type BlockAction } from '@slack/bolt';
import type { Logger } from '@slack/web-api';
import { z } from 'zod';
import { tenantId } from '../../auth/identity.ts';
import { findStep, personInput, readInputs } from '../../commands/steps.ts';
import { beginStepRun, endStepRun, type StepRun, type StepRunEnd } from '../../outbox/complete-step.ts';
import { mapTexts, redactSecrets } from '../../secrets/scanner.ts';
import { registerSecret, withSecrets } from '../../secrets/secret.ts';
import { withReference } from '../../telemetry/reference.ts';
import { withSpan } from '../../telemetry/tracing.ts';
import { createNotes } from '../../views/blocks/menu.ts';
import { describeStepFailure } from '../../views/steps.ts';
import { findInstallation, type LifecycleHandlers, readSender, storeEnds } from '../sender.ts';
import { oncePerMinute, throttleLog } from '../web/limits.ts';
import type { Owner } from './in-flight.ts';
import { readModalState, type SubmittedView } from './modals.ts';
import { createReplies, perform, type SlackDeps } from './perform.ts';
import {
  readForm,
  refuseForm,
  runAction,
  runCommand,
  runForm,
  runHome,
  runMessage,
  runPicker,
  runShortcut,
} from './requests.ts';

export interface Arrival {
  readonly transport: 'http' | 'socket';
  /** Slack's own time of it in ms, where it has one. */
  readonly sentAt: number | undefined;
}

/** Events that wait to be stored: behind a slow database they must not pile up, nor hold up what else needs it. */
const mostStoring = 200;
/** Slack waits three seconds, and sends again what it was refused; what is stored later is known by its id. */
const storeMs = 2_300;

type Acknowledge = (reply?: unknown) => Promise<void>;

interface Body {
  readonly type?: string;
  readonly command?: unknown;
  readonly user_id?: string;
  readonly team_id?: string;
  readonly team?: Named;
  readonly user?: Named;
  readonly event?: {
    readonly type?: string;
    readonly tab?: string;
    readonly user?: string | { readonly id?: string };
    view?: unknown;
  };
  readonly view?: SubmittedView & { blocks?: unknown[] };
  message?: { readonly ts?: string | undefined; readonly thread_ts?: string | undefined };
  readonly channel?: Named;
  readonly response_url?: string;
  readonly actions?: unknown;
}
type Named = { readonly id?: string } | null | undefined;

type DeliverOptions = SlackDeps & { readonly ends: LifecycleHandlers; readonly logger: Logger };

export type Deliver = (body: object, ack: Acknowledge, arrival: Arrival) => Promise<void>;

/**
 * Acknowledges each delivery once. Also trims the body. @throws where Slack must send it again: its end of access or its step
 * could not be stored, or nobody could be told that it was refused.
 */
export function createDeliver(options: DeliverOptions): Deliver {
  const { egress, inFlight, log, metrics, now } = options;
  const throttledLog = throttleLog(log, now);
  const logFailure = (error: unknown): void =>
    throttledLog.error({ error }, 'a delivery failed outside its handler');
  const refuse = createRefusal(options);
  const app = createApp(options, logFailure);
  let storing = 0;

  const store = async <T>(work: () => Promise<T>): Promise<T> => {
    if (storing >= mostStoring) throw new Error('too many events wait to be stored');
    storing += 1;
    const stored = work().finally(() => (storing -= 1));
    const late = pause(storeMs, undefined, { ref: false });
    return Promise.race([
      stored,
      late.then(() => Promise.reject(new Error('storing an event takes too long'))),
    ]);
  };
  const ends = {
    ...options.ends,
    store: (...end: Parameters<typeof options.ends.store>) => store(() => options.ends.store(...end)),
  };

  const accept = async (body: Body, ack: Acknowledge): Promise<void> => {
    trim(body);
    // What must not be lost is stored before it is acknowledged, also in a flood; else Slack sends it again.
    if (body.event) await storeEnds(body, ends);
    const isStep = body.event?.type === 'function_executed';
    const step = isStep ? await store(() => beginStep(options, body, throttledLog.warn)) : undefined;
    if (step === 'incomplete') return;
    const owner = readOwner(body);
    if (!body.event && owner.person === '') {
      throttledLog.warn({ type: body.type }, 'a delivery names no user');
      return;
    }
    const end = inFlight.admit(owner, JSON.stringify(body).length);
    if (!end) return step ? refuseStep(options, step) : refuse(body, ack);
    // Nobody waits for the work: what waits for its turn would hold the request all the time.
    let work: Promise<unknown> = Promise.resolve();
    const follow: GoOn = (started) => void (work = started.catch(logFailure));
    try {
      if (!step)
        return await app.processEvent({ body: { ...body }, ack, customProperties: { goOn: follow } });
      await ack();
      follow(runStep(options, step));
    } finally {
      void work.then(end);
    }
  };

  return (body: Body, send, { transport, sentAt }) => {
    const started = performance.now();
    let isAcknowledged = false;
    const ack: Acknowledge = async (reply) => {
      if (isAcknowledged) return;
      isAcknowledged = true;
      await send(egress.acknowledgement(reply));
      const sinceSent = sentAt && (now().getTime() - sentAt) / 1000;
      metrics.acknowledged(transport, (performance.now() - started) / 1000, sinceSent);
    };
    // Slack shows an error for an unacknowledged delivery; an empty acknowledgement is right for unknown kinds.
    const accepted = () => withReference(() => withSecrets(() => accept(body, ack).then(() => ack())));
    return withSpan('delivery', { transport }, accepted).catch((error: unknown) => {
      throttledLog.error({ error }, 'cannot acknowledge a delivery');
      throw error;
    });
  };
}

/** Takes the work that goes on after the acknowledgement: the delivery ends with it. */
type GoOn = (work: Promise<unknown>) => void;

function goOn(context: object, work: Promise<unknown>): void {
  (context as { readonly goOn: GoOn }).goOn(work);
}

const anything = /[\s\S]*/u;

/**
 * Bolt's App with one listener for each kind of delivery; the registry routes by `feature:verb`. It authorizes nobody: that
 * would read the database before forms and menus are acknowledged, so tokens come from `InstallationAccess` afterwards.
 */
function createApp(options: DeliverOptions, logFailure: (error: unknown) => void): App {
  const { apiUrl, logger, now } = options;
  const app = new App({
    // Our own receivers hand deliveries to `processEvent`.
    receiver: { init: () => undefined, start: async () => undefined, stop: async () => undefined },
    logger,
    authorize: async () => ({}),
    convoStore: false,
    ignoreSelf: false,
    clientOptions: { slackApiUrl: apiUrl, allowAbsoluteUrls: false },
  });

  app.command(anything, async ({ ack, body, context }) => {
    await ack();
    goOn(context, runCommand(options, body));
  });
  app.action(anything, async ({ ack, body, context }) => {
    const press = body as BlockAction;
    const [pressed] = press.actions;
    await ack();
    if (pressed) goOn(context, runAction(options, press, pressed));
  });
  app.shortcut(anything, async ({ ack, body, context }) => {
    await ack();
    goOn(context, runShortcut(options, body));
  });
  app.view(anything, async ({ ack, body, context }) => {
    if (body.type !== 'view_submission') return ack();
    const { form, values, reply } = readForm(body.view, now());
    // No value satisfies Bolt's intersection type for this acknowledgement.
    await ack(reply as never);
    if (form) goOn(context, runForm(options, form, values, body));
  });
  app.options(anything, async ({ ack, body, context }) => {
    const { inTime, found } = runPicker(options, body);
    goOn(context, found);
    await ack({ options: [...(await inTime)] });
  });
  app.event(anything, async ({ event, body, context }) => {
    // `message` is the manifest's `message.im`.
    if (event.type === 'app_mention' || event.type === 'message') goOn(context, runMessage(options, body));
    else if (event.type === 'app_home_opened' && event.tab === 'home') goOn(context, runHome(options, body));
  });
  app.error(async (error) => logFailure(error));
  return app;
}

/**
 * Leaves of a body what its work needs: a press and a menu carry the whole message or view that holds them. A form is kept,
 * to show it again. In place, since the receiver holds the body until it is acknowledged.
 */
function trim(body: Body): void {
  const { event, message, type, view } = body;
  if (event) delete event.view;
  if (message && type !== 'message_action') body.message = { ts: message.ts, thread_ts: message.thread_ts };
  const isForm = type !== 'block_suggestion' && Object.keys(view?.state?.values ?? {}).length > 0;
  if (view && !isForm) view.blocks = [];
}

/** Runs in a flood, so it checks nothing. */
function readOwner({ user_id: id, team_id: teamId, team, user, event }: Body): Owner {
  const inEvent = typeof event?.user === 'string' ? event.user : event?.user?.id;
  return { tenant: teamId ?? team?.id ?? '', person: id ?? user?.id ?? inEvent ?? '' };
}

const busy = 'The bot is busy: too many requests are waiting. Nothing was done; try again in a moment.';

/** Notices on their way at once, and people who wait for theirs: behind a slow Slack they must not pile up. */
const mostNotices = 32;
const mostToTell = 1_000;

/** Refuses a delivery in its acknowledgement; where that shows nothing, its person gets one notice a minute. */
function createRefusal(deps: SlackDeps) {
  const { access, inFlight, log, metrics, now } = deps;
  const shouldTell = oncePerMinute(now);
  const { warn } = throttleLog(log, now);
  /** By person, the longest wait first. */
  const toTell = new Map<string, () => Promise<unknown>>();
  let sending = 0;

  const tell = (body: Body): void => {
    const sender = readSender(body, access.own());
    const { tenant, person } = readOwner(body);
    const key = `${tenant}/${person}`;
    if (!sender || toTell.has(key)) return;
    // Without an acknowledgement Slack shows that a press failed, and sends an event again.
    if (toTell.size >= mostToTell) throw new Error('too many people wait to be told that the bot is busy');
    if (!shouldTell(key)) return;
    const channelId = body.channel?.id ?? readModalState(body.view?.private_metadata).channelId;
    const route = { responseUrl: body.response_url || undefined, channelId, separate: true };
    toTell.set(key, () => createReplies(deps, sender, route).plain({ text: busy }, 'failure'));
    void sendNotices();
  };
  const sendNotices = async (): Promise<void> => {
    if (sending >= mostNotices) return;
    sending += 1;
    for (const [key, send] of toTell) {
      toTell.delete(key);
      await send().catch((error: unknown) => warn({ error }, 'cannot tell a person that the bot is busy'));
    }
    sending -= 1;
  };

  return async (body: Body, ack: Acknowledge): Promise<void> => {
    const { kind, reply } = describeRefusal(body);
    metrics.delivered(kind, 'unread', 'refused', 0);
    warn({ inFlight: inFlight.count() }, 'too much is under way: deliveries are refused');
    if (!reply) tell(body);
    await ack(reply);
  };
}

function describeRefusal({ command, type, actions, event, view }: Body) {
  if (command !== undefined)
    return { kind: 'command', reply: { response_type: 'ephemeral', text: busy } } as const;
  if (type === 'block_suggestion') {
    const options = [...createNotes(['The bot is busy: type again in a moment'])];
    return { kind: 'picker', reply: { options } } as const;
  }
  if (type === 'view_submission') return { kind: 'form', reply: refuseForm(view, 'Busy', busy) } as const;
  if (event) return { kind: 'message' } as const;
  return { kind: actions === undefined ? 'shortcut' : 'action' } as const;
}

/** Without name or inputs a run still ends with an error; without its id it cannot be ended. */
const executedStep = z.object({
  event: z.object({
    type: z.literal('function_executed'),
    function: z.object({ callback_id: z.string() }).catch({ callback_id: '' }),
    inputs: z.record(z.string(), z.unknown()).catch({}),
    function_execution_id: z.string().min(1),
    bot_access_token: z.unknown().optional(),
  }),
});

interface DeliveredStep extends StepRun {
  readonly callbackId: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly body: object;
  /** False if Slack sent it again. */
  readonly isNew: boolean;
}

/** Stores the run of a workflow step. Call before the acknowledgement: where this rejects, Slack must send it again. */
async function beginStep(
  { ledger, now }: SlackDeps,
  body: object,
  warn: SlackDeps['log']['warn'],
): Promise<DeliveredStep | 'incomplete'> {
  const { data, error } = executedStep.safeParse(body);
  const installation = findInstallation(body);
  if (!data || !installation) {
    const missing = error?.issues.map(({ path }) => path.join('.')) ?? ['team_id'];
    warn({ missing }, 'cannot run a step of a workflow: its event lacks something');
    return 'incomplete';
  }
  const { event } = data;
  const { inputs, function_execution_id: run } = event;
  // The token is of the run alone and ends within minutes: the bot completes with its own. Neither goes anywhere.
  registerSecret('slack-token', event.bot_access_token);
  const { [personInput.name]: person, ...given } = inputs;
  registerSecret('slack-user-context', z.object({ secret: z.string() }).safeParse(person).data?.secret);
  const ifItDies = 'The bot stopped while it worked on this step. Run the workflow again.';
  const isNew = await beginStepRun(ledger, { run, installation }, { now: now(), ifItDies });
  return { run, installation, callbackId: event.function.callback_id, inputs: given, body, isNew };
}

const nobody =
  'This step works for the person who runs the workflow, and Slack named nobody. The workflow’s author can let ' +
  'it start from a link or button; the team that runs this bot can paste its manifest again.';

async function refuseStep(
  { ledger }: Pick<SlackDeps, 'ledger'>,
  { run, installation, isNew }: DeliveredStep,
): Promise<void> {
  const error = 'The bot is busy: too many requests are waiting. Run the workflow again in a moment.';
  // One that came before is worked on already.
  if (isNew) await endStepRun(ledger.enqueue, { run, installation }, { error });
}

/** Runs an acknowledged step as the person who runs the workflow. Every failure becomes the step's error. */
async function runStep(deps: SlackDeps, delivered: DeliveredStep): Promise<void> {
  const { callbackId, inputs, body, run, installation } = delivered;
  const end = (how: StepRunEnd): Promise<void> =>
    // Redacted here, where the secrets of this work are known: it leaves from a job.
    endStepRun(deps.ledger.enqueue, { run, installation }, mapTexts(how, redactSecrets) as StepRunEnd);
  const step = findStep(callbackId);
  if (!step) return end({ error: 'This step is from another version of the bot.' });
  if (!readSender(body, deps.access.own())) return end({ error: nobody });
  await perform(
    deps,
    { kind: 'step', body, claim: run },
    {
      feature: step.id,
      needs: step.needs,
      route: {},
      async run({ context }) {
        const result = await step.run(readInputs(step, inputs), context, run);
        if (result === 'with its operation') return;
        const { person } = context;
        await deps.audit.record({
          tenant: tenantId(person),
          actor: person.userId,
          event: 'step-run',
          subject: step.id,
          detail: { run },
        });
        await end(result);
      },
      async showFailure({ failure }) {
        await end({ error: describeStepFailure(failure) });
        return true;
      },
    },
  );
}
