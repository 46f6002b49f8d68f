// The messages of a channel: replies indented under what they answer, days divided, ephemerals marked.

import { drawBlocks } from './blocks/index.js';
import { messageTime } from './dates.js';
import { el, keep } from './dom.js';
import { drawFile } from './files.js';
import { mrkdwn } from './mrkdwn.js';
import { messageMenu } from './shortcuts.js';
import { surfaceOf } from './surface.js';
import { emoji } from './text.js';
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

/**
 * Makes `log` show these messages and, between them by time, `words`: what Slack ('notice') or the page itself ('note')
 * said, {id, at: seconds, kind, words}.
 */
export function drawMessages(log, { messages, words, user, channel, empty }) {
  const items = [];
  const waiting = words.toSorted((a, b) => a.at - b.at);
  const sayUntil = (seconds) => {
    while (waiting.length && waiting[0].at <= seconds) {
      const one = waiting.shift();
      items.push({ key: `${one.kind} ${one.id}`, version: one.words, draw: () => said(one) });
    }
  };
  let day;
  for (const message of threaded(messages)) {
    const time = messageTime(message.ts);
    const isReply = message.threadTs && message.threadTs !== message.ts;
    if (!isReply) sayUntil(Number(message.ts));
    if (!isReply && time.day !== day) {
      day = time.day;
      items.push({ key: `day ${day}`, version: day, draw: () => dayLine(time.day) });
    }
    // The same ts may stand for what another person sees: the person is part of the key.
    const key = `${user} ${channel} ${message.ts}`;
    items.push({
      key,
      version: JSON.stringify(message),
      draw: () => drawMessage(message, time, user, channel),
    });
  }
  sayUntil(Number.POSITIVE_INFINITY);
  if (!items.length)
    items.push({ key: 'empty', version: empty, draw: () => el('p', { class: 'nothing' }, empty) });
  keep(log, items);
}

const dayLine = (day) => el('div', { class: 'day', role: 'separator' }, el('span', {}, day));

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
    message.reactions?.length > 0 &&
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
    // As in Slack: what only one person sees has no menu.
    !message.ephemeral && messageMenu({ user, channel, ts: message.ts }),
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

/** A notice of Slack itself, such as that the app did not answer, or of the page. */
function said({ kind, words }) {
  const name = kind === 'notice' ? 'Slack' : 'Playground';
  return el(
    'article',
    { class: `message ephemeral ${kind}` },
    avatar(name),
    el(
      'div',
      { class: 'message-main' },
      onlyYou(),
      el('div', { class: 'message-head' }, el('span', { class: 'who' }, name)),
      el('div', { class: 'text mrkdwn' }, ...mrkdwn(words)),
    ),
  );
}
