// Conversations with unread messages: a dot in the sidebar.

import { getState } from './api.js';
import { at, channels, dmOf } from './world.js';

// By person and place: the newest ts that was on the screen, or was there when the page first looked.
const seen = new Map();
const unread = new Set();
let timer;

const key = (user, channel) => `${user} ${channel}`;
const newest = (messages) => messages.reduce((most, { ts }) => Math.max(most, Number(ts)), 0);

export const isUnread = (channel) => unread.has(key(at().user, channel));

/** Marks everything on the screen as read. */
export function haveSeen(user, channel, messages) {
  seen.set(key(user, channel), newest(messages));
  unread.delete(key(user, channel));
}

/** Looks into the other places soon, at most once a second; `found` is called where a dot comes. */
export function lookAround(found) {
  timer ??= setTimeout(async () => {
    timer = undefined;
    const { user, channel } = at();
    const others = [...channels().map(({ id }) => id), dmOf(user)].filter((id) => id !== channel);
    for (const id of others) {
      const state = await getState(user, id).catch(() => undefined);
      if (!state) return;
      const [place, last] = [key(user, id), newest(state.messages)];
      if (!seen.has(place)) seen.set(place, last);
      if (last <= seen.get(place) || unread.has(place) || id === at().channel) continue;
      unread.add(place);
      found();
    }
  }, 1000);
}
