import { App, type Logger, type Receiver } from '@slack/bolt';
import type { SlackDeps } from './dispatch.ts';
import { fieldValue } from './modals.ts';
import { readForm, runAction, runCommand, runForm, runHome, runPicker } from './paths.ts';
import { tenantOfWorkspace, type Workspace, workspaceOf } from './sender.ts';

export interface BoltOptions extends SlackDeps {
  readonly receiver: Receiver;
  readonly logger: Logger;
  /** The workspace took the app away: what it gave is forgotten. */
  readonly uninstalled: (workspace: Workspace) => Promise<void>;
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
    // A link button opens its page in the browser; the press is told to us all the same.
    if (action.type === 'button' && action.url) return;
    const value = fieldValue(action);
    const pressed = {
      actionId: action.action_id,
      actionTs: action.action_ts,
      value: typeof value === 'string' ? value : (value ?? []).join(','),
      trigger_id: body.trigger_id,
      response_url: body.response_url || undefined,
      channelId: body.channel?.id,
    };
    await runAction(options, pressed, body);
  });

  app.view(/[\s\S]*/, async ({ ack, body, view }) => {
    const { form, values, reply } = readForm(view);
    // Bolt's type for this answer is an intersection that nothing can satisfy.
    await ack(reply as never);
    if (form) await runForm(options, form, values, view, body);
  });

  app.options(/[\s\S]*/, async ({ ack, body, payload }) => {
    if (!('action_id' in payload)) return ack({ options: [] });
    const found = await runPicker(options, { actionId: payload.action_id, typed: payload.value }, body);
    await ack({ options: [...found] });
  });

  app.shortcut(/[\s\S]*/, async ({ ack }) => ack());

  app.event('app_home_opened', async ({ event, body }) => {
    if (event.tab === 'home') await runHome(options, body, event.user);
  });

  // These two come without a token (slack.md §2.4), and nothing else calls deleteInstallation.
  for (const end of ['app_uninstalled', 'tokens_revoked'] as const) {
    app.event(end, async ({ body, event }) => {
      if (event.type === 'tokens_revoked' && !event.tokens.bot?.length) return;
      const workspace = workspaceOf(body);
      if (!workspace) return;
      await options.inFlight.run(() => options.uninstalled(workspace));
      options.log.info(
        { tenant: tenantOfWorkspace(workspace) },
        'the app was taken away: its token and all keys are destroyed',
      );
    });
  }

  app.error(async (error) => {
    options.log.error({ error }, 'a delivery failed outside its path');
  });
  return app;
}
