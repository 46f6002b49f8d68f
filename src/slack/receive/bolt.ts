import { App, type Logger, LogLevel, type Receiver } from '@slack/bolt';
import type { Log } from '../../telemetry/log.ts';
import type { SlackDeps } from './authorize.ts';
import { readForm, runForm, runPicker } from './forms.ts';
import { runAction, runCommand, runHome, runShortcut } from './handlers.ts';
import { type LifecycleHandlers, listenForLifecycleEvents } from './lifecycle-events.ts';
import { readModalState, readValue } from './modals.ts';

export interface BoltOptions extends SlackDeps {
  readonly receiver: Receiver;
  readonly logger: Logger;
  readonly apiUrl: string;
  readonly ends: LifecycleHandlers;
}

/**
 * Passes Slack's deliveries to their handlers: one listener for each kind, since every listener costs time on every
 * request, with routing by `feature:verb` in the registry. Acknowledges before anything that waits.
 *
 * Bolt calls `authorize` before the acknowledgement, where an OAuth look-up would read the database; so it returns
 * nothing here, and tokens come from `InstallationAccess` after the acknowledgement.
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
    // Slack also delivers presses of link buttons (`feature:link`), which open a page in the browser.
    if (/^[^:]+:link(?::|$)/.test(action.action_id)) return;
    const value = readValue(action);
    const press = {
      actionId: action.action_id,
      actionTs: action.action_ts,
      value: typeof value === 'string' ? value : (value ?? []).join(','),
      triggerId: body.trigger_id,
      responseUrl: body.response_url || undefined,
      channelId: body.channel?.id,
      messageTs: body.container['is_ephemeral'] === true ? undefined : body.message?.ts,
      modal: body.view?.type === 'modal' ? body.view : undefined,
    };
    await runAction(options, press, body);
  });

  app.view(/[\s\S]*/, async ({ ack, body, view }) => {
    const { form, values, reply } = readForm(view, options.now());
    // No value satisfies Bolt's intersection type for this acknowledgement.
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
    options.log.error({ error }, 'a delivery failed outside its handler');
  });
  return app;
}

/**
 * The logger of Slack's libraries. Their debug lines hold whole payloads with tokens and typed keys, so they are
 * dropped at every LOG_LEVEL.
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
