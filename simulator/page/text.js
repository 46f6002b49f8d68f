// Slack's text objects: plain_text as it is (with emoji), mrkdwn formatted.

import { el } from './dom.js';
import { withEmoji } from './emoji.js';
import { mrkdwn } from './mrkdwn.js';

export const plain = (text) => (text ? (text.emoji === false ? text.text : withEmoji(text.text ?? '')) : '');

/** A text object (or a bare string) as an element. */
export function textNode(text, tag = 'div', name = 'text') {
  if (text === undefined || text === null) return undefined;
  if (typeof text === 'string') return el(tag, { class: name }, withEmoji(text));
  if (text.type === 'mrkdwn') return el(tag, { class: `${name} mrkdwn` }, ...mrkdwn(text.text ?? ''));
  return el(tag, { class: name }, plain(text));
}
