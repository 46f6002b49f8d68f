// The messages of a channel or thread: days divided, ephemerals marked, threads behind a line with their replies.

import { drawBlocks } from './blocks/index.js';
import { messageTime } from './dates.js';
import { el, keep } from './dom.js';
import { drawFile } from './files.js';
import { mrkdwn } from './mrkdwn.js';
import { messageMenu } from './shortcuts.js';
import { surfaceOf } from './surface.js';
import { emoji } from './text.js';
import { person } from './world.js';

const isReply = (message) => Boolean(message.threadTs) && message.threadTs !== message.ts;

/** What stands in the channel itself; replies to what this person does not see stand there too. */
export function rootsOf(messages) {
  const known = new Set(messages.map(({ ts }) => ts));
  return messages.filter((one) => !isReply(one) || !known.has(one.threadTs));
}

/** The first message of a thread and its replies, in the order they were written. */
export const threadOf = (messages, thread) =>
  messages.filter((one) => one.ts === thread || (one.threadTs === thread && isReply(one)));

/**
 * Makes `log` show `shown` of all `messages` and, between them by time, `words`: what Slack itself said, {id, at: seconds,
 * words}. `openThread(ts)` opens the thread of a message; without it none opens.
 */
export function drawMessages(log, { messages, shown, words = [], user, channel, empty, openThread }) {
  const items = [];
  const waiting = words.toSorted((a, b) => a.at - b.at);
  const sayUntil = (seconds) => {
    while (waiting.length && waiting[0].at <= seconds) {
      const one = waiting.shift();
      items.push({ key: `notice ${one.id}`, version: one.words, draw: () => said(one) });
    }
  };
  let day;
  for (const message of shown.toSorted((a, b) => Number(a.ts) - Number(b.ts))) {
    const time = messageTime(message.ts);
    sayUntil(Number(message.ts));
    if (time.day !== day && openThread) {
      day = time.day;
      items.push({ key: `day ${day}`, version: day, draw: () => dayLine(time.day) });
    }
    // The same ts may stand for what another person sees: the person is part of the key.
    const key = `${user} ${channel} ${message.ts}`;
    const replies = openThread ? threadOf(messages, message.ts).filter(isReply) : [];
    const newest = replies.at(-1);
    items.push({
      key,
      version: JSON.stringify([message, replies.length, newest?.ts]),
      draw: () => drawMessage(message, { time, user, channel, openThread, replies }),
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

function drawMessage(message, { time, user, channel, openThread, replies }) {
  const name = message.bot ? 'CDN' : (person(message.user)?.name ?? message.user);
  const body = el('div', { class: 'message-body' });
  const kind = openThread ? 'message' : 'thread';
  const surface = surfaceOf('message', `${kind}:${user}:${channel}:${message.ts}`, {
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
    // As in Slack: what only one person sees has no menu and no thread.
    !message.ephemeral &&
      el(
        'span',
        { class: 'message-menu' },
        openThread && !isReply(message) && replyButton(message, openThread),
        messageMenu({ user, channel, ts: message.ts }),
      ),
  );
  const classes = ['message', message.ephemeral && 'ephemeral', isReply(message) && 'reply'];
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
      replies.length > 0 && threadLine(message, replies, openThread),
    ),
  );
}

const replyButton = ({ ts }, openThread) =>
  el(
    'button',
    {
      type: 'button',
      class: 'button quiet',
      'aria-label': 'Reply in thread',
      title: 'Reply in thread',
      data: { focus: `reply ${ts}` },
      on: { click: () => openThread(ts) },
    },
    '💬',
  );

/** How many replies there are, which opens them. */
function threadLine({ ts }, replies, openThread) {
  // As in Slack, what only one person sees is not counted.
  const { length } = replies.filter(({ ephemeral }) => !ephemeral);
  const count = length === 1 ? '1 reply' : `${length || 'private'} replies`;
  return el(
    'button',
    {
      type: 'button',
      class: 'thread-line',
      data: { focus: `thread ${ts}` },
      on: { click: () => openThread(ts) },
    },
    el('strong', {}, count),
    el('span', {}, `last ${messageTime(replies.at(-1).ts).short}`),
  );
}

/** A notice of Slack itself, such as that the app did not answer. */
function said({ words }) {
  return el(
    'article',
    { class: 'message ephemeral notice' },
    avatar('Slack'),
    el(
      'div',
      { class: 'message-main' },
      onlyYou(),
      el('div', { class: 'message-head' }, el('span', { class: 'who' }, 'Slack')),
      el('div', { class: 'text mrkdwn' }, ...mrkdwn(words)),
    ),
  );
}
