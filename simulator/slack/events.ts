import { randomBytes } from 'node:crypto';
import { newId } from './clock.ts';
import type { Delivery, Exchange } from './delivery.ts';
import { eventPayload } from './payloads.ts';
import type { Simulation } from './simulation.ts';
import type { Json } from './world.ts';
import { isObject } from './world.ts';

export interface EventOptions {
  /** The workspace it happened in; acme without one. */
  teamId?: string;
  /** To send the same event again. */
  eventId?: string;
  /** When it happened, in seconds since the epoch, for events that come late; now without one. */
  at?: number;
  /**
   * Pauses before each repetition of an event that was not acknowledged, in ms. Slack repeats at once, after one
   * and after five minutes; here, without more being asked for, only the first of these happens.
   */
  retryAfterMs?: readonly number[];
}

/**
 * Delivers an Events API event, repeated where it was not acknowledged. `{type: 'url_verification'}` sends that
 * request and holds the app to returning the challenge. Answers with the last attempt.
 */
export async function deliverEvent(
  sim: Simulation,
  event: Json,
  options: EventOptions = {},
): Promise<Exchange> {
  if (event['type'] === 'url_verification') return await verifyUrl(sim);
  // Slack sends what the manifest subscribes to, and nothing else.
  if (sim.events && !sim.events.includes(subscriptionOf(event)))
    return { status: 0, body: '', ms: 0, timedOut: false };
  const teamId = options.teamId ?? sim.world.workspaces.acme.id;
  const install = sim.installs.forTeam(teamId) ?? sim.installs.byId(teamId);
  if (!install) throw new Error(`The app is not installed in ${teamId}`);
  const at = options.at ?? Math.floor(sim.now() / 1000);
  const whole = { event_ts: `${at}.000000`, ...event };
  const payload = eventPayload(sim.world, install, teamId, whole, options.eventId ?? newId('Ev'), at);
  const delivery: Delivery = { kind: 'events_api', payload, label: `event "${String(event['type'])}"` };
  let exchange = await sim.deliverer.deliver(delivery);
  for (const [index, pause] of (options.retryAfterMs ?? [0]).entries()) {
    if ((exchange.status >= 200 && exchange.status < 300) || exchange.noRetry) break;
    if (pause > 0) await new Promise<void>((resolve) => void setTimeout(resolve, pause));
    const reason = exchange.timedOut
      ? 'http_timeout'
      : exchange.status === 0
        ? 'connection_failed'
        : 'http_error';
    exchange = await sim.deliverer.deliver({ ...delivery, retry: { attempt: index + 1, reason } });
  }
  return exchange;
}

/** The name of an event in a manifest: `message.im` for a message with `channel_type: im`. */
function subscriptionOf({ type, channel_type: kind }: Json): string {
  return type === 'message' && typeof kind === 'string' ? `message.${kind}` : String(type);
}

async function verifyUrl(sim: Simulation): Promise<Exchange> {
  const challenge = randomBytes(24).toString('base64url');
  const payload = { type: 'url_verification', token: 'simulated-verification-token', challenge };
  const exchange = await sim.deliverer.deliver({ kind: 'events_api', payload, label: 'url_verification' });
  const returned = isObject(exchange.body) ? exchange.body['challenge'] : exchange.body;
  if (returned !== challenge) sim.problem('url_verification: the challenge was not returned');
  return exchange;
}
