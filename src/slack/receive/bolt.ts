import { App, type Logger, LogLevel, type Receiver } from '@slack/bolt';
import type { Log } from '../../telemetry/log.ts';
import type { SlackDeps } from './dispatch.ts';
import { readForm, runAction, runCommand, runForm, runHome, runShortcut } from './handlers.ts';
import { type LifecycleHandlers, listenForLifecycleEvents } from './lifecycle-events.ts';
import { fieldValue, readModalState } from './modals.ts';
import { runPicker } from './pickers.ts';

export interface BoltOptions extends SlackDeps {
  readonly receiver: Receiver;
  readonly logger: Logger;
  readonly apiUrl: string;
  readonly ends: LifecycleHandlers;
}

/**
 * Slack's deliveries into our paths. One listener a kind and own routing by `feature:verb`, since every further
 * listener costs on every request; acknowledged before anything that waits.
 *
 * `authorize` answers without looking: Bolt asks it before the acknowledgement, and with OAuth it would read the
 * database there. Tokens come from `Access` afterwards.
 */
export function createBolt(options: BoltOptions): App {
  const app = new App({
    receiver: options.receiver,
    logger: options.logger,
    authorize: async () => ({}),
    convoStore: false,
    deferInitialization: true,
    ignoreSelf: false,
    clientOptions: { slackApiUrl: options.apiUrl, allowAbsoluteUrls: false, fetch: options.fetch },
  });

  app.command(/[\s\S]*/, async ({ ack, body }) => {
    await ack();
    await runCommand(options, body);
  });

  app.action(/[\s\S]*/, async ({ ack, body, action }) => {
    await ack();
    if (body.type !== 'block_actions' || !('action_id' in action)) return;
    // A link button (`feature:link`) opens its page in the browser; the press is told to us all the same, and not always
    // with the address.
    if (/^[^:]+:link(?::|$)/.test(action.action_id)) return;
    const value = fieldValue(action);
    const pressed = {
      actionId: action.action_id,
      actionTs: action.action_ts,
      value: typeof value === 'string' ? value : (value ?? []).join(','),
      trigger_id: body.trigger_id,
      response_url: body.response_url || undefined,
      channelId: body.channel?.id,
      messageTs: body.container['is_ephemeral'] === true ? undefined : body.message?.ts,
      modal: body.view?.type === 'modal' ? body.view : undefined,
    };
    await runAction(options, pressed, body);
  });

  app.view(/[\s\S]*/, async ({ ack, body, view }) => {
    const { form, values, reply } = readForm(view, options.now());
    // Bolt's type for this answer is an intersection that nothing can satisfy.
    await ack(reply as never);
    if (form) await runForm(options, form, values, view, body);
  });

  app.options(/[\s\S]*/, async ({ ack, body, payload }) => {
    if (!('action_id' in payload)) return ack({ options: [] });
    const { action_id: actionId, value: typed } = payload;
    const channelId = body.channel?.id ?? readModalState(body.view?.private_metadata).channel;
    const found = await runPicker(options, { actionId, typed, channelId }, body);
    await ack({ options: [...found] });
  });

  app.shortcut(/[\s\S]*/, async ({ ack, body }) => {
    await ack();
    await runShortcut(options, body);
  });

  app.event('app_home_opened', async ({ event, body }) => {
    if (event.tab === 'home') await runHome(options, body);
  });

  listenForLifecycleEvents(app, options);

  app.error(async (error) => {
    options.log.error({ error }, 'a delivery failed outside its path');
  });
  return app;
}

/**
 * Slack's libraries log through here. Their debug lines hold whole payloads and acknowledgements,
 * tokens and typed keys included, so they are dropped whatever LOG_LEVEL says.
 */
export function createBoltLog(log: Log): Logger {
  return {
    debug: () => undefined,
    info: (...parts) => log.debug({}, line(parts)),
    warn: (...parts) => log.warn({}, line(parts)),
    error: (...parts) => log.error({}, line(parts)),
    setLevel: () => undefined,
    getLevel: () => LogLevel.INFO,
    setName: () => undefined,
  };
}

function line(parts: unknown[]): string {
  return parts.map((part) => (part instanceof Error ? part.message : String(part))).join(' ');
}
