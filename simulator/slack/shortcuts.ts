import { formatSeconds } from './clock.ts';
import type { Exchange } from './delivery.ts';
import type { Interactions } from './interactions.ts';
import type { StoredMessage } from './messages.ts';
import { interactiveBase, type Who, wireMessage } from './payloads.ts';
import { responseTargetOf } from './places.ts';
import type { Simulation } from './simulation.ts';

/** A slash command as the manifest declares it: all that Slack tells while a person types. */
export interface DeclaredCommand {
  readonly command: string;
  readonly description: string;
  readonly usageHint: string;
}

/** A shortcut as the app's manifest declares it. */
export interface DeclaredShortcut {
  readonly callbackId: string;
  readonly kind: 'global' | 'message';
  readonly name: string;
  readonly description: string;
}

export interface Shortcuts {
  /** Slack's ⚡ menu: no channel, no response_url. */
  global(who: Who, callbackId: string): Promise<Exchange>;
  /** The menu of one message, also where the bot is not in the channel. Ephemeral messages have none. */
  message(who: Who, callbackId: string, message: StoredMessage): Promise<Exchange>;
  readonly declared: readonly DeclaredShortcut[];
}

/** Shortcuts chosen in Slack's own menus: only those that the manifest declares (`declared`). */
export function createShortcuts(
  sim: Simulation,
  interactions: Pick<Interactions, 'send' | 'triggerFor'>,
  declared: readonly DeclaredShortcut[] | undefined,
): Shortcuts {
  function check(callbackId: string, kind: DeclaredShortcut['kind']): void {
    if (!declared || declared.some((one) => one.callbackId === callbackId && one.kind === kind)) return;
    const known = declared.filter((one) => one.kind === kind).map((one) => one.callbackId);
    throw new Error(
      `The manifest declares no ${kind} shortcut ${callbackId}; it has: ${known.join(', ') || 'none'}`,
    );
  }

  return {
    declared: declared ?? [],
    async global(who, callbackId) {
      check(callbackId, 'global');
      const payload = {
        type: 'shortcut',
        ...interactiveBase(sim.world, who, false),
        action_ts: formatSeconds(sim.now()),
        callback_id: callbackId,
        trigger_id: interactions.triggerFor(who),
      };
      return interactions.send(who, payload, `shortcut "${callbackId}"`);
    },
    async message(who, callbackId, message) {
      check(callbackId, 'message');
      if (message.ephemeralFor !== undefined) throw new Error('An ephemeral message has no shortcuts');
      const channel = sim.world.channels.get(message.channel);
      if (!channel) throw new Error(`There is no channel ${message.channel}`);
      const { source: _, ...target } = responseTargetOf(who, message);
      const payload = {
        type: 'message_action',
        ...interactiveBase(sim.world, who, false),
        action_ts: formatSeconds(sim.now()),
        callback_id: callbackId,
        trigger_id: interactions.triggerFor(who),
        // Its answers stand beside the message: an app can replace its own only, and none by this.
        response_url: sim.responseUrls.issue(target),
        channel: { id: channel.id, name: channel.name },
        message_ts: message.ts,
        message: wireMessage(message, who.installTeam.id),
      };
      return interactions.send(who, payload, `message_action "${callbackId}"`);
    },
  };
}
