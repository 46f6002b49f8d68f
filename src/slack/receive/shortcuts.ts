import { findShortcut } from '../../commands/registry.ts';
import { UserError } from '../../errors.ts';
import { perform, type SlackDeps } from './dispatch.ts';
import { findModal, workOfShortcut } from './modal-flow.ts';

/** An entry of Slack's ⚡ menu or of a message's menu, acknowledged already. */
export async function runShortcut(
  deps: SlackDeps,
  body: {
    callback_id: string;
    trigger_id: string;
    response_url?: string | undefined;
    channel?: { readonly id: string } | undefined;
    /** The message whose menu it was. */
    message?: unknown;
  },
): Promise<void> {
  const shortcut = findShortcut(body.callback_id);
  const channelId = body.channel?.id;
  const opening = findModal(shortcut && workOfShortcut(shortcut, body.message), {
    triggerId: body.trigger_id,
    channelId,
  });
  await perform(
    deps,
    {
      kind: 'shortcut',
      feature: shortcut?.id ?? 'unknown',
      requested: shortcut?.id.split(':')[0],
      body,
      claim: body.trigger_id,
      needs: shortcut?.needs ?? 'none',
      route: { responseUrl: body.response_url, channelId },
      beforeAuthorize: opening.beforeAuthorize,
    },
    async (turn) => {
      if (!shortcut)
        throw new UserError(
          'This shortcut is from another version of the bot.',
          'Type `/cdn` to see what there is.',
        );
      return opening.work(turn);
    },
    opening.onFailure,
  );
}
