import { checkSuggestions } from './block-kit/view.ts';
import type { Exchange } from './delivery.ts';
import { type StateValues, stateFor, stateValues } from './element-state.ts';
import { deliverEvent } from './events.ts';
import { isObject } from './json.ts';
import type { StoredMessage } from './messages.ts';
import { interactiveBase, messageContext, slashPayload, type Who, wireMessage } from './payloads.ts';
import type { ResponseTarget } from './response-urls.ts';
import type { Simulation } from './simulation.ts';
import type { OpenView } from './views.ts';
import { type Channel, type Json, memberKey } from './world.ts';

/** Where something interactive is: in a message or in a view. */
export type Place = { readonly message: StoredMessage } | { readonly view: OpenView };
/** An interactive element with the block it is in. */
export interface Target {
  readonly block: Json;
  readonly element: Json;
}
export interface Suggestions {
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
}

/** What people do in the simulated Slack, each as the delivery it causes. */
export function createInteractions(sim: Simulation): Interactions {
  const { world } = sim;
  // What an external select was offered, so that one of it can be chosen afterwards.
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

  /** The members of an interactive payload that say where the action was. */
  function placeOf(who: Who, place: Place): Json {
    if ('view' in place) {
      return { container: { type: 'view', view_id: place.view.id }, view: sim.views.wire(place.view) };
    }
    const channel = channelOf(place.message.channel);
    const typed = place.message.state.get(keyOf(who)) ?? {};
    return {
      ...messageContext(place.message, channel, who.installTeam),
      state: { values: stateValues(place.message.blocks, typed) },
    };
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
    const url = inView ? {} : { response_url: sim.responseUrls.issue(respondingTo(who, place.message)) };
    const payload = {
      type: 'block_actions',
      ...interactiveBase(world, who, inView),
      ...placeOf(who, place),
      trigger_id: triggerFor(who, inView ? place.view.id : undefined),
      ...url,
      actions: [{ ...action, action_ts: actionTime(sim.now()) }],
    };
    return await send(who, payload, `${String(type)} "${String(actionId)}"`);
  }

  return {
    notice,
    send,
    who(userId, channelId, teamId) {
      const channel = channelId === undefined ? undefined : world.channels.get(channelId);
      const inside = channel && [...channel.members].find((key) => key.endsWith(`/${userId}`))?.split('/')[0];
      const person = world.person(userId, teamId ?? inside) ?? world.person(userId);
      if (!person) throw new Error(`Nobody in the simulated Slack has the id ${userId}`);
      // A visitor meets the app of the workspace that she visits.
      const own = sim.installs.forTeam(person.teamId) ? person.teamId : world.workspaces.acme.id;
      const installTeam = world.team(channel?.teamId ?? own);
      const install = installTeam && sim.installs.forTeam(installTeam.id);
      if (!installTeam || !install)
        throw new Error(`The app is not installed in ${installTeam?.name ?? person.teamId}`);
      return { person, installTeam, install };
    },

    async slash(who, channelId, text, command = '/cdn') {
      const channel = channelOf(channelId);
      if (!who.install.active) {
        notice(who, `${command} is not a valid command.`);
        return { status: 0, body: '', ms: 0, timedOut: false };
      }
      const target = { install: who.install, member: keyOf(who), channel: channelId };
      const payload = slashPayload(world, who, channel, {
        command,
        text: text.trim(),
        triggerId: triggerFor(who),
        responseUrl: sim.responseUrls.issue(target),
      });
      // Only the first word: what follows may be a key that somebody pasted.
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
      const state = stateFor(element, value, offered.get(noted(who, place, target)));
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
        ? placeOf(who, place)
        : { ...placeOf(who, place), message: wireMessage(place.message, who.installTeam.id) };
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
      offered.set(noted(who, place, target), [
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
        event_ts: actionTime(sim.now()),
        ...(view ? { view: sim.views.wire(view) } : {}),
      };
      return deliverEvent(sim, event, { teamId: who.installTeam.id });
    },
  };
}

/** Seconds with six digits, as in `action_ts` and `event_ts`. */
function actionTime(now: number): string {
  return `${Math.floor(now / 1000)}.${String(Math.floor((now % 1000) * 1000)).padStart(6, '0')}`;
}

function withoutUndefined(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function keyOf(who: Who): string {
  return memberKey(who.person.teamId, who.person.id);
}

/** The key under which the suggestions for one menu are remembered. */
function noted(who: Who, place: Place, target: Target): string {
  const at = 'view' in place ? place.view.id : place.message.ts;
  return [keyOf(who), at, target.block['block_id'], target.element['action_id']].join('/');
}

function respondingTo(who: Who, message: StoredMessage): ResponseTarget {
  const { channel, threadTs } = message;
  return { install: who.install, member: keyOf(who), channel, threadTs, source: message };
}
