// Links and mentions: the same in mrkdwn, markdown and rich text.

import { el } from './dom.js';
import { channel, me, person } from './world.js';

/** A link that opens elsewhere; an address that is not http(s) or mail is shown as text, so that it cannot run. */
export function link(address, label) {
  const safe = /^(https?:|mailto:)/i.test(address) || address.startsWith('/ui/files/');
  if (!safe) return el('span', { class: 'dead-link', title: address }, label ?? address);
  return el('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, label ?? address);
}

const chip = (kind, text) => el('span', { class: `mention ${kind}` }, text);

/** `@U…`, `#C…`, `!here`, `!subteam^S…` as people read them. */
export function mention(target, label) {
  const id = target.slice(1);
  if (target[0] === '@') return chip(id === me()?.id ? 'mine' : '', `@${person(id)?.name ?? label ?? id}`);
  if (target[0] === '#') return chip('', `#${channel(id)?.name ?? label ?? id}`);
  if (id.startsWith('subteam^')) return chip('', label ?? `@${id.slice('subteam^'.length)}`);
  return chip('mine', `@${label ?? id}`);
}
