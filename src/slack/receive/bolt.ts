import {
  App,
  type BlockAction,
  type Logger,
  LogLevel,
  type Receiver,
  type ReceiverEvent,
  type SlackShortcut,
  type SlashCommand,
} from '@slack/bolt';
import { withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { withReference } from '../../telemetry/reference.ts';
import type { SlackDeps } from './authorize.ts';
import { type Body, createRefusal, readOwner, trim } from './busy.ts';
import { readForm, runForm, runPicker } from './forms.ts';
import { runAction, runCommand, runHome, runShortcut } from './handlers.ts';
import { type LifecycleHandlers, storeEnds } from './lifecycle-events.ts';
import { runMessage } from './messages.ts';
import { beginStep, refuseStep, runStep } from './steps.ts';

/**
 * Passes Slack's deliveries to their handlers: one listener for each kind, since every listener costs time on every
 * request, with routing by `feature:verb` in the registry. What has no answer of its own was acknowledged by the receiver,
 * and waits for its turn at once; the rest is acknowledged here, before anything that waits.
 *
 * Bolt calls `authorize` before forms and menus are acknowledged, where an OAuth look-up would read the database; so it
 * returns nothing here, and tokens come from `InstallationAccess` after the acknowledgement.
 */
export function createBolt(
  options: SlackDeps & {
    readonly receiver: Receiver;
    readonly slackFetch: typeof globalThis.fetch;
    readonly logger: Logger;
    readonly ends: LifecycleHandlers;
  },
): App {
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
    options.log.error({ error }, 'a delivery failed outside its handler');
  const refuse = createRefusal(options);

  /** The most frequent kinds, of which Bolt would only find out which they are. Their acknowledgement says nothing. */
  const findAcknowledged = (body: object): (() => Promise<unknown>) | undefined => {
    if ('command' in body) return () => runCommand(options, body as SlashCommand);
    if ('actions' in body) {
      const press = body as BlockAction;
      return async () => press.actions[0] && runAction(options, press, press.actions[0]);
    }
    const { type } = body as Body;
    const isShortcut = type === 'shortcut' || type === 'message_action';
    return isShortcut ? () => runShortcut(options, body as SlackShortcut) : undefined;
  };

  const processEvent = app.processEvent.bind(app);
  app.processEvent = async ({ body: whole, ...delivery }) => {
    const bytes = (delivery.customProperties as Partial<Accepted> | undefined)?.bytes ?? 0;
    const body = trim(whole);
    const size = body === whole ? bytes : Math.min(bytes, JSON.stringify(body).length);
    const work = findAcknowledged(body);
    // Commands and presses open a scope of their own when their turn comes.
    if (work) return accept({ ...delivery, body }, size, work);
    await withReference(() => withSecrets(() => accept({ ...delivery, body }, size)));
  };
  const accept = async (
    delivery: ReceiverEvent,
    bytes: number,
    work?: () => Promise<unknown>,
  ): Promise<void> => {
    const { ack, body } = delivery;
    // What must not be lost is stored before it is acknowledged, also in a flood.
    if ('event' in body) await storeEnds(body, options.ends);
    const step = 'event' in body ? await beginStep(options, body) : undefined;
    const end = options.inFlight.admit(readOwner(body), bytes);
    if (!end) return step ? refuseStep(options, step, ack) : refuse(body, ack as Acknowledge);
    // Nobody waits for it: what waits for its turn would hold the request and its answer all the time.
    const works: Promise<unknown>[] = [];
    const goOn = (started: Promise<unknown>): void => void works.push(started.catch(logFailure));
    try {
      if (!work && !step) return await processEvent({ ...delivery, customProperties: { goOn } });
      await ack();
      goOn(step ? runStep(options, step) : (work?.() ?? Promise.resolve()));
    } finally {
      void Promise.allSettled(works).then(end);
    }
  };

  app.view(/[\s\S]*/, async ({ ack, body, view, context }) => {
    const { form, values, reply } = readForm(view, options.now());
    // No value satisfies Bolt's intersection type for this acknowledgement.
    await ack(reply as never);
    if (form && body.type === 'view_submission') accepted(context).goOn(runForm(options, form, values, body));
  });

  app.options(/[\s\S]*/, async ({ ack, body, payload }) => {
    await ack({ options: 'action_id' in payload ? [...(await runPicker(options, body, payload))] : [] });
  });

  app.event(/[\s\S]*/, async ({ event, body, context }) => {
    const { goOn } = accepted(context);
    // `message` is the manifest's `message.im`.
    if (event.type === 'app_mention' || event.type === 'message') goOn(runMessage(options, body));
    else if (event.type === 'app_home_opened' && event.tab === 'home') goOn(runHome(options, body));
  });

  app.error(logFailure);
  return app;
}

/** What an accepted delivery hands to its listener. */
interface Accepted {
  readonly bytes: number;
  /** Work that goes on after the acknowledgement: the delivery ends with it. */
  readonly goOn: (work: Promise<unknown>) => void;
}
type Acknowledge = (reply?: unknown) => Promise<void>;

function accepted(context: object): Accepted {
  return context as Accepted;
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
