// The stack of modals: the top one is shown, the ones beneath keep what was typed into them.

import { act } from './api.js';
import { drawBlocks } from './blocks/index.js';
import { el, freshId, keepingFocus, tabStops } from './dom.js';
import { controls, wrongWith } from './form.js';
import { addLayer, removeLayer } from './layers.js';
import { surfaceOf } from './surface.js';
import { plain } from './text.js';
import { fail } from './toast.js';
import { forget, forgetTyped, keepOnly, serverKnows, valueOf, watchTyping, wire } from './values.js';

let shown;
let returnTo;
// By view: the errors on display, and those of the server that the person has already answered by typing.
const errors = new Map();

const keyOf = (view) => `view:${view.id}`;

/** Makes the page show these modals for this person; `channel` is where the page looks meanwhile. */
export function showModals(modals, user, channel) {
  const view = modals.at(-1);
  const standing = new Set(modals.map(keyOf));
  if (shown && (shown.user !== user || shown.view.id !== view?.id)) {
    if (shown.user === user && !standing.has(keyOf(shown.view))) forget(keyOf(shown.view));
    hide();
  }
  if (!view) return;
  for (const one of modals) learnErrors(one);
  if (!shown) open(view, modals.length, user, channel);
  else if (shown.version !== JSON.stringify([view, modals.length])) redraw(view, modals.length);
}

/** The server tells of errors with each state; the same ones count once. */
function learnErrors(view) {
  const told = JSON.stringify(view.errors ?? {});
  const known = errors.get(view.id);
  if (known?.told !== told) errors.set(view.id, { told, now: { ...view.errors } });
}

function hide() {
  removeLayer(shown.layer);
  errors.delete(shown.view.id);
  shown = undefined;
  const back = returnTo && document.querySelector(`[data-focus="${CSS.escape(returnTo)}"]`);
  back?.focus();
}

function open(view, depth, user, channel) {
  const name = document.activeElement?.dataset?.focus;
  if (name && !name.startsWith('view:')) returnTo = name;
  const title = freshId('modal');
  const parts = {
    head: el('h2', { id: title }),
    back: el(
      'button',
      { type: 'button', class: 'button quiet back', 'aria-label': 'Back', on: { click: () => close() } },
      '‹',
    ),
    x: el(
      'button',
      { type: 'button', class: 'button quiet', 'aria-label': 'Close', on: { click: () => close() } },
      '×',
    ),
    body: el('div', { class: 'modal-body' }),
    note: el('div', { class: 'modal-note', role: 'alert' }),
    foot: el('div', { class: 'dialog-foot' }),
  };
  const form = el(
    'form',
    {
      class: 'dialog modal',
      role: 'dialog',
      'aria-modal': 'true',
      'aria-labelledby': title,
      tabindex: '-1',
      novalidate: true,
    },
    el('header', { class: 'dialog-head' }, parts.back, parts.head, parts.x),
    parts.body,
    parts.note,
    parts.foot,
  );
  form.dataset.surface = keyOf(view);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      void submit();
    }
  });
  const layer = addLayer(form, () => close());
  shown = { layer, form, parts, user, channel, view, busy: false, epoch: 0 };
  redraw(view, depth);
  form.focus();
  intoFirstField();
}

/** Moves the focus into the first field of a new or returned form, unless something else has it. */
function intoFirstField() {
  const { form, parts } = shown;
  if (document.activeElement !== form) return;
  const first = form.querySelector('[data-first]') ?? parts.body.querySelector('input, textarea, button');
  // A button further down leaves the beginning in sight.
  first?.focus({ preventScroll: first.localName === 'button' });
}

function redraw(view, depth) {
  const { parts, form, user, channel } = shown;
  // As in Slack, an update keeps what was typed into the fields it keeps, and nothing else.
  keepOnly(keyOf(view), controls(view));
  if (serverKnows(keyOf(view), view.state?.values)) shown.epoch += 1;
  shown.view = view;
  shown.version = JSON.stringify([view, depth]);
  parts.head.textContent = plain(view.title);
  parts.back.hidden = depth < 2;
  const surface = surfaceOf('modal', keyOf(view), { user, channel, viewId: view.id }, () => filledIn(view));
  keepingFocus(() => drawBlocks(parts.body, view.blocks, { ...surface, epoch: shown.epoch }));
  drawFoot();
  drawErrors();
  form.dataset.depth = depth;
  intoFirstField();
}

function drawFoot() {
  const { parts, view, busy } = shown;
  const hadFocus = parts.foot.contains(document.activeElement)
    ? document.activeElement.dataset.part
    : undefined;
  const dismiss = el(
    'button',
    { type: 'button', class: 'button', data: { part: 'close' }, on: { click: () => close() } },
    plain(view.close) || (view.submit ? 'Cancel' : 'Close'),
  );
  const words = busy ? 'Sending…' : plain(view.submit);
  const send =
    view.submit &&
    el(
      'button',
      { type: 'submit', class: 'button primary', data: { part: 'submit' }, 'aria-busy': String(busy) },
      words,
    );
  parts.foot.replaceChildren(dismiss, ...(send ? [send] : []));
  if (hadFocus) (parts.foot.querySelector(`[data-part="${hadFocus}"]`) ?? dismiss).focus();
}

function drawErrors(focusFirst = false) {
  const { parts, view } = shown;
  const now = { ...errors.get(view.id)?.now };
  let first;
  for (const place of parts.body.querySelectorAll('[data-error-for]')) {
    const words = now[place.dataset.errorFor];
    delete now[place.dataset.errorFor];
    if (place.textContent !== (words ?? '')) place.textContent = words ?? '';
    const input = place.closest('.input');
    input.classList.toggle('wrong', Boolean(words));
    for (const control of input.querySelectorAll('.field, .select, .choices')) {
      if (words) control.setAttribute('aria-invalid', 'true');
      else control.removeAttribute('aria-invalid');
    }
    if (words && !first) first = tabStops(input)[0];
  }
  // An error for a field that is not there would otherwise never be read.
  const note = Object.values(now).join(' ');
  if (parts.note.textContent !== note) parts.note.textContent = note;
  if (focusFirst) first?.focus();
}

// Typing into a field answers its error.
watchTyping((surface, block) => {
  const now = shown && surface.key === keyOf(shown.view) ? errors.get(shown.view.id)?.now : undefined;
  if (!now?.[block.block_id]) return;
  delete now[block.block_id];
  drawErrors();
});

/** Sent values belong to the server from now on: a form that comes back shows the server's values, even empty ones. */
function sent({ id }) {
  if (shown?.view.id !== id) return;
  forgetTyped(`view:${id}`);
  shown.epoch += 1;
  redraw(shown.view, Number(shown.form.dataset.depth));
}

/** The inputs' values now, by block and action. */
function filledIn(view) {
  const surface = { key: keyOf(view) };
  const values = {};
  for (const { block, element } of controls(view)) {
    const value = wire(valueOf(surface, block, element));
    values[block.block_id] = { ...values[block.block_id], [element.action_id]: value };
  }
  return values;
}

async function submit() {
  const { view, user, channel, parts } = shown;
  if (!view.submit || shown.busy) return;
  const values = filledIn(view);
  const wrong = {};
  for (const { block, element } of controls(view)) {
    const value = values[block.block_id][element.action_id];
    const words = block.type === 'input' ? wrongWith(block, value) : undefined;
    if (words) wrong[block.block_id] = words;
  }
  errors.set(view.id, { told: errors.get(view.id)?.told ?? '{}', now: wrong });
  drawErrors(true);
  if (Object.keys(wrong).length) return;
  shown.busy = true;
  drawFoot();
  try {
    const answer = await act('submit', { user, channel, viewId: view.id, values });
    if (answer.errors) {
      errors.set(view.id, { told: JSON.stringify(answer.errors), now: { ...answer.errors } });
    } else sent(view);
    if (answer.error) fail(answer.error);
  } catch (error) {
    fail(error);
  }
  if (shown?.parts !== parts) return;
  shown.busy = false;
  drawFoot();
  drawErrors(true);
}

async function close() {
  const { view, user, channel } = shown;
  try {
    await act('close-modal', { user, channel, viewId: view.id });
  } catch (error) {
    fail(error);
  }
}
