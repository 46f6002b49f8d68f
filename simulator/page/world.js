// People, channels, and the person who looks at the page.

let world = { people: [], channels: [], transport: '' };
const watching = { user: '', channel: '', thread: undefined };

export function learn(answer) {
  world = answer;
}

export const people = () => world.people;
export const person = (id) => world.people.find((one) => one.id === id);
export const me = () => person(watching.user) ?? world.people[0];
export const transport = () => world.transport;
export const commands = () => world.commands ?? [];
export const shortcuts = () => world.shortcuts ?? [];
export const steps = () => world.steps ?? [];
export const at = () => watching;

/** The bot as people mention it: {id, name}. */
export const bot = () => world.bot ?? { id: '', name: 'cdn' };

/** The conversation a person has with the bot. */
export const dmOf = (user) => `D${user}`;

/** The channels a person can open; the server may list the members of each (`members`). */
export function channels(user = watching.user) {
  return world.channels.filter(
    (one) => one.kind === 'channel' && (!one.members || one.members.includes(user)),
  );
}

export const channel = (id) => world.channels.find((one) => one.id === id);

/** `thread` is the ts of the first message of an open thread. */
export function lookThrough(user, channelId, thread) {
  Object.assign(watching, { user, channel: channelId, thread });
  const query = new URLSearchParams({ user, channel: channelId, ...(thread ? { thread } : {}) });
  history.replaceState(null, '', `#${query}`);
}

/** The person and place in the address bar, if they still exist; else the first person in the first channel. */
export function remembered() {
  const query = new URLSearchParams(location.hash.slice(1));
  const user = person(query.get('user'))?.id ?? world.people[0]?.id ?? '';
  const wanted = query.get('channel');
  const known = wanted === 'home' || wanted === dmOf(user) || channels(user).some((one) => one.id === wanted);
  if (!known) return { user, channel: channels(user)[0]?.id ?? dmOf(user) };
  return { user, channel: wanted, thread: query.get('thread') ?? undefined };
}
