// The open thread beside its channel: its messages and a field for replies.

import { createComposer } from './composer.js';
import { el } from './dom.js';
import { drawMessages, threadOf } from './messages.js';
import { at, channel, dmOf } from './world.js';

const find = (name) => document.querySelector(`#thread ${name}`);

/** Builds the thread; `send(text)` gets replies, `close()` is called by its ×. */
export function createThread({ send, close }) {
  const composer = createComposer(find('.composer'), {
    name: 'reply',
    label: 'Reply',
    send,
    place: () => 'thread',
  });
  composer.describe('Reply, or @cdn errors checkout');
  let last;
  document.querySelector('#thread').addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented) close();
  });

  return {
    focus: composer.focus,
    /** Shows the thread that is open, if its first message is one of these. */
    draw(messages) {
      const { user, channel: id, thread } = at();
      const shown = thread ? threadOf(messages, thread) : [];
      const isOpen = shown.some(({ ts }) => ts === thread);
      document.querySelector('#thread').hidden = !isOpen;
      document.querySelector('#app').classList.toggle('with-thread', isOpen);
      if (!isOpen) return;
      const place = id === dmOf(user) ? 'CDN' : `#${channel(id)?.name ?? ''}`;
      find('.topbar').replaceChildren(
        el('h1', {}, 'Thread'),
        el('span', { class: 'as' }, place),
        el(
          'button',
          {
            type: 'button',
            class: 'button quiet end',
            'aria-label': 'Close thread',
            data: { focus: 'close-thread' },
            on: { click: close },
          },
          '×',
        ),
      );
      const scroll = find('.scroll');
      const key = `${user} ${id} ${thread}`;
      const grew = last !== key || scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
      last = key;
      drawMessages(find('.log'), { messages, shown, user, channel: id });
      if (grew) scroll.scrollTop = scroll.scrollHeight;
    },
  };
}
