// Making and keeping DOM nodes. Text from elsewhere only ever becomes text nodes: nothing here parses HTML.

/** Makes an element. `on` holds listeners, `data` the dataset; undefined, null and false leave a property out. */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on')
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === 'data') Object.assign(node.dataset, value);
    else if (name === 'value' || name === 'checked') node[name] = value;
    else node.setAttribute(name === 'class' ? 'class' : name, value === true ? '' : String(value));
  }
  node.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

const versions = new WeakMap();

/**
 * Makes `parent` hold exactly `items` ({key, version, draw}), touching only what differs: a node whose version is the
 * same stays in place, so that text being typed into it is kept.
 */
export function keep(parent, items) {
  const standing = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  const wanted = items.map((item) => {
    const old = standing.get(item.key);
    if (old && versions.get(old) === item.version) return old;
    const node = item.draw();
    node.dataset.key = item.key;
    versions.set(node, item.version);
    return node;
  });
  for (const node of standing.values()) if (!wanted.includes(node)) node.remove();
  let at = parent.firstChild;
  for (const node of wanted) {
    if (node === at) at = at.nextSibling;
    else parent.insertBefore(node, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

/** Runs `render` and puts the focus (and the cursor in a text field) back where it was, by the control's name. */
export function keepingFocus(render) {
  const active = document.activeElement;
  const name = active?.dataset?.focus;
  const action = active?.dataset?.action;
  const surface = active?.closest?.('[data-surface]')?.dataset.surface;
  const selection =
    name && 'selectionStart' in active ? [active.selectionStart, active.selectionEnd] : undefined;
  render();
  if (!active || active === document.body || active.isConnected) return;
  const place = find('surface', surface);
  // Blocks without an id of their own get a new one with each update: then the same action is the same control.
  const again = find('focus', name) ?? (place && find('action', action, place)) ?? place;
  again?.focus({ preventScroll: true });
  if (selection && selection[0] !== null) again?.setSelectionRange?.(selection[0], selection[1]);
}

const find = (kind, name, root = document) =>
  name === undefined ? undefined : (root.querySelector(`[data-${kind}="${CSS.escape(name)}"]`) ?? undefined);

const focusables =
  'a[href], button:not([disabled]), input:not([disabled]), textarea:not([disabled]), select:not([disabled]), [tabindex="0"]';

/** Everything Tab reaches inside `root`, in order. */
export function tabStops(root) {
  return [...root.querySelectorAll(focusables)].filter((node) => node.offsetParent !== null);
}

let count = 0;
/** An id for aria references, unique on this page. */
export function freshId(prefix) {
  count += 1;
  return `${prefix}-${count}`;
}
