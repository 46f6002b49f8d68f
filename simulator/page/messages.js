// The messages of a channel: replies indented under what they answer, days divided, ephemerals marked.

import { drawBlocks } from './blocks/index.js';
import { messageTime } from './dates.js';
import { el, keep } from './dom.js';
import { emoji } from './emoji.js';
import { drawFile } from './files.js';
import { mrkdwn } from './mrkdwn.js';
import { surfaceOf } from './surface.js';
import { person } from './world.js';

/** Replies after what they answer, each in the order it was written. */
function threaded(messages) {
  const roots = messages.filter((one) => !one.threadTs || one.threadTs === one.ts);
  const known = new Set(roots.map((one) => one.ts));
  const orphans = messages.filter((one) => one.threadTs && !known.has(one.threadTs));
  return [...roots, ...orphans]
    .toSorted((a, b) => Number(a.ts) - Number(b.ts))
    .flatMap((root) => [root, ...messages.filter((one) => one.threadTs === root.ts && one.ts !== root.ts)]);
}

/** Makes `log` show these messages, the page's own notes and the notices of Slack. */
export function drawMessages(log, { messages, notices, notes, user, channel, empty }) {
  const items = [];
  let day;
  for (const message of threaded(messages)) {
    const time = messageTime(message.ts);
    if (time.day !== day && !message.threadTs) {
      day = time.day;
      items.push({
        key: `day ${day}`,
        version: day,
        draw: () => el('div', { class: 'day', role: 'separator' }, el('span', {}, time.day)),
      });
    }
    // The same ts may stand for another person's message: the person is part of the key.
    items.push({
      key: `${user} ${message.ts}`,
      version: JSON.stringify(message),
      draw: () => drawMessage(message, time, user, channel),
    });
  }
  notices.forEach((words, index) =>
    items.push({ key: `notice ${index} ${words}`, version: words, draw: () => notice(words) }),
  );
  for (const note of notes)
    items.push({ key: `note ${note.id}`, version: note.words, draw: () => local(note.words) });
  if (!items.length)
    items.push({ key: 'empty', version: empty, draw: () => el('p', { class: 'nothing' }, empty) });
  keep(log, items);
}

export const avatar = (name, kind = '') =>
  el(
    'span',
    {
      class: `avatar ${kind} hue-${[...name].reduce((sum, char) => sum + char.charCodeAt(0), 0) % 6}`,
      'aria-hidden': 'true',
    },
    name.slice(0, 1).toUpperCase(),
  );

const onlyYou = () =>
  el('div', { class: 'only-you' }, el('span', { 'aria-hidden': 'true' }, '◉ '), 'Only visible to you');

function drawMessage(message, time, user, channel) {
  const name = message.bot ? 'CDN' : (person(message.user)?.name ?? message.user);
  const body = el('div', { class: 'message-body' });
  const surface = surfaceOf('message', `message:${user}:${channel}:${message.ts}`, {
    user,
    channel,
    ts: message.ts,
  });
  if (message.blocks.length) drawBlocks(body, message.blocks, surface);
  else if (message.text) body.append(el('div', { class: 'text mrkdwn' }, ...mrkdwn(message.text)));
  const marks = [
    message.edited && el('span', { class: 'edited' }, '(edited)'),
    message.reactions?.length &&
      el(
        'div',
        { class: 'reactions' },
        ...message.reactions.map((one) => el('span', { class: 'reaction' }, emoji(one) ?? `:${one}:`)),
      ),
  ];
  const head = el(
    'div',
    { class: 'message-head' },
    el('span', { class: 'who' }, name),
    message.bot && el('span', { class: 'badge' }, 'APP'),
    el('time', { title: time.whole }, time.short),
  );
  const classes = [
    'message',
    message.ephemeral && 'ephemeral',
    message.threadTs && message.threadTs !== message.ts && 'reply',
  ];
  return el(
    'article',
    {
      class: classes.filter(Boolean).join(' '),
      tabindex: '-1',
      'aria-label': `${name}, ${time.short}`,
      data: { surface: surface.key, ts: message.ts },
    },
    avatar(name, message.bot ? 'bot' : ''),
    el(
      'div',
      { class: 'message-main' },
      message.ephemeral && onlyYou(),
      head,
      body,
      ...message.files.map(drawFile),
      ...marks,
    ),
  );
}

/** What Slack itself says, such as that the app did not answer. */
const notice = (words) =>
  el(
    'article',
    { class: 'message ephemeral notice' },
    avatar('S'),
    el(
      'div',
      { class: 'message-main' },
      onlyYou(),
      el('div', { class: 'message-head' }, el('span', { class: 'who' }, 'Slack')),
      el('div', {}, words),
    ),
  );

/** What the page itself says. */
const local = (words) =>
  el(
    'article',
    { class: 'message ephemeral note' },
    avatar('P'),
    el(
      'div',
      { class: 'message-main' },
      onlyYou(),
      el('div', { class: 'message-head' }, el('span', { class: 'who' }, 'Playground')),
      el('div', { class: 'mrkdwn' }, ...mrkdwn(words)),
    ),
  );
