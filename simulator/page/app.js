// Wires the page: asks what the person sees, draws it, asks again whenever something changed.

import { act, getState, getWorld, watch } from './api.js';
import { drawBlocks } from './blocks/index.js';
import { createComposer } from './composer.js';
import { el, keepingFocus } from './dom.js';
import { drawHints, hintsButton } from './hints.js';
import { createLook } from './look.js';
import { drawMessages, rootsOf } from './messages.js';
import { showModals } from './modal.js';
import { globalMenu } from './shortcuts.js';
import { drawSidebar } from './sidebar.js';
import { surfaceOf } from './surface.js';
import { createThread } from './thread.js';
import { fail, toast } from './toast.js';
import { haveSeen, lookAround } from './unread.js';
import { wordsAt } from './words.js';
import { at, channel, dmOf, learn, lookThrough, me, remembered } from './world.js';

const find = (id) => document.querySelector(`#${id}`);
const openedAt = Date.now() / 1000;
let sending = 0;
let online = true;
let last;

const place = () => `${at().user} ${at().channel}`;
const atHome = () => at().channel === 'home';
const inConversation = () => at().channel === dmOf(at().user);
/** The channel that answers a command typed on the Home tab. */
const speaking = () => (atHome() ? dmOf(at().user) : at().channel);

async function refresh() {
  const asked = place();
  const state = await getState(at().user, speaking());
  // As in Slack, private messages are gone after a reload.
  state.messages = state.messages.filter(({ ephemeral, ts }) => !ephemeral || Number(ts) >= openedAt);
  // The person looked elsewhere meanwhile: that look has asked for itself.
  if (asked === place()) draw(state);
}

/** One question at a time; what changes meanwhile is asked for once more afterwards. */
let asking;
let again = false;
function changed() {
  again = true;
  asking ??= (async () => {
    while (again) {
      again = false;
      await refresh().catch(fail);
    }
    asking = undefined;
  })();
}

function draw(state) {
  const scroll = find('scroll');
  const grew = last?.place !== place() || scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
  last = { place: place(), state };
  if (!atHome()) haveSeen(at().user, at().channel, state.messages);
  drawHints(find('hints'), state.hints ?? [], composer.put);
  lookAround(() => keepingFocus(drawShell));
  keepingFocus(() => {
    drawShell();
    if (atHome()) drawHome(state);
    else drawLog(state);
    thread.draw(atHome() ? [] : state.messages);
    showModals(state.modals, at().user, speaking());
  });
  drawStatus(state.pending);
  if (grew && !atHome()) scroll.scrollTop = scroll.scrollHeight;
}

function drawShell() {
  drawSidebar(find('sidebar'), { go, look, words: { on: Boolean(last?.state.wordsOnly), flip: flipWords } });
  const name = atHome() ? 'Home' : inConversation() ? 'CDN' : `#${channel(at().channel)?.name ?? ''}`;
  find('topbar').replaceChildren(
    el(
      'button',
      {
        type: 'button',
        class: 'button quiet burger',
        'aria-label': 'Menu',
        'aria-expanded': String(menuOpen()),
        data: { focus: 'burger' },
        on: { click: () => openMenu(!menuOpen()) },
      },
      '☰',
    ),
    el('h1', {}, name),
    el('span', { class: 'as' }, `as ${me()?.name}`),
    hintsButton(find('hints'), changed) || '',
  );
  // As in Slack, the Home tab takes no words.
  find('composer').hidden = atHome();
  const withAssistant = name === '#slackbot';
  composer.describe(
    withAssistant
      ? 'Type a tool: get_zone zone=shop'
      : inConversation()
        ? 'Write help, or zones'
        : 'Type /cdn help, or @cdn zones',
  );
  document.title = `${name} · CDN playground`;
}

function drawLog({ messages, notices }) {
  find('home').hidden = true;
  find('log').hidden = false;
  const empty = inConversation()
    ? 'Your conversation with the CDN app. Write help, or any command without /cdn.'
    : 'Nothing here yet that you can see. Try /cdn help.';
  const { user, channel: id } = at();
  drawMessages(find('log'), {
    messages,
    shown: rootsOf(messages),
    openThread,
    words: wordsAt(place(), user, notices ?? []),
    user,
    channel: id,
    empty,
  });
}

function drawHome({ home }) {
  find('log').hidden = true;
  find('home').hidden = false;
  const body = find('home');
  body.dataset.surface = 'home';
  if (home)
    drawBlocks(
      body,
      home.blocks,
      surfaceOf('home', `home:${at().user}`, { user: at().user, channel: speaking(), viewId: home.id }),
    );
  else body.replaceChildren(el('p', { class: 'nothing' }, 'The app has not filled its Home tab yet.'));
}

function drawStatus(pending) {
  const words = !online
    ? 'The playground server is gone. Waiting for it…'
    : pending > 0 || sending > 0
      ? 'CDN is working…'
      : '';
  const status = find('status');
  if (status.textContent !== words) status.textContent = words;
  status.classList.toggle('busy', Boolean(words));
}

/** Has Slack refuse charts and tables, as some plans do. */
async function flipWords() {
  const on = !last?.state.wordsOnly;
  await act('words-only', { user: at().user, on }).catch(fail);
  if (!on) toast('Charts and tables are taken again.');
}

function go(user, channelId) {
  const moved = user !== at().user;
  // A conversation with the app is one's own.
  const wanted = moved && channelId === dmOf(at().user) ? dmOf(user) : channelId;
  lookThrough(user, wanted);
  if (moved || wanted !== 'home') lookThrough(user, remembered().channel);
  openMenu(false);
  find('home').replaceChildren();
  find('log').replaceChildren();
  if (atHome()) act('home', { user, channel: speaking() }).catch(fail);
  changed();
}

async function send(text) {
  if (!text.startsWith('/')) return say(text);
  sending += 1;
  drawStatus(0);
  find('scroll').scrollTop = find('scroll').scrollHeight;
  await act('slash', { user: at().user, channel: at().channel, text }).catch(fail);
  sending -= 1;
  changed();
}

/** Text without a command goes to the others; the bot hears of it where it is mentioned, and in its conversation. */
async function say(text, inThread) {
  await act('say', { user: at().user, channel: at().channel, text, thread: inThread }).catch(fail);
}

function reply(text) {
  if (!text.startsWith('/')) return say(text, at().thread);
  toast('Slack has no commands in threads. Write @cdn and the same words.');
}

function openThread(ts) {
  lookThrough(at().user, at().channel, ts);
  if (last) keepingFocus(() => thread.draw(last.state.messages));
  if (ts) thread.focus();
  else composer.focus();
}

const menuOpen = () => find('app').classList.contains('menu-open');
function openMenu(open) {
  find('app').classList.toggle('menu-open', open);
  document.querySelector('.burger')?.setAttribute('aria-expanded', String(open));
  if (open) find('sidebar').querySelector('button')?.focus();
}

const look = createLook(() => {
  if (last) keepingFocus(drawShell);
});
let composer;
let thread;

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && menuOpen()) {
    openMenu(false);
    document.querySelector('.burger')?.focus();
  }
  const typing = event.target.closest?.('input, textarea, select, [role=dialog]');
  if (event.key !== '/' || typing || find('app').inert || atHome()) return;
  event.preventDefault();
  composer.put('/');
  document.querySelector('.composer-field').dispatchEvent(new Event('input'));
});

try {
  learn(await getWorld());
  const menu = globalMenu(() => ({ user: at().user, channel: speaking() }));
  composer = createComposer(find('composer'), {
    name: 'composer',
    label: 'Message or slash command',
    send,
    menu,
    place: () => (inConversation() ? 'conversation' : 'channel'),
  });
  thread = createThread({ send: reply, close: () => openThread(undefined) });
  const { user, channel: first, thread: open } = remembered();
  lookThrough(user, first, open);
  if (atHome()) act('home', { user, channel: speaking() }).catch(fail);
  watch(changed, (connected) => {
    online = connected;
    drawStatus(last?.state.pending ?? 0);
  });
  composer.focus();
} catch (error) {
  fail(error);
}
