import { checkSuggestions } from './block-kit/checks.ts';
import { formatSeconds } from './clock.ts';
import type { Exchange } from './delivery.ts';
import { type StateValues, stateFor } from './element-state.ts';
import { deliverEvent } from './events.ts';
import { interactiveBase, slashPayload, type Who, wireMessage } from './payloads.ts';
import {
  findWho,
  keyOf,
  type Place,
  placeOf,
  responseTargetOf,
  suggestionKey,
  type Target,
} from './places.ts';
import type { Simulation } from './simulation.ts';
import type { Channel, Json } from './world.ts';
import { isObject } from './world.ts';

interface Suggestions {
  options?: Json[];
  option_groups?: Json[];
}

export interface Interactions {
  /** Finds who acts: by user id, and by channel or workspace where the id exists more than once. */
  who(userId: string, channelId?: string, teamId?: string): Who;
  slash(who: Who, channelId: string, text: string, command?: string): Promise<Exchange>;
  press(who: Who, place: Place, target: Target, value?: string): Promise<Exchange>;
  choose(who: Who, place: Place, target: Target, value: unknown): Promise<Exchange>;
  suggest(who: Who, place: Place, target: Target, typed: string): Promise<Suggestions>;
  openHome(who: Who): Promise<Exchange>;
  /** Sends an interactive payload and tells the person when the app does not answer it. */
  send(who: Who, payload: Json, label: string): Promise<Exchange>;
  notice(who: Who, text: string): void;
  triggerFor(who: Who, viewId?: string): string;
}

/** Actions of people in the simulated Slack, each as the delivery it causes. */
export function createInteractions(sim: Simulation): Interactions {
  const { world } = sim;
  // The options offered to an external select: only these can be chosen.
  const offered = new Map<string, Json[]>();

  function notice(who: Who, text: string): void {
    const key = keyOf(who);
    sim.notices.set(key, [...(sim.notices.get(key) ?? []), text]);
    sim.changed();
  }

  async function send(who: Who, payload: Json, label: string): Promise<Exchange> {
    const exchange = await sim.deliverer.deliver({ kind: 'interactive', payload, label });
    if (exchange.timedOut) notice(who, 'This app did not respond in time.');
    else if (exchange.status !== 200) notice(who, 'Something went wrong: the app could not be reached.');
    return exchange;
  }

  function channelOf(id: string): Channel {
    const channel = world.channels.get(id);
    if (!channel) throw new Error(`There is no channel ${id}`);
    return channel;
  }

  function triggerFor(who: Who, viewId?: string): string {
    return sim.triggers.issue({
      installTeamId: who.installTeam.id,
      teamId: who.person.teamId,
      userId: who.person.id,
      viewId,
    });
  }

  async function act(who: Who, place: Place, action: Json): Promise<Exchange> {
    const inView = 'view' in place;
    const { type, action_id: actionId } = action;
    const url = inView ? {} : { response_url: sim.responseUrls.issue(responseTargetOf(who, place.message)) };
    const payload = {
      type: 'block_actions',
      ...interactiveBase(world, who, inView),
      ...placeOf(sim, who, place),
      trigger_id: triggerFor(who, inView ? place.view.id : undefined),
      ...url,
      actions: [{ ...action, action_ts: formatSeconds(sim.now()) }],
    };
    return await send(who, payload, `${String(type)} "${String(actionId)}"`);
  }

  return {
    notice,
    send,
    triggerFor,
    who: (userId, channelId, teamId) => findWho(sim, userId, channelId, teamId),

    async slash(who, channelId, text, command = '/cdn') {
      const channel = channelOf(channelId);
      const refusal = !who.install.active && `${command} is not a valid command.`;
      if (refusal) {
        notice(who, refusal);
        return { status: 0, body: '', ms: 0, timedOut: false };
      }
      const target = { install: who.install, member: keyOf(who), channel: channelId };
      const payload = slashPayload(world, who, channel, {
        command,
        text: text.trim(),
        triggerId: triggerFor(who),
        responseUrl: sim.responseUrls.issue(target),
      });
      // Only the first word: the rest may be a pasted key.
      const label = `slash "${[command, text.trim().split(/\s/)[0]].join(' ').trim()}"`;
      const exchange = await sim.deliverer.deliver({ kind: 'slash_commands', payload, label });
      if (exchange.timedOut) notice(who, `${command} failed because the app did not respond`);
      else if (exchange.status !== 200) notice(who, `${command} failed with the error "dispatch_failed"`);
      else if (isObject(exchange.body) && Object.keys(exchange.body).length > 0)
        sim.responseUrls.say(target, exchange.body);
      else if (typeof exchange.body === 'string' && exchange.body !== '')
        sim.responseUrls.say(target, { text: exchange.body });
      return exchange;
    },

    async press(who, place, { block, element }, value) {
      const { type, action_id, text, value: own, icon } = element;
      const pressed =
        type === 'feedback_buttons'
          ? element[value === 'negative' ? 'negative_button' : 'positive_button']
          : undefined;
      const shown = isObject(pressed)
        ? { text: pressed['text'], value: pressed['value'] }
        : { text, value: value ?? own };
      const action = {
        type,
        action_id,
        block_id: block['block_id'],
        ...shown,
        ...(icon === undefined ? {} : { icon }),
      };
      return await act(who, place, withoutUndefined(action));
    },

    async choose(who, place, target, value) {
      const { block, element } = target;
      const state = stateFor(element, value, offered.get(suggestionKey(who, place, target)));
      const blockId = String(block['block_id']);
      const actionId = String(element['action_id']);
      if (element['type'] !== 'overflow') {
        const typed: StateValues =
          'view' in place ? place.view.typed : (place.message.state.get(keyOf(who)) ?? {});
        const after = { ...typed, [blockId]: { ...typed[blockId], [actionId]: state } };
        if ('view' in place) place.view.typed = after;
        else place.message.state.set(keyOf(who), after);
        sim.changed();
      }
      // Inside an input nothing is sent before the form is, unless the block asks for it.
      if (block['type'] === 'input' && block['dispatch_action'] !== true)
        return { status: 200, body: '', ms: 0, timedOut: false };
      const { placeholder } = element;
      return await act(
        who,
        place,
        withoutUndefined({ ...state, action_id: actionId, block_id: blockId, placeholder }),
      );
    },

    async suggest(who, place, target, typed) {
      const { block, element } = target;
      const least = typeof element['min_query_length'] === 'number' ? element['min_query_length'] : 3;
      if (typed.length < least) return { options: [] };
      const inView = 'view' in place;
      const shown = inView
        ? placeOf(sim, who, place)
        : { ...placeOf(sim, who, place), message: wireMessage(place.message, who.installTeam.id) };
      const payload = {
        type: 'block_suggestion',
        ...interactiveBase(world, who, inView),
        ...shown,
        action_id: element['action_id'],
        block_id: block['block_id'],
        value: typed,
      };
      const label = `block_suggestion "${String(element['action_id'])}"`;
      const exchange = await send(who, payload, label);
      const body = isObject(exchange.body) ? exchange.body : {};
      if (exchange.status !== 200) return { options: [] };
      const checked = checkSuggestions(body, label);
      for (const problem of checked.problems) sim.problem(problem);
      if (checked.error) return { options: [] };
      const groups = body['option_groups'] as Json[] | undefined;
      const options = (body['options'] as Json[] | undefined) ?? [];
      // A menu of several keeps what was chosen from earlier lists.
      const several = String(element['type']).startsWith('multi_');
      const key = suggestionKey(who, place, target);
      offered.set(key, [
        ...(several ? (offered.get(key) ?? []) : []),
        ...options,
        ...(groups ?? []).flatMap((group) => group['options'] as Json[]),
      ]);
      return groups ? { option_groups: groups } : { options };
    },

    openHome: (who) => {
      const view = sim.views.home({ teamId: who.person.teamId, userId: who.person.id });
      const event = {
        type: 'app_home_opened',
        user: who.person.id,
        channel: world.dm(who.person.id, who.installTeam.id).id,
        tab: 'home',
        event_ts: formatSeconds(sim.now()),
        ...(view ? { view: sim.views.wire(view) } : {}),
      };
      return deliverEvent(sim, event, { teamId: who.installTeam.id });
    },
  };
}

function withoutUndefined(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
