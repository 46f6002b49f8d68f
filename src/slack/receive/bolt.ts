import { App, type Logger, LogLevel, type Receiver } from '@slack/bolt';
import type { Log } from '../../telemetry/log.ts';
import type { SlackDeps } from './authorize.ts';
import { readForm, runForm, runPicker } from './forms.ts';
import { runAction, runCommand, runHome, runShortcut } from './handlers.ts';
import { type LifecycleHandlers, storeEnds } from './lifecycle-events.ts';
import { runMessage } from './messages.ts';
import { beginStep, runStep } from './steps.ts';

/**
 * Passes Slack's deliveries to their handlers: one listener for each kind, since every listener costs time on every
 * request, with routing by `feature:verb` in the registry. What has no answer of its own was acknowledged by the receiver;
 * the rest is before anything that waits.
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
  // Nobody waits for it: what waits for its turn would hold the request, its answer and Bolt's arguments all the time.
  const goOn = (work: Promise<void>): void => void work.catch(logFailure);

  // Bolt acknowledges an event before its listeners run.
  const processEvent = app.processEvent.bind(app);
  app.processEvent = async (delivery) => {
    // Commands and presses are acknowledged without being looked through.
    if (!('event' in delivery.body)) return processEvent(delivery);
    await storeEnds(delivery.body, options.ends);
    const step = await beginStep(options, delivery.body);
    if (!step) return processEvent(delivery);
    await delivery.ack();
    await runStep(options, step);
  };

  // The most frequent ones end here: Bolt would ask every listener whether they are for it.
  app.use(async (delivery) => {
    if ('command' in delivery) goOn(runCommand(options, delivery.command));
    else if ('shortcut' in delivery) goOn(runShortcut(options, delivery.shortcut));
    else if ('action' in delivery) {
      const { body, action } = delivery;
      if (body.type === 'block_actions' && 'action_id' in action) goOn(runAction(options, body, action));
    } else await delivery.next();
  });

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
