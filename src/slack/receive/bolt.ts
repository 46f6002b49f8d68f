import {
  App,
  type BlockAction,
  type Logger,
  LogLevel,
  type Receiver,
  type SlackShortcut,
  type SlashCommand,
} from '@slack/bolt';
import { withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { withReference } from '../../telemetry/reference.ts';
import { withSpan } from '../../telemetry/tracing.ts';
import { createNotes } from '../../views/blocks/menu.ts';
import { type LifecycleHandlers, readSender, storeEnds } from '../sender.ts';
import { oncePerMinute } from '../web/limits.ts';
import type { Owner } from './in-flight.ts';
import { readModalState, type SubmittedView } from './modals.ts';
import { createReplies, type SlackDeps } from './perform.ts';
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
import { beginStep, refuseStep, runStep } from './steps.ts';

export interface Arrival {
  readonly transport: 'http' | 'socket';
  /** Slack's own time of it, in ms since the epoch, where it has one. */
  readonly sentAt: number | undefined;
}

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

type BoltOptions = SlackDeps & {
  readonly receiver: Receiver;
  readonly slackFetch: typeof globalThis.fetch;
  readonly logger: Logger;
  readonly ends: LifecycleHandlers;
};

/**
 * Passes Slack's deliveries to their handlers: one listener for each kind, since every listener costs time on every
 * request, with routing by `feature:verb` in the registry. All that may wait happens after the acknowledgement, and
 * within the budget of work in flight.
 *
 * Bolt calls `authorize` before forms and menus are acknowledged, where an OAuth look-up would read the database; so it
 * returns nothing here, and tokens come from `InstallationAccess` after the acknowledgement.
 */
export function createBolt(options: BoltOptions): App {
  const { inFlight, log, metrics, now } = options;
  const app = new App({
    receiver: options.receiver,
    logger: options.logger,
    authorize: async () => ({}),
    convoStore: false,
    deferInitialization: true,
    ignoreSelf: false,
    clientOptions: { slackApiUrl: options.apiUrl, allowAbsoluteUrls: false, fetch: options.slackFetch },
  });
  const logFailure = async (error: unknown): Promise<void> =>
    log.error({ error }, 'a delivery failed outside its handler');
  const refuse = createRefusal(options);
  const processEvent = app.processEvent.bind(app);

  const accept = async (body: Body & Record<string, unknown>, ack: Acknowledge): Promise<void> => {
    // What must not be lost is stored before it is acknowledged, also in a flood.
    if (body.event) await storeEnds(body, options.ends);
    const step = body.event && (await beginStep(options, body));
    if (step === 'incomplete') return ack();
    const end = inFlight.admit(readOwner(body), JSON.stringify(body).length);
    if (!end) return step ? refuseStep(options, step, ack) : refuse(body, ack);
    // Nobody waits for it: what waits for its turn would hold the request and its answer all the time.
    let work: Promise<unknown> = Promise.resolve();
    const goOn = (started: Promise<unknown>): void => void (work = started.catch(logFailure));
    const start = step ? () => runStep(options, step) : findAcknowledged(options, body);
    try {
      if (!start) return await processEvent({ body, ack, customProperties: { goOn } });
      await ack();
      goOn(start());
    } finally {
      void work.then(end);
    }
  };

  app.processEvent = ({ body, ack: send, customProperties }) => {
    const started = performance.now();
    const { transport, sentAt } = customProperties as Arrival;
    let isAcknowledged = false;
    const ack: Acknowledge = async (reply) => {
      await send(reply);
      if (isAcknowledged) return;
      isAcknowledged = true;
      const sinceSent = sentAt && (now().getTime() - sentAt) / 1000;
      metrics.acknowledged(transport, (performance.now() - started) / 1000, sinceSent);
    };
    trim(body);
    return withSpan('delivery', { transport }, () =>
      withReference(() => withSecrets(() => accept(body, ack))),
    );
  };

  app.view(/[\s\S]*/, async ({ ack, body, view, context }) => {
    const { form, values, reply } = readForm(view, now());
    // No value satisfies Bolt's intersection type for this acknowledgement.
    await ack(reply as never);
    if (form && body.type === 'view_submission') readGoOn(context)(runForm(options, form, values, body));
  });
  app.options(/[\s\S]*/, async ({ ack, body, payload, context }) => {
    const goOn = readGoOn(context);
    await ack({
      options: 'action_id' in payload ? [...(await runPicker(options, body, payload, goOn))] : [],
    });
  });
  app.event(/[\s\S]*/, async ({ event, body, context }) => {
    const goOn = readGoOn(context);
    // `message` is the manifest's `message.im`.
    if (event.type === 'app_mention' || event.type === 'message') goOn(runMessage(options, body));
    else if (event.type === 'app_home_opened' && event.tab === 'home') goOn(runHome(options, body));
  });
  app.error(logFailure);
  return app;
}

/** What takes the work that goes on after the acknowledgement: the delivery ends with it. */
function readGoOn(context: object): (work: Promise<unknown>) => void {
  return (context as { readonly goOn: (work: Promise<unknown>) => void }).goOn;
}

/** The work of the most frequent kinds, whose acknowledgement says nothing: Bolt would only find out which they are. */
function findAcknowledged(deps: SlackDeps, body: Body): (() => Promise<unknown>) | undefined {
  if (body.command !== undefined) return () => runCommand(deps, body as SlashCommand);
  if (body.actions !== undefined) {
    const press = body as BlockAction;
    return async () => press.actions[0] && runAction(deps, press, press.actions[0]);
  }
  const isShortcut = body.type === 'shortcut' || body.type === 'message_action';
  return isShortcut ? () => runShortcut(deps, body as SlackShortcut) : undefined;
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

/** Whom a delivery is from, without checking it: this runs in a flood. */
function readOwner({ user_id: id, team_id: teamId, team, user, event }: Body): Owner {
  const inEvent = typeof event?.user === 'string' ? event.user : event?.user?.id;
  return { tenant: teamId ?? team?.id ?? '', person: id ?? user?.id ?? inEvent ?? '' };
}

const busy = 'The bot is busy: too many requests are waiting. Nothing was done; try again in a moment.';

/** Notices on their way at once: behind a Slack that is slow they must not pile up. */
const mostNotices = 8;

/**
 * Refuses deliveries while too much is under way, in their acknowledgement. That of a press, a shortcut or a message shows
 * nothing: its person gets one notice a minute.
 */
function createRefusal(deps: SlackDeps) {
  const { access, inFlight, log, metrics, now } = deps;
  const shouldTell = oncePerMinute(now);
  const shouldLog = oncePerMinute(now);
  let notices = 0;

  const tell = async (body: Body): Promise<void> => {
    const sender = readSender(body, access.own());
    if (!sender || notices >= mostNotices) return;
    const { tenant, person } = readOwner(body);
    if (!shouldTell(`${tenant}/${person}`)) return;
    notices += 1;
    try {
      const channelId = body.channel?.id ?? readModalState(body.view?.private_metadata).channelId;
      const route = { responseUrl: body.response_url || undefined, channelId, separate: true };
      await createReplies(deps, sender, route).plain.send({ text: busy }, 'failure');
    } catch (error) {
      log.warn({ error }, 'cannot tell a person that the bot is busy');
    } finally {
      notices -= 1;
    }
  };

  return async (body: Body, ack: Acknowledge): Promise<void> => {
    const { kind, reply } = describeRefusal(body);
    metrics.delivered(kind, 'unread', 'refused', 0);
    if (shouldLog('busy'))
      log.warn(
        { inFlight: inFlight.count() },
        'too much is under way: deliveries are refused (logged once a minute)',
      );
    await ack(reply);
    if (!reply) await tell(body);
  };
}

/** The acknowledgement that says it; undefined for kinds whose acknowledgement shows nothing. */
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

/**
 * The logger of Slack's libraries. Their debug lines hold whole payloads with tokens and typed keys, so they are
 * dropped at every LOG_LEVEL.
 */
export function createBoltLog(log: Log): Logger {
  return {
    debug: () => undefined,
    info: (...parts) => log.debug({}, join(parts)),
    warn: (...parts) => log.warn({}, join(parts)),
    error: (...parts) => log.error({}, join(parts)),
    setLevel: () => undefined,
    getLevel: () => LogLevel.INFO,
    setName: () => undefined,
  };
}

function join(parts: readonly unknown[]): string {
  return parts.map((part) => (part instanceof Error ? part.message : String(part))).join(' ');
}
