import { stateValues } from './element-state.ts';
import type { StoredMessage } from './messages.ts';
import { messageContext, type Who } from './payloads.ts';
import type { ResponseTarget } from './response-urls.ts';
import type { Simulation } from './simulation.ts';
import type { OpenView } from './views.ts';
import { type Json, memberKey } from './world.ts';

/** The message or view that holds an interactive element. */
export type Place = { readonly message: StoredMessage } | { readonly view: OpenView };
/** An interactive element with the block it is in. */
export interface Target {
  readonly block: Json;
  readonly element: Json;
}
/** Finds who acts: by user id, and by channel or workspace where the id exists more than once. */
export function findWho(sim: Simulation, userId: string, channelId?: string, teamId?: string): Who {
  const { world } = sim;
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
}

/** `team/user`, by which everything personal is kept. */
export function keyOf(who: Who): string {
  return memberKey(who.person.teamId, who.person.id);
}

/** The members of an interactive payload that say where the action was. */
export function placeOf(sim: Simulation, who: Who, place: Place): Json {
  if ('view' in place) {
    return { container: { type: 'view', view_id: place.view.id }, view: sim.views.wire(place.view) };
  }
  const { message } = place;
  const channel = sim.world.channels.get(message.channel);
  if (!channel) throw new Error(`There is no channel ${message.channel}`);
  const typed = message.state.get(keyOf(who)) ?? {};
  return {
    ...messageContext(message, channel, who.installTeam),
    state: { values: stateValues(message.blocks, typed) },
  };
}

/** The key under which the suggestions for one menu are remembered. */
export function suggestionKey(who: Who, place: Place, target: Target): string {
  const at = 'view' in place ? place.view.id : place.message.ts;
  return [keyOf(who), at, target.block['block_id'], target.element['action_id']].join('/');
}

/** The target of the response_url of an action in a message. */
export function responseTargetOf(who: Who, message: StoredMessage): ResponseTarget {
  const { channel } = message;
  return { install: who.install, member: keyOf(who), channel, source: message };
}
