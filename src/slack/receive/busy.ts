import { createNotes } from '../../views/blocks/menu.ts';
import { readSender } from '../sender.ts';
import { oncePerMinute, type SlackDeps } from './authorize.ts';
import { createReplies } from './dispatch.ts';
import type { Owner } from './in-flight.ts';
import { readModalState, type SubmittedView, toModal } from './modals.ts';

const busy = 'The bot is busy: too many requests are waiting. Nothing was done; try again in a moment.';

/** Notices on their way at once: behind a Slack that is slow they must not pile up. */
const mostNotices = 8;

/** Whom a delivery is from, without checking it: this runs in a flood. */
export function readOwner(body: Body): Owner {
  const { user_id: id, team_id: team, user, event } = body;
  const inEvent = typeof event?.user === 'string' ? event.user : event?.user?.id;
  return { tenant: team ?? body.team?.id ?? '', person: id ?? user?.id ?? inEvent ?? '' };
}

type Named = { readonly id?: string } | null | undefined;

/** The parts of Slack's envelopes that a refusal needs. */
export interface Body {
  readonly type?: string;
  readonly command?: unknown;
  readonly user_id?: string;
  readonly team_id?: string;
  readonly team?: Named;
  readonly user?: Named;
  readonly event?: { readonly type?: string; readonly user?: string | { readonly id?: string } };
  readonly view?: SubmittedView;
  readonly channel?: Named;
  readonly response_url?: string;
  readonly actions?: unknown;
}

/**
 * Refuses deliveries while too much is under way, in their acknowledgement. That of a press, a shortcut or a message shows
 * nothing: its person gets one notice a minute.
 */
export function createRefusal(deps: SlackDeps) {
  const shouldTell = oncePerMinute(deps.now);
  const shouldLog = oncePerMinute(deps.now);
  let notices = 0;

  const tell = async (body: Body): Promise<void> => {
    const sender = readSender(body, deps.access.own());
    if (!sender || notices >= mostNotices) return;
    const { tenant, person } = readOwner(body);
    if (!shouldTell(`${tenant}/${person}`)) return;
    notices += 1;
    try {
      const channelId = body.channel?.id ?? readModalState(body.view?.private_metadata).channelId;
      const route = { responseUrl: body.response_url || undefined, channelId, separate: true };
      await createReplies(deps, sender, route, undefined).plain.send({ text: busy }, 'failure');
    } catch (error) {
      deps.log.warn({ error }, 'cannot tell a person that the bot is busy');
    } finally {
      notices -= 1;
    }
  };

  return async (body: Body, ack: (reply?: unknown) => Promise<void>): Promise<void> => {
    const kind = kindOf(body);
    deps.metrics.delivered(kind, 'unread', 'refused', 0);
    if (shouldLog('busy'))
      deps.log.warn(
        { inFlight: deps.inFlight.count() },
        'too much is under way: deliveries are refused (logged once a minute)',
      );
    if (kind === 'command') return ack({ response_type: 'ephemeral', text: busy });
    if (kind === 'form') return ack(refuseForm(body.view));
    if (kind === 'picker')
      return ack({ options: [...createNotes(['The bot is busy: type again in a moment'])] });
    await ack();
    await tell(body);
  };
}

function kindOf({ command, type, actions, event }: Body) {
  if (command !== undefined) return 'command';
  if (type === 'view_submission') return 'form';
  if (type === 'block_suggestion') return 'picker';
  if (event) return 'message';
  return actions === undefined ? 'shortcut' : 'action';
}

/** Below the first field, so that what was typed stays; in place of a form without fields. */
function refuseForm(view: SubmittedView | undefined): object {
  const [field] = Object.keys(view?.state?.values ?? {});
  return field === undefined
    ? { response_action: 'update', view: toModal('Busy', { text: busy }) }
    : { response_action: 'errors', errors: { [field]: busy } };
}

/** Of a body what its work needs: a press carries the whole message or view that holds the button. */
export function trim<Delivered extends Body>(body: Delivered): Delivered {
  if (body.type !== 'block_actions' && body.type !== 'view_submission') return body;
  const { message, view } = body as { message?: { ts?: string; thread_ts?: string }; view?: object };
  return {
    ...body,
    ...(message ? { message: { ts: message.ts, thread_ts: message.thread_ts } } : {}),
    ...(view ? { view: { ...view, blocks: [] } } : {}),
  };
}
