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
import { isAcknowledgedAtOnce } from './acknowledgement.ts';
import type { SlackDeps } from './authorize.ts';
import { readForm, runForm, runPicker } from './forms.ts';
import { runAction, runCommand, runHome, runShortcut } from './handlers.ts';
import { type LifecycleHandlers, storeEnds } from './lifecycle-events.ts';
import { runMessage } from './messages.ts';
import { beginStep, runStep } from './steps.ts';

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
  // Nobody waits for it: what waits for its turn would hold the request and its answer all the time.
  const goOn = (work: Promise<unknown>): void => void work.catch(logFailure);

  /** The most frequent kinds, of which Bolt would only find out which they are. */
  const runAcknowledged = (body: object): void => {
    if ('command' in body) return goOn(runCommand(options, body as SlashCommand));
    if (!('actions' in body)) return goOn(runShortcut(options, body as SlackShortcut));
    const press = body as BlockAction;
    const [action] = press.actions;
    if (action) goOn(runAction(options, press, action));
  };

  const processEvent = app.processEvent.bind(app);
  app.processEvent = async (delivery) => {
    if (isAcknowledgedAtOnce(delivery.body)) return runAcknowledged(delivery.body);
    await withReference(() => withSecrets(() => passOn(delivery)));
  };
  const passOn = async (delivery: ReceiverEvent): Promise<void> => {
    if (!('event' in delivery.body)) return processEvent(delivery);
    // Bolt acknowledges an event before its listeners run.
    await storeEnds(delivery.body, options.ends);
    const step = await beginStep(options, delivery.body);
    if (!step) return processEvent(delivery);
    await delivery.ack();
    await runStep(options, step);
  };

  app.view(/[\s\S]*/, async ({ ack, body, view }) => {
    const { form, values, reply } = readForm(view, options.now());
    // No value satisfies Bolt's intersection type for this acknowledgement.
    await ack(reply as never);
    if (form && body.type === 'view_submission') goOn(runForm(options, form, values, body));
  });

  app.options(/[\s\S]*/, async ({ ack, body, payload }) => {
    await ack({ options: 'action_id' in payload ? [...(await runPicker(options, body, payload))] : [] });
  });

  app.event(/[\s\S]*/, async ({ event, body }) => {
    // `message` is the manifest's `message.im`.
    if (event.type === 'app_mention' || event.type === 'message') goOn(runMessage(options, body));
    else if (event.type === 'app_home_opened' && event.tab === 'home') goOn(runHome(options, body));
  });

  app.error(logFailure);
  return app;
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
