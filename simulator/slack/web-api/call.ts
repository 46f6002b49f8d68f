import type { Checked } from '../block-kit/checks.ts';
import type { Install } from '../installs.ts';
import type { Simulation } from '../simulation.ts';
import { type Channel, isObject, type Json, memberKey, type PersonRecord } from '../world.ts';

/** One call of a Web API method by an installed app. */
export interface ApiCall {
  readonly sim: Simulation;
  readonly install: Install;
  readonly method: string;
  readonly args: Json;
}
/** Answers with the members beside `ok: true`, or throws `Refused`. */
export type Method = (call: ApiCall) => Json | Promise<Json>;

/** A call that Slack answers with `ok: false` and a code. */
export class Refused extends Error {
  readonly code: string;
  readonly messages: readonly string[];
  constructor(code: string, messages: readonly string[] = []) {
    super(code);
    this.code = code;
    this.messages = messages;
  }
}

export function stringArg(call: ApiCall, name: string): string {
  const value = call.args[name];
  if (typeof value !== 'string' || value === '')
    throw new Refused('invalid_arguments', [`[ERROR] missing required field: ${name}`]);
  return value;
}

/** A channel that this installation reaches. Another workspace's channel is as good as none, and a problem. */
export function channelOf(call: ApiCall, id: string): Channel {
  const { sim, install } = call;
  const channel = sim.world.channels.get(id);
  if (!channel) {
    if (/^#|^[a-z0-9_-]+$/.test(id))
      sim.problem(`${call.method}: channel ${JSON.stringify(id)} is a name; channels are addressed by id`);
    throw new Refused('channel_not_found');
  }
  if (!install.covers(channel.teamId)) {
    sim.problem(`${call.method}: the token of ${install.id} was used for channel ${id} of ${channel.teamId}`);
    throw new Refused('channel_not_found');
  }
  return channel;
}

/** A place to post: a channel the bot is in, or the DM with a person when a user id is given. */
export function postingChannel(call: ApiCall, id: string): Channel {
  if (/^[UW]/.test(id)) return call.sim.world.dm(id, personOf(call, id, 'channel_not_found').installTeamId);
  const channel = channelOf(call, id);
  if (channel.archived) throw new Refused('is_archived');
  if (!channel.botIsMember) throw new Refused('not_in_channel');
  return channel;
}

/** A person that this installation knows: of its workspaces, or a visitor in one of their shared channels. */
export function personOf(
  call: ApiCall,
  userId: string,
  missing = 'user_not_found',
): { person: PersonRecord; installTeamId: string } {
  const { world } = call.sim;
  for (const person of world.people.filter((someone) => someone.id === userId)) {
    if (call.install.covers(person.teamId)) return { person, installTeamId: person.teamId };
  }
  for (const channel of world.channels.values()) {
    if (!channel.shared || !call.install.covers(channel.teamId)) continue;
    const visitor = world.people.find(
      (someone) => someone.id === userId && channel.members.has(memberKey(someone.teamId, userId)),
    );
    if (visitor) return { person: visitor, installTeamId: channel.teamId };
  }
  throw new Refused(missing);
}

/** Records what the validator found; throws what Slack would answer. */
export function assertChecked(call: ApiCall, checked: Checked): void {
  for (const problem of checked.problems) call.sim.problem(problem);
  if (checked.error) throw new Refused(checked.error, checked.messages);
}

export function blocksArg(call: ApiCall): Json[] | undefined {
  const { blocks } = call.args;
  if (blocks === undefined || blocks === '' || blocks === null) return undefined;
  if (!Array.isArray(blocks) || !blocks.every(isObject)) throw new Refused('invalid_blocks_format');
  return blocks;
}

export function textArg(call: ApiCall): string | undefined {
  const { text } = call.args;
  return typeof text === 'string' ? text : undefined;
}

/** A page of a list by `limit` and `cursor`. */
export function page<T>(call: ApiCall, items: readonly T[]): { items: T[]; response_metadata: Json } {
  const limit = Number(call.args['limit'] ?? 100) || 100;
  const { cursor } = call.args;
  const start =
    typeof cursor === 'string' && cursor !== '' ? Number(Buffer.from(cursor, 'base64').toString()) : 0;
  if (!Number.isInteger(start)) throw new Refused('invalid_cursor');
  const next = start + limit < items.length ? Buffer.from(String(start + limit)).toString('base64') : '';
  return { items: items.slice(start, start + limit), response_metadata: { next_cursor: next } };
}
